// The driver's functions for which no stream is the calling thread's.
#include "vgpu/cudart/driver/driver.h"
// Uses the macro of driver.h.
#include "driver_variants.inc"
