// Resident blocks of a kernel, as the device's model has it.
#include <algorithm>

#include "vgpu/cudart/work.h"

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamic_shared, unsigned flags) {
  return Api("cudaOccupancyMaxActiveBlocksPerMultiprocessor", Faults::kIgnores, [&](Runtime& r) {
    Require(blocks != nullptr && threads > 0, cudaErrorInvalidValue);
    Require(flags == cudaOccupancyDefault || flags == cudaOccupancyDisableCachingOverride, cudaErrorInvalidValue);
    *blocks = r.backend().MaxBlocksPerSm(r.InfoOf(r.KernelOf(function)), threads, dynamic_shared);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared,
                                                                cudaOccupancyDefault);
}

// The most dynamic shared memory with which that many blocks still fit.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int threads) {
  return Api("cudaOccupancyAvailableDynamicSMemPerBlock", Faults::kIgnores, [&](Runtime& r) {
    Require(bytes != nullptr && blocks > 0 && threads > 0, cudaErrorInvalidValue);
    Kernel& kernel = r.KernelOf(function);
    const auto& info = r.InfoOf(kernel);
    const auto fits = [&](uint64_t dynamic) { return r.backend().MaxBlocksPerSm(info, threads, dynamic) >= blocks; };
    Require(fits(0), cudaErrorInvalidValue);
    uint64_t least = 0, most = MaxDynamicShared(r, kernel, info);
    while (least < most) {
      const uint64_t middle = least + (most - least + 1) / 2;
      if (fits(middle)) {
        least = middle;
      } else {
        most = middle - 1;
      }
    }
    *bytes = least;
  });
}

}  // extern "C"
