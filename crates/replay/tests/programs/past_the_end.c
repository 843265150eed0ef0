//~ OutOfBounds in main.1
#include <pthread.h>
int before[4], table[4], after[4];
int next, *const first = table;
void *fill(void *unused) {
    for (int i = 0; i < 3; i++) {
        int at = next;
        *(first + at) = i;
        next = at + 1;
    }
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, fill, 0);
    next = 2;
    pthread_join(t, 0);
}
