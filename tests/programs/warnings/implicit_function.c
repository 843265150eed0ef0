#include <stdio.h>
int main(void) {
    int n = twice(4); //~ WARN: twice
    printf("%d\n", n);
    return 0;
}
int twice(int n) { return 2 * n; }
//~ STDOUT: 8
