// One launch: deals blocks to engines on the device's CPU threads and adds up what they did.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "vgpu/exec/engine.h"
#include "vgpu/exec/thread_pool.h"
#include "vgpu/observers/block_isolation.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {

struct LaunchOutcome {
  std::optional<Finding> fault;
  std::vector<Finding> findings;  // in order: of the engine, then of the checkers
  Counters counters;
  std::vector<LineCounters> lines;
  int threads = 1;            // that ran it
  bool blocks_met = false;    // which is why it was not run on several
  uint64_t instructions = 0;  // of warps, in blocks that have ended
};

// launch: filled but for block_output and the atomics. observers: the device's, checkers among them. isolation: for
// observers that serve several threads only where blocks are isolated; nullptr: that is not to be tried.
LaunchOutcome RunLaunch(LaunchState& launch, const std::vector<Observer*>& observers,
                        const std::vector<Checker*>& checkers, ThreadPool& pool, BlockIsolation* isolation,
                        const std::function<void(std::string_view)>& print);

// Counters of a launch and of its source lines, from those of its instructions.
void SumCounters(const Program& program, const std::vector<PcCounters>& by_pc, Counters* counters,
                 std::vector<LineCounters>* lines);

}  // namespace lockstep::vgpu
