// What kernels ask of the runtime that only the host's side knows: cudaDeviceGetAttribute, cudaGetErrorString, …
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace lockstep::vgpu {

struct RuntimeAnswers {
  int device = 0;  // this device's ordinal
  std::function<int()> device_count;
  std::function<std::string_view(uint32_t error)> error_name, error_text;
  std::function<uint32_t(int attribute, int device, int* value)> attribute;  // a cudaError_t
};

}  // namespace lockstep::vgpu
