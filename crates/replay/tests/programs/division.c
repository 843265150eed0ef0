//~ DivisionByZero in main
#include <pthread.h>
int divisor = 1;
void *clear(void *unused) { divisor = 0; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, clear, 0);
    int result = 100 / divisor;
    pthread_join(t, 0);
    return result;
}
