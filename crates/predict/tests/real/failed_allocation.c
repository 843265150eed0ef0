// errno after allocations that fail.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) { errno = 0; void *p = malloc(SIZE_MAX / 2); printf("%d %d\n", p == 0, errno == ENOMEM); errno = 0; p = calloc(SIZE_MAX / 4, 8); printf("%d %d\n", p == 0, errno == ENOMEM); free(p); return 0; }
