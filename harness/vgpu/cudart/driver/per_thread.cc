// The driver's functions for which no stream is the calling thread's.
#include "driver_variants.inc"
#include "vgpu/cudart/driver/driver.h"
