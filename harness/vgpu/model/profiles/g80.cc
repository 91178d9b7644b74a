// GeForce 8800 GTX (G80), used in the course's tables: compute capability 1.0.
#include "vgpu/model/profile.h"

namespace lockstep::vgpu {
namespace {

constexpr DeviceProfile kProfile = {
    .id = "g80",
    .name = "GeForce 8800 GTX",
    .source = "CUDA Programming Guide 1.0, appendix A; GeForce 8800 product brief; the course",
    .cc_major = 1,
    .cc_minor = 0,
    .sm_count = 16,
    .max_threads_per_block = 512,
    .max_threads_per_sm = 768,
    .max_warps_per_sm = 24,
    .max_blocks_per_sm = 8,
    .registers_per_sm = 8192,
    .registers_per_block = 8192,
    .max_registers_per_thread = 124,
    .register_allocation_unit = 256,
    .warp_allocation_granularity = 2,
    .shared_per_sm = 16384,
    .shared_per_block = 16384,
    .shared_per_block_optin = 16384,
    .shared_reserved_per_block = 0,
    .shared_allocation_unit = 512,
    .memory_bytes = int64_t{768} << 20,
    .l2_bytes = 0,
    .memory_bus_bits = 384,
    .clock_ghz = 1.35,
    .memory_clock_ghz = 0.9,
    .dram_gb_per_s = 86.4,
    .dram_efficiency = 0.88,              // the coalescing table: 24 MB in 356 us, minus other costs
    .dram_read_efficiency = 0.88,         // 73 GB/s on 32M elements, likewise
    .l2_bytes_per_clock = 0,              // no L2
    .l1_sectors_per_clock = 0,            // no L1
    .shared_wavefronts_per_clock = 0.25,  // 16 banks, half-warps of 2 cycles
    .issue_per_clock = 0.25,              // 8 processors: 4 cycles per warp
    .machine_instructions = 0.75,         // the ladder: 32-bit pointers save conversions and address arithmetic
    .tensor_operations_per_clock = 0,     // none
    .cycles_per_float64 = 64,             // none in hardware: as if emulated; estimated
    .cycles_per_special = 16,             // the course: 16 cycles
    .cycles_per_multiply = 16,            // four instructions: the multiplier is 24 bits wide
    .cycles_per_divide = 140,             // some 35 instructions; the ladder's first rung
    .cycles_per_barrier = 4,              // as any instruction
    .cycles_per_atomic = 8,               // estimated; atomics came with 1.1
    .dram_latency_cycles = 500,           // the course: 400 to 600
    .l2_latency_cycles = 0,               // no L2
    .l1_latency_cycles = 0,               // no L1
    .shared_latency_cycles = 36,          // estimated
    .alu_latency_cycles = 24,             // 6 warps hide it
    .barrier_latency_cycles = 40,         // estimated
    .page_switch_ns = 2.3,                // the course's transposes
    .block_launch_cycles = 100,           // estimated
    .launch_overhead_us = 7,              // estimated
    .copy_overhead_us = 10,               // estimated
    .host_gb_per_s = 2.0,                 // estimated
    .host_pinned_gb_per_s = 3.2,          // the course: 3.2 typical of 4
    .queued_copy_us = 10,                 // estimated
    .copy_engines = 0,                    // came with compute capability 1.1
    .peer_gb_per_s = 0,
    .strict_half_warp_coalescing = true,
    .shared_banks = 16,
};

const ProfileRegistration registration(&kProfile);

}  // namespace
}  // namespace lockstep::vgpu
