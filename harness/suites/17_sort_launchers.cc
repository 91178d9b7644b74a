// What the judge may call in a submission of assignment 17.
#include "sort.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(compact1_block, compact2_blocks, split3_bit, sort4_radix, sort5_pairs);
