// The rows of a matrix: the last element of a row is followed by the next row, but not as far as C is concerned.
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DLAST=4: index out of bounds
#ifndef LAST
#define LAST 3
#endif

int matrix[3][4];

int main(void) {
    for (int row = 0; row < 2; row++)
        for (int column = 0; column <= LAST; column++)
            matrix[row][column] = row * column;
    return matrix[1][1] == 7;
}
