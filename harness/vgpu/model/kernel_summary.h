// Totals over all launches of a kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/core/counters.h"

namespace lockstep::vgpu {

// All launches of one kernel: by the host, or by one other kernel.
struct KernelSummary {
  std::string name;
  uint64_t launches = 0;
  const LaunchRecord* first = nullptr;
  bool same_shape = true;
  double microseconds = 0;
  Counters counters;
  std::map<std::pair<std::string, int>, LineCounters> lines;
  std::vector<const LaunchRecord*> all;
};
std::vector<KernelSummary> Summarize(const std::vector<LaunchRecord>& launches);  // in the order of first launches

// "256", "16x16"; "-": there is none.
std::string Shape(const Dim3& dim);

// A call of a host library's function, which has no threads.
inline bool IsLibraryCall(const LaunchRecord& launch) { return launch.block.Count() == 0; }

}  // namespace lockstep::vgpu
