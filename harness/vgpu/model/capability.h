// What each compute capability sets for an SM, from 1.0 to 12.1: the limits that occupancy follows from. The one table
// of these facts in the project; device profiles agree with it, which a test sees to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::vgpu {

struct ComputeCapability {
  int major, minor;
  int max_threads_per_block;
  int max_threads_per_sm;
  int max_blocks_per_sm;
  int registers_per_sm;
  int registers_per_block;       // the most that a block can be given
  int max_registers_per_thread;  // that an instruction can name
  int register_allocation_unit;  // registers are handed out in multiples of it: to a warp, on 1.x to a block
  int warp_allocation_granularity;
  int shared_per_sm;           // bytes, with the largest carve-out
  int shared_per_block;        // bytes, without opting in to more
  int shared_per_block_optin;  // bytes, the most that a kernel can ask for
  int shared_reserved_per_block;
  int shared_allocation_unit;
  std::vector<int> carveouts_kb;  // sizes that shared memory can be set to, in KiB; one where it can't be set

  int max_warps_per_sm() const { return max_threads_per_sm / 32; }
  bool registers_by_block() const { return major == 1; }
};

// In ascending order.
std::span<const ComputeCapability> AllCapabilities();
// nullptr: there is no such device.
const ComputeCapability* FindCapability(int major, int minor);

}  // namespace lockstep::vgpu
