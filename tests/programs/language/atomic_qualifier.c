// `_Atomic` objects: plain operators on them are indivisible, and behave as usual.
#include <stdio.h>

typedef struct { int a, b; } pair;
static _Atomic int counter = 5;
static _Atomic(unsigned char) small = 250;
static int *_Atomic pointer;
static _Atomic double real = 1.5;
static _Atomic _Bool flag;

int main(void) {
    int array[3] = {1, 2, 3};
    counter++;
    counter += 10;
    int before = counter--;
    int after = ++counter;
    printf("%d %d %d\n", before, after, counter);
    small += 10;
    int product = small *= 3;
    printf("%d %d\n", small, product);
    pointer = array;
    pointer++;
    pointer += 1;
    printf("%d\n", *pointer);
    real *= 3;
    real -= 0.25;
    printf("%.2f\n", real);
    flag = 42;
    flag |= 0;
    printf("%d\n", flag);
    counter <<= 2;
    counter %= 7;
    counter ^= 0xff;
    int old = counter /= 3;
    printf("%d %d\n", old, counter);
    _Atomic pair p = {0};
    pair q = {3, 4};
    p = q;
    pair r = p;
    printf("%d %d %zu\n", r.a, r.b, sizeof p);
    return 0;
}
//~ STDOUT: 16 16 16
//~ STDOUT: 12 12
//~ STDOUT: 3
//~ STDOUT: 4.25
//~ STDOUT: 1
//~ STDOUT: 84 84
//~ STDOUT: 3 4 8
