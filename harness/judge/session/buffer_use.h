// Accesses to device memory in a call, counted by the judge itself after it served each request. The worker's claims
// about itself (names, notes, the flag of a continued transfer) change nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vgpu/memory/touched_range.h"

namespace lockstep::worker {

// Host requests on one buffer, with the first one: "cudaMemcpy" or "cudaMemcpy, called in shift.cu:12,".
struct HostUse {
  uint64_t bytes = 0;
  uint64_t late_bytes = 0;  // the part of these after a kernel had stored there
  std::string first;
};

// A buffer that the judge passed to the call, or one that the call allocated.
struct BufferUse {
  explicit BufferUse(vgpu::TouchedRange range) : by_kernels(std::move(range)) {}

  vgpu::TouchedRange by_kernels;
  // The largest copy from here to other device memory: its start in the buffer, and its bytes.
  uint64_t largest_copy_from = 0, largest_copy_bytes = 0;
  HostUse to_host;      // copied to the host
  HostUse from_host;    // copied from the host to here
  HostUse from_device;  // copied from other device memory to here
  HostUse filled;       // by cudaMemset and the like
};

// Appends copied bytes to `kept`. Beyond 2 * `least` bytes only the last `least` stay: a result is copied at the end.
void KeepLast(std::vector<uint8_t>& kept, const uint8_t* data, uint64_t bytes, uint64_t least);

// The data of copies between a device's memory and the host or other devices.
struct DeviceCopies {
  std::vector<uint8_t> all;       // sent: the last bytes, two to four times the size of the call's host arrays
  std::vector<uint8_t> stored;    // those of `all` that this device's kernels stored, not overwritten since
  std::vector<uint8_t> received;  // the first bytes, up to eight times that size
};

struct MemoryUse {
  uint64_t bytes_to_device = 0, bytes_on_device = 0, bytes_to_host = 0;
  uint64_t bytes_from_kernels = 0;  // the part of bytes_to_host whose contents kernels had stored
  // The part of copies within the device that landed at another offset than they had in the source.
  uint64_t bytes_moved = 0;
  std::vector<uint8_t> to_host;        // the last copied bytes, two to four times the size of the call's host arrays
  std::vector<uint8_t> to_device;      // the first copied bytes, up to twice that size
  std::map<int, DeviceCopies> copies;  // by device, where there are several
  std::vector<BufferUse> buffers;      // the judge's, by address; then the program's variables and allocations
  size_t passed = 0;                   // how many of them are the judge's
};

}  // namespace lockstep::worker
