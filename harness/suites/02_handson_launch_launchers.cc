// What the judge may call in a submission of assignment 02.
#include "launch.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(launch1_fill, launch2_any_length, launch3_copy_back, launch4_verify, launch5_grid_stride,
                   launch6_grid_2d);
