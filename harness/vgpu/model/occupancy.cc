#include "vgpu/model/occupancy.h"

#include <algorithm>
#include <limits>

#include "vgpu/isa/insn.h"

namespace lockstep::vgpu {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
int64_t RoundDown(int64_t value, int64_t unit) { return value / unit * unit; }

int64_t BlocksByRegisters(const DeviceProfile& device, int64_t warps, int64_t registers) {
  if (registers == 0) return kUnlimited;
  if (registers > device.max_registers_per_thread) return 0;
  const int64_t granularity = device.warp_allocation_granularity;
  if (device.cc_major == 1) {
    // A block's registers are one piece; its warps are counted in pairs.
    const int64_t block = RoundUp(RoundUp(warps, granularity) * kWarpSize * registers, device.register_allocation_unit);
    return device.registers_per_sm / block;
  }
  // Each of an SM's partitions has its share of the registers and takes whole warps.
  const int64_t warp = RoundUp(registers * kWarpSize, device.register_allocation_unit);
  if (warp * RoundUp(warps, granularity) > device.registers_per_block) return 0;
  return RoundDown(device.registers_per_sm / warp, granularity) / warps;
}

int64_t BlocksByShared(const DeviceProfile& device, uint64_t shared_bytes) {
  if (shared_bytes > static_cast<uint64_t>(device.shared_per_block_optin)) return 0;
  const int64_t block =
      RoundUp(static_cast<int64_t>(shared_bytes) + device.shared_reserved_per_block, device.shared_allocation_unit);
  return block == 0 ? kUnlimited : device.shared_per_sm / block;
}

}  // namespace

Occupancy ComputeOccupancy(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes) {
  Occupancy result;
  if (threads <= 0 || threads > device.max_threads_per_block || registers_per_thread < 0) {
    result.limited_by = "threads";
    return result;
  }
  const int64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  struct Limit {
    int64_t blocks;
    const char* name;
  };
  const Limit limits[] = {
      {device.max_warps_per_sm / warps, "warps"},
      {device.max_blocks_per_sm, "blocks"},
      {BlocksByRegisters(device, warps, registers_per_thread), "registers"},
      {BlocksByShared(device, shared_bytes), "shared memory"},
  };
  const Limit& least = *std::min_element(std::begin(limits), std::end(limits),
                                         [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  result.blocks = static_cast<int>(least.blocks);
  result.warps = static_cast<int>(least.blocks * warps);
  result.fraction = static_cast<double>(result.warps) / device.max_warps_per_sm;
  result.limited_by = least.name;
  return result;
}

int MaxBlocksPerSm(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes) {
  return ComputeOccupancy(device, threads, registers_per_thread, shared_bytes).blocks;
}

}  // namespace lockstep::vgpu
