// What the judge may call in a submission of assignment 07.
#include "occupancy.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(occupancy1_threads, occupancy2_shared, occupancy3_registers_by_block, occupancy4_registers_by_warp,
                   occupancy5_limiter, occupancy6_best_block, occupancy7_register_budget);
