// Creation and joining.
int x;
pthread_t kept, handles[4], more[4];

void *leaf(void *arg) {
    x = 1; //~ with: main parent
    return 0;
}
void *parent(void *arg) {
    pthread_t t;
    x = 2; //~ with: main
    pthread_create(&t, 0, leaf, 0);
    x = 3; //~ with: main leaf
    pthread_join(t, 0);
    x = 4; //~ with: main
    return 0;
}
void *first(void *arg) {
    x = 5; //~ with: main
    return 0;
}
void *second(void *arg) {
    x = 6; //~ with: main
    return 0;
}
void *global_handle(void *arg) {
    x = 7; //~ with: main
    return 0;
}
void *looped(void *arg) {
    x = 8; //~ with: main
    return 0;
}
void *grouped(void *arg) {
    x = 9; //~ with: grouped main
    return 0;
}
void *counted(void *arg) {
    x = 10; //~ with: counted main
    return 0;
}
void *lost(void *arg) {
    x = 11; //~ with: lost main never unset
    return 0;
}
void *never(void *arg) {
    x = 12; //~ with: lost main unset
    return 0;
}
void *local_array(void *arg) {
    x = 32; //~ with: local_array main
    return 0;
}
void *unset(void *arg) {
    x = 33; //~ with: lost main never unset
    return 0;
}
static pthread_t start(void *(*function)(void *)) {
    pthread_t t;
    pthread_create(&t, 0, function, 0);
    return t;
}
static void finish(pthread_t t) { pthread_join(t, 0); }
void *started(void *arg) {
    x = 13; //~ with: main
    return 0;
}

int main(void) {
    pthread_t t;
    int i, n = __VERIFIER_nondet_int();
    x = 14; //~ with:
    pthread_create(&t, 0, parent, 0);
    x = 15; //~ with: leaf parent
    pthread_join(t, 0);
    x = 16; //~ with:
    pthread_create(&t, 0, first, 0);
    pthread_join(t, 0);
    x = 17; //~ with:
    pthread_create(&t, 0, second, 0);
    x = 18; //~ with: second
    pthread_join(t, 0);
    pthread_create(&kept, 0, global_handle, 0);
    x = 19; //~ with: global_handle
    pthread_join(kept, 0);
    x = 20; //~ with:
    for (i = 0; i < 3; i++) {
        pthread_t own;
        x = 21; //~ with:
        pthread_create(&own, 0, looped, 0);
        x = 22; //~ with: looped
        pthread_join(own, 0);
    }
    x = 23; //~ with:
    for (i = 0; i < 4; i++) {
        pthread_create(&handles[i], 0, grouped, 0);
        x = 24; //~ with: grouped
    }
    x = 25; //~ with: grouped
    for (i = 0; i < 4; i++)
        pthread_join(handles[i], 0);
    x = 26; //~ with:
    for (i = 0; i < n; i++)
        pthread_create(&more[i], 0, counted, 0);
    for (i = 0; i < n; i++)
        pthread_join(more[i], 0);
    x = 27; //~ with:
    pthread_t locals[3];
    for (i = 0; i < 3; i++)
        pthread_create(&locals[i], 0, local_array, 0);
    for (i = 0; i < 3; i++)
        pthread_join(locals[i], 0);
    x = 34; //~ with:
    pthread_t other = start(started);
    x = 28; //~ with: started
    finish(other);
    x = 29; //~ with:
    pthread_t maybe[3];
    for (i = 0; i < 3; i++)
        if (i != n)
            pthread_create(&maybe[i], 0, unset, 0);
    // What was not set may be the handle of another thread.
    for (i = 0; i < 3; i++)
        pthread_join(maybe[i], 0);
    x = 35; //~ with: unset
    for (i = 0; i < 4; i++)
        pthread_create(&t, 0, lost, 0);
    pthread_join(t, 0);
    x = 30; //~ with: lost unset
    pthread_create(&t, 0, never, 0);
    x = 31; //~ with: lost never unset
    return 0;
}
