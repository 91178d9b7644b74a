// The toolkit's own occupancy calculator, where there is one: then LOCKSTEP_HAS_TOOLKIT_CALCULATOR is defined.
#pragma once

#if __has_include("/usr/local/cuda/include/cuda_occupancy.h")
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "/usr/local/cuda/include/cuda_occupancy.h"
#pragma GCC diagnostic pop
#define LOCKSTEP_HAS_TOOLKIT_CALCULATOR 1

#include <cstddef>

namespace lockstep::vgpu {

// limits: a device's profile, or the limits of its compute capability; the fields have the same names.
template <typename Limits>
cudaOccDeviceProp ToolkitProperties(const Limits& limits, int major, int minor, int sms) {
  cudaOccDeviceProp properties;
  properties.computeMajor = major;
  properties.computeMinor = minor;
  properties.maxThreadsPerBlock = limits.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = limits.max_threads_per_sm;
  properties.regsPerBlock = limits.registers_per_block;
  properties.regsPerMultiprocessor = limits.registers_per_sm;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = static_cast<size_t>(limits.shared_per_block);
  properties.sharedMemPerMultiprocessor = static_cast<size_t>(limits.shared_per_sm);
  properties.numSms = sms;
  properties.sharedMemPerBlockOptin = static_cast<size_t>(limits.shared_per_block_optin);
  properties.reservedSharedMemPerBlock = static_cast<size_t>(limits.shared_reserved_per_block);
  return properties;
}

// A kernel that may take as much shared memory as the device has.
template <typename Limits>
cudaOccFuncAttributes ToolkitAttributes(const Limits& limits, int registers) {
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = limits.max_threads_per_block;
  attributes.numRegs = registers;
  attributes.sharedSizeBytes = 0;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<size_t>(limits.shared_per_block_optin);
  return attributes;
}

}  // namespace lockstep::vgpu
#endif
