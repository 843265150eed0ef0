#include <model/kernel.h>
