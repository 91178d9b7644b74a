// at most: 3 points
// The virtual GPU's thresholds, resource by resource, for the devices that it has a profile of.
#include <cstdint>

#include "occupancy.h"
#include "vgpu/model/occupancy.cc"
#include "vgpu/model/profile.cc"
#include "vgpu/model/profiles/g80.cc"

using namespace lockstep::vgpu;

namespace {

// The entry whose limits are the device's, as far as an entry shows them; else the last with as many blocks.
const Thresholds* entry_of(const DeviceLimits* device) {
  const Thresholds* found = nullptr;
  for (const Thresholds& entry : kThresholds) {
    if (entry.max_blocks != device->max_blocks_per_sm || (entry.major == 1) != (device->registers_by_block != 0))
      continue;
    found = &entry;
    if (entry.threads[0] == device->max_threads_per_block && entry.shared[0] == device->shared_per_block) break;
  }
  return found != nullptr ? found : &kThresholds[0];
}

int blocks_by_registers(const DeviceLimits* device, int threads, int registers) {
  if (threads < 1 || threads > device->max_threads_per_block || registers > device->max_registers_per_thread) return 0;
  if (registers == 0) return kUnlimited;
  return Within(entry_of(device)->registers[(threads - 1) / 32 % 32], static_cast<uint64_t>(registers));
}

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads) {
  if (threads < 1) return 0;
  const int blocks = Within(entry_of(device)->threads, static_cast<uint64_t>(threads));
  return blocks < device->max_blocks_per_sm ? blocks : device->max_blocks_per_sm;
}

int occupancy2_shared(const DeviceLimits* device, int bytes) {
  if (bytes > device->shared_per_block) return 0;
  return Within(entry_of(device)->shared, static_cast<uint64_t>(bytes));
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads, int registers) {
  return blocks_by_registers(device, threads, registers);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads, int registers) {
  return blocks_by_registers(device, threads, registers);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const int warps = (kernel->threads_per_block + device->warp_size - 1) / device->warp_size;
  const int by[4] = {warps > 0 ? device->max_warps_per_sm / warps : 0, device->max_blocks_per_sm,
                     blocks_by_registers(device, kernel->threads_per_block, kernel->registers_per_thread),
                     occupancy2_shared(device, kernel->shared_per_block)};
  result->limiter = 0;
  for (int i = 0; i < 4; ++i) {
    result->blocks_by[i] = by[i];
    if (by[i] < by[result->limiter]) result->limiter = i;
  }
  result->blocks = by[result->limiter];
  result->warps = result->blocks * warps;
  result->occupancy = static_cast<double>(result->warps) / device->max_warps_per_sm;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0, most = 1;
  for (int threads = 32; threads <= device->max_threads_per_block; threads += 32) {
    const KernelNeeds needs = {threads, kernel->registers_per_thread,
                               kernel->shared_per_block + threads * kernel->shared_per_thread, 0};
    OccupancyResult result;
    occupancy5_limiter(device, &needs, &result);
    if (result.warps >= most) most = result.warps, best = threads;
  }
  return best;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  const int block_warps = (kernel->threads_per_block + 31) / 32;
  for (int blocks = 1; blocks <= 32; ++blocks) {
    if (blocks * block_warps >= warps) return entry_of(device)->registers[block_warps - 1][blocks - 1];
  }
  return 0;
}
