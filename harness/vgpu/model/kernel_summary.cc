#include "vgpu/model/kernel_summary.h"

namespace lockstep::vgpu {

std::string Shape(const Dim3& dim) {
  if (dim.Count() == 0) return "-";
  std::string text = std::to_string(dim.x);
  if (dim.y != 1 || dim.z != 1) text += "x" + std::to_string(dim.y);
  if (dim.z != 1) text += "x" + std::to_string(dim.z);
  return text;
}

std::vector<KernelSummary> Summarize(const std::vector<LaunchRecord>& launches) {
  std::vector<KernelSummary> kernels;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const LaunchRecord& launch : launches) {
    const auto [found, is_new] = index.try_emplace({launch.mangled, launch.launched_by}, kernels.size());
    const std::string by = launch.launched_by.empty() ? "" : " (by " + launch.launched_by + ")";
    if (is_new) kernels.push_back({launch.kernel + by, 0, &launch, true, 0, {}, {}, {}});
    KernelSummary& kernel = kernels[found->second];
    ++kernel.launches;
    kernel.all.push_back(&launch);
    kernel.same_shape &= launch.grid == kernel.first->grid && launch.block == kernel.first->block;
    kernel.microseconds += launch.microseconds;
    kernel.counters += launch.counters;
    for (const LineCounters& line : launch.lines) {
      LineCounters& sum = kernel.lines[{line.file, line.line}];
      sum.counters += line.counters;
      KeepWorse(sum.global, line.global);
      KeepWorse(sum.shared, line.shared);
      KeepWorse(sum.branch, line.branch);
    }
  }
  return kernels;
}

}  // namespace lockstep::vgpu
