// What each static instruction of a kernel did in one launch, over all warps.
//
// PcIssue has the counters that the interpreter loop updates for every instruction, PcMemory the others. Arrays of both
// are indexed by pc, the position in Program::code. Each CPU thread has its own; the launch adds them up at the end, so
// totals do not depend on which thread ran which block.
#pragma once

#include <cstdint>

#include "vgpu/core/insn_class.h"

namespace lockstep::vgpu {

struct PcIssue {
  uint64_t warps = 0;    // warp instructions
  uint64_t threads = 0;  // lanes that were active and passed the guard

  PcIssue& operator+=(const PcIssue& other) {
    warps += other.warps;
    threads += other.threads;
    return *this;
  }
};

// The counters of memory instructions and branches: X(name, "sentence"). A request is one warp instruction in one
// memory space. A generic instruction with lanes in both global and shared memory makes one request in each, so the
// spaces are counted separately. memory/access_cost.h computes what an access adds.
#define LOCKSTEP_PC_MEMORY(X)                                                        \
  X(requests, "of global memory")                                                    \
  X(sectors, "32-byte pieces of global memory touched")                              \
  X(sectors_ideal, "sectors that the same bytes would need if contiguous")           \
  X(bytes, "of global memory: lanes times bytes per lane")                           \
  X(strict_bytes, "what compute capability 1.0 would move for the global accesses")  \
  X(missed_sectors, "of global loads: sectors that the block had not loaded before") \
  X(page_switches, "switches to another DRAM page after a short run")                \
  X(shared_requests, "of shared memory")                                             \
  X(wavefronts, "passes through shared memory")                                      \
  X(wavefronts_ideal, "passes that the bytes would need without bank conflicts")     \
  X(const_replays, "const memory: passes beyond a request's first")                  \
  X(local_requests, "of local memory")                                               \
  X(local_sectors, "32-byte pieces of local memory touched")                         \
  X(divergent, "branches: executions in which active lanes took different targets")

struct AccessCost {
  uint64_t actual, ideal;
  uint64_t excess() const { return actual - ideal; }
  AccessCost operator-(const AccessCost& other) const { return {actual - other.actual, ideal - other.ideal}; }
};

struct PcMemory {
#define LOCKSTEP_PC_FIELD(name, text) uint64_t name = 0;
  LOCKSTEP_PC_MEMORY(LOCKSTEP_PC_FIELD)
#undef LOCKSTEP_PC_FIELD

  PcMemory& operator+=(const PcMemory& other) { return Add(1, other); }
  PcMemory& Add(uint64_t times, const PcMemory& other) {
#define LOCKSTEP_PC_ADD(name, text) name += times * other.name;
    LOCKSTEP_PC_MEMORY(LOCKSTEP_PC_ADD)
#undef LOCKSTEP_PC_ADD
    return *this;
  }
  bool operator==(const PcMemory&) const = default;

  // Sectors of global memory plus wavefronts of shared memory; and the least number that the same bytes need.
  AccessCost cost() const { return {sectors + wavefronts, sectors_ideal + wavefronts_ideal}; }
};

struct PcCounters {
  PcIssue issue;
  PcMemory memory;
};

// An instruction's counts, as the expressions in LOCKSTEP_COUNTERS (core/counters.h) see them.
struct PcSums : PcCounters {
  InsnClass insn_class = InsnClass::kOther;
  bool branch = false;  // conditional
  bool in_loop = false;
  TensorWork tensor;
  uint8_t steps = 1;

  uint64_t WarpsIf(InsnClass is) const { return insn_class == is ? issue.warps : 0; }
  uint64_t loads() const { return insn_class == InsnClass::kLoad; }
  uint64_t stores() const { return insn_class == InsnClass::kStore; }
  uint64_t atomic() const { return insn_class == InsnClass::kAtomic; }
};

}  // namespace lockstep::vgpu
