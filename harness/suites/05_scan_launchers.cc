// What the judge may call in a submission of assignment 05.
#include "scan.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(scan1_hillis_steele, scan2_work_efficient, scan3_padded, scan4_blocks, scan5_lookback,
                   scan6_inclusive, scan6_max);
