// Host memory in kernels, if it is not device memory: registered memory, and all page-locked memory if the device
// belongs to another process. (Otherwise page-locked memory is device memory, at one address for both.)
//
// cudaHostGetDevicePointer gives it a range of device memory as its image. Before device work, bytes that the host
// has changed are copied to the image. After it, bytes that the device has changed are kept, and arrive in host memory
// when the host has waited, as copies do. At the host's own address there is no device memory, so a kernel faults.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "vgpu/observers/stream_checker.h"

namespace lockstep::vgpu::cudart {

class Runtime;

class MappedMemory {
 public:
  // The device address of this host address, in memory of so many bytes from begin on. Throws ApiError.
  uint64_t Map(Runtime& r, const void* begin, uint64_t bytes, const void* address);
  void Unmap(Runtime& r, const void* begin);
  void Clear() { images_.clear(); }
  bool empty() const { return images_.empty(); }

  void ToDevice(Runtime& r);
  void FromDevice(Runtime& r, const StreamPoint& point);
  // For a launch that goes on beside the host: both see at once what the other has written.
  void Exchange(Runtime& r);
  // The device's bytes have arrived in host memory.
  void Arrived(const uint8_t* at, uint64_t bytes);
  // Of a kernel that went to a bad address: says so where a parameter is an address of host memory that only an image
  // stands for.
  static void ExplainHostAddresses(Runtime& r, std::span<const uint8_t> parameters);

 private:
  struct Image {
    uint64_t bytes = 0, device = 0;
    std::vector<uint8_t> host, on_device;  // as they were when last compared
  };
  std::map<uint8_t*, Image> images_;  // by the begin of host memory
};

}  // namespace lockstep::vgpu::cudart
