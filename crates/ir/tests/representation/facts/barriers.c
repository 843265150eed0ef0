// Phases between barriers. (In main, creations write handles and joins read them.)
pthread_barrier_t both, loose;
int x;

void *left(void *arg) {
    x = 1; //~ parallel: 14 41 42
    pthread_barrier_wait(&both);
    x = 2; //~ parallel: 16 41 42
    pthread_barrier_wait(&both);
    x = 3; //~ parallel: 19 41 42
    return 0;
}
void *right(void *arg) {
    x = 4; //~ parallel: 6 42 43
    pthread_barrier_wait(&both);
    x = 5; //~ parallel: 8 42 43
    pthread_barrier_wait(&both);
    for (int i = 0; i < 3; i++) {
        x = 6; //~ parallel: 10 42 43
    }
    return 0;
}
// A barrier for two that three threads use.
void *third(void *arg) {
    x = 7; //~ parallel: 25 27 31 33 45 46
    pthread_barrier_wait(&loose);
    x = 8; //~ parallel: 25 27 31 33 45 46
    return 0;
}
void *fourth(void *arg) {
    x = 9; //~ parallel: 25 27
    pthread_barrier_wait(&loose);
    x = 10; //~ parallel: 25 27
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&both, 0, 2);
    pthread_barrier_init(&loose, 0, 2);
    pthread_create(&a, 0, left, 0);
    pthread_create(&b, 0, right, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_create(&a, 0, third, 0);
    pthread_create(&a, 0, third, 0);
    pthread_create(&b, 0, fourth, 0);
    return 0;
}
