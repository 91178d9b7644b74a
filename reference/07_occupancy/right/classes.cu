// points: 100 + 10
// A class for each resource behind one interface; rung 5 asks them in turn.

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <vector>

#include "occupancy.h"

namespace occupancy {

class Resource {
 public:
  explicit Resource(const DeviceLimits& device) : device_(device) {}
  virtual ~Resource() = default;
  virtual int Blocks(const KernelNeeds& kernel) const = 0;

 protected:
  static int Up(int value, int unit) { return value % unit == 0 ? value : value + unit - value % unit; }
  bool IsBlock(const KernelNeeds& kernel) const {
    return kernel.threads_per_block > 0 && kernel.threads_per_block <= device_.max_threads_per_block;
  }
  int Warps(const KernelNeeds& kernel) const {
    return Up(kernel.threads_per_block, device_.warp_size) / device_.warp_size;
  }
  const DeviceLimits& device_;
};

class Warps : public Resource {
 public:
  using Resource::Resource;
  int Blocks(const KernelNeeds& kernel) const override {
    return IsBlock(kernel) ? device_.max_warps_per_sm / Resource::Warps(kernel) : 0;
  }
};

class Slots : public Resource {
 public:
  using Resource::Resource;
  int Blocks(const KernelNeeds&) const override { return device_.max_blocks_per_sm; }
};

class Registers : public Resource {
 public:
  using Resource::Resource;
  int Blocks(const KernelNeeds& kernel) const override {
    if (!IsBlock(kernel) || kernel.registers_per_thread > device_.max_registers_per_thread) return 0;
    if (kernel.registers_per_thread <= 0) return kUnlimited;
    return device_.registers_by_block ? ByBlock(kernel) : ByWarp(kernel);
  }
  int ByBlock(const KernelNeeds& kernel) const {
    const int warps = Up(Resource::Warps(kernel), device_.warp_granularity);
    return device_.registers_per_sm /
           Up(warps * device_.warp_size * kernel.registers_per_thread, device_.register_unit);
  }
  int ByWarp(const KernelNeeds& kernel) const {
    const int piece = Up(device_.warp_size * kernel.registers_per_thread, device_.register_unit);
    const int warps = Resource::Warps(kernel);
    if (Up(warps, device_.warp_granularity) > device_.registers_per_block / piece) return 0;
    const int all = device_.registers_per_sm / piece;
    return (all - all % device_.warp_granularity) / warps;
  }
};

class Shared : public Resource {
 public:
  using Resource::Resource;
  int Blocks(const KernelNeeds& kernel) const override {
    if (kernel.shared_per_block > device_.shared_per_block) return 0;
    const int given = Up(kernel.shared_per_block + device_.shared_reserved, device_.shared_unit);
    return given > 0 ? device_.shared_per_sm / given : kUnlimited;
  }
};

OccupancyResult Solve(const DeviceLimits& device, const KernelNeeds& kernel) {
  std::vector<std::unique_ptr<Resource>> resources;
  resources.push_back(std::make_unique<Warps>(device));
  resources.push_back(std::make_unique<Slots>(device));
  resources.push_back(std::make_unique<Registers>(device));
  resources.push_back(std::make_unique<Shared>(device));
  OccupancyResult result = {};
  result.blocks = kUnlimited;
  for (int i = 0; i < 4; ++i) {
    result.blocks_by[i] = resources[i]->Blocks(kernel);
    if (result.blocks_by[i] >= result.blocks) continue;
    result.blocks = result.blocks_by[i];
    result.limiter = i;
  }
  const int warps = (kernel.threads_per_block + device.warp_size - 1) / device.warp_size;
  result.warps = result.blocks * warps;
  result.occupancy = double(result.warps) / double(device.max_warps_per_sm);
  return result;
}

}  // namespace occupancy

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  const KernelNeeds kernel = {threads_per_block, 0, 0, 0};
  return std::min(occupancy::Warps(*device).Blocks(kernel), occupancy::Slots(*device).Blocks(kernel));
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  return occupancy::Shared(*device).Blocks({0, 0, shared_per_block, 0});
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return occupancy::Registers(*device).Blocks({threads_per_block, registers_per_thread, 0, 0});
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return occupancy::Registers(*device).Blocks({threads_per_block, registers_per_thread, 0, 0});
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  *result = occupancy::Solve(*device, *kernel);
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  std::array<int, 2> best = {0, 0};  // warps, threads: compared in this order
  for (int threads = device->warp_size; threads <= device->max_threads_per_block; threads += device->warp_size) {
    const KernelNeeds needs = {threads, kernel->registers_per_thread,
                               kernel->shared_per_block + threads * kernel->shared_per_thread, 0};
    const std::array<int, 2> candidate = {occupancy::Solve(*device, needs).warps, threads};
    if (candidate[0] > 0) best = std::max(best, candidate);
  }
  return best[1];
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  for (int registers = device->max_registers_per_thread; registers >= 1; --registers) {
    const KernelNeeds needs = {kernel->threads_per_block, registers, kernel->shared_per_block, 0};
    if (occupancy::Solve(*device, needs).warps >= warps) return registers;
  }
  return 0;
}

int main() {
  const DeviceLimits g80 = {32, 512, 24, 8, 8192, 8192, 124, 256, 2, 1, 16384, 16384, 512, 0};
  std::cout << occupancy::Solve(g80, {128, 30, 5120, 0}).blocks << std::endl;
}
