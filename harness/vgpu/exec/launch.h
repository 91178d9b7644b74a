// One launch: distributes blocks to engines on the device's CPU threads and adds up their results.
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
  std::vector<Finding> findings;  // in order: the engine's, then the checkers'
  GapSet gaps;
  Counters counters;
  std::vector<LineCounters> lines;
  double busiest_block = 1;  // this and the next two as in the LaunchRecord
  uint64_t longest_warp = 0;
  std::vector<std::string> stores;
  int threads = 1;            // number of threads used
  bool blocks_met = false;    // running isolated blocks in parallel was given up, mostly because they conflicted
  uint64_t instructions = 0;  // warp instructions of completed blocks
};

// launch: filled in except for block_output and the atomics. observers: the device's, including checkers. isolation:
// for observers that support several threads only if blocks are isolated; nullptr: do not try that.
LaunchOutcome RunLaunch(LaunchState& launch, const std::vector<Observer*>& observers,
                        const std::vector<Checker*>& checkers, ThreadPool& pool, BlockIsolation* isolation,
                        const std::function<void(std::string_view)>& print);

// A checker's finding with source lines, names and hints. IsOnePlace: one barrier, split by the compiler; not reported.
Finding FromChecker(const LaunchState& launch, const RawFinding& raw);
bool IsOnePlace(const Finding& finding);

// Computes the counters of a launch and of its source lines from the counters and the worst accesses of its
// instructions.
void SumCounters(const Program& program, const std::vector<PcCounters>& by_pc, const std::vector<KeptSample>& samples,
                 Counters* counters, std::vector<LineCounters>* lines);

}  // namespace lockstep::vgpu
