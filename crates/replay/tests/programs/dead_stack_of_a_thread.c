//~ UseAfterScope in main.2
#include <pthread.h>
int *shared;
void leave(int *local) {
    shared = local;
    pthread_exit(0);
}
void *owner(void *unused) {
    int local = 1;
    leave(&local);
    return 0;
}
void *user(void *unused) {
    int *p = shared;
    if (p) *p = 42;
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, owner, 0);
    pthread_create(&u, 0, user, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
}
