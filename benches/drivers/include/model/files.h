/* Files, miscellaneous devices, notifiers and numbers of ioctl. Registration succeeds or fails; the script starts the functions
   that were registered as threads. */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H
#include <model/base.h>
#include <model/io.h>

struct module;
#define THIS_MODULE ((struct module *)0)
#define __module_get(module) ((void)(module))
#define try_module_get(module) ((void)(module), __VERIFIER_nondet_int())
#define module_put(module) ((void)(module))

struct inode { void *i_private; };
struct file { unsigned int f_flags; fmode_t f_mode; loff_t f_pos; void *private_data; };
struct poll_table_struct;
struct file_operations {
    struct module *owner;
    loff_t (*llseek)(struct file *, loff_t, int);
    ssize_t (*read)(struct file *, char __user *, size_t, loff_t *);
    ssize_t (*write)(struct file *, const char __user *, size_t, loff_t *);
    long (*unlocked_ioctl)(struct file *, unsigned int, unsigned long);
    long (*compat_ioctl)(struct file *, unsigned int, unsigned long);
    int (*open)(struct inode *, struct file *);
    int (*release)(struct inode *, struct file *);
};
static inline loff_t no_llseek(struct file *file, loff_t offset, int whence) { return -29; }
static inline long compat_ptr_ioctl(struct file *file, unsigned int cmd, unsigned long arg) { return -ENOIOCTLCMD; }
static inline int stream_open(struct inode *inode, struct file *file) { return 0; }
static inline int nonseekable_open(struct inode *inode, struct file *file) { return 0; }

#define WATCHDOG_MINOR 130
#define TEMP_MINOR 131
#define MISC_DYNAMIC_MINOR 255
struct miscdevice { int minor; const char *name; const struct file_operations *fops; struct device *parent; };
#define misc_register(device) ((void)(device), model_error())
#define misc_deregister(device) ((void)(device))

struct notifier_block {
    int (*notifier_call)(struct notifier_block *, unsigned long, void *);
    struct notifier_block *next;
    int priority;
};
#define NOTIFY_DONE 0
#define NOTIFY_OK 1
#define SYS_DOWN 1
#define SYS_RESTART SYS_DOWN
#define SYS_HALT 2
#define SYS_POWER_OFF 3
#define register_reboot_notifier(block) ((void)(block), model_error())
#define unregister_reboot_notifier(block) ((void)(block))
#define emergency_restart() ((void)0)
#define kernel_power_off() ((void)0)
#define orderly_poweroff(force) ((void)(force))

#define _IOC(dir, type, nr, size) ((unsigned)(dir) << 30 | (unsigned)(size) << 16 | (unsigned)(type) << 8 | (unsigned)(nr))
#define _IO(type, nr) _IOC(0, type, nr, 0)
#define _IOW(type, nr, of) _IOC(1, type, nr, sizeof(of))
#define _IOR(type, nr, of) _IOC(2, type, nr, sizeof(of))
#define _IOWR(type, nr, of) _IOC(3, type, nr, sizeof(of))

struct watchdog_info { u32 options; u32 firmware_version; u8 identity[32]; };
#define WDIOC_GETSUPPORT _IOR('W', 0, struct watchdog_info)
#define WDIOC_GETSTATUS _IOR('W', 1, int)
#define WDIOC_GETBOOTSTATUS _IOR('W', 2, int)
#define WDIOC_GETTEMP _IOR('W', 3, int)
#define WDIOC_SETOPTIONS _IOR('W', 4, int)
#define WDIOC_KEEPALIVE _IOR('W', 5, int)
#define WDIOC_SETTIMEOUT _IOWR('W', 6, int)
#define WDIOC_GETTIMEOUT _IOR('W', 7, int)
#define WDIOC_SETPRETIMEOUT _IOWR('W', 8, int)
#define WDIOC_GETPRETIMEOUT _IOR('W', 9, int)
#define WDIOC_GETTIMELEFT _IOR('W', 10, int)
#define WDIOF_OVERHEAT 0x0001
#define WDIOF_FANFAULT 0x0002
#define WDIOF_EXTERN1 0x0004
#define WDIOF_EXTERN2 0x0008
#define WDIOF_POWERUNDER 0x0010
#define WDIOF_CARDRESET 0x0020
#define WDIOF_POWEROVER 0x0040
#define WDIOF_SETTIMEOUT 0x0080
#define WDIOF_MAGICCLOSE 0x0100
#define WDIOF_PRETIMEOUT 0x0200
#define WDIOF_ALARMONLY 0x0400
#define WDIOF_KEEPALIVEPING 0x8000
#define WDIOS_DISABLECARD 0x0001
#define WDIOS_ENABLECARD 0x0002
#define WDIOS_TEMPPANIC 0x0004
#define WATCHDOG_NOWAYOUT 0

#endif
