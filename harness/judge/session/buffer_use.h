// What was done to device memory in a call, by the judge's own count: each request is counted when the judge has served
// it successfully. What the worker says about itself (names, notes, the flag of a continued transfer) changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/memory/touched_range.h"

namespace lockstep::worker {

// What requests did to a buffer of the judge's, and which was the first: "cudaMemcpy" or "cudaMemcpy, called in
// shift.cu:12,".
struct HostUse {
  uint64_t bytes = 0;
  uint64_t late_bytes = 0;  // of these, when a kernel had stored there already
  std::string first;
};

// A buffer of the judge's that the call was given, or one of the call's own.
struct BufferUse {
  explicit BufferUse(vgpu::TouchedRange range) : by_kernels(std::move(range)) {}

  vgpu::TouchedRange by_kernels;
  // The largest copy from here to other device memory: where it begins in the buffer, and its bytes.
  uint64_t largest_copy_from = 0, largest_copy_bytes = 0;
  HostUse to_host;      // copied to the host
  HostUse from_host;    // copied from the host to here
  HostUse from_device;  // copied from other device memory to here
  HostUse filled;       // cudaMemset and its kin
};

struct MemoryUse {
  uint64_t bytes_to_device = 0, bytes_on_device = 0, bytes_to_host = 0;
  uint64_t bytes_from_kernels = 0;  // of those to the host: what kernels had stored where they lay
  // Of those on the device: what came to lie at another place of its buffer than it had in the one that it came from.
  uint64_t bytes_moved = 0;
  std::vector<uint8_t> to_host;    // what was copied, as far as it has room in twice the call's host arrays
  std::vector<uint8_t> to_device;  // the same
  std::vector<BufferUse> buffers;  // the judge's, by address; then the program's: variables, what the call allocated
  size_t passed = 0;               // of them: the judge's
};

}  // namespace lockstep::worker
