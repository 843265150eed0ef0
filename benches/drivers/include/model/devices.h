/* Devices on busses. Loading a driver finds one device, and probes it: a driver whose probe fails has nothing registered, so
   loading it counts as failed. The script says which functions probe and remove (MODEL_PROBE, MODEL_REMOVE, MODEL_MATCH). */
#ifndef MODEL_DEVICES_H
#define MODEL_DEVICES_H
#include <model/base.h>
#include <model/io.h>
#include <model/sync.h>
#include <model/files.h>

struct device_driver { const char *name; struct module *owner; const void *pm; };
struct device { struct device *parent; void *platform_data; };
/* (There is one device, and one driver that keeps something for it.) */
static void *model_driver_data;
#define dev_get_drvdata(dev) ((void)(dev), model_driver_data)
#define dev_set_drvdata(dev, data) ((void)(dev), (void)(model_driver_data = (data)))
#define dev_get_platdata(dev) ((dev)->platform_data)
struct dev_pm_ops { int (*suspend_noirq)(struct device *); int (*resume_noirq)(struct device *); };
#define SET_NOIRQ_SYSTEM_SLEEP_PM_OPS(suspend, resume) .suspend_noirq = (suspend), .resume_noirq = (resume),

struct pci_device_id { u32 vendor, device, subvendor, subdevice, class, class_mask; unsigned long driver_data; };
#define PCI_ANY_ID (~0u)
#define PCI_DEVICE(v, d) .vendor = (v), .device = (d), .subvendor = PCI_ANY_ID, .subdevice = PCI_ANY_ID
#define PCI_VENDOR_ID_ACCESSIO 0x494f
#define PCI_DEVICE_ID_ACCESSIO_WDG_CSM 0x22c0
struct pci_dev { struct device dev; unsigned int irq; u16 model_bar[6]; };
static struct pci_dev model_pci_device;
static const struct pci_device_id model_pci_id;
struct pci_driver {
    const char *name;
    const struct pci_device_id *id_table;
    int (*probe)(struct pci_dev *, const struct pci_device_id *);
    void (*remove)(struct pci_dev *);
};
#define to_pci_dev(d) container_of(d, struct pci_dev, dev)
#define pci_enable_device(dev) ((void)(dev), model_error())
#define pci_disable_device(dev) ((void)(dev))
/* (The address registers of ports have 16 bits on a PC.) */
#define pci_resource_start(dev, bar) ((resource_size_t)(dev)->model_bar[bar])
#define pci_request_region(dev, bar, name) ((void)(dev), model_error())
#define pci_release_region(dev, bar) ((void)(dev))
#define pci_request_regions(dev, name) ((void)(dev), model_error())
#define pci_release_regions(dev) ((void)(dev))
#define pci_read_config_dword(dev, at, value) ((void)(dev), *(value) = __VERIFIER_nondet_uint(), model_error())
#define pci_write_config_dword(dev, at, value) ((void)(dev), (void)(value), model_error())
#define module_pci_driver(driver) \
    int model_init(void) \
    { \
        model_pci_device.irq = __VERIFIER_nondet_uint(); \
        for (int bar = 0; bar < 6; bar++) model_pci_device.model_bar[bar] = __VERIFIER_nondet_ushort(); \
        return MODEL_PROBE(&model_pci_device, &model_pci_id); \
    } \
    void model_exit(void) { MODEL_REMOVE(&model_pci_device); }

struct platform_device {
    const char *name;
    int id;
    struct device dev;
    struct resource model_resource[4];
};
static struct platform_device model_platform_device;
struct platform_driver {
    int (*probe)(struct platform_device *);
    int (*remove)(struct platform_device *);
    void (*shutdown)(struct platform_device *);
    struct device_driver driver;
};
#define platform_set_drvdata(device, data) dev_set_drvdata(&(device)->dev, data)
#define platform_get_drvdata(device) dev_get_drvdata(&(device)->dev)
#define platform_device_register_simple(name, id, resources, number) \
    (__VERIFIER_nondet_int() ? &model_platform_device : (struct platform_device *)ERR_PTR(-ENOMEM))
#define platform_device_unregister(device) ((void)(device))
#define platform_driver_probe(driver, function) ((void)(driver), function(&model_platform_device))
#ifdef MODEL_REMOVE
#define platform_driver_unregister(driver) ((void)(driver), (void)MODEL_REMOVE(&model_platform_device))
#else
#define platform_driver_unregister(driver) ((void)(driver))
#endif
static inline struct resource *platform_get_resource(struct platform_device *device, unsigned int type, unsigned int n)
{
    if (n >= 4 || __VERIFIER_nondet_int())
        return NULL;
    return &device->model_resource[n];
}
#define devm_platform_ioremap_resource(device, n) \
    ((void)(device), __VERIFIER_nondet_int() ? (void *)&model_device_memory : ERR_PTR(-EBUSY))
#define MODEL_PLATFORM_DATA(data) (model_platform_device.dev.platform_data = (data))
#define module_platform_driver(driver) \
    int model_init(void) { model_platform_prepare(); return MODEL_PROBE(&model_platform_device); } \
    void model_exit(void) { }

struct isa_driver {
    int (*match)(struct device *, unsigned int);
    int (*probe)(struct device *, unsigned int);
    void (*remove)(struct device *, unsigned int);
    void (*shutdown)(struct device *, unsigned int);
    struct device_driver driver;
};
/* (The one device is any of the cards that the driver knows.) */
static struct device model_isa_device;
static unsigned int model_isa_card;
#define module_isa_driver(driver, number) \
    int model_init(void) \
    { \
        unsigned int card = __VERIFIER_nondet_uint(); \
        __VERIFIER_assume(card < (number)); \
        model_isa_card = card; \
        if (!MODEL_MATCH(&model_isa_device, card)) \
            return -ENODEV; \
        return MODEL_PROBE(&model_isa_device, card); \
    } \
    void model_exit(void) { MODEL_REMOVE(&model_isa_device, model_isa_card); }

/* The core of watchdogs calls the driver's operations on the device that was registered, with a timeout that it has checked
   (no more milliseconds than an unsigned int holds). */
struct watchdog_device;
struct watchdog_ops {
    struct module *owner;
    int (*start)(struct watchdog_device *);
    int (*stop)(struct watchdog_device *);
    int (*ping)(struct watchdog_device *);
    unsigned int (*status)(struct watchdog_device *);
    int (*set_timeout)(struct watchdog_device *, unsigned int);
    int (*set_pretimeout)(struct watchdog_device *, unsigned int);
    unsigned int (*get_timeleft)(struct watchdog_device *);
};
struct watchdog_device {
    int id;
    struct device *parent;
    const struct watchdog_info *info;
    const struct watchdog_ops *ops;
    unsigned int bootstatus, timeout, pretimeout, min_timeout, max_timeout;
    unsigned long status;
};
#define WDOG_ACTIVE 0
#define WDOG_NO_WAY_OUT 1
#define WDOG_STOP_ON_REBOOT 2
#define WDOG_HW_RUNNING 3
#define WDOG_STOP_ON_UNREGISTER 4
static struct watchdog_device *model_watchdog;
static void *model_watchdog_data;
#define watchdog_set_drvdata(device, data) ((void)(device), (void)(model_watchdog_data = (data)))
#define watchdog_get_drvdata(device) ((void)(device), model_watchdog_data)
#define watchdog_active(device) test_bit(WDOG_ACTIVE, &(device)->status)
#define watchdog_set_nowayout(device, nowayout) do { if (nowayout) set_bit(WDOG_NO_WAY_OUT, &(device)->status); } while (0)
#define watchdog_stop_on_reboot(device) set_bit(WDOG_STOP_ON_REBOOT, &(device)->status)
#define watchdog_stop_on_unregister(device) set_bit(WDOG_STOP_ON_UNREGISTER, &(device)->status)
#define devm_watchdog_register_device(dev, device) ((void)(dev), model_watchdog = (device), model_error())
static inline unsigned int model_timeout(void)
{
    unsigned int timeout = __VERIFIER_nondet_uint();
    __VERIFIER_assume(timeout <= UINT_MAX / 1000);
    return timeout;
}

#define machine_is_netwinder() (__VERIFIER_nondet_int())

#endif
