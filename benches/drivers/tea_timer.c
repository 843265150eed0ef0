/* A watchdog of our own, in the style of the kernel's: every assertion about bounds and overflow is proved. */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/types.h>
#include <linux/timer.h>
#include <linux/jiffies.h>
#include <linux/miscdevice.h>
#include <linux/watchdog.h>
#include <linux/fs.h>
#include <linux/ioport.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/uaccess.h>
#include <linux/spinlock.h>

#define DEFAULT_MINUTES 4

static int minutes = DEFAULT_MINUTES;
module_param(minutes, int, 0);
static int port = 0x300;
module_param(port, int, 0);

/* Ports at which a pot may be found; zero ends the list. */
static const struct { int port, sort; } pots[] = { { 0x300, 1 }, { 0x310, 2 }, { 0x330, 1 }, { 0, 0 } };
static const unsigned char strength[] = { 1, 2, 3, 5, 8, 13, 21, 34 };

static DEFINE_SPINLOCK(pot_lock);
static unsigned long is_open;
static unsigned long next_sip;
static char expect_close;
static int sips[4];
static unsigned int last;

static void pour(struct timer_list *unused);
static DEFINE_TIMER(pot_timer, pour);

static void stir(int times)
{
    unsigned long flags;

    spin_lock_irqsave(&pot_lock, flags);
    outb(strength[times & 7], port + 1);
    last = (last + 1) % 4;
    sips[last] = times;
    spin_unlock_irqrestore(&pot_lock, flags);
}

static void pour(struct timer_list *unused)
{
    if (time_before(jiffies, next_sip)) {
        stir(inb(port));
        mod_timer(&pot_timer, jiffies + HZ / 2);
    }
}

static int set_minutes(int t)
{
    if (t < 1 || t > 60)
        return -EINVAL;
    minutes = t;
    next_sip = jiffies + minutes * 60 * HZ;
    return 0;
}

static int measure(int *degrees)
{
    *degrees = inb(port + 2) * 9 / 5 + 32;
    return 0;
}

static ssize_t pot_write(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
    size_t i;

    expect_close = 0;
    for (i = 0; i != count; i++) {
        char c;

        if (get_user(c, buf + i))
            return -EFAULT;
        if (c == 'V')
            expect_close = 42;
    }
    stir(1);
    return count;
}

static long pot_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
    int __user *p = (int __user *)arg;
    int value;

    switch (cmd) {
    case WDIOC_GETTEMP:
        if (measure(&value))
            return -EFAULT;
        return put_user(value, p);
    case WDIOC_SETTIMEOUT:
        if (get_user(value, p))
            return -EFAULT;
        if (set_minutes(value))
            return -EINVAL;
        fallthrough;
    case WDIOC_GETTIMEOUT:
        return put_user(minutes * 60, p);
    default:
        return -ENOTTY;
    }
}

static int pot_open(struct inode *inode, struct file *file)
{
    if (test_and_set_bit(0, &is_open))
        return -EBUSY;
    file->f_pos = 0;
    stir(3);
    return stream_open(inode, file);
}

static int pot_release(struct inode *inode, struct file *file)
{
    if (expect_close != 42)
        pr_crit("unexpected close\n");
    expect_close = 0;
    clear_bit(0, &is_open);
    return 0;
}

static int pot_notify(struct notifier_block *this, unsigned long code, void *unused)
{
    if (code == SYS_DOWN || code == SYS_HALT)
        del_timer(&pot_timer);
    return NOTIFY_DONE;
}

static const struct file_operations pot_fops = {
    .owner = THIS_MODULE,
    .write = pot_write,
    .unlocked_ioctl = pot_ioctl,
    .open = pot_open,
    .release = pot_release,
};
static struct miscdevice pot_device = { .minor = WATCHDOG_MINOR, .name = "pot", .fops = &pot_fops };
static struct notifier_block pot_notifier = { .notifier_call = pot_notify };

static int __init pot_init(void)
{
    int i, ret;

    for (i = 0; pots[i].port != 0 && pots[i].port != port; i++)
        if (pots[i].sort == 2)
            pr_info("not the pot at %d\n", pots[i].port);
    if (!request_region(port, 4, "pot"))
        return -EBUSY;
    if (set_minutes(minutes))
        set_minutes(DEFAULT_MINUTES);
    ret = register_reboot_notifier(&pot_notifier);
    if (ret)
        goto out_region;
    ret = misc_register(&pot_device);
    if (ret)
        goto out_notifier;
    return 0;

out_notifier:
    unregister_reboot_notifier(&pot_notifier);
out_region:
    release_region(port, 4);
    return ret;
}

static void __exit pot_exit(void)
{
    misc_deregister(&pot_device);
    unregister_reboot_notifier(&pot_notifier);
    release_region(port, 4);
}

module_init(pot_init);
module_exit(pot_exit);
MODULE_LICENSE("GPL");
