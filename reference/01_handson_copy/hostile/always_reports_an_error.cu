// virtual: WRONG copy3_checked
// Always returns an error, whether or not a call failed.
#include "copy.h"

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return cudaErrorMemoryAllocation; }

cudaError_t copy1_round_trip(const int*, int*, size_t) { return cudaErrorNotReady; }
cudaError_t copy2_two_buffers(const int*, int*, size_t) { return cudaErrorNotReady; }
cudaError_t copy4_pinned(const int*, int*, size_t) { return cudaErrorNotReady; }
