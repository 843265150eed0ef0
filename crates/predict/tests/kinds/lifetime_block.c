// AddressSanitizer: stack-use-after-scope.
//~ PROPERTY: memsafety
//~ HOLDS
//~ PREDICTED -DBUG: use after free
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int sum;
static void *work(void *arg) {
    sum += *(int *)arg;
    return 0;
}
int main(void) {
    pthread_t t;
#ifdef BUG
    {
        int value = 3;
        pthread_create(&t, 0, work, &value);
    }
#else
    int value = 3;
    pthread_create(&t, 0, work, &value);
#endif
    pthread_join(t, 0);
    return 0;
}
