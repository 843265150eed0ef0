//~ Unreachable in main
#include <pthread.h>
int state;
void *change(void *unused) { state = 2; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, change, 0);
    switch (state) {
    case 0: break;
    default: __builtin_unreachable();
    }
    pthread_join(t, 0);
}
