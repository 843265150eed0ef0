// Arrays in three dimensions, as parameters, as structure members, and their sizes.
#include <stdio.h>

static int cube[2][3][4];
static int sum(int m[][4], int rows) {
    int s = 0;
    for (int i = 0; i < rows; i++) for (int j = 0; j < 4; j++) s += m[i][j];
    return s;
}
static void multiply(const double a[2][2], const double b[2][2], double out[2][2]) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            out[i][j] = 0;
            for (int k = 0; k < 2; k++) out[i][j] += a[i][k] * b[k][j];
        }
}
struct board { char cells[3][3]; };
static char *lines[2][2] = {{"a", "b"}, {"c", "d"}};

int main(void) {
    int n = 0;
    for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) cube[i][j][k] = n++;
    printf("%d %d %d\n", sum(cube[0], 3), sum(cube[1], 2), cube[1][2][3]);
    printf("%zu %zu %zu %zu\n", sizeof cube, sizeof cube[0], sizeof cube[0][0], sizeof cube[0][0][0]);
    double a[2][2] = {{1, 2}, {3, 4}}, r[2][2];
    multiply(a, a, r);
    printf("%.0f %.0f %.0f %.0f\n", r[0][0], r[0][1], r[1][0], r[1][1]);
    struct board b = {{"xox", {'o', 'x', 'o'}}}, c = b;
    c.cells[2][2] = '!';
    printf("%.3s %c %d\n", b.cells[1], c.cells[2][2], b.cells[2][2]);
    printf("%s%s\n", lines[1][0], *lines[0]);
    int (*p)[3][4] = &cube[1];
    printf("%d %d\n", (*p)[0][1], p[-1][2][0]);
    int *flat = &cube[0][0][0];
    printf("%d\n", flat[2]);
    return 0;
}
//~ STDOUT: 66 124 23
//~ STDOUT: 96 48 16 4
//~ STDOUT: 7 10 15 22
//~ STDOUT: oxo ! 0
//~ STDOUT: ca
//~ STDOUT: 13 8
//~ STDOUT: 2
