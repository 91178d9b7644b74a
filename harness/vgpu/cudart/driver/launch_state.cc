// The launch API from before CUDA 4, which PyCUDA still uses: the function holds the block's shape and the parameters.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "vgpu/cudart/driver/driver.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

struct LaunchState {
  dim3 block{0, 0, 0};  // zeros: not set, so the block that the kernel requires, or one thread
  unsigned shared = 0;
  std::vector<uint8_t> parameters;
  size_t bytes = 0;  // cuParamSetSize
};

struct LaunchStates {
  std::mutex mutex;
  std::map<CUfunction, LaunchState> all;
};
LaunchStates& States() {
  static auto& states = *new LaunchStates;
  return states;
}

// Calls body(the function's state).
template <typename Body>
CUresult Change(const char* function, CUfunction kernel, Body body) {
  return Drive(function, [&] {
    if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
    const cudaError_t fault =
        Api(function, [&](Runtime& r) { Require(!r.IsFunctionGone(kernel), cudaErrorInvalidResourceHandle); });
    if (fault != cudaSuccess) return fault;
    const std::lock_guard lock(States().mutex);
    return body(States().all.try_emplace(kernel).first->second);
  });
}

KernelInfo InfoOf(CUfunction kernel) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  return r.InfoOf(r.KernelOf(kernel));
}

constexpr size_t kMostParameterBytes = 32764;

CUresult SetParameter(const char* function, CUfunction kernel, int offset, const void* value, size_t bytes) {
  return Change(function, kernel, [&](LaunchState& state) {
    const auto begin = static_cast<size_t>(offset);
    if (offset < 0 || value == nullptr || bytes > kMostParameterBytes || begin > kMostParameterBytes - bytes) {
      return cudaErrorInvalidValue;
    }
    if (state.parameters.size() < begin + bytes) state.parameters.resize(begin + bytes);
    std::memcpy(state.parameters.data() + begin, value, bytes);
    return cudaSuccess;
  });
}

CUresult Launch(const char* function, CUfunction kernel, int width, int height, CUstream stream) {
  LaunchState now;
  size_t bytes = 0, offset = 0, size = 0;
  const CUresult known = Change(function, kernel, [&](LaunchState& state) {
    now = state;
    for (size_t k = 0; cudaFuncGetParamInfo(kernel, k, &offset, &size) == cudaSuccess; ++k) bytes = offset + size;
    return width > 0 && height > 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
  if (known != CUDA_SUCCESS) return known;
  // Parameters set beyond the kernel's own are ignored, but a size set by cuParamSetSize counts.
  bytes = std::max(bytes, now.bytes);
  if (now.block.x == 0) {
    const auto required = InfoOf(kernel).required_block;
    now.block = required.x != 0 ? dim3(required.x, required.y, required.z) : dim3(1, 1, 1);
  }
  now.parameters.resize(std::max(bytes, now.parameters.size()));
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, now.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(kernel, static_cast<unsigned>(width), static_cast<unsigned>(height), 1, now.block.x,
                        now.block.y, now.block.z, now.shared, stream, nullptr, extra);
}

}  // namespace

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuFuncSetBlockShape(CUfunction kernel, int x, int y, int z) {
  return Change("cuFuncSetBlockShape", kernel, [&](LaunchState& state) {
    constexpr int kMostDeep = 64;
    const auto info = InfoOf(kernel);
    if (x <= 0 || y <= 0 || z <= 0 || z > kMostDeep || int64_t{x} * y * z > info.max_threads) {
      return cudaErrorInvalidValue;
    }
    const lockstep::vgpu::Dim3 block{static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
    if (info.required_block.x != 0 && !(block == info.required_block)) return cudaErrorInvalidValue;
    state.block = dim3(block.x, block.y, block.z);
    return cudaSuccess;
  });
}

CUresult cuFuncSetSharedSize(CUfunction kernel, unsigned bytes) {
  return Change("cuFuncSetSharedSize", kernel, [&](LaunchState& state) {
    if (bytes + uint64_t{InfoOf(kernel).static_shared} > static_cast<uint64_t>(ProfileHere().shared_per_block)) {
      return cudaErrorInvalidValue;
    }
    state.shared = bytes;
    return cudaSuccess;
  });
}

CUresult cuParamSetSize(CUfunction kernel, unsigned bytes) {
  return Change("cuParamSetSize", kernel, [&](LaunchState& state) {
    if (bytes > kMostParameterBytes) return cudaErrorInvalidValue;
    state.bytes = bytes;
    return cudaSuccess;
  });
}

CUresult cuParamSeti(CUfunction kernel, int offset, unsigned value) {
  return SetParameter("cuParamSeti", kernel, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction kernel, int offset, float value) {
  return SetParameter("cuParamSetf", kernel, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction kernel, int offset, void* value, unsigned bytes) {
  return SetParameter("cuParamSetv", kernel, offset, value, bytes);
}

CUresult cuLaunch(CUfunction kernel) { return Launch("cuLaunch", kernel, 1, 1, nullptr); }
CUresult cuLaunchGrid(CUfunction kernel, int width, int height) {
  return Launch("cuLaunchGrid", kernel, width, height, nullptr);
}
CUresult cuLaunchGridAsync(CUfunction kernel, int width, int height, CUstream stream) {
  return Launch("cuLaunchGridAsync", kernel, width, height, stream);
}

}  // extern "C"
