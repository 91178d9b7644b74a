// Runs the requests of kernels after their grid has ended: launches of other kernels, copies and fills
// (exec/grid_runtime.h).
//
// A grid is complete when all its work is complete, including that of the kernels that it has launched. So each request
// is followed at once by the requests that it makes, and those for the tail stream come after all others of their grid.
// This is a depth-first walk of the tree of grids. Finished lists are dropped before the next one is begun: a kernel
// that launches itself as its last request can run forever without more memory, as CUDA allows.
#include <utility>

#include "vgpu/core/hint.h"
#include "vgpu/device/device_impl.h"
#include "vgpu/memory/coalescing.h"
#include "vgpu/model/time_model.h"

namespace lockstep::vgpu {

namespace {

// The parameters must outlive it.
LaunchSpec SpecOf(ModuleHandle module, const ChildKernel& child, const std::vector<uint8_t>& parameters) {
  LaunchSpec spec{module, child.name, child.grid, child.block};
  spec.dynamic_shared = child.dynamic_shared;
  spec.parameters = parameters;
  return spec;
}

uint64_t SectorsOf(uint64_t first, uint64_t bytes) {
  return ((first + bytes - 1) >> kSectorShift) - (first >> kSectorShift) + 1;
}
// The number of requests, if each lane accesses 16 bytes.
uint64_t RequestsOf(uint64_t bytes) {
  constexpr uint64_t kWidest = 16 * kWarpSize;
  return (bytes + kWidest - 1) / kWidest;
}

}  // namespace

ChildKernels Device::Impl::KernelsOf(ModuleHandle module) {
  ChildKernels kernels;
  kernels.at = [this, module](uint64_t address) -> const KernelInfo* {
    LoadedModule* loaded = FindModule(module);
    return loaded == nullptr ? nullptr : loaded->KernelAt(address);
  };
  kernels.check = [this, module](const ChildKernel& child) {
    const KernelInfo& kernel = FindModule(module)->FindProgram(child.name)->kernel;
    if (child.dynamic_shared > options.answers->most_dynamic_shared(module, kernel)) {
      return RuntimeError::kInvalidConfiguration;
    }
    const std::vector<uint8_t> parameters(child.parameter_bytes);
    const LaunchSpec spec = SpecOf(module, child, parameters);
    uint32_t blocks_per_sm = 0;
    if (CheckShape(spec, kernel, &blocks_per_sm) == LaunchError::kNone) return RuntimeError::kNone;
    const Dim3 &g = spec.grid, &c = kernel.cluster;
    const bool in_clusters = c.Count() > 1 && (g.x % c.x != 0 || g.y % c.y != 0 || g.z % c.z != 0);
    return in_clusters ? RuntimeError::kInvalidClusterSize : RuntimeError::kInvalidConfiguration;
  };
  return kernels;
}

LaunchResult Device::Impl::Launch(const LaunchSpec& spec, LaunchPauses* pauses) {
  ChildWorks works;
  LaunchResult result = LaunchGrid(spec, pauses, {}, &works);
  std::vector<ChildWorks> open;
  open.push_back(std::move(works));
  while (!open.empty() && fault == LaunchError::kNone) {
    if (open.back().empty()) {
      open.pop_back();
      continue;
    }
    const ChildWork work = open.back().Take();
    const ParentLaunch asked_by{open.back().kernel(), work.place, open.back().pending_with_taken()};
    if (open.back().empty()) open.pop_back();
    ChildWorks own;
    for (Finding& finding : streams.GoOn()) findings.Add(std::move(finding));
    const LaunchResult done = Do(spec.module, work, asked_by, pauses, &own);
    result.microseconds += done.microseconds;
    if (done.error != LaunchError::kNone) result.error = done.error;
    if (!own.empty()) open.push_back(std::move(own));
  }
  return result;
}

LaunchResult Device::Impl::Do(ModuleHandle module, const ChildWork& work, const ParentLaunch& asked_by,
                              LaunchPauses* pauses, ChildWorks* works) {
  if (work.kind != ChildWork::Kind::kLaunch) return MoveMemory(work, asked_by);
  const LaunchSpec spec = SpecOf(module, work.kernel, work.parameters);
  return LaunchGrid(spec, MayWait(spec) ? pauses : nullptr, asked_by, works);
}

LaunchResult Device::Impl::MoveMemory(const ChildWork& work, const ParentLaunch& asked_by) {
  const bool copies = work.kind == ChildWork::Kind::kCopy;
  const auto refuse = [&](uint64_t address, AccessKind access) {
    Finding finding;
    MemoryPlace place = PlaceOf(address);
    place.bytes = static_cast<uint32_t>(std::min<uint64_t>(work.width, ~uint32_t{0}));
    finding.kind = place.in_buffer ? FindingKind::kOutOfBounds : FindingKind::kInvalidAddress;
    finding.fatal = true;
    finding.first.access = access;
    finding.memory = std::move(place);
    finding.detail = std::string(copies ? "cudaMemcpyAsync" : "cudaMemsetAsync") + " in a kernel";
    finding.launched_by = TextOf(asked_by);
    finding.hint = Hint::kCopyInKernel;
    fault = ErrorOf(finding);
    findings.Add(std::move(finding));
    return LaunchResult{fault};
  };
  // While ranges are watched, a copy or fill by a kernel gets a record, with the cost of loads and stores of its bytes.
  LaunchRecord record;
  record.kernel = copies ? "cudaMemcpyAsync in a kernel" : "cudaMemsetAsync in a kernel";
  record.launched_by = asked_by.kernel;
  Counters& cost = record.counters;
  for (uint64_t row = 0; row < work.rows; ++row) {
    const uint64_t to = work.to + row * work.to_pitch, from = work.from + row * work.from_pitch;
    if (!memory.Contains(to, work.width)) return refuse(to, AccessKind::kStore);
    if (copies && !memory.Contains(from, work.width)) return refuse(from, AccessKind::kLoad);
    copies ? Copy(to, from, work.width) : Fill(to, work.value, work.width);
    cost.global_store_sectors += SectorsOf(to, work.width);
    cost.global_store_requests += RequestsOf(work.width);
    cost.global_load_sectors += copies ? SectorsOf(from, work.width) : 0;
    cost.global_load_requests += copies ? RequestsOf(work.width) : 0;
  }
  if (!watched.empty()) {
    record.ordinal = next_launch++;
    record.grid = record.block = {0, 0, 0};
    record.library.bytes = static_cast<double>(work.width) * static_cast<double>(work.rows) * (copies ? 2 : 1);
    const TimeEstimate time = EstimateTime(record, options.timed_as != nullptr ? *options.timed_as : profile);
    record.microseconds = time.microseconds;
    record.bound_by = time.bound_by;
    Keep(std::move(record));
  }
  return {};
}

}  // namespace lockstep::vgpu
