// What the judge may call in a submission of the shift in Python: the suite is that of assignment 03.
#include "worker/launchers.h"

#include "worker/python/launch.h"

using lockstep::worker::python::Array;
using lockstep::worker::python::Launch;

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  Launch("shift1_gather", {Array(d_in, {n}), Array(d_out, {n}), shift});
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  Launch("shift2_any", {Array(d_in, {n}), Array(d_out, {n}), shift});
}

LOCKSTEP_LAUNCHERS(shift1_gather, shift2_any);
