// What the virtual GPU counts. Each name's meaning, and the Nsight Compute metric beside it, is in
// docs/reference/metrics.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

// The one list of counters: X(name, unit, "Nsight Compute metric or empty", "sentence").
#define LOCKSTEP_COUNTERS(X)                                                                                           \
  X(warp_instructions, "instructions", "", "PTX instructions executed by warps")                                       \
  X(thread_instructions, "instructions", "", "PTX instructions executed by threads whose predicate was on")            \
  X(branches, "branches", "", "conditional branches executed by warps")                                                \
  X(divergent_branches, "branches", "smsp__sass_branch_targets_threads_divergent",                                     \
    "conditional branches in which active threads of a warp took different targets")                                   \
  X(barriers, "barriers", "", "block-wide barriers executed by warps")                                                 \
  X(barriers_in_loops, "barriers", "", "of these, those inside of a loop, which the compiler did not unroll")          \
  X(warp_syncs, "instructions", "", "warp-synchronous operations: shuffles, votes, __syncwarp")                        \
  X(global_load_requests, "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld", "warp-wide global loads")         \
  X(global_load_sectors, "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",                                      \
    "32-byte sectors that global loads touched")                                                                       \
  X(global_load_sectors_ideal, "sectors", "memory_l2_theoretical_sectors_global_ideal, of loads",                      \
    "sectors that the same bytes would need if they lay side by side")                                                 \
  X(global_store_requests, "requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st", "warp-wide global stores")       \
  X(global_store_sectors, "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st",                                     \
    "32-byte sectors that global stores touched")                                                                      \
  X(global_store_sectors_ideal, "sectors", "memory_l2_theoretical_sectors_global_ideal, of stores",                    \
    "sectors that the same bytes would need if they lay side by side")                                                 \
  X(global_load_misses, "sectors", "",                                                                                 \
    "sectors of global loads that the block had not loaded before, as if it had a cache of 128 KiB")                   \
  X(global_load_footprint, "bytes", "", "different bytes that global loads touched, in pieces of 64")                  \
  X(global_store_footprint, "bytes", "", "different bytes that global stores touched, in pieces of 64")                \
  X(global_load_bytes, "bytes", "", "bytes that threads loaded from global memory")                                    \
  X(global_store_bytes, "bytes", "", "bytes that threads stored to global memory")                                     \
  X(strict_coalescing_bytes, "bytes", "",                                                                              \
    "bytes that global accesses would move under the coalescing rule of compute capability 1.0")                       \
  X(shared_load_requests, "requests", "smsp__inst_executed_op_shared_ld_pred_on_any", "warp-wide shared loads")        \
  X(shared_store_requests, "requests", "smsp__inst_executed_op_shared_st_pred_on_any", "warp-wide shared stores")      \
  X(shared_wavefronts, "wavefronts", "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",                                \
    "passes that shared memory needed to serve its requests")                                                          \
  X(shared_wavefronts_ideal, "wavefronts", "memory_l1_wavefronts_shared_ideal",                                        \
    "passes that the same bytes would need without bank conflicts, 128 bytes each")                                    \
  X(page_switches, "switches", "",                                                                                     \
    "moves of an instruction to another 8 KiB page of a buffer after less than 256 bytes in a row")                    \
  X(atomics, "requests",                                                                                               \
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom + l1tex__t_requests_pipe_lsu_mem_global_op_red",                    \
    "warp-wide atomic operations and reductions on global memory")                                                     \
  X(atomic_sectors, "sectors",                                                                                         \
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom + l1tex__t_sectors_pipe_lsu_mem_global_op_red",                      \
    "32-byte sectors that atomics on global memory moved; one anew for each thread at the same address")               \
  X(atomic_footprint, "bytes", "", "different bytes that global atomics touched, in pieces of 64")                     \
  X(shared_atomics, "requests", "smsp__inst_executed_op_shared_atom",                                                  \
    "warp-wide atomic operations and reductions on shared memory")                                                     \
  X(local_requests, "requests", "smsp__inst_executed_op_local_ld + smsp__inst_executed_op_local_st",                   \
    "warp-wide local-memory accesses")                                                                                 \
  X(local_sectors, "sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld + l1tex__t_sectors_pipe_lsu_mem_local_op_st", \
    "32-byte sectors of local memory")                                                                                 \
  X(special_function_instructions, "instructions", "", "sin, cos, ex2, lg2, rcp, rsqrt, sqrt, div by warps")           \
  X(float32_instructions, "instructions", "", "single-precision arithmetic by warps")                                  \
  X(float64_instructions, "instructions", "", "double-precision arithmetic by warps")                                  \
  X(integer_instructions, "instructions", "", "integer arithmetic by warps")                                           \
  X(integer_multiplications, "instructions", "",                                                                       \
    "of these, multiplications, but by a constant power of two; and divisions by a constant")                          \
  X(integer_divisions, "instructions", "", "of these, divisions and remainders")

struct Counters {
#define LOCKSTEP_COUNTER_FIELD(name, unit, metric, text) uint64_t name = 0;
  LOCKSTEP_COUNTERS(LOCKSTEP_COUNTER_FIELD)
#undef LOCKSTEP_COUNTER_FIELD
  uint64_t shared_conflicts() const { return shared_wavefronts - shared_wavefronts_ideal; }
  Counters& operator+=(const Counters& other);
  bool operator==(const Counters&) const = default;
};

struct CounterInfo {
  const char* name;
  const char* unit;
  const char* metric;
  const char* text;
  uint64_t Counters::*field;
};
const std::vector<CounterInfo>& AllCounters();

// Counters of one source line of one kernel.
struct LineCounters {
  std::string file;  // as .file has it
  int line = 0;
  Counters counters;
};

// One launch as it was. Times are modelled, on the device's profile.
struct LaunchRecord {
  uint64_t ordinal = 0;  // from 0, on this device
  std::string kernel;    // demangled, without parameters
  std::string mangled;
  Dim3 grid, block;
  uint32_t registers = 0;  // a thread; the virtual GPU's own allocation, see docs/concepts
  uint32_t static_shared = 0, dynamic_shared = 0, local_bytes = 0;  // bytes; local: a thread
  double theoretical_occupancy = 0;                                 // 0 to 1, on the device's profile
  Counters counters;
  std::vector<LineCounters> lines;  // sorted by file and line
  double microseconds = 0;          // modelled
  std::string bound_by;             // "issue", "shared", "l2", "dram", "latency", "launch"
  int cpu_threads = 1;              // that ran its blocks; nothing else depends on it
};

}  // namespace lockstep::vgpu
