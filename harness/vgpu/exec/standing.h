// The positions of the threads of running blocks: waiting at a barrier, running at a line, or ended. For the debugger a
// row per group of lanes, for messages a line per position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/exec/block.h"

namespace lockstep::vgpu {

struct LaunchState;

// Lanes of one warp at the same position.
struct Standing {
  enum class Doing : uint8_t { kAtBarrier, kAtWarpSync, kAwaitsItsWarp, kRuns };
  Warp* warp = nullptr;
  LaneMask lanes = 0;
  uint32_t pc = 0;
  Doing doing = Doing::kRuns;
  uint8_t barrier = 0;   // kAtBarrier
  LaneMask members = 0;  // kAtWarpSync: the lanes that have to arrive
  bool spun = false;     // kRuns: it has used up its turn
};
std::vector<Standing> StandingsOf(Block& block);

// At most six lines: "16 of 64 at the barrier in reduce.cu:41 (warp 0 lanes 0-15)". ended_blocks: adds how many blocks
// run, have ended, and have not begun. Empty: all threads are at one line, and there is nothing to add.
std::vector<std::string> StandingText(const LaunchState& launch, const std::vector<Block*>& blocks,
                                      std::optional<uint64_t> ended_blocks = {});

}  // namespace lockstep::vgpu
