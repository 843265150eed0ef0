//~ HOLDS
/* One access is a block that nobody breaks. The marks are the program's own, as they are for compilers that do not know Leno. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static inline void leno_expect_atomic_begin(void) {}
static inline void leno_expect_atomic_end(void) {}
static atomic_int owner;
static void *polite(void *unused) {
    leno_expect_atomic_begin();
    int nobody = 0;
    atomic_compare_exchange_strong(&owner, &nobody, 1);
    leno_expect_atomic_end();
    return unused;
}
static void *rude(void *unused) {
    usleep(400000);
    atomic_store(&owner, 2);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, polite, 0);
    pthread_create(&other, 0, rude, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
