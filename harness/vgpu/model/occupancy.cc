#include "vgpu/model/occupancy.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {
namespace {

constexpr int kMostBlocks = 32, kMostWarps = 32;  // per SM, per block

// The most that a block may use for 1, 2, 3, … blocks to fit an SM; lists shorter than the array end with 0.
struct Thresholds {
  int major, minor, max_blocks;
  uint16_t threads[kMostBlocks + 1];               // one entry more than there are slots
  int shared[kMostBlocks + 1];                     // bytes
  uint8_t registers[kMostWarps][kMostBlocks + 1];  // per thread, by the block's number of warps - 1
};

#include "vgpu/model/occupancy_table.inc"

const Thresholds& ThresholdsOf(const DeviceProfile& device) {
  const auto* const found = std::find_if(std::begin(kThresholds), std::end(kThresholds), [&](const Thresholds& one) {
    return one.major == device.cc_major && one.minor == device.cc_minor;
  });
  if (found != std::end(kThresholds)) return *found;
  throw std::logic_error(std::string(device.id) +
                         ": model/occupancy_table.inc lacks its compute capability; see model/occupancy.h");
}

// The number of thresholds that are at least `need`.
template <class T, size_t kCount>
int Within(const T (&thresholds)[kCount], uint64_t need) {
  int blocks = 0;
  while (blocks < static_cast<int>(kCount) && need <= static_cast<uint64_t>(thresholds[blocks]) &&
         thresholds[blocks] != 0) {
    ++blocks;
  }
  return blocks;
}

}  // namespace

Occupancy ComputeOccupancy(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes) {
  Occupancy result;
  if (threads <= 0 || threads > device.max_threads_per_block || registers_per_thread < 0) {
    result.limited_by = "threads";
    return result;
  }
  const Thresholds& table = ThresholdsOf(device);
  const int warps = (threads + kWarpSize - 1) / kWarpSize;
  struct Limit {
    int blocks;
    const char* name;
  };
  const Limit limits[] = {
      {Within(table.threads, static_cast<uint64_t>(threads)), "warps"},
      {table.max_blocks, "blocks"},
      {registers_per_thread == 0 ? kMostBlocks
                                 : Within(table.registers[warps - 1], static_cast<uint64_t>(registers_per_thread)),
       "registers"},
      {shared_bytes == 0 ? kMostBlocks : Within(table.shared, shared_bytes), "shared memory"},
  };
  const Limit& least = *std::min_element(std::begin(limits), std::end(limits),
                                         [](const Limit& a, const Limit& b) { return a.blocks < b.blocks; });
  result.blocks = least.blocks;
  result.warps = least.blocks * warps;
  result.fraction = static_cast<double>(result.warps) / device.max_warps_per_sm;
  result.limited_by = least.name;
  return result;
}

int MaxBlocksPerSm(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes) {
  return ComputeOccupancy(device, threads, registers_per_thread, shared_bytes).blocks;
}

}  // namespace lockstep::vgpu
