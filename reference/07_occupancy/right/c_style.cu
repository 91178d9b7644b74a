// points: 100 + 10
// Plain C, with macros and a switch over the four resources.

#include <stdio.h>
#include <string.h>

#include "occupancy.h"

#define DIV_UP(a, b) (((a) + (b)-1) / (b))
#define ROUND_UP(a, b) (DIV_UP(a, b) * (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static int limit(const DeviceLimits* dev, const KernelNeeds* k, int which) {
  int warps, per, sm_warps;
  switch (which) {
    case kLimitWarps:
      if (k->threads_per_block < 1 || k->threads_per_block > dev->max_threads_per_block) return 0;
      return dev->max_warps_per_sm / DIV_UP(k->threads_per_block, dev->warp_size);
    case kLimitBlocks:
      return dev->max_blocks_per_sm;
    case kLimitRegisters:
      if (k->threads_per_block < 1 || k->threads_per_block > dev->max_threads_per_block) return 0;
      if (k->registers_per_thread > dev->max_registers_per_thread) return 0;
      if (k->registers_per_thread == 0) return kUnlimited;
      warps = DIV_UP(k->threads_per_block, dev->warp_size);
      if (dev->registers_by_block) {
        warps = ROUND_UP(warps, dev->warp_granularity);
        per = ROUND_UP(warps * dev->warp_size * k->registers_per_thread, dev->register_unit);
        return dev->registers_per_sm / per;
      }
      per = ROUND_UP(dev->warp_size * k->registers_per_thread, dev->register_unit);
      if (per * ROUND_UP(warps, dev->warp_granularity) > dev->registers_per_block) return 0;
      sm_warps = dev->registers_per_sm / per;
      sm_warps -= sm_warps % dev->warp_granularity;
      return sm_warps / warps;
    default:
      if (k->shared_per_block > dev->shared_per_block) return 0;
      per = ROUND_UP(k->shared_per_block + dev->shared_reserved, dev->shared_unit);
      return per ? dev->shared_per_sm / per : kUnlimited;
  }
}

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  KernelNeeds k;
  memset(&k, 0, sizeof k);
  k.threads_per_block = threads_per_block;
  int warps = limit(device, &k, kLimitWarps), blocks = limit(device, &k, kLimitBlocks);
  return MIN(warps, blocks);
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  KernelNeeds k = {1, 1, shared_per_block, 0};
  return limit(device, &k, kLimitShared);
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  KernelNeeds k = {threads_per_block, registers_per_thread, 0, 0};
  return limit(device, &k, kLimitRegisters);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  KernelNeeds k = {threads_per_block, registers_per_thread, 0, 0};
  return limit(device, &k, kLimitRegisters);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  int which;
  result->blocks = kUnlimited;
  for (which = kLimitWarps; which <= kLimitShared; which++) {
    result->blocks_by[which] = limit(device, kernel, which);
    if (result->blocks_by[which] < result->blocks) {
      result->blocks = result->blocks_by[which];
      result->limiter = which;
    }
  }
  result->warps = result->blocks * DIV_UP(kernel->threads_per_block, device->warp_size);
  result->occupancy = (double)result->warps / device->max_warps_per_sm;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0, best_warps = 0, t;
  for (t = device->warp_size; t <= device->max_threads_per_block; t += device->warp_size) {
    KernelNeeds k = *kernel;
    OccupancyResult r;
    k.threads_per_block = t;
    k.shared_per_block = kernel->shared_per_block + t * kernel->shared_per_thread;
    occupancy5_limiter(device, &k, &r);
    if (r.warps && r.warps >= best_warps) best_warps = r.warps, best = t;
  }
  return best;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  int r;
  for (r = device->max_registers_per_thread; r > 0; r--) {
    KernelNeeds k = *kernel;
    OccupancyResult result;
    k.registers_per_thread = r;
    occupancy5_limiter(device, &k, &result);
    if (result.warps >= warps) return r;
  }
  return 0;
}
