//~ FLAGS: --check-overflow
#include <limits.h>
static int next(int x) {
    return x + 1; //~ VIOLATION: overflow
}
int main(void) {
    return next(INT_MAX) < 0;
}
