// Common code of our replacements for NVIDIA's host libraries. Each has NVIDIA's name, version and ABI and is next to
// our libcudart.so.13, where vgpu-run finds it first: libraries/blas is libcublas.so.13.
//
// Theory of operation. A function checks its arguments as NVIDIA's does, and makes a Call: which memory the work
// accesses, and a function that does the work on this machine's CPU, directly on device memory. Perform hands it to the
// runtime (vgpu/cudart/libraries/library_call.h). Functions that ours lacks are refused by name: the build makes a weak
// function for every name in NVIDIA's header or library (refused.cmake), which a definition overrides.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "vgpu/cudart/libraries/library_call.h"
#include "vgpu/model/library_time.h"

namespace lockstep::libraries {

using vgpu::Arithmetic;

enum class Access : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

// `rows` rows of `width` bytes, `pitch` bytes apart, with elements of this size.
struct Range {
  Access access = Access::kRead;
  const char* what = "";  // "matrix A"
  const void* address = nullptr;
  uint64_t width = 0, rows = 1, pitch = 0;
  uint32_t element = 1;
};

template <typename T>
Range Elements(Access access, const char* what, const T* address, int64_t count) {
  const auto bytes = static_cast<uint64_t>(count < 0 ? 0 : count) * sizeof(T);
  return {access, what, address, bytes, 1, bytes, sizeof(T)};
}

// A BLAS vector: `count` elements, |increment| apart, starting at the address.
Range Vector(Access access, const char* what, const void* address, uint32_t element, int64_t count, int64_t increment);
// `columns` columns of `rows` elements, `leading` elements apart.
Range Matrix(Access access, const char* what, const void* address, uint32_t element, int64_t rows, int64_t columns,
             int64_t leading);

// For work that learns which memory it accesses only when it runs, from pointers in device memory.
class Memory {
 public:
  explicit Memory(LockstepMemory* memory) : memory_(memory) {}
  // False: the caller must return false at once, without accessing the memory.
  bool Touch(const Range& range);

 private:
  LockstepMemory* memory_;
};

struct Call {
  const char* function = "";  // the symbol: "cublasSgemm_v2"
  cudaStream_t stream = nullptr;
  double operations = 0;
  Arithmetic arithmetic = Arithmetic::kNone;
  bool waits = false;  // its result goes to host memory
  std::vector<Range> memory;
  std::function<bool(Memory&)> more_memory;  // may be empty; called after all of `memory` was validated
  std::function<void()> run;
};

// Returns the call's own error, or that of earlier work. Missing memory is a fault of the context, which a later call
// returns, or this one if it waits.
cudaError_t Perform(Call call);

}  // namespace lockstep::libraries
