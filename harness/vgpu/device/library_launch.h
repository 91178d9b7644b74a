// A call of a host library's function (cuBLAS, cuFFT, …), as the device sees it: the caller does the work on the
// device's memory itself, and says before which memory that is.
//
// Each range is checked as a kernel's accesses are: outside an allocation it is a fault, unwritten bytes are a finding,
// and operations of other streams are compared with it. The call is one launch in the records, without a grid; its time
// is a roofline (model/library_time.h).
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/device/device.h"

namespace lockstep::vgpu {

struct LibraryFunction {
  std::string name;       // "cublasSgemm_v2"
  std::string call_site;  // "solve.cu:40", or ""
  double operations = 0;  // floating-point, or of integers
  Arithmetic arithmetic = Arithmetic::kNone;
};

// `rows` rows of `width` bytes, `pitch` bytes apart.
struct MemoryRows {
  std::string what;  // "matrix A"
  uint64_t address = 0, width = 0, rows = 1, pitch = 0;
  uint32_t element = 1;  // bytes
  bool reads = false, writes = false;
  uint32_t alignment = 1;  // of the address, in bytes; the pitch is a multiple of it
};

class LibraryLaunch {
 public:
  LibraryLaunch(Device& device, LibraryFunction function) : device_(device), function_(std::move(function)) {}
  // False after a fault, here or before: the caller must not touch this memory.
  bool Touch(const MemoryRows& rows);
  // Puts the call into the device's records.
  LaunchResult End();

 private:
  bool TouchRow(const MemoryRows& rows, uint64_t address, uint64_t row);
  Finding FindingOf(FindingKind kind, const MemoryRows& rows, uint64_t row, uint64_t address, uint64_t bytes) const;

  Device& device_;
  const LibraryFunction function_;
  double bytes_ = 0;  // read and written
  bool is_misaligned_ = false;
};

}  // namespace lockstep::vgpu
