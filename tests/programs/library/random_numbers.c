// `rand` is repeatable for a seed; which numbers come is not specified.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    srand(7);
    int a = rand(), b = rand();
    srand(7);
    int c = rand(), d = rand();
    printf("%d %d\n", a == c, b == d);
    int in_range = 1;
    for (int i = 0; i < 100; i++) { int r = rand(); in_range &= r >= 0 && r <= RAND_MAX; }
    unsigned seed = 3;
    int e = rand_r(&seed);
    printf("%d %d\n", in_range, e >= 0);
    return 0;
}
