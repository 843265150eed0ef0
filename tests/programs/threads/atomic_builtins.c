// The __atomic_* and __sync_* builtins.
//~ SAFE
//~ HOLDS
#include <stdbool.h>
#include <stdio.h>

static int n = 10;
static unsigned char b = 1;
static long l;
static char *text = "abc";
static bool locked;

int main(void) {
    printf("%d ", __atomic_load_n(&n, __ATOMIC_SEQ_CST));
    printf("%d\n", __atomic_fetch_add(&n, 5, __ATOMIC_RELAXED));
    printf("%d ", __atomic_add_fetch(&n, 5, __ATOMIC_ACQ_REL));
    printf("%d\n", __atomic_sub_fetch(&n, 1, __ATOMIC_SEQ_CST));
    printf("%d ", __atomic_and_fetch(&n, 0x1e, __ATOMIC_SEQ_CST));
    printf("%d ", __atomic_or_fetch(&n, 1, __ATOMIC_SEQ_CST));
    printf("%d ", __atomic_xor_fetch(&n, 3, __ATOMIC_SEQ_CST));
    printf("%d ", __atomic_nand_fetch(&n, 7, __ATOMIC_SEQ_CST));
    printf("%d\n", __atomic_fetch_nand(&n, 7, __ATOMIC_SEQ_CST));
    __atomic_store_n(&l, 1L << 33, __ATOMIC_RELEASE);
    printf("%ld\n", __atomic_exchange_n(&l, 2, __ATOMIC_SEQ_CST));
    long expected = 3, desired = 4, out;
    printf("%d ", __atomic_compare_exchange_n(&l, &expected, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    printf("%ld ", expected);
    printf("%d ", __atomic_compare_exchange(&l, &expected, &desired, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    __atomic_load(&l, &out, __ATOMIC_SEQ_CST);
    printf("%ld ", out);
    desired = 6;
    __atomic_store(&l, &desired, __ATOMIC_SEQ_CST);
    __atomic_exchange(&l, &expected, &out, __ATOMIC_SEQ_CST);
    printf("%ld %ld\n", out, l);
    printf("%d ", __atomic_test_and_set(&locked, __ATOMIC_ACQUIRE));
    printf("%d ", __atomic_test_and_set(&locked, __ATOMIC_ACQUIRE));
    __atomic_clear(&locked, __ATOMIC_RELEASE);
    printf("%d\n", locked);

    n = 10;
    printf("%d ", __sync_fetch_and_add(&n, 5));
    printf("%d ", __sync_add_and_fetch(&n, 5));
    printf("%d ", __sync_fetch_and_sub(&n, 3));
    printf("%d ", __sync_sub_and_fetch(&n, 3));
    printf("%d ", __sync_fetch_and_or(&n, 1));
    printf("%d ", __sync_and_and_fetch(&n, 12));
    printf("%d ", __sync_xor_and_fetch(&n, 5));
    printf("%d\n", __sync_bool_compare_and_swap(&n, n, 50));
    printf("%d ", __sync_val_compare_and_swap(&n, 50, 60));
    printf("%d ", __sync_val_compare_and_swap(&n, 50, 70));
    printf("%d\n", n);
    int lock = 0;
    printf("%d ", __sync_lock_test_and_set(&lock, 1));
    printf("%d ", __sync_lock_test_and_set(&lock, 1));
    __sync_lock_release(&lock);
    printf("%d\n", lock);
    __sync_synchronize();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    printf("%d ", __atomic_fetch_sub(&b, 2, __ATOMIC_SEQ_CST));
    printf("%d\n", b);
    printf("%s\n", __atomic_fetch_add(&text, 1, __ATOMIC_SEQ_CST));
    printf("%s %d\n", text, __atomic_always_lock_free(4, 0));
    return 0;
}
//~ STDOUT: 10 10
//~ STDOUT: 20 19
//~ STDOUT: 18 19 16 -1 -1
//~ STDOUT: 8589934592
//~ STDOUT: 0 2 1 4 6 2
//~ STDOUT: 0 1 0
//~ STDOUT: 10 20 20 14 14 12 9 1
//~ STDOUT: 50 60 60
//~ STDOUT: 0 1 0
//~ STDOUT: 1 255
//~ STDOUT: abc
//~ STDOUT: bc 1
