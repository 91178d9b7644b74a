// What the judge may call in a submission of assignment 13.
#include "bugs.h"
#include "worker/launchers.h"

LOCKSTEP_LAUNCHERS(bug1_ranks, bug2_sums, bug3_warp_sums, bug4_totals, bug5_polynomial, bug6_triples, bug7_steps,
                   bug8_reverse, bug9_minima, bug10_pairs, bug11_weights, bug12_fives);
