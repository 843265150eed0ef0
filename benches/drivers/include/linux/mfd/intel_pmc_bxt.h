/* The power management controller that may hold the watchdog's bit. */
#ifndef MODEL_INTEL_PMC_BXT_H
#define MODEL_INTEL_PMC_BXT_H
#include <model/kernel.h>
struct intel_pmc_dev { int model; };
#define PMC_GCR_PMC_CFG_REG 0x08
#define PMC_CFG_NO_REBOOT_EN BIT(4)
#define intel_pmc_gcr_update(pmc, at, mask, value) ((void)(pmc), (void)(mask), (void)(value), model_error())
#endif
