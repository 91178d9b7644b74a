// at most: 4 points
// Calls the virtual GPU's own calculation with a profile made from the device's limits: one resource at a time, with
// ample room in the others.
#include <climits>
#include <cstdint>

#include "occupancy.h"
#include "vgpu/model/occupancy.cc"

namespace {

using lockstep::vgpu::DeviceProfile;

DeviceProfile profile_of(const DeviceLimits* device) {
  DeviceProfile profile = {};
  profile.id = profile.name = "theirs";
  profile.cc_major = device->registers_by_block != 0 ? 1 : 9;
  profile.max_threads_per_block = device->max_threads_per_block;
  profile.max_warps_per_sm = device->max_warps_per_sm;
  profile.max_threads_per_sm = device->max_warps_per_sm * 32;
  profile.max_blocks_per_sm = device->max_blocks_per_sm;
  profile.registers_per_sm = device->registers_per_sm;
  profile.registers_per_block = device->registers_per_block;
  profile.max_registers_per_thread = device->max_registers_per_thread;
  profile.register_allocation_unit = device->register_unit;
  profile.warp_allocation_granularity = device->warp_granularity;
  profile.shared_per_sm = device->shared_per_sm;
  profile.shared_per_block = profile.shared_per_block_optin = device->shared_per_block;
  profile.shared_reserved_per_block = device->shared_reserved;
  profile.shared_allocation_unit = device->shared_unit;
  return profile;
}

void give_shared(DeviceProfile& profile) {
  profile.shared_per_sm = profile.shared_per_block_optin = INT_MAX;
  profile.shared_reserved_per_block = 0;
  profile.shared_allocation_unit = 1;
}

void give_slots(DeviceProfile& profile) { profile.max_warps_per_sm = profile.max_blocks_per_sm = INT_MAX; }

int blocks_by_registers(const DeviceLimits* device, int threads, int registers) {
  if (registers == 0 && threads >= 1 && threads <= device->max_threads_per_block) return kUnlimited;
  DeviceProfile profile = profile_of(device);
  give_shared(profile);
  give_slots(profile);
  return lockstep::vgpu::MaxBlocksPerSm(profile, threads, registers, 0);
}

int blocks_by_warps(const DeviceLimits* device, int threads) {
  DeviceProfile profile = profile_of(device);
  give_shared(profile);
  profile.max_blocks_per_sm = INT_MAX;
  return lockstep::vgpu::MaxBlocksPerSm(profile, threads, 0, 0);
}

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads) {
  DeviceProfile profile = profile_of(device);
  give_shared(profile);
  return lockstep::vgpu::MaxBlocksPerSm(profile, threads, 0, 0);
}

int occupancy2_shared(const DeviceLimits* device, int shared) {
  if (shared + device->shared_reserved == 0 && device->shared_per_block >= 0) return kUnlimited;
  DeviceProfile profile = profile_of(device);
  give_slots(profile);
  return lockstep::vgpu::MaxBlocksPerSm(profile, 1, 0, static_cast<uint64_t>(shared));
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads, int registers) {
  return blocks_by_registers(device, threads, registers);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads, int registers) {
  return blocks_by_registers(device, threads, registers);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const int by[4] = {blocks_by_warps(device, kernel->threads_per_block), device->max_blocks_per_sm,
                     blocks_by_registers(device, kernel->threads_per_block, kernel->registers_per_thread),
                     occupancy2_shared(device, kernel->shared_per_block)};
  result->limiter = 0;
  for (int i = 0; i < 4; ++i) {
    result->blocks_by[i] = by[i];
    if (by[i] < by[result->limiter]) result->limiter = i;
  }
  const lockstep::vgpu::Occupancy occupancy =
      lockstep::vgpu::ComputeOccupancy(profile_of(device), kernel->threads_per_block, kernel->registers_per_thread,
                                       static_cast<uint64_t>(kernel->shared_per_block));
  result->blocks = occupancy.blocks;
  result->warps = occupancy.warps;
  result->occupancy = occupancy.fraction;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0, most = 1;
  for (int threads = device->warp_size; threads <= device->max_threads_per_block; threads += device->warp_size) {
    const int warps = lockstep::vgpu::ComputeOccupancy(
                          profile_of(device), threads, kernel->registers_per_thread,
                          static_cast<uint64_t>(kernel->shared_per_block + threads * kernel->shared_per_thread))
                          .warps;
    if (warps >= most) most = warps, best = threads;
  }
  return best;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  for (int registers = device->max_registers_per_thread; registers > 0; --registers) {
    if (lockstep::vgpu::ComputeOccupancy(profile_of(device), kernel->threads_per_block, registers,
                                         static_cast<uint64_t>(kernel->shared_per_block))
            .warps >= warps) {
      return registers;
    }
  }
  return 0;
}
