// What devices have in common: those of compute capability 7.5 and later, and below them each family's SM. The devices
// of a family differ in their number of SMs, caches and memory. What is measured on one device is an estimate for the
// others.
#pragma once

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

inline constexpr DeviceProfile kSince75 = {
    .max_threads_per_block = 1024,
    .registers_per_sm = 65536,
    .registers_per_block = 65536,
    .max_registers_per_thread = 255,
    .register_allocation_unit = 256,
    .warp_allocation_granularity = 4,
    .shared_per_block = 49152,
    .shared_wavefronts_per_clock = 1,  // 128 bytes per clock
    .issue_per_clock = 4,              // 4 schedulers
    .machine_instructions = 1,         // measured on an H200: 0.75 to 1.2 in gpu-counting.md's kernels
    .cycles_per_special = 2,           // 16 lanes per clock
    .cycles_per_multiply = 0.5,        // 64 lanes per clock
    .cycles_per_divide = 5.5,          // measured on an H200: integer remainder
    .cycles_per_barrier = 2,           // measured on an H200: barriers
    .cycles_per_atomic = 3.5,          // measured on an H200: atomics on one address per warp
    .l1_latency_cycles = 35,           // estimated
    .barrier_latency_cycles = 30,      // estimated
    .page_switch_ns = 0,               // L2 combines accesses
    .block_launch_cycles = 150,        // measured on an H200: 65536 empty blocks
    .queued_copy_us = 2.5,             // measured on an H100
    .copy_engines = 2,                 // one for each direction
    .strict_half_warp_coalescing = false,
    .shared_banks = 32,
};

// Compute capability 7.5.
inline constexpr DeviceProfile kTuring = [] {
  DeviceProfile profile = kSince75;
  profile.cc_major = 7;
  profile.cc_minor = 5;
  profile.max_threads_per_sm = 1024;
  profile.max_warps_per_sm = 32;
  profile.max_blocks_per_sm = 16;
  profile.shared_per_sm = 65536;
  profile.shared_per_block_optin = 65536;
  profile.shared_reserved_per_block = 0;
  profile.shared_allocation_unit = 256;
  profile.l1_sectors_per_clock = 2;    // 64 bytes per clock
  profile.cycles_per_float64 = 16;     // 2 lanes per clock
  profile.dram_latency_cycles = 500;   // estimated
  profile.l2_latency_cycles = 220;     // estimated
  profile.shared_latency_cycles = 25;  // estimated
  profile.alu_latency_cycles = 4;      // documented: 4 cycles
  profile.launch_overhead_us = 3;      // estimated
  profile.copy_overhead_us = 8;        // estimated
  profile.host_gb_per_s = 6;           // estimated
  profile.host_pinned_gb_per_s = 12;   // estimated from the bus
  profile.peer_gb_per_s = 0;
  return profile;
}();

// GeForce devices of compute capability 8.6 and 8.9.
inline constexpr DeviceProfile kGeForce8x = [] {
  DeviceProfile profile = kSince75;
  profile.cc_major = 8;
  profile.max_threads_per_sm = 1536;
  profile.max_warps_per_sm = 48;
  profile.shared_per_sm = 102400;
  profile.shared_per_block_optin = 101376;
  profile.shared_reserved_per_block = 1024;
  profile.shared_allocation_unit = 128;
  profile.l1_sectors_per_clock = 4;           // 128 bytes per clock
  profile.tensor_operations_per_clock = 512;  // 4 cores of 64 multiply-adds
  profile.cycles_per_float64 = 16;            // 2 lanes per clock
  profile.shared_latency_cycles = 25;         // estimated
  profile.alu_latency_cycles = 4.5;           // estimated
  profile.launch_overhead_us = 3;             // estimated
  profile.copy_overhead_us = 8;               // estimated
  profile.peer_gb_per_s = 0;
  return profile;
}();

// GH100 devices, measured on an H200.
inline constexpr DeviceProfile kHopper = [] {
  DeviceProfile profile = kSince75;
  profile.cc_major = 9;
  profile.cc_minor = 0;
  profile.sm_count = 132;
  profile.max_threads_per_sm = 2048;
  profile.max_warps_per_sm = 64;
  profile.max_blocks_per_sm = 32;
  profile.shared_per_sm = 233472;
  profile.shared_per_block_optin = 232448;
  profile.shared_reserved_per_block = 1024;
  profile.shared_allocation_unit = 128;
  profile.clock_ghz = 1.98;
  profile.l1_sectors_per_clock = 4;            // 128 bytes per clock
  profile.tensor_operations_per_clock = 4096;  // 4 cores of 512 multiply-adds
  profile.cycles_per_float64 = 0.5;            // 64 lanes per clock
  profile.dram_latency_cycles = 750;           // measured: rung 7 with 64 blocks
  profile.l2_latency_cycles = 290;             // measured: rung 7 at 2^22 ints
  profile.shared_latency_cycles = 30;          // estimated
  profile.alu_latency_cycles = 5;              // estimated
  profile.launch_overhead_us = 2.5;            // measured: rungs at 2^22 ints
  profile.copy_overhead_us = 5;                // estimated
  profile.host_gb_per_s = 12;                  // measured: 10.1 to the device, 16.6 to the host
  profile.host_pinned_gb_per_s = 55;           // measured: 55.1
  profile.peer_gb_per_s = 360;                 // estimated: four fifths of NVLink 4's 450 each way
  return profile;
}();

}  // namespace lockstep::vgpu
