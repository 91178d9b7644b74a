#include "judge/model/profile.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace lockstep::judge {
namespace {

// Figures that are no field of Counters but follow from one launch's or all counters. Atomics are in those of traffic:
// an atomic can load, and store, what a load or store would.
std::optional<double> DerivedCounter(const vgpu::Counters& counters, std::string_view name) {
  const uint64_t loads = counters.global_load_sectors, stores = counters.global_store_sectors;
  const uint64_t ideal = counters.global_load_sectors_ideal + counters.global_store_sectors_ideal;
  const std::pair<std::string_view, uint64_t> derived[] = {
      {"shared_conflicts", counters.shared_conflicts()},
      {"sectors", loads + stores + counters.atomic_sectors},
      {"store_sectors", stores + counters.atomic_sectors},
      {"sectors_ideal", ideal},
      {"requests", counters.global_load_requests + counters.global_store_requests + counters.atomics},
      {"load_requests", counters.global_load_requests + counters.atomics},
      {"store_requests", counters.global_store_requests + counters.atomics},
      {"wasted_passes",
       counters.shared_conflicts() + (loads + stores - ideal) + (counters.atomic_sectors - counters.atomics)},
      {"float_operations",
       counters.float32_instructions + counters.float64_instructions + counters.atomics + counters.shared_atomics},
  };
  for (const auto& [known, value] : derived) {
    if (name == known) return static_cast<double>(value);
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
  std::map<std::pair<std::string, int>, vgpu::Counters> lines;
  for (const vgpu::LaunchRecord& launch : launches) {
    profile.microseconds += launch.microseconds;
    profile.counters += launch.counters;
    for (const vgpu::LineCounters& line : launch.lines) {
      lines[{std::filesystem::path(line.file).filename().string(), line.line}] += line.counters;
    }
  }
  for (const auto& [place, counters] : lines) profile.lines.push_back({place.first, place.second, counters});
  return profile;
}

std::optional<double> FigureOf(const RungProfile& profile, std::string_view name) {
  if (name == "elements") return static_cast<double>(profile.elements);
  if (name == "microseconds") return profile.microseconds;
  if (name == "launches") return static_cast<double>(profile.launches.size());
  uint64_t blocks = 0, most = 0, threads = 0, warps = 0;
  for (const vgpu::LaunchRecord& launch : profile.launches) {
    const uint64_t count = launch.grid.Count();
    blocks += count;
    most = std::max(most, count);
    threads += count * launch.block.Count();
    warps += count * ((launch.block.Count() + vgpu::kWarpSize - 1) / vgpu::kWarpSize);
  }
  if (name == "blocks") return static_cast<double>(blocks);
  if (name == "max_blocks") return static_cast<double>(most);
  if (name == "threads") return static_cast<double>(threads);
  if (name == "warps") return static_cast<double>(warps);
  for (const ApiCountInfo& info : AllApiCounts()) {
    if (name == info.name) return static_cast<double>(profile.api.*info.field);
  }
  return DerivedCounter(profile.counters, name);
}

bool IsFigure(std::string_view name) { return FigureOf(RungProfile(), name).has_value(); }

std::vector<vgpu::LineCounters> CostliestLines(const RungProfile& profile, std::string_view counter, size_t most) {
  const auto cost = [&](const vgpu::LineCounters& line) { return DerivedCounter(line.counters, counter).value_or(0); };
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
