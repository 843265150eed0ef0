// Inline assembly that is only a barrier or a pause is fine.
#include <stdio.h>

int main(void) {
    int x = 1;
    __asm__ __volatile__("" ::: "memory");
    x++;
    asm volatile("pause");
    asm("" : : : "memory");
    __asm__ volatile("rep; nop" ::: "memory");
    __sync_synchronize();
    asm volatile("" : "+r"(x));
    asm volatile("nop");
    printf("%d\n", x);
    return 0;
}
//~ STDOUT: 2
