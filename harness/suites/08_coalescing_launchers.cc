// What the judge may call in a submission of assignment 08.
#include "coalescing.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(coalesce1_predict, coalesce2_aligned, coalesce3_misaligned, coalesce4_strided, coalesce5_permuted,
                   coalesce6_structures, coalesce7_arrays, coalesce8_staged, coalesce9_in_2006);
