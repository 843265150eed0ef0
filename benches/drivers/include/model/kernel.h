/* All of the kernel that drivers of this kind use. */
#include <model/base.h>
#include <model/sync.h>
#include <model/io.h>
#include <model/files.h>
#include <model/module.h>
#include <model/devices.h>
