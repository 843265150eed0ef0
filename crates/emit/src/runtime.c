//= core
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if !defined(__x86_64__) && !defined(__i386__)
#error "this file needs an x86 machine: it knows how x86 lays out memory and variable arguments"
#endif
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wunused-variable"
#pragma clang diagnostic ignored "-Wunused-but-set-variable"
#pragma clang diagnostic ignored "-Wunused-but-set-parameter"
#pragma clang diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wunused-value"
#pragma clang diagnostic ignored "-Wreturn-type"
#pragma clang diagnostic ignored "-Wself-assign"
#pragma clang diagnostic ignored "-Waddress-of-packed-member"
#pragma clang diagnostic ignored "-Wtautological-compare"
#pragma clang diagnostic ignored "-Wsign-compare"
#pragma clang diagnostic ignored "-Wbool-operation"
#pragma clang diagnostic ignored "-Wswitch-bool"
#pragma clang diagnostic ignored "-Wuninitialized"
#pragma clang diagnostic ignored "-Wunsequenced"
#pragma STDC FP_CONTRACT OFF
#ifdef __i386__
#pragma clang attribute push(__attribute__((target("sse2"))), apply_to = function) /* see below */
#endif
#else
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-parameter"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Waddress-of-packed-member"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wswitch-bool"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#ifdef __i386__
#pragma GCC target("sse2", "fpmath=sse") /* the x87 unit would compute with more precision than the program asks for */
#endif
#ifdef __FMA__
#pragma GCC optimize("fp-contract=off") /* a * b + c is two roundings */
#endif
#endif

#include <stdint.h>

/* Values. A pointer is its address: an integer, so that arithmetic on it is never undefined. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef uintptr_t ptr;

/* What memory is accessed as: anything may lie anywhere. */
#define LENO_ANYWHERE __attribute__((may_alias, aligned(1)))
typedef u8 mem8 LENO_ANYWHERE;
typedef u16 mem16 LENO_ANYWHERE;
typedef u32 mem32 LENO_ANYWHERE;
typedef u64 mem64 LENO_ANYWHERE;
typedef ptr memptr LENO_ANYWHERE;
typedef f32 memf32 LENO_ANYWHERE;
typedef f64 memf64 LENO_ANYWHERE;

/* Helpers are inlined even at -O0, where a call would pass floats through registers that change NaNs. */
#define LENO_INLINE static inline __attribute__((always_inline, unused))

//= malloc calloc free exit abort
#include <stdlib.h>

//= memcpy memset strchr
#include <string.h>

//= fprintf stderr
#include <stdio.h>

//= sched_yield
#include <sched.h>

//= pause
#include <unistd.h>

//= malloc_usable_size
#include <malloc.h>

//= pthread_t pthread_create pthread_join pthread_detach pthread_self pthread_exit pthread_mutex_t pthread_cond_t
//= pthread_rwlock_t pthread_spinlock_t pthread_barrier_t
#include <pthread.h>

//= sem_t
#include <semaphore.h>

//= EINTR
#include <errno.h>

//= timespec
#include <time.h>

//= atomic8 atomic16 atomic32 atomic64 atomicptr
/* What atomic instructions work on: naturally aligned, as the machine wants it. */
typedef u8 atomic8 __attribute__((may_alias));
typedef u16 atomic16 __attribute__((may_alias, aligned(2)));
typedef u32 atomic32 __attribute__((may_alias, aligned(4)));
typedef u64 atomic64 __attribute__((may_alias, aligned(8)));
typedef ptr atomicptr __attribute__((may_alias, aligned(sizeof(ptr))));

//= u128 s128 mem128 LENO_U128
#ifndef __SIZEOF_INT128__
#error "this program has integers of more than 64 bits, which this compiler has only for 64-bit machines"
#endif
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;
typedef u128 mem128 LENO_ANYWHERE;
#define LENO_U128(high, low) (((u128)(high) << 64) | (low))

//= f80
typedef long double f80;

//= leno_f80_from
/* Sign and exponent are the high 16 bits. */
LENO_INLINE f80 leno_f80_from(u64 high, u64 low) {
    f80 value = 0;
    __builtin_memcpy(&value, &low, 8);
    __builtin_memcpy((char *)&value + 8, &high, 2);
    return value;
}

//= leno_f80_load leno_f80_store
/* Ten bytes, and not one of the padding that C has around them (which gcc may write). */
LENO_INLINE f80 leno_f80_load(ptr at) {
    f80 value = 0;
    __builtin_memcpy(&value, (const void *)at, 10);
    return value;
}
LENO_INLINE void leno_f80_store(ptr at, f80 value) {
    __builtin_memcpy((void *)at, &value, 10);
}

//= leno_f80_load_volatile leno_f80_store_volatile
LENO_INLINE f80 leno_f80_load_volatile(ptr at) {
    return leno_f80_from(*(const volatile mem16 *)(at + 8), *(const volatile mem64 *)at);
}
LENO_INLINE void leno_f80_store_volatile(ptr at, f80 value) {
    u64 low;
    u16 high;
    __builtin_memcpy(&low, &value, 8);
    __builtin_memcpy(&high, (const char *)&value + 8, 2);
    *(volatile mem64 *)at = low;
    *(volatile mem16 *)(at + 8) = high;
}

//= leno_f32_bits leno_f32_from
LENO_INLINE u32 leno_f32_bits(f32 value) {
    u32 bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
}
LENO_INLINE f32 leno_f32_from(u32 bits) {
    f32 value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

//= leno_f64_bits leno_f64_from
LENO_INLINE u64 leno_f64_bits(f64 value) {
    u64 bits;
    __builtin_memcpy(&bits, &value, 8);
    return bits;
}
LENO_INLINE f64 leno_f64_from(u64 bits) {
    f64 value;
    __builtin_memcpy(&value, &bits, 8);
    return value;
}

//= leno_f80_bits
LENO_INLINE u128 leno_f80_bits(f80 value) {
    u128 bits = 0;
    __builtin_memcpy(&bits, &value, 10);
    return bits;
}

//= leno_f80_from_bits
LENO_INLINE f80 leno_f80_from_bits(u128 bits) {
    f80 value = 0;
    __builtin_memcpy(&value, &bits, 10);
    return value;
}

//= leno_round32 leno_round64
/* Through a register that has no room for more precision. */
LENO_INLINE f32 leno_round32(f32 value) {
    __asm__("" : "+x"(value));
    return value;
}
LENO_INLINE f64 leno_round64(f64 value) {
    __asm__("" : "+x"(value));
    return value;
}

//= leno_sext32 leno_sext64
/* The low `width` bits of `value` (1 or more), sign-extended. */
LENO_INLINE u32 leno_sext32(u32 value, unsigned width) {
    return (u32)((s32)(value << (32 - width)) >> (32 - width));
}
LENO_INLINE u64 leno_sext64(u64 value, unsigned width) {
    return (u64)((s64)(value << (64 - width)) >> (64 - width));
}

//= leno_sext128
LENO_INLINE u128 leno_sext128(u128 value, unsigned width) {
    return (u128)((s128)(value << (128 - width)) >> (128 - width));
}

//= LENO_DIVISION
/* Division as the representation defines it: total as in SMT-LIB, and minimum / -1 wraps. */
#define LENO_DIVISION(bits)                                                                                           \
    LENO_INLINE u##bits leno_udiv##bits(u##bits a, u##bits b) { return b ? a / b : ~(u##bits)0; }                     \
    LENO_INLINE u##bits leno_urem##bits(u##bits a, u##bits b) { return b ? a % b : a; }                               \
    LENO_INLINE u##bits leno_sdiv##bits(u##bits a, u##bits b) {                                                       \
        if (b == 0) return (s##bits)a < 0 ? 1 : ~(u##bits)0;                                                          \
        return b == ~(u##bits)0 ? 0 - a : (u##bits)((s##bits)a / (s##bits)b);                                         \
    }                                                                                                                 \
    LENO_INLINE u##bits leno_srem##bits(u##bits a, u##bits b) {                                                       \
        if (b == 0) return a;                                                                                         \
        return b == ~(u##bits)0 ? 0 : (u##bits)((s##bits)a % (s##bits)b);                                             \
    }

//= leno_udiv32 leno_urem32 leno_sdiv32 leno_srem32
LENO_DIVISION(32)

//= leno_udiv64 leno_urem64 leno_sdiv64 leno_srem64
LENO_DIVISION(64)

//= leno_udiv128 leno_urem128 leno_sdiv128 leno_srem128 : u128
LENO_DIVISION(128)

//= LENO_OVERFLOW
/* Whether the exact result fits `width` bits. Operands are extended to `bits` according to their sign.
   Signed multiplication is done on magnitudes: clang's builtin for it wants a library that may not be there. */
#define LENO_OVERFLOW(bits)                                                                                           \
    LENO_INLINE int leno_sadd_overflow##bits(u##bits a, u##bits b, unsigned width) {                                  \
        u##bits sum = a + b;                                                                                          \
        return (((a ^ sum) & (b ^ sum)) >> (bits - 1)) || leno_sext##bits(sum, width) != sum;                         \
    }                                                                                                                 \
    LENO_INLINE int leno_ssub_overflow##bits(u##bits a, u##bits b, unsigned width) {                                  \
        u##bits difference = a - b;                                                                                   \
        return (((a ^ b) & (a ^ difference)) >> (bits - 1)) || leno_sext##bits(difference, width) != difference;      \
    }                                                                                                                 \
    LENO_INLINE int leno_smul_overflow##bits(u##bits a, u##bits b, unsigned width) {                                  \
        int negative = (int)((a ^ b) >> (bits - 1));                                                                  \
        u##bits most = ((u##bits)1 << (width - 1)) - !negative, product;                                              \
        u##bits x = a >> (bits - 1) ? 0 - a : a, y = b >> (bits - 1) ? 0 - b : b;                                     \
        return __builtin_mul_overflow(x, y, &product) || product > most;                                              \
    }                                                                                                                 \
    LENO_INLINE int leno_uadd_overflow##bits(u##bits a, u##bits b, unsigned width) {                                  \
        u##bits sum = a + b;                                                                                          \
        return sum < a || (width < bits && sum >> (width % bits));                                                    \
    }                                                                                                                 \
    LENO_INLINE int leno_umul_overflow##bits(u##bits a, u##bits b, unsigned width) {                                  \
        u##bits product;                                                                                              \
        return __builtin_mul_overflow(a, b, &product) || (width < bits && product >> (width % bits));                 \
    }

//= leno_sadd_overflow64 leno_ssub_overflow64 leno_smul_overflow64 leno_uadd_overflow64 leno_umul_overflow64 : leno_sext64
LENO_OVERFLOW(64)

//= leno_sadd_overflow128 leno_ssub_overflow128 leno_smul_overflow128 leno_uadd_overflow128 leno_umul_overflow128 : leno_sext128
LENO_OVERFLOW(128)

//= LENO_TO_SIGNED
/* Towards zero; for what does not fit `width` bits (and then NaN), the most negative number of that width. */
#define LENO_TO_SIGNED(from, bits)                                                                                    \
    LENO_INLINE u##bits leno_##from##_to_signed##bits(from x, unsigned width) {                                            \
        from limit = (from)((u##bits)1 << (width - 1));                                                               \
        int fits = (x >= -limit || x > -limit - 1) && x < limit;                                                      \
        return fits ? (u##bits)(s##bits)x : (u##bits)0 - ((u##bits)1 << (width - 1));                                 \
    }

//= LENO_TO_UNSIGNED64
/* As gcc has x86-64 do it: the signed instruction, with 2^63 taken away before and put back after. */
#define LENO_TO_UNSIGNED64(from)                                                                                      \
    LENO_INLINE u64 leno_##from##_to_unsigned64(from x) {                                                                    \
        from half = (from)((u64)1 << 63);                                                                             \
        return x >= half ? leno_##from##_to_signed64(x - half, 64) ^ (u64)1 << 63 : leno_##from##_to_signed64(x, 64);           \
    }

//= LENO_TO_UNSIGNED128
/* Saturating. */
#define LENO_TO_UNSIGNED128(from)                                                                                     \
    LENO_INLINE u128 leno_##from##_to_unsigned128(from x) {                                                                  \
        if (!(x >= 1)) return 0;                                                                                      \
        return x < (from)((u128)1 << 127) * 2 ? (u128)x : ~(u128)0;                                                   \
    }

//= leno_f64_to_signed64
LENO_TO_SIGNED(f64, 64)

//= leno_f80_to_signed64 : f80
LENO_TO_SIGNED(f80, 64)

//= leno_f64_to_signed128 : u128
LENO_TO_SIGNED(f64, 128)

//= leno_f80_to_signed128 : f80 u128
LENO_TO_SIGNED(f80, 128)

//= leno_f64_to_unsigned64 : leno_f64_to_signed64
LENO_TO_UNSIGNED64(f64)

//= leno_f80_to_unsigned64 : leno_f80_to_signed64
LENO_TO_UNSIGNED64(f80)

//= leno_f64_to_unsigned128 : u128
LENO_TO_UNSIGNED128(f64)

//= leno_f80_to_unsigned128 : f80 u128
LENO_TO_UNSIGNED128(f80)

//= leno_drop_float
/* After a call through a pointer whose result nobody wants: if it was a float, it is still on the x87 stack. */
#define leno_drop_float() __asm__ volatile("emms" ::: "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)")

//= leno_va_list
/* Variable arguments arrive as one area, laid out as the stack would hold them; all registers count as used up. */
#ifdef __x86_64__
struct leno_va_tag {
    u32 gp_offset, fp_offset;
    ptr overflow_arg_area, reg_save_area;
};
#define leno_va_list(area) ((ptr) & (struct leno_va_tag){48, 176, (area), 0})
#else
#define leno_va_list(area) (area)
#endif

//= leno_va_area
#ifdef __x86_64__
#define leno_va_area(list) (((const memptr *)(list))[1])
#else
#define leno_va_area(list) (list)
#endif

//= leno_va_word
#define leno_va_word(area, index) ((area) ? ((const memptr *)(area))[index] : 0)

//= leno_fail
static __attribute__((noreturn, cold, noinline)) void leno_fail(const char *what) {
    fprintf(stderr, "leno: %s\n", what);
    abort();
}

//= leno_moved_away
/* Whether a pointer was moved from an object to somewhere else: only AddressSanitizer, if it is there, knows objects. */
extern const char *__asan_locate_address(void *, char *, __SIZE_TYPE__, void **, __SIZE_TYPE__ *) __attribute__((weak));
static __attribute__((unused, noinline)) int leno_moved_away(ptr from, ptr to) {
    void *start = 0;
    __SIZE_TYPE__ size = 0;
    char name[1];
    const ptr near = 1 << 15;
    if (!__asan_locate_address || !from || !__asan_locate_address((void *)from, name, 1, &start, &size) || !start) return 0;
    return to - ((ptr)start - near) > size + 2 * near;
}

//= leno_park
/* An assumption does not hold: this thread goes no further, and nobody can tell. */
static __attribute__((noreturn, cold, noinline)) void leno_park(void) {
    for (;;) pause();
}

//= leno_allocate
static ptr leno_allocate(ptr size, ptr align, int zeroed) {
    void *memory = 0;
    if (align <= 16) return (ptr)(zeroed ? calloc(1, size) : malloc(size));
    if (posix_memalign(&memory, align, size)) return 0;
    if (zeroed) __builtin_memset(memory, 0, size);
    return (ptr)memory;
}

//= leno_object_size leno_with_size
/* How many bytes were asked for: the real object may have more. Who was never noted here, or came when the table was full,
   has the real object's size. */
#define LENO_SIZES (1 << 16)
static struct { ptr address, size; } leno_sizes[LENO_SIZES];
static ptr *leno_size_of(ptr address, int makes) {
    for (ptr step = 0, at = address >> 4; step < 64; step++, at++) {
        ptr *key = &leno_sizes[at % LENO_SIZES].address, none = 0;
        if (__atomic_load_n(key, __ATOMIC_ACQUIRE) == address) return &leno_sizes[at % LENO_SIZES].size;
        if (makes && __atomic_compare_exchange_n(key, &none, address, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return &leno_sizes[at % LENO_SIZES].size;
    }
    return 0;
}
static ptr leno_with_size(ptr address, ptr size) {
    ptr *known = address ? leno_size_of(address, 1) : 0;
    if (known) __atomic_store_n(known, size, __ATOMIC_RELEASE);
    return address;
}
static ptr leno_object_size(ptr address) {
    ptr *known = address ? leno_size_of(address, 0) : 0;
    return known ? __atomic_load_n(known, __ATOMIC_ACQUIRE) : malloc_usable_size((void *)address);
}

//= leno_nondet_next
/* Nondeterministic values come from the environment variable LENO_NONDET: numbers as C writes them, separated
   by commas, in the order in which the program asks for them. After the last one, and without it, they are 0. */
static const char *leno_nondet_next(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *rest;
    static int started;
    pthread_mutex_lock(&lock);
    if (!started) rest = getenv("LENO_NONDET");
    started = 1;
    const char *value = rest ? rest : "0";
    const char *comma = strchr(value, ',');
    rest = comma ? comma + 1 : 0;
    pthread_mutex_unlock(&lock);
    return value;
}

//= leno_nondet : malloc
static s64 leno_nondet(void) {
    return (s64)strtoull(leno_nondet_next(), 0, 0);
}

//= leno_nondet_float : malloc
static long double leno_nondet_float(void) {
    return strtold(leno_nondet_next(), 0);
}

//= leno_start leno_new_start leno_spawn leno_release leno_await_release
/* A thread begins with a record of what it has to call. It waits until its handle has been stored. */
struct leno_start {
    u32 released;
    ptr function;
};
static void *leno_new_start(ptr size) {
    struct leno_start *start = calloc(1, size);
    if (!start) leno_fail("no memory to start a thread");
    return start;
}
static ptr leno_spawn(void *(*run)(void *), void *start) {
    pthread_t thread;
    if (pthread_create(&thread, 0, run, start)) leno_fail("a thread could not be started");
    return (ptr)thread;
}
static void leno_release(void *start) {
    __atomic_store_n(&((struct leno_start *)start)->released, 1, __ATOMIC_RELEASE);
}
static void leno_await_release(void *start) {
    while (!__atomic_load_n(&((struct leno_start *)start)->released, __ATOMIC_ACQUIRE)) sched_yield();
}

//= leno_join
static ptr leno_join(ptr thread) {
    void *result = 0;
    pthread_join((pthread_t)thread, &result);
    return (ptr)result;
}

//= leno_mutex_init
static int leno_mutex_init(ptr at, u32 kind) {
    static const int kinds[3] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kinds[kind < 3 ? kind : 0]);
    int result = pthread_mutex_init((pthread_mutex_t *)at, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return result;
}

//= leno_sem_wait
static int leno_sem_wait(ptr at) {
    int result;
    do {
        result = sem_wait((sem_t *)at);
    } while (result && errno == EINTR);
    return result;
}

//= leno_sem_value
static int leno_sem_value(ptr at) {
    int value = 0;
    sem_getvalue((sem_t *)at, &value);
    return value;
}

//= leno_once_begin leno_once_end
/* 0: nobody has begun; 1: somebody is at it; 2: done. */
static int leno_once_begin(ptr at) {
    for (;;) {
        u32 state = 0;
        if (__atomic_compare_exchange_n((atomic32 *)at, &state, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return 1;
        if (state == 2) return 0;
        sched_yield();
    }
}
static int leno_once_end(ptr at) {
    __atomic_store_n((atomic32 *)at, 2, __ATOMIC_RELEASE);
    return 0;
}

//= leno_atomic_begin leno_atomic_end
/* Atomic sections exclude each other, but not what other threads do outside of any. */
static pthread_mutex_t leno_atomic_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void leno_atomic_begin(void) {
    pthread_mutex_lock(&leno_atomic_lock);
}
static void leno_atomic_end(void) {
    pthread_mutex_unlock(&leno_atomic_lock);
}

//= leno_wide_lock leno_wide_unlock
/* Atomic accesses that are wider than what every machine has an instruction for. */
static u8 leno_wide;
static void leno_wide_lock(void) {
    while (__atomic_exchange_n(&leno_wide, 1, __ATOMIC_ACQUIRE)) sched_yield();
}
static void leno_wide_unlock(void) {
    __atomic_store_n(&leno_wide, 0, __ATOMIC_RELEASE);
}

//= leno_begin_life leno_end_life
/* Stack objects of blocks: they are dead where the block is left, and AddressSanitizer is told so. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define LENO_POISONS
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define LENO_POISONS
#endif
#ifdef LENO_POISONS
void __asan_poison_memory_region(const volatile void *address, __SIZE_TYPE__ size);
void __asan_unpoison_memory_region(const volatile void *address, __SIZE_TYPE__ size);
#define leno_begin_life(object) __asan_unpoison_memory_region(object, sizeof object)
#define leno_end_life(object, size) __asan_poison_memory_region(object, size)
#else
#define leno_begin_life(object) ((void)0)
#define leno_end_life(object, size) ((void)0)
#endif
