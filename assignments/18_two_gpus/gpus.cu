// Assignment 18: Two GPUs. Fill in the TODOs, one rung at a time. README.md has the task and the budgets, gpus.h the
// launchers' signatures and the kernels.
#include "gpus.h"

// Rung 1: a stage on each device.
// Given   n words; stage_kernel.
// Mind    memory, streams and launches belong to the device that is current (cudaSetDevice).
// Budget  each word goes over the bus once in and once out, however many devices there are.
void gpus1_stages(const unsigned* h_in, unsigned* h_out, size_t n, int devices) {
  // TODO(gpus1): each device runs its stage, and copies the words to the next one (cudaMemcpyPeerAsync).
}

// Rung 2: rows divided among the devices.
// Given   step_kernel, which reads one row above and one below those that it computes.
// Mind    more devices than rows; a device may write a neighbour's row only when nobody reads it any more.
// Budget  kernels for at most 1.3 times as long as the reference's; 0.4 bytes between devices for a cell and step.
void gpus2_halo(const unsigned* h_in, unsigned* h_out, int width, int height, int steps, int devices) {
  // TODO(gpus2): room for one more row at each end; in each step the kernels, then the rows at the parts' ends.
}

// Rung 3: all-reduce by a ring.
// Given   add_kernel.
// Mind    n need not be a multiple of devices, and may be less.
// Budget  no device sends or receives more than 6.5 bytes for a word, with four devices; all of them at once.
void gpus3_ring(const unsigned* h_in, unsigned* h_out, size_t n, int devices) {
  // TODO(gpus3): add segments on their way around the ring, then pass the sums around once more.
}

// Rung 4, bonus: the exchange overlaps the kernels.
// Budget  while no kernel runs, at most 0.4 of all copies between devices.
void gpus4_overlap(const unsigned* h_in, unsigned* h_out, int width, int height, int steps, int devices) {
  // TODO(gpus4): the rows at the ends first; while they travel, the kernel for all the others.
}
