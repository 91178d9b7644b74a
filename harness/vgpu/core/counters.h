// The counters of the virtual GPU. docs/reference/metrics.md explains each name and gives the matching Nsight Compute
// metric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/core/access_sample.h"
#include "vgpu/core/dim3.h"
#include "vgpu/core/pc_counters.h"

namespace lockstep::vgpu {

// All counters, one per line: X(name, unit, "Nsight Compute metric or empty", "sentence", what an instruction adds to
// it). The last field is an expression of `pc`, a PcSums (core/pc_counters.h). It is 0 for counters of the launch as a
// whole (Locality::FootprintOf).
#define LOCKSTEP_COUNTERS(X)                                                                                           \
  X(warp_instructions, "instructions", "", "PTX instructions executed by warps", pc.issue.warps)                       \
  X(thread_instructions, "instructions", "", "PTX instructions executed by threads whose predicate was on",            \
    pc.issue.threads)                                                                                                  \
  X(branches, "branches", "", "conditional branches executed by warps", pc.branch ? pc.issue.warps : 0)                \
  X(divergent_branches, "branches", "smsp__sass_branch_targets_threads_divergent",                                     \
    "conditional branches in which active threads of a warp took different targets",                                   \
    pc.branch ? pc.memory.divergent : 0)                                                                               \
  X(barriers, "barriers", "", "barriers of blocks or clusters, mbarrier arrivals", pc.WarpsIf(InsnClass::kBarrier))    \
  X(barriers_in_loops, "barriers", "", "of these, those in loops that the compiler did not unroll",                    \
    pc.in_loop ? pc.WarpsIf(InsnClass::kBarrier) : 0)                                                                  \
  X(warp_syncs, "instructions", "",                                                                                    \
    "operations among a warp's lanes, such as shuffles, votes, __syncwarp; a reduction counts five times",             \
    pc.WarpsIf(InsnClass::kWarpSync) * pc.steps)                                                                       \
  X(global_load_requests, "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld", "warp-wide global loads",         \
    pc.loads() * pc.memory.requests)                                                                                   \
  X(global_load_sectors, "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",                                      \
    "32-byte sectors that global loads touched", pc.loads() * pc.memory.sectors)                                       \
  X(global_load_sectors_ideal, "sectors", "memory_l2_theoretical_sectors_global_ideal, of loads",                      \
    "sectors that the same bytes would need if they were contiguous", pc.loads() * pc.memory.sectors_ideal)            \
  X(global_store_requests, "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st", "warp-wide global stores",       \
    pc.stores() * pc.memory.requests)                                                                                  \
  X(global_store_sectors, "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st",                                     \
    "32-byte sectors that global stores touched", pc.stores() * pc.memory.sectors)                                     \
  X(global_store_sectors_ideal, "sectors", "memory_l2_theoretical_sectors_global_ideal, of stores",                    \
    "sectors that the same bytes would need if they were contiguous", pc.stores() * pc.memory.sectors_ideal)           \
  X(global_load_misses, "sectors", "",                                                                                 \
    "sectors of global loads that the block had not loaded before, as if it had a cache of 128 KiB",                   \
    pc.loads() * pc.memory.missed_sectors)                                                                             \
  X(global_load_footprint, "bytes", "", "different bytes that global loads touched, in pieces of 64", 0)               \
  X(global_store_footprint, "bytes", "", "different bytes that global stores touched, in pieces of 64", 0)             \
  X(global_load_bytes, "bytes", "", "bytes that threads loaded from global memory", pc.loads() * pc.memory.bytes)      \
  X(global_store_bytes, "bytes", "", "bytes that threads stored to global memory", pc.stores() * pc.memory.bytes)      \
  X(strict_coalescing_bytes, "bytes", "",                                                                              \
    "bytes that global accesses would move under the coalescing rule of compute capability 1.0",                       \
    pc.memory.strict_bytes)                                                                                            \
  X(shared_load_requests, "requests", "smsp__inst_executed_op_shared_ld_pred_on_any", "warp-wide shared loads",        \
    pc.loads() * pc.memory.shared_requests)                                                                            \
  X(shared_store_requests, "requests", "smsp__inst_executed_op_shared_st_pred_on_any", "warp-wide shared stores",      \
    pc.stores() * pc.memory.shared_requests)                                                                           \
  X(shared_wavefronts, "wavefronts", "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",                                \
    "passes that shared memory needed to serve its requests", pc.memory.wavefronts)                                    \
  X(shared_wavefronts_ideal, "wavefronts", "memory_l1_wavefronts_shared_ideal",                                        \
    "passes that the same bytes would need without bank conflicts, 128 bytes each", pc.memory.wavefronts_ideal)        \
  X(page_switches, "switches", "",                                                                                     \
    "switches of an instruction to another 8 KiB page after less than 256 contiguous bytes", pc.memory.page_switches)  \
  X(atomics, "requests",                                                                                               \
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom + l1tex__t_requests_pipe_lsu_mem_global_op_red",                    \
    "warp-wide atomic operations and reductions on global memory", pc.atomic() * pc.memory.requests)                   \
  X(atomic_sectors, "sectors",                                                                                         \
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom + l1tex__t_sectors_pipe_lsu_mem_global_op_red",                      \
    "32-byte sectors that atomics on global memory moved, each once per thread at its busiest address",                \
    pc.atomic() * pc.memory.sectors)                                                                                   \
  X(atomic_footprint, "bytes", "", "different bytes that global atomics touched, in pieces of 64", 0)                  \
  X(shared_atomics, "requests", "smsp__inst_executed_op_shared_atom",                                                  \
    "warp-wide atomic operations and reductions on shared memory", pc.atomic() * pc.memory.shared_requests)            \
  X(const_replays, "passes", "",                                                                                       \
    "passes through constant memory beyond the first of each request: it delivers one address at a time",              \
    pc.memory.const_replays)                                                                                           \
  X(local_requests, "requests", "smsp__inst_executed_op_local_ld + smsp__inst_executed_op_local_st",                   \
    "warp-wide local-memory accesses", pc.memory.local_requests)                                                       \
  X(local_sectors, "sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld + l1tex__t_sectors_pipe_lsu_mem_local_op_st", \
    "32-byte sectors of local memory", pc.memory.local_sectors)                                                        \
  X(special_function_instructions, "instructions", "", "sin, cos, ex2, lg2, tanh, rcp, rsqrt, sqrt, div by warps",     \
    pc.WarpsIf(InsnClass::kSpecialFunction))                                                                           \
  X(float32_instructions, "instructions", "", "single-precision arithmetic by warps; .f32x2 counts twice",             \
    pc.WarpsIf(InsnClass::kFloat32) * pc.steps)                                                                        \
  X(float64_instructions, "instructions", "", "double-precision arithmetic by warps", pc.WarpsIf(InsnClass::kFloat64)) \
  X(integer_instructions, "instructions", "", "integer arithmetic by warps",                                           \
    pc.WarpsIf(InsnClass::kInteger) + pc.WarpsIf(InsnClass::kIntegerMultiply) + pc.WarpsIf(InsnClass::kIntegerDivide)) \
  X(integer_multiplications, "instructions", "",                                                                       \
    "of these, multiplications, and divisions by a constant, except by constant powers of two",                        \
    pc.WarpsIf(InsnClass::kIntegerMultiply))                                                                           \
  X(integer_divisions, "instructions", "", "of these, divisions and remainders by a variable",                         \
    pc.WarpsIf(InsnClass::kIntegerDivide))                                                                             \
  X(tensor_instructions, "instructions", "sm__inst_executed_pipe_tensor",                                              \
    "machine instructions for tensor cores by warps, as ptxas makes them for compute capability 9.0",                  \
    pc.issue.warps* pc.tensor.instructions)                                                                            \
  X(tensor_multiply_adds, "operations", "", "multiply-adds by matrix instructions: m * n * k each",                    \
    pc.issue.warps* pc.tensor.multiply_adds)                                                                           \
  X(tensor_half_equivalent, "operations", "",                                                                          \
    "multiply-adds of f16 values that would take the tensor cores the same time",                                      \
    pc.issue.warps* pc.tensor.half_equivalent)

struct Counters {
#define LOCKSTEP_COUNTER_FIELD(name, unit, metric, text, sum) uint64_t name = 0;
  LOCKSTEP_COUNTERS(LOCKSTEP_COUNTER_FIELD)
#undef LOCKSTEP_COUNTER_FIELD
  uint64_t shared_conflicts() const { return shared_wavefronts - shared_wavefronts_ideal; }
  Counters& operator+=(const Counters& other);
  Counters& operator+=(const PcSums& pc);
  bool operator==(const Counters&) const = default;
};

struct CounterInfo {
  const char* name;
  const char* unit;
  const char* metric;
  const char* text;
  uint64_t Counters::* field;
};
const std::vector<CounterInfo>& AllCounters();

// Counters of one source line of one kernel, its worst accesses (null: all were as cheap as possible), and a branch
// that diverged (null: none did).
struct LineCounters {
  std::string file;  // as in .file
  int line = 0;
  Counters counters;
  KeptSample global = nullptr, shared = nullptr, branch = nullptr;
};

// The arithmetic of a library function. Types that tensor cores support run at their rate if the device has them.
enum class Arithmetic : uint8_t { kNone, kFloat64, kTensorFloat64, kFloat32, kTensorFloat32, kHalf, kInt8 };

// The bytes and operations of a library call, instead of counters.
struct LibraryCounts {
  double bytes = 0;       // bytes read and written, each counted once
  double operations = 0;  // floating-point or integer
  Arithmetic arithmetic = Arithmetic::kNone;
};

// One completed launch. Times are modelled for the device's profile.
struct LaunchRecord {
  uint64_t ordinal = 0;  // from 0, on this device
  std::string kernel;    // demangled, without parameters
  std::string mangled;
  std::string launched_by;  // the kernel that launched this one; "": the host did
  bool is_own = false;      // not from the toolkit's headers, unlike the kernels of CUB and Thrust
  Dim3 grid, block;
  uint32_t registers = 0;  // per thread; allocated by the virtual GPU, see docs/concepts
  uint32_t static_shared = 0, dynamic_shared = 0, local_bytes = 0;  // bytes; local: per thread
  double theoretical_occupancy = 0;                                 // 0 to 1, for the device's profile
  LibraryCounts library;                                            // of a library function, which has no grid
  Counters counters;
  double busiest_block = 1;         // largest work of a block, relative to the mean; 0: depended on the schedule
  uint64_t longest_warp = 0;        // instructions of the warp that executes most; like busiest_block, without polling
  std::vector<LineCounters> lines;  // sorted by file and line
  // "reduction.cu:41": lines that store to the watched buffers through a pointer that the launch received.
  std::vector<std::string> stores;
  double microseconds = 0;  // modelled
  std::string bound_by;     // "issue", "tensor", "shared", "l2", "dram", "latency", "launch"
  int cpu_threads = 1;      // CPU threads that ran its blocks; affects nothing else
};

}  // namespace lockstep::vgpu
