// The common part of GeForce devices of compute capability 8.6 and 8.9: the SM. Number of SMs, caches and memory differ
// by device.
#pragma once

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

inline constexpr DeviceProfile kGeForce8x = {
    .cc_major = 8,
    .max_threads_per_block = 1024,
    .max_threads_per_sm = 1536,
    .max_warps_per_sm = 48,
    .registers_per_sm = 65536,
    .registers_per_block = 65536,
    .max_registers_per_thread = 255,
    .register_allocation_unit = 256,
    .warp_allocation_granularity = 4,
    .shared_per_sm = 102400,
    .shared_per_block = 49152,
    .shared_per_block_optin = 101376,
    .shared_reserved_per_block = 1024,
    .shared_allocation_unit = 128,
    .l1_sectors_per_clock = 4,           // 128 bytes per clock
    .shared_wavefronts_per_clock = 1,    // 128 bytes per clock
    .issue_per_clock = 4,                // 4 schedulers
    .machine_instructions = 1,           // as measured on an H200
    .tensor_operations_per_clock = 512,  // 4 cores of 64 multiply-adds
    .cycles_per_float64 = 16,            // 2 lanes per clock
    .cycles_per_special = 2,             // 16 lanes per clock
    .cycles_per_multiply = 0.5,          // 64 lanes per clock
    .cycles_per_divide = 5.5,            // as measured on an H200
    .cycles_per_barrier = 2,             // as measured on an H200
    .cycles_per_atomic = 3.5,            // as measured on an H200
    .l1_latency_cycles = 35,             // estimated
    .shared_latency_cycles = 25,         // estimated
    .alu_latency_cycles = 4.5,           // estimated
    .barrier_latency_cycles = 30,        // estimated
    .page_switch_ns = 0,                 // L2 combines accesses
    .block_launch_cycles = 150,          // estimated
    .launch_overhead_us = 3,             // estimated
    .copy_overhead_us = 8,               // estimated
    .queued_copy_us = 2.5,               // as measured on an H100
    .copy_engines = 2,                   // one for each direction
    .peer_gb_per_s = 0,
    .strict_half_warp_coalescing = false,
    .shared_banks = 32,
};

}  // namespace lockstep::vgpu
