// cuBLAS and cuFFT for submissions. Under a judge the device is in another process, so these can't compute on the host
// like the libraries for programs (../blas, ../fft). They describe the operation (vgpu/device/library_operation.h), and
// the judge validates and does it. Handles, plans and argument checks are here.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/libraries/library_call.h"
#include "vgpu/device/library_operation.h"

namespace lockstep::libraries::submission {

using libraries::CalledAs;
using vgpu::FourierForm;
using vgpu::LibraryKind;
using vgpu::LibraryOperation;

template <typename T>
uint64_t AddressOf(const T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace lockstep::libraries::submission
