// An array of 2 GiB.
#include <stdio.h>
static char big[1u << 31];
int main(void) { big[(1u << 31) - 1] = 3; printf("%d\n", big[(1u << 31) - 1]); return 0; }
