// What one static instruction of a kernel did in a launch, over all warps.
//
// The engine keeps the part that every instruction touches apart (PcIssue), because the loop updates it once an
// instruction. Both arrays are indexed by the position in Program::code; each CPU thread has its own, and the launch
// adds them up in the end, so that totals do not depend on how blocks were dealt out.
#pragma once

#include <cstdint>

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

// For a memory instruction: a request is one warp instruction in one space; a generic instruction whose lanes fall
// into global and shared memory makes one of each, which is why the spaces are apart.
struct PcMemory {
  uint64_t requests = 0;  // global and const memory
  uint64_t sectors = 0;   // 32-byte pieces of global memory touched
  uint64_t sectors_ideal = 0;
  uint64_t bytes = 0;  // global memory: lanes × bytes a lane
  uint64_t shared_requests = 0;
  uint64_t wavefronts = 0;  // passes through shared memory
  uint64_t wavefronts_ideal = 0;
  uint64_t local_requests = 0;
  uint64_t local_sectors = 0;
  uint64_t divergent = 0;       // branches: executions in which active lanes took different ways
  uint64_t strict_bytes = 0;    // what compute capability 1.0 would move for the global accesses
  uint64_t missed_sectors = 0;  // of loads: sectors that the block had not loaded before
  uint64_t page_switches = 0;   // short runs in DRAM pages

  PcMemory& operator+=(const PcMemory& other) {
    requests += other.requests;
    sectors += other.sectors;
    sectors_ideal += other.sectors_ideal;
    bytes += other.bytes;
    shared_requests += other.shared_requests;
    wavefronts += other.wavefronts;
    wavefronts_ideal += other.wavefronts_ideal;
    local_requests += other.local_requests;
    local_sectors += other.local_sectors;
    divergent += other.divergent;
    strict_bytes += other.strict_bytes;
    missed_sectors += other.missed_sectors;
    page_switches += other.page_switches;
    return *this;
  }
};

struct PcCounters {
  PcIssue issue;
  PcMemory memory;
};

}  // namespace lockstep::vgpu
