// An index beyond an array that is a member of a structure stays in the object, and is wrong all the same.
//~ PROPERTY: memsafety
//~ SAFE
//~ UNSAFE -DCOUNT=3: index out of bounds
#ifndef COUNT
#define COUNT 2
#endif

struct {
    int values[2];
    int sum;
} g;

int main(void) {
    for (int i = 0; i < COUNT; i++)
        g.values[i] = i;
    int *end = &g.values[2];
    for (int *p = g.values; p < end; p++)
        g.sum += *p;
    return g.sum == 100;
}
