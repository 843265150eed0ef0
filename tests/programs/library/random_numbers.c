// `rand` gives numbers of its range; which ones is not specified.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    srand(7);
    int in_range = 1;
    for (int i = 0; i < 100; i++) { int r = rand(); in_range &= r >= 0 && r <= RAND_MAX; }
    unsigned seed = 3;
    int e = rand_r(&seed);
    printf("%d %d\n", in_range, e >= 0);
    srandom(1);
    printf("%d\n", random() >= 0);
    return 0;
}
//~ STDOUT: 1 1
//~ STDOUT: 1
