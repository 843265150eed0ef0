/* What the parent device tells the driver of Intel's TCO watchdog: version and resources. */
#ifndef MODEL_ITCO_WDT_H
#define MODEL_ITCO_WDT_H
#include <model/kernel.h>
#define ICH_RES_IO_TCO 0
#define ICH_RES_IO_SMI 1
#define ICH_RES_MEM_OFF 2
#define ICH_RES_MEM_GCS_PMC 0
struct itco_wdt_platform_data { char name[32]; unsigned int version; bool no_reboot_use_pmc; };
static struct itco_wdt_platform_data model_itco_data;
static inline void model_platform_prepare(void)
{
    model_itco_data.version = __VERIFIER_nondet_uint();
    model_itco_data.no_reboot_use_pmc = __VERIFIER_nondet_int();
    for (int i = 0; i < 4; i++) {
        model_platform_device.model_resource[i].start = __VERIFIER_nondet_ulong();
        model_platform_device.model_resource[i].end = __VERIFIER_nondet_ulong();
    }
    model_platform_device.dev.parent = &model_pci_device.dev;
    MODEL_PLATFORM_DATA(&model_itco_data);
}
#endif
