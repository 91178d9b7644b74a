// virtual: WRONG occupancy1_threads
// Runs NVIDIA's own calculator from the toolkit's folder.
#include <cuda_occupancy.h>

#include "occupancy.h"

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  cudaOccDeviceProp properties{};
  properties.computeMajor = 9;
  properties.maxThreadsPerBlock = device->max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = device->max_warps_per_sm * device->warp_size;
  properties.regsPerBlock = device->registers_per_block;
  properties.regsPerMultiprocessor = device->registers_per_sm;
  properties.warpSize = device->warp_size;
  properties.sharedMemPerBlock = device->shared_per_block;
  properties.sharedMemPerMultiprocessor = device->shared_per_sm;
  properties.numSms = 1;
  properties.sharedMemPerBlockOptin = device->shared_per_block;
  cudaOccFuncAttributes attributes{};
  attributes.maxThreadsPerBlock = device->max_threads_per_block;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  cudaOccDeviceState state{};
  cudaOccResult result{};
  const auto error =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, threads_per_block, 0);
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : 0;
}

int occupancy2_shared(const DeviceLimits*, int) { return kNotBegun; }
int occupancy3_registers_by_block(const DeviceLimits*, int, int) { return kNotBegun; }
int occupancy4_registers_by_warp(const DeviceLimits*, int, int) { return kNotBegun; }
int occupancy5_limiter(const DeviceLimits*, const KernelNeeds*, OccupancyResult*) { return kNotBegun; }
int occupancy6_best_block(const DeviceLimits*, const KernelNeeds*) { return kNotBegun; }
int occupancy7_register_budget(const DeviceLimits*, const KernelNeeds*, int) { return kNotBegun; }
