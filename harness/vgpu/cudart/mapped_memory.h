// How kernels access host memory that is not device memory: registered memory, and all page-locked memory if the device
// belongs to another process. (Otherwise page-locked memory is device memory, at one address for both.)
//
// cudaHostGetDevicePointer allocates a copy of it in device memory, its image. Before device work, bytes changed by the
// host are copied to the image. After it, bytes changed by the device are saved, and appear in host memory when the
// host has waited, as for copies. At the host's own address there is no device memory, so a kernel faults.
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
  // The device address of `address`, which is in the host memory at `begin` of this size. Throws ApiError.
  uint64_t Map(Runtime& r, const void* begin, uint64_t bytes, const void* address);
  void Unmap(Runtime& r, const void* begin);
  void Clear() { images_.clear(); }
  bool empty() const { return images_.empty(); }

  void ToDevice(Runtime& r);
  void FromDevice(Runtime& r, const StreamPoint& point);
  // For a launch running concurrently with the host: both see each other's writes at once.
  void Exchange(Runtime& r);
  // These bytes have reached host memory.
  void Arrived(const uint8_t* at, uint64_t bytes);
  // After a kernel's access to an invalid address: explains it if a parameter is a host address that only has an image.
  static void ExplainHostAddresses(Runtime& r, std::span<const uint8_t> parameters);

 private:
  struct Image {
    uint64_t bytes = 0, device = 0;
    std::vector<uint8_t> host, on_device;  // at the last comparison
  };
  std::map<uint8_t*, Image> images_;  // by start of the host memory
};

}  // namespace lockstep::vgpu::cudart
