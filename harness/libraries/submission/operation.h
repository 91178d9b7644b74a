// cuBLAS and cuFFT for submissions. Under a judge a program's device is in another process, so what the libraries of
// programs (../blas, ../fft) do on the host can't be done there. These describe the work
// (vgpu/device/library_operation.h) and the judge, who believes none of it, does it. Handles, plans and the checks of
// arguments are here.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/libraries/library_call.h"
#include "vgpu/device/library_operation.h"

namespace lockstep::libraries::submission {

using vgpu::FourierForm;
using vgpu::LibraryKind;
using vgpu::LibraryOperation;

// While it lives, messages and the judge's trace name this function for calls of the runtime's.
class CalledAs {
 public:
  explicit CalledAs(const char* function) : outer_(lockstep_called_as(function)) {}
  ~CalledAs() { lockstep_called_as(outer_); }
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;

 private:
  const char* outer_;
};

template <typename T>
uint64_t AddressOf(const T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace lockstep::libraries::submission
