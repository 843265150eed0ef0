// <stdatomic.h> as the system's headers expand it.
//~ SAFE
//~ HOLDS
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static atomic_int i = ATOMIC_VAR_INIT(5);
static _Atomic uint8_t byte = 250;
static atomic_llong wide;
static atomic_bool flag;
static atomic_uintptr_t address;
static atomic_flag gate = ATOMIC_FLAG_INIT;
static int target[4];
static _Atomic(int *) pointer = target;

int main(void) {
    int r1 = atomic_fetch_add(&i, 3), r2 = atomic_fetch_sub_explicit(&i, 1, memory_order_relaxed);
    printf("%d %d %d\n", r1, r2, atomic_load(&i));
    printf("%d ", atomic_fetch_or(&i, 0x10));
    printf("%d ", atomic_fetch_and(&i, 0x16));
    printf("%d ", atomic_fetch_xor(&i, 0xff));
    printf("%d\n", atomic_load_explicit(&i, memory_order_acquire));
    printf("%d ", atomic_fetch_add(&byte, 10));
    printf("%d\n", byte);
    atomic_store(&wide, 1LL << 40);
    printf("%lld ", atomic_exchange(&wide, -1));
    printf("%lld\n", atomic_load(&wide));
    int expected = 7;
    printf("%d ", atomic_compare_exchange_strong(&i, &expected, 1));
    printf("%d ", expected == atomic_load(&i));
    printf("%d ", atomic_compare_exchange_strong_explicit(&i, &expected, 100, memory_order_acq_rel, memory_order_acquire));
    printf("%d\n", atomic_load(&i));
    while (!atomic_compare_exchange_weak(&i, &expected, 200)) ;
    printf("%d\n", i);
    printf("%d ", atomic_flag_test_and_set(&gate));
    printf("%d ", atomic_flag_test_and_set_explicit(&gate, memory_order_acquire));
    atomic_flag_clear(&gate);
    printf("%d\n", atomic_flag_test_and_set(&gate));
    atomic_store_explicit(&flag, 3, memory_order_release);
    printf("%d\n", atomic_load(&flag));
    int *old = atomic_fetch_add(&pointer, 2);
    printf("%d %d\n", (int)(old - target), (int)(atomic_load(&pointer) - target));
    atomic_store(&address, (uintptr_t)&target[1]);
    *(int *)atomic_load(&address) = 9;
    printf("%d\n", target[1]);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
    atomic_init(&i, 77);
    i++;
    printf("%d %d\n", i, atomic_is_lock_free(&i));
    return 0;
}
//~ STDOUT: 5 8 7
//~ STDOUT: 7 23 22 233
//~ STDOUT: 250 4
//~ STDOUT: 1099511627776 -1
//~ STDOUT: 0 1 1 100
//~ STDOUT: 200
//~ STDOUT: 0 1 0
//~ STDOUT: 1
//~ STDOUT: 0 0
//~ STDOUT: 9
//~ STDOUT: 78 1
