// Resident blocks of a kernel, from the device's model.
#include <algorithm>

#include "vgpu/cudart/work.h"

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamic_shared, unsigned flags) {
  return Api("cudaOccupancyMaxActiveBlocksPerMultiprocessor", Faults::kIgnores, [&](Runtime& r) {
    Require(blocks != nullptr && threads > 0, cudaErrorInvalidValue);
    Require(flags == cudaOccupancyDefault || flags == cudaOccupancyDisableCachingOverride, cudaErrorInvalidValue);
    Kernel& kernel = r.KernelOf(function);
    const auto& info = r.InfoOf(kernel);
    // No block of a launch that would fail: of more dynamic shared memory than cudaFuncSetAttribute has allowed
    // (cuda_occupancy.h, with the limit that the toolkit's own cudaOccFuncAttributes take).
    const bool possible = dynamic_shared <= MaxDynamicShared(r, kernel, info);
    *blocks = possible ? r.backend().MaxBlocksPerSm(info, threads, dynamic_shared) : 0;
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
