#include "vgpu/cudart/kernel_answers.h"

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

// The error that f throws.
template <typename F>
uint32_t CodeOf(const F& f) {
  try {
    f();
  } catch (const ApiError& error) {
    return error.code;
  }
  return cudaSuccess;
}

}  // namespace

RuntimeAnswers AnswersFor(int device) {
  RuntimeAnswers answers;
  answers.device = device;
  answers.device_count = [] { return runtime().device_count(); };
  answers.error_name = [](uint32_t error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); };
  answers.error_text = [](uint32_t error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); };
  answers.attribute = [](int attribute, int of_device, int* value) {
    return CodeOf([&] {
      runtime().RequireDevice(of_device);
      *value = AttributeOf(runtime(), static_cast<cudaDeviceAttr>(attribute));
    });
  };
  answers.limit = [](uint32_t limit, uint64_t* value) {
    return CodeOf([&] { *value = LimitOf(static_cast<cudaLimit>(limit)); });
  };
  answers.most_dynamic_shared = [device](ModuleHandle module, const KernelInfo& info) {
    return runtime().MostDynamicShared(device, module, info);
  };
  answers.most_pending = [] { return uint64_t{LimitOf(cudaLimitDevRuntimePendingLaunchCount)}; };
  return answers;
}

}  // namespace lockstep::vgpu::cudart
