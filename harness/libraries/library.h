// What the stand-ins for NVIDIA's host libraries share. Each is a library of NVIDIA's name, version and ABI beside our
// libcudart.so.13, where vgpu-run finds it first: libraries/blas is libcublas.so.13.
//
// Theory of operation. A function checks its arguments as NVIDIA's does, and makes a Call: which memory the work
// touches, and a function that does the work on this machine's CPU, by the device's addresses. Perform hands it to the
// runtime (vgpu/cudart/libraries/library_call.h). What a library has and ours does not define is refused by name: the
// build makes a weak function for every name that NVIDIA's header or library has (refused.cmake), and a definition
// takes its place.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/cudart/libraries/library_call.h"
#include "vgpu/model/library_time.h"

namespace lockstep::libraries {

using vgpu::Arithmetic;

enum class Access : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

// `rows` rows of `width` bytes, `pitch` bytes apart, of elements of so many bytes.
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

// A vector as BLAS has it: `count` elements, |increment| apart, from the address on.
Range Vector(Access access, const char* what, const void* address, uint32_t element, int64_t count, int64_t increment);
// `columns` columns of `rows` elements, `leading` elements apart.
Range Matrix(Access access, const char* what, const void* address, uint32_t element, int64_t rows, int64_t columns,
             int64_t leading);

// For work that learns what it touches when it is done, from pointers in device memory.
class Memory {
 public:
  explicit Memory(LockstepMemory* memory) : memory_(memory) {}
  // False: the caller returns false at once, and touches nothing.
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
  std::function<bool(Memory&)> more_memory;  // may be empty; called after all of `memory` was found to be there
  std::function<void()> run;
};

// The call's own error, or that of work before it. Memory that isn't there is an error, and a fault of the context.
cudaError_t Perform(Call call);

// While it lives, messages about calls of the runtime name this function.
class CalledAs {
 public:
  explicit CalledAs(const char* function) : outer_(lockstep_called_as(function)) {}
  ~CalledAs() { lockstep_called_as(outer_); }
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;

 private:
  const char* outer_;
};

}  // namespace lockstep::libraries
