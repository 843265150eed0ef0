//~ NullDereference in main
#include <pthread.h>
int value = 3, *pointer = &value;
void *clear(void *unused) { pointer = 0; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, clear, 0);
    int seen = pointer ? *pointer : 0;
    pthread_join(t, 0);
    return seen;
}
