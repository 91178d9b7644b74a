#include "vgpu/cudart/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu::cudart {
namespace {

constexpr int kLastOption = CU_JIT_NUM_OPTIONS - 1;

// The error for the target option: only the device's own compute capability is accepted. The errors for others are
// those of a Hopper's driver.
cudaError_t CheckTarget(int target, const DeviceProfile& profile) {
  constexpr int kTargets[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121};
  constexpr int kOldest = 50, kAccelerated = 0x10000, kFamily = 0x20000;
  const int here = profile.cc_major * 10 + profile.cc_minor;
  const int plain = target & ~(kAccelerated | kFamily);
  if (plain < kOldest) return cudaErrorInvalidKernelImage;
  if (std::find(std::begin(kTargets), std::end(kTargets), plain) == std::end(kTargets)) return cudaErrorInvalidValue;
  if (plain == here) return cudaSuccess;
  return plain < here ? cudaErrorInvalidPtx : cudaErrorInvalidSource;
}

}  // namespace

bool IsGiven(unsigned count, const CUjit_option* options, CUjit_option option) {
  return options != nullptr && std::find(options, options + count, option) < options + count;
}

cudaError_t CheckOptions(const DeviceProfile& profile, unsigned count, const CUjit_option* options,
                         void* const* values) {
  if (count > 0 && (options == nullptr || values == nullptr)) return cudaErrorInvalidValue;
  const auto given = [&](CUjit_option option) { return IsGiven(count, options, option); };
  for (unsigned k = 0; k < count; ++k) {
    const auto value = reinterpret_cast<uintptr_t>(values[k]);
    cudaError_t error = cudaSuccess;
    switch (static_cast<int>(options[k])) {
      case CU_JIT_MAX_REGISTERS:
        if (value == 0) error = cudaErrorInvalidValue;
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_INFO_LOG_BUFFER:
        if (!given(CU_JIT_INFO_LOG_BUFFER) || !given(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)) error = cudaErrorInvalidValue;
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_ERROR_LOG_BUFFER:
        if (!given(CU_JIT_ERROR_LOG_BUFFER) || !given(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES))
          error = cudaErrorInvalidValue;
        break;
      case CU_JIT_GLOBAL_SYMBOL_NAMES:
      case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
        if (!given(CU_JIT_GLOBAL_SYMBOL_NAMES) || !given(CU_JIT_GLOBAL_SYMBOL_ADDRESSES) ||
            !given(CU_JIT_GLOBAL_SYMBOL_COUNT)) {
          error = cudaErrorInvalidValue;
        }
        break;
      case CU_JIT_CACHE_MODE:
        if (value > CU_JIT_CACHE_OPTION_CA) error = cudaErrorInvalidValue;
        break;
      case CU_JIT_NEW_SM3X_OPT:
        error = cudaErrorInvalidPtx;
        break;
      case CU_JIT_TARGET:
        error = CheckTarget(static_cast<int>(value), profile);
        break;
      default:
        if (options[k] < 0 || options[k] > kLastOption) error = cudaErrorInvalidValue;
    }
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace lockstep::vgpu::cudart
