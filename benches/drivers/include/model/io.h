/* Ports, memory of devices, interrupts, and memory of users: what is read is any value, what is written goes nowhere. */
#ifndef MODEL_IO_H
#define MODEL_IO_H
#include <model/base.h>

static inline u8 inb(unsigned long port) { return __VERIFIER_nondet_uchar(); }
static inline u16 inw(unsigned long port) { return __VERIFIER_nondet_ushort(); }
static inline u32 inl(unsigned long port) { return __VERIFIER_nondet_uint(); }
static inline void outb(u8 value, unsigned long port) { }
static inline void outw(u16 value, unsigned long port) { }
static inline void outl(u32 value, unsigned long port) { }
#define inb_p inb
#define inw_p inw
#define outb_p outb
#define outw_p outw

static unsigned char model_device_memory;
#define ioremap(address, size) \
    ((void)(address), (void)(size), __VERIFIER_nondet_int() ? (void *)&model_device_memory : NULL)
#define iounmap(address) ((void)(address))
static inline u8 readb(const volatile void *address) { return __VERIFIER_nondet_uchar(); }
static inline u16 readw(const volatile void *address) { return __VERIFIER_nondet_ushort(); }
static inline u32 readl(const volatile void *address) { return __VERIFIER_nondet_uint(); }
static inline void writeb(u8 value, volatile void *address) { }
static inline void writew(u16 value, volatile void *address) { }
static inline void writel(u32 value, volatile void *address) { }

struct resource { resource_size_t start, end; const char *name; unsigned long flags; };
#define IORESOURCE_IO 0x100
#define IORESOURCE_MEM 0x200
#define resource_size(r) ((r)->end - (r)->start + 1)
static struct resource model_region;
/* Ports are numbered by 16 bits; a region beyond them is refused. */
static inline struct resource *request_region(unsigned long start, unsigned long n, const char *name)
{
    if (start > 0xffff || n > 0x10000 || __VERIFIER_nondet_int())
        return NULL;
    return &model_region;
}
#define release_region(start, n) ((void)(start), (void)(n))
#define devm_request_region(dev, start, n, name) ((void)(dev), (void)(name), request_region(start, n, ""))

typedef int irqreturn_t;
#define IRQ_NONE 0
#define IRQ_HANDLED 1
#define IRQF_SHARED 0x80
#define request_irq(irq, handler, flags, name, dev) ((void)(irq), (void)(handler), (void)(dev), model_error())
#define free_irq(irq, dev) ((void)(irq), (void)(dev))

/* User memory may be gone: then -EFAULT, or how many bytes were not copied. Kernel memory is touched at both ends. */
#define MODEL_FAULT() (__VERIFIER_nondet_int() ? -EFAULT : 0)
#define get_user(x, p) ((void)(p), (x) = __VERIFIER_nondet_long(), MODEL_FAULT())
#define put_user(x, p) ((void)(x), (void)(p), MODEL_FAULT())
#define __get_user get_user
#define __put_user put_user
#define copy_to_user(to, from, n) \
    ({ const volatile char *model_from = (const volatile char *)(from); unsigned long model_n = (n); (void)(to); \
       if (model_n) { (void)model_from[0]; (void)model_from[model_n - 1]; } \
       __VERIFIER_nondet_int() ? model_n : 0; })
#define copy_from_user(to, from, n) \
    ({ volatile char *model_to = (volatile char *)(to); unsigned long model_n = (n); (void)(from); \
       for (unsigned long model_i = 0; model_i < model_n; model_i++) model_to[model_i] = __VERIFIER_nondet_uchar(); \
       __VERIFIER_nondet_int() ? model_n : 0; })
#define access_ok(p, n) ((void)(p), (void)(n), __VERIFIER_nondet_int())

#endif
