// The checkers' interface to the engine.
//
// A checker knows only program counters and addresses; the engine knows names, source lines and buffers. So a checker
// returns raw findings, and the engine turns them into Findings: it looks up each Party's pc and block, and the
// address. If both parties of a kBarrierDivergence are on one source line, the engine drops the finding: the compiler
// has duplicated one barrier.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/gap.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

struct Party {
  uint32_t block_index = 0;   // linear index in the grid
  uint32_t thread_index = 0;  // warp * 32 + lane
  uint32_t pc = 0;
  AccessKind access = AccessKind::kLoad;
};

struct RawFinding {
  FindingKind kind = FindingKind::kRace;
  Party first;
  bool has_second = false;
  Party second;  // the later one
  bool has_memory = false;
  MemorySpace space = MemorySpace::kGlobal;
  uint64_t address = 0;  // global: device address; shared, local: offset in the window
  uint32_t bytes = 0;    // of the second access, or of the only one
  const char* detail = "";
  Hint hint{};
  Hint clue{};
  uint64_t count = 1;
  bool across_blocks = false;  // races only: those folded into this one include a race between blocks
  bool several_warps = false;  // races only: those folded into this one involve more than one warp
};

class FindingTable;  // observers/finding_table.h

class Checker : public Observer {
 public:
  // The running launch's findings so far. A check with delayed events learns of some a few instructions later.
  virtual const FindingTable& findings() const = 0;
  // The findings since the last call, in an order that depends only on the program and its input. Findings of one kind
  // at one pair of instructions are folded. Call it after OnLaunchEnd and after Absorb of every fork.
  virtual std::vector<RawFinding> TakeFindings() = 0;
  // The checks skipped since the last call; call it together with TakeFindings.
  virtual GapSet TakeGaps() { return {}; }
  // A checker for launches that run while this one's launch is suspended. The two share the state of memory between
  // launches.
  virtual std::unique_ptr<Checker> Beside() const = 0;
};

// The factories. checker_registry.cc has them all; other_orders.cc and tests call some.
//
// shared: races on shared memory; global: races on global memory. With `global` the launch runs on one CPU thread,
// unless its blocks are isolated (block_isolation.h); this checker determines that.
std::unique_ptr<Checker> MakeRaceChecker(bool shared, bool global);
std::unique_ptr<Checker> MakeRaceChecker();  // both
// Reads of unwritten global, shared and local memory. Runs on one CPU thread unless blocks are isolated.
std::unique_ptr<Checker> MakeUninitializedChecker();
// Barriers that warps reach at different places in the program.
std::unique_ptr<Checker> MakeSyncChecker();

}  // namespace lockstep::vgpu
