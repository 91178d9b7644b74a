// Assignment 09: copies and kernels side by side. Fill in the TODOs, one rung at a time; README.md has the task.
//
// The kernels are given (streams.h): what you write is the host code that keeps three engines busy, the copy to the
// device, the multiprocessors, and the copy to the host.

#include <algorithm>
#include <cstring>

#include "streams.h"

// Rung 1: page-locked memory.
// Goal    h_out[i] = Simulate(h_in[i]), by one copy to the device, one launch of simulate_kernel, one copy back.
// How     cudaMallocHost; memcpy from h_in; cudaMemcpy; the launch; cudaMemcpy; memcpy to h_out; free everything.
// Mind    n may be 0, and a grid of 0 blocks is an error.
// Budget  no byte copied between the device and pageable memory; one copy each way.
void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  // TODO(streams1): copy through page-locked memory.
}

// Rung 2: chunks in streams.
// Goal    rung 1's result, with chunk 2 on its way to the device while chunk 1 is in the kernel and chunk 0 comes back.
// How     chunk c goes through stream c % streams: cudaMemcpyAsync, the launch, cudaMemcpyAsync.
// Mind    wait for every stream before you return: nothing else tells you that a copy has arrived.
// Budget  with 4 streams, 1.22 times the busiest engine's time.
void streams2_chunks(const float* h_in, float* h_out, size_t n, int streams) {
  // TODO(streams2): issue chunks in `streams` streams.
}

// Rung 3: one copy engine, one queue.
// Goal    rung 2's result on a GPU of 2008: one engine makes the copies of both directions, in the order of issue.
// How     a copy back waits for its kernel, and everything issued after it waits too. What can you issue first?
// Budget  1.12 times the busiest engine's time, where one engine does all copies.
void streams3_one_engine(const float* h_in, float* h_out, size_t n) {
  // TODO(streams3): the same operations in another order.
}

// Rung 4: events.
// Goal    chain_kernel on pieces of kPiece elements: piece c needs the last result of piece c - 1.
// How     a stream for each kind of work, or for each of a few pieces; cudaEventRecord after what another stream waits
//         for, and cudaStreamWaitEvent before what has to wait.
// Mind    let the streams wait, not the host: as long as the host waits it issues nothing.
// Budget  1.18 times the busiest engine's time.
void streams4_events(const float* h_in, float* h_out, size_t n) {
  // TODO(streams4): launch chain_kernel for each piece, after its copy and after the piece before.
}
