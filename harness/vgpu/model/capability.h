// The SM limits of each compute capability from 1.0 to 12.1, from which occupancy follows. The project's only table of
// these facts; a test checks that device profiles agree with it.
#pragma once

#include <span>
#include <vector>

namespace lockstep::vgpu {

struct ComputeCapability {
  int major, minor;
  int max_threads_per_block;
  int max_threads_per_sm;
  int max_blocks_per_sm;
  int registers_per_sm;
  int registers_per_block;       // maximum for one block
  int max_registers_per_thread;  // that an instruction can address
  int register_allocation_unit;  // allocation granularity: per warp; on 1.x per block
  int warp_allocation_granularity;
  int shared_per_sm;           // bytes, with the largest carve-out
  int shared_per_block;        // bytes, without opt-in
  int shared_per_block_optin;  // bytes, maximum with opt-in
  int shared_reserved_per_block;
  int shared_allocation_unit;
  std::vector<int> carveouts_kb;  // possible sizes of shared memory, in KiB; one if it is not configurable

  int max_warps_per_sm() const { return max_threads_per_sm / 32; }
  bool registers_by_block() const { return major == 1; }
};

// In ascending order.
std::span<const ComputeCapability> AllCapabilities();
// nullptr: there is no such compute capability.
const ComputeCapability* FindCapability(int major, int minor);

}  // namespace lockstep::vgpu
