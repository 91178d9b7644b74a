// A call of a host library's function (cuBLAS, cuFFT, …) on the device: the caller does the work directly on device
// memory, after declaring which memory it will access.
//
// Each range is checked like a kernel's accesses: outside an allocation or misaligned it is a fault, unwritten bytes
// are a finding, and it is checked for races with other streams. The call is one launch in the records, without a grid;
// its time is a roofline (model/library_time.h).
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/device/device.h"

namespace lockstep::vgpu {

struct LibraryFunction {
  std::string name;       // "cublasSgemm_v2"
  std::string call_site;  // "solve.cu:40", or ""
  double operations = 0;  // floating-point or integer
  Arithmetic arithmetic = Arithmetic::kNone;
};

// `rows` rows of `width` bytes, `pitch` bytes apart.
struct MemoryRows {
  std::string what;  // "matrix A"
  uint64_t address = 0, width = 0, rows = 1, pitch = 0;
  uint32_t element = 1;  // bytes
  bool reads = false, writes = false;
  uint32_t alignment = 1;  // of the address, in bytes; divides the pitch
};

class LibraryLaunch {
 public:
  LibraryLaunch(Device& device, LibraryFunction function) : device_(device), function_(std::move(function)) {}
  // False after a fault, here or before: the caller must not access this memory.
  bool Touch(const MemoryRows& rows);
  // Adds the call to the device's records.
  LaunchResult End();

 private:
  bool TouchRow(const MemoryRows& rows, uint64_t address, uint64_t row);
  Finding FindingOf(FindingKind kind, const MemoryRows& rows, uint64_t row, uint64_t address, uint64_t bytes) const;

  Device& device_;
  const LibraryFunction function_;
  double bytes_ = 0;  // bytes read and written
  bool is_misaligned_ = false;
};

}  // namespace lockstep::vgpu
