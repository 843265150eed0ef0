//~ Assertion in main.1
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern char __VERIFIER_nondet_char(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern int unknown(int);
int shared;
void *worker(void *unused) {
    char c = __VERIFIER_nondet_char();
    __VERIFIER_assume(c > 0 && c < 8);
    int seen = shared;
    assert(!(seen == 1 && c == 3 && unknown(c) == 1));
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    if (__VERIFIER_nondet_bool()) shared = 1;
    pthread_join(t, 0);
}
