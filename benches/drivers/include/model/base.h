/* Types, error numbers, and what comes from outside: any value. All headers of this folder are models of our own, written from
   the documented interfaces of the kernel, for proofs only: nothing of them runs on a machine. */
#ifndef MODEL_BASE_H
#define MODEL_BASE_H

extern int __VERIFIER_nondet_int(void);
extern long __VERIFIER_nondet_long(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern void __VERIFIER_assume(int);
extern void abort(void) __attribute__((noreturn));

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef long ssize_t;
typedef long long loff_t;
typedef unsigned int fmode_t;
typedef unsigned int gfp_t;
typedef u64 phys_addr_t;
typedef phys_addr_t resource_size_t;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

#define __user
#define __iomem
#define __init
#define __exit
#define __initdata
#define __maybe_unused __attribute__((unused))
#define __always_unused __attribute__((unused))
#define __force
#define __must_check
#define __ro_after_init
#define fallthrough do { } while (0)
#define likely(x) (x)
#define unlikely(x) (x)

#define EPERM 1
#define ENOENT 2
#define EIO 5
#define ENXIO 6
#define EAGAIN 11
#define ENOMEM 12
#define EFAULT 14
#define EBUSY 16
#define ENODEV 19
#define EINVAL 22
#define ENOTTY 25
#define ENOIOCTLCMD 515

#define BITS_PER_LONG 64
#define BIT(n) (1UL << (n))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define UINT_MAX 0xffffffffu
#define INT_MAX 0x7fffffff

#define offsetof(type, member) __builtin_offsetof(type, member)
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* The last 4095 addresses are error numbers. */
#define IS_ERR(ptr) ((unsigned long)(ptr) >= (unsigned long)-4095)
#define PTR_ERR(ptr) ((long)(ptr))
#define ERR_PTR(error) ((void *)(long)(error))

/* What a function of the kernel returns that may fail: 0 or an error number. */
static inline int model_error(void)
{
    int error = __VERIFIER_nondet_int();
    __VERIFIER_assume(error <= 0);
    __VERIFIER_assume(error >= -4095);
    return error;
}

/* Messages: their arguments are evaluated, and that is all. */
#define MODEL_E0()
#define MODEL_E1(a) (void)(a);
#define MODEL_E2(a, ...) (void)(a); MODEL_E1(__VA_ARGS__)
#define MODEL_E3(a, ...) (void)(a); MODEL_E2(__VA_ARGS__)
#define MODEL_E4(a, ...) (void)(a); MODEL_E3(__VA_ARGS__)
#define MODEL_E5(a, ...) (void)(a); MODEL_E4(__VA_ARGS__)
#define MODEL_E6(a, ...) (void)(a); MODEL_E5(__VA_ARGS__)
#define MODEL_E7(a, ...) (void)(a); MODEL_E6(__VA_ARGS__)
#define MODEL_E8(a, ...) (void)(a); MODEL_E7(__VA_ARGS__)
#define MODEL_PICK(a, b, c, d, e, f, g, h, name, ...) name
#define MODEL_EVALUATE(...) \
    MODEL_PICK(__VA_ARGS__, MODEL_E8, MODEL_E7, MODEL_E6, MODEL_E5, MODEL_E4, MODEL_E3, MODEL_E2, MODEL_E1)(__VA_ARGS__)
#define printk(...) do { MODEL_EVALUATE(__VA_ARGS__) } while (0)
#define pr_emerg printk
#define pr_alert printk
#define pr_crit printk
#define pr_err printk
#define pr_warn printk
#define pr_notice printk
#define pr_info printk
#define pr_debug printk
#define dev_err printk
#define dev_warn printk
#define dev_info printk
#define dev_dbg printk
#define panic(...) do { printk(__VA_ARGS__); abort(); } while (0)

extern void *memset(void *, int, size_t);
extern void *memcpy(void *, const void *, size_t);
extern void *calloc(size_t, size_t);

static inline char *strcpy(char *to, const char *from)
{
    for (size_t i = 0;; i++) {
        char letter = from[i];
        to[i] = letter;
        if (letter == 0)
            return to;
    }
}

/* A text without arguments is copied. With arguments, some characters are written, as many as it takes. */
#define MODEL_PRINT(to, ...) \
    ({ size_t model_length = 0; printk(__VA_ARGS__); \
       for (;; model_length++) { \
           (to)[model_length] = __VERIFIER_nondet_uchar(); \
           if (__VERIFIER_nondet_int()) break; \
       } \
       (int)model_length; })
#define MODEL_COPY(to, text) ((void)strcpy(to, text), (int)sizeof(text) - 1)
#define sprintf(to, ...) \
    MODEL_PICK(__VA_ARGS__, MODEL_PRINT, MODEL_PRINT, MODEL_PRINT, MODEL_PRINT, MODEL_PRINT, MODEL_PRINT, MODEL_PRINT, \
               MODEL_COPY)(to, __VA_ARGS__)

#define GFP_KERNEL 0
/* Memory of the kernel, which may be used up. */
#define kzalloc(size, flags) (__VERIFIER_nondet_int() ? calloc(1, size) : NULL)
#define devm_kzalloc(dev, size, flags) ((void)(dev), kzalloc(size, flags))
#define kfree(p) ((void)(p))

#endif
