// What the judge may call in a submission of assignment 03.
#include "shift.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(shift1_gather, shift2_any, shift3_grid_stride, shift4_vectors, shift5_in_place);
