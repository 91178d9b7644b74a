// What the judge may call in a submission of assignment 11.
#include "libraries.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(libraries1_sum, libraries2_norm, libraries3_scan, libraries4_transpose, libraries5_filter,
                   libraries6_filter_many);
