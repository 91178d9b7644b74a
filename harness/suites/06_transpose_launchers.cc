// What the judge may call in a submission of assignment 06.
#include "transpose.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(transpose1_naive, transpose2_tiled, transpose3_padded, transpose4_rows, transpose5_wide);
