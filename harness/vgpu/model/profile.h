// A device's limits and rates. The data is in model/profiles/*.cc, one file per device; formulas are in
// model/time_model.cc and model/occupancy.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::vgpu {

struct DeviceProfile {
  const char* id;          // "h200"
  const char* name;        // "NVIDIA H200"
  const char* source;      // source of the data
  int cc_major, cc_minor;  // compute capability
  // Limits.
  int sm_count;
  int max_threads_per_block, max_threads_per_sm, max_warps_per_sm, max_blocks_per_sm;
  int registers_per_sm, registers_per_block, max_registers_per_thread;
  int register_allocation_unit;  // registers per warp (CC 1.x: per block)
  int warp_allocation_granularity;
  int shared_per_sm, shared_per_block, shared_per_block_optin, shared_reserved_per_block;  // bytes
  int shared_allocation_unit;                                                              // bytes
  int64_t memory_bytes;
  int l2_bytes;
  int memory_bus_bits;
  // Rates.
  double clock_ghz, memory_clock_ghz;
  double dram_gb_per_s;                // peak according to the datasheet
  double dram_efficiency;              // fraction of the peak that a plain copy reaches
  double dram_read_efficiency;         // fraction of the peak that a read-only kernel reaches
  double l2_bytes_per_clock;           // whole device
  double l1_sectors_per_clock;         // per SM
  double shared_wavefronts_per_clock;  // per SM
  double issue_per_clock;              // warp instructions per SM
  double machine_instructions;         // per PTX instruction of the simple kinds
  double tensor_operations_per_clock;  // per SM, of 16-bit matrices added up in 32 bits; 0: no tensor cores
  double cycles_per_float64;           // issue cycles per warp instruction and SM
  double cycles_per_special;
  double cycles_per_multiply;  // of 32-bit integers
  double cycles_per_divide;    // of 32-bit integers, also remainder: the whole sequence
  double cycles_per_barrier;
  double cycles_per_atomic;  // per sector of a global atomic that leaves an SM
  double dram_latency_cycles, l2_latency_cycles, l1_latency_cycles;
  double shared_latency_cycles, alu_latency_cycles, barrier_latency_cycles;
  double page_switch_ns;       // DRAM, all channels together; if no cache combines accesses
  double block_launch_cycles;  // per SM, from one block's start to the next
  double launch_overhead_us;
  double copy_overhead_us, host_gb_per_s, host_pinned_gb_per_s;
  double queued_copy_us;  // overhead of a copy that follows another on its engine, in addition to its bytes
  int copy_engines;       // 2: one for each direction; 1: one for both; 0: no copy overlaps a kernel
  double peer_gb_per_s;   // from one such device to another; 0: over the host's bus, at host_pinned_gb_per_s
  // Coalescing rules of compute capability 1.0: a half-warp's accesses that are not contiguous, in order and aligned
  // become one transaction per thread.
  bool strict_half_warp_coalescing;
  int shared_banks;
};

const std::vector<const DeviceProfile*>& AllProfiles();  // sorted by id
const DeviceProfile* FindProfile(std::string_view id);   // nullptr if there is none
struct ProfileRegistration {
  explicit ProfileRegistration(const DeviceProfile* profile);
};

}  // namespace lockstep::vgpu
