// The driver's functions in which a null stream means the calling thread's.
#include "vgpu/cudart/driver/driver.h"
// Uses the macro of driver.h.
#include "driver_variants.inc"
