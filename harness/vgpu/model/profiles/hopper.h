// The common part of GH100 devices: the SM, measured on an H200. Caches and memory differ by device.
#pragma once

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

inline constexpr DeviceProfile kHopper = {
    .cc_major = 9,
    .cc_minor = 0,
    .sm_count = 132,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 2048,
    .max_warps_per_sm = 64,
    .max_blocks_per_sm = 32,
    .registers_per_sm = 65536,
    .registers_per_block = 65536,
    .max_registers_per_thread = 255,
    .register_allocation_unit = 256,
    .warp_allocation_granularity = 4,
    .shared_per_sm = 233472,
    .shared_per_block = 49152,
    .shared_per_block_optin = 232448,
    .shared_reserved_per_block = 1024,
    .shared_allocation_unit = 128,
    .clock_ghz = 1.98,
    .l1_sectors_per_clock = 4,            // 128 bytes per clock
    .shared_wavefronts_per_clock = 1,     // 128 bytes per clock
    .issue_per_clock = 4,                 // 4 schedulers
    .machine_instructions = 1,            // measured: 0.75 to 1.2 in gpu-counting.md's kernels
    .tensor_operations_per_clock = 4096,  // 4 cores of 512 multiply-adds
    .cycles_per_float64 = 0.5,            // 64 lanes per clock
    .cycles_per_special = 2,              // 16 lanes per clock
    .cycles_per_multiply = 0.5,           // 64 lanes per clock
    .cycles_per_divide = 5.5,             // measured: integer remainder
    .cycles_per_barrier = 2,              // measured: barriers
    .cycles_per_atomic = 3.5,             // measured: atomics on one address per warp
    .dram_latency_cycles = 750,           // measured: rung 7 with 64 blocks
    .l2_latency_cycles = 290,             // measured: rung 7 at 2^22 ints
    .l1_latency_cycles = 35,              // estimated
    .shared_latency_cycles = 30,          // estimated
    .alu_latency_cycles = 5,              // estimated
    .barrier_latency_cycles = 30,         // estimated
    .page_switch_ns = 0,                  // L2 combines accesses
    .block_launch_cycles = 150,           // measured: 65536 empty blocks
    .launch_overhead_us = 2.5,            // measured: rungs at 2^22 ints
    .copy_overhead_us = 5,                // estimated
    .host_gb_per_s = 12,                  // measured: 10.1 to the device, 16.6 to the host
    .host_pinned_gb_per_s = 55,           // measured: 55.1
    .queued_copy_us = 2.5,                // measured
    .copy_engines = 2,                    // one for each direction
    .peer_gb_per_s = 360,                 // estimated: four fifths of NVLink 4's 450 each way
    .strict_half_warp_coalescing = false,
    .shared_banks = 32,
};

}  // namespace lockstep::vgpu
