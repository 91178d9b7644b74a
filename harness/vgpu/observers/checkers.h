// The fault checkers, as the engine sees them.
//
// A checker knows program counters and addresses; names, source lines and buffers are the engine's. So a checker
// hands out raw findings, and the engine makes Findings of them: it looks up each Party's pc and block, and the
// address. When both parties of a kBarrierDivergence stand on one source line, the finding is to be dropped: the
// compiler made two barriers of one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

struct Party {
  uint32_t block_index = 0;   // linear, in the grid
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
  const char* hint = "";
  OrderClue clue = OrderClue::kNone;
  uint64_t count = 1;
  // kRace: among those folded into this one, some are between warps of one block, or between blocks.
  bool across_warps = false, across_blocks = false;
};

class Checker : public Observer {
 public:
  // What was found since the last call, in an order that depends on the program and its input alone. Findings of
  // one kind at one pair of instructions are folded. Call it after OnLaunchEnd, and after Absorb of every fork.
  virtual std::vector<RawFinding> TakeFindings() = 0;
};

// By the registry (checker_registry.h):
//
// shared: races on shared memory; global: races on global memory. With global the launch runs on one CPU thread, but
// where its blocks are isolated (block_isolation.h), which this checker finds out.
std::unique_ptr<Checker> MakeRaceChecker(bool shared, bool global);
// Reads of global, shared and local memory that nothing wrote. On one CPU thread, but where blocks are isolated.
std::unique_ptr<Checker> MakeUninitializedChecker();
// Barriers that meet at different places in the program.
std::unique_ptr<Checker> MakeSyncChecker();

}  // namespace lockstep::vgpu
