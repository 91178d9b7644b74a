#include "judge/model/profile.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "vgpu/core/toolkit_path.h"

namespace lockstep::judge {
namespace {

struct DerivedCounter {
  std::string_view name;
  uint64_t (*of)(const vgpu::Counters&);
  const char* text = "";
};

// Lanes that read different constants are served one after another, like lanes that access different sectors.
uint64_t Sectors(const vgpu::Counters& c) { return c.global_load_sectors + c.global_store_sectors + c.const_replays; }
uint64_t IdealSectors(const vgpu::Counters& c) { return c.global_load_sectors_ideal + c.global_store_sectors_ideal; }

// Figures derived from one launch's or all counters. Traffic includes atomics, which can replace loads and stores.
constexpr DerivedCounter kDerivedCounters[] = {
    {"shared_conflicts", [](const vgpu::Counters& c) { return c.shared_conflicts(); }},
    {"sectors", [](const vgpu::Counters& c) { return Sectors(c) + c.atomic_sectors; }},
    {"store_sectors", [](const vgpu::Counters& c) { return c.global_store_sectors + c.atomic_sectors; }},
    {"sectors_ideal", IdealSectors},
    {"requests",
     [](const vgpu::Counters& c) {
       return c.global_load_requests + c.global_store_requests + c.atomics + c.const_replays;
     }},
    {"load_requests", [](const vgpu::Counters& c) { return c.global_load_requests + c.atomics + c.const_replays; }},
    {"store_requests", [](const vgpu::Counters& c) { return c.global_store_requests + c.atomics; }},
    {"shared_requests",
     [](const vgpu::Counters& c) { return c.shared_load_requests + c.shared_store_requests + c.shared_atomics; }},
    {"wasted_passes",
     [](const vgpu::Counters& c) {
       return c.shared_conflicts() + (Sectors(c) - IdealSectors(c)) + (c.atomic_sectors - c.atomics);
     }},
    {"float_operations",
     [](const vgpu::Counters& c) {
       return c.float32_instructions + c.float64_instructions + c.atomics + c.shared_atomics +
              c.tensor_multiply_adds / vgpu::kWarpSize;
     },
     "additions and the like in floating point"},
};

std::optional<double> CounterOf(const vgpu::Counters& counters, std::string_view name) {
  for (const DerivedCounter& derived : kDerivedCounters) {
    if (name == derived.name) return static_cast<double>(derived.of(counters));
  }
  for (const vgpu::CounterInfo& info : vgpu::AllCounters()) {
    if (name == info.name) return static_cast<double>(counters.*info.field);
  }
  return std::nullopt;
}

}  // namespace

RungProfile MakeProfile(std::string rung, std::string source, uint64_t elements,
                        const std::vector<vgpu::LaunchRecord>& launches, const ApiCounts& api) {
  RungProfile profile;
  profile.api = api;
  profile.rung = std::move(rung);
  profile.source = std::move(source);
  profile.elements = elements;
  profile.launches = launches;
  std::map<std::pair<std::string, int>, vgpu::LineCounters> lines;
  for (const vgpu::LaunchRecord& launch : launches) {
    profile.microseconds += launch.microseconds;
    profile.counters += launch.counters;
    // Small per-thread data stays in registers or in a cache; a larger array counts as memory.
    constexpr uint32_t kOwnBytes = 128;
    if (launch.local_bytes > kOwnBytes) {
      profile.counters.global_load_sectors += launch.counters.local_sectors;
      profile.counters.global_load_sectors_ideal += launch.counters.local_sectors;
    }
    for (const vgpu::LineCounters& line : launch.lines) {
      vgpu::LineCounters& sum = lines[{std::filesystem::path(line.file).filename().string(), line.line}];
      sum.counters += line.counters;
      KeepWorse(sum.global, line.global);
      KeepWorse(sum.shared, line.shared);
      KeepWorse(sum.branch, line.branch);
    }
  }
  for (auto& [place, sum] : lines) {
    std::tie(sum.file, sum.line) = place;
    profile.lines.push_back(std::move(sum));
  }
  return profile;
}

uint64_t MaxBlocks(const std::vector<vgpu::LaunchRecord>& launches) {
  uint64_t blocks = 0, most = 0;
  for (const vgpu::LaunchRecord& launch : launches) {
    blocks += launch.grid.Count();
    most = std::max(most, launch.grid.Count());
  }
  constexpr uint64_t kOfPasses = 8;
  return blocks - most > most / kOfPasses ? blocks : most;
}

std::vector<DerivedFigure> DerivedFigures(const RungProfile& profile) {
  uint64_t own = 0, own_stores = 0, blocks = 0, threads = 0, warps = 0, longest_warp = 0;
  for (const vgpu::LaunchRecord& launch : profile.launches) {
    for (const vgpu::LineCounters& line : launch.lines) {
      if (vgpu::IsToolkitPath(line.file)) continue;
      own_stores += line.counters.global_store_requests + line.counters.atomics;
    }
    const uint64_t count = launch.grid.Count();
    own += launch.is_own;
    longest_warp = std::max(longest_warp, launch.longest_warp);
    blocks += count;
    threads += count * launch.block.Count();
    warps += count * ((launch.block.Count() + vgpu::kWarpSize - 1) / vgpu::kWarpSize);
  }
  std::vector<DerivedFigure> figures = {{"launches", profile.launches.size()},
                                        {"own_launches", own, "launches of your own kernels"},
                                        {"own_stores", own_stores, "warp-wide stores and atomics by your own lines"},
                                        {"blocks", blocks},
                                        {"max_blocks", MaxBlocks(profile.launches), "blocks of the largest launch"},
                                        {"warps", warps},
                                        {"longest_warp", longest_warp, "instructions of the warp that executes most"},
                                        {"threads", threads},
                                        {"bytes_over_bus", profile.api.bytes_to_device + profile.api.bytes_to_host}};
  for (const DerivedCounter& derived : kDerivedCounters) {
    figures.push_back({derived.name, derived.of(profile.counters), derived.text});
  }
  return figures;
}

std::optional<double> FigureOf(const RungProfile& profile, std::string_view name) {
  if (name == "elements") return static_cast<double>(profile.elements);
  if (name == "microseconds") return profile.microseconds;
  for (const DerivedFigure& figure : DerivedFigures(profile)) {
    if (name == figure.name) return static_cast<double>(figure.value);
  }
  for (const ApiCountInfo& info : AllApiCounts()) {
    if (name == info.name) return static_cast<double>(profile.api.*info.field);
  }
  for (const TimelineFigureInfo& info : AllTimelineFigures()) {
    if (name == info.name) return profile.timeline ? (*profile.timeline).*info.field : 0.0;
  }
  return CounterOf(profile.counters, name);
}

bool IsFigure(std::string_view name) { return FigureOf(RungProfile(), name).has_value(); }

std::string FigureText(std::string_view name) {
  const auto of = [&](const auto& infos) -> std::string {
    const auto found = std::ranges::find_if(infos, [&](const auto& info) { return info.name == name; });
    return found == std::end(infos) ? "" : found->text;
  };
  return of(DerivedFigures(RungProfile())) + of(vgpu::AllCounters()) + of(AllApiCounts()) + of(AllTimelineFigures());
}

std::vector<vgpu::LineCounters> CostliestLines(const RungProfile& profile, std::string_view counter, size_t most) {
  const auto cost = [&](const vgpu::LineCounters& line) { return CounterOf(line.counters, counter).value_or(0); };
  std::vector<vgpu::LineCounters> lines;
  for (const vgpu::LineCounters& line : profile.lines) {
    if (line.line > 0 && cost(line) > 0) lines.push_back(line);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const vgpu::LineCounters& a, const vgpu::LineCounters& b) { return cost(a) > cost(b); });
  if (lines.size() > most) lines.resize(most);
  return lines;
}

}  // namespace lockstep::judge
