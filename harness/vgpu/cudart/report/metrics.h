// Nsight Compute's names and units for what the virtual GPU counts: vgpu-run --metrics=LIST. A hardware unit's metric
// (l1tex__…) is summed over the device: its name ends in .sum, which may be omitted in LIST.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/core/counters.h"

namespace lockstep::vgpu::cudart {

struct Metric {
  std::string name;
  const char* unit;
  double (*value)(const LaunchRecord& launch);  // null: the value is `field`
  uint64_t Counters::* field;
};

inline const std::vector<Metric>& MetricsOfLaunches() {
  static const std::vector<Metric> metrics = {
      {"gpu__time_duration", "ns", [](const LaunchRecord& launch) { return std::round(1e3 * launch.microseconds); },
       nullptr},
      {"launch__registers_per_thread", "register/thread",
       [](const LaunchRecord& launch) { return static_cast<double>(launch.registers); }, nullptr},
      {"launch__grid_size", "", [](const LaunchRecord& launch) { return static_cast<double>(launch.grid.Count()); },
       nullptr},
      {"launch__block_size", "", [](const LaunchRecord& launch) { return static_cast<double>(launch.block.Count()); },
       nullptr},
      {"sm__maximum_warps_per_active_cycle_pct", "%",
       [](const LaunchRecord& launch) { return 100 * launch.theoretical_occupancy; }, nullptr},
  };
  return metrics;
}

// Whether the counter corresponds to exactly one of Nsight Compute's metrics, not to a sum or a part of some.
inline bool HasMetric(const CounterInfo& info) {
  const std::string_view metric = info.metric;
  return !metric.empty() && metric.find_first_of(" ,") == std::string_view::npos;
}

// The unit of a metric as Nsight Compute prints it.
inline const char* UnitOf(std::string_view metric) {
  static constexpr std::pair<const char*, const char*> kUnits[] = {{"l1tex__t_sectors", "sector"},
                                                                   {"inst_executed", "inst"},
                                                                   {"branch_targets", "branches"},
                                                                   {"memory_l1", "sectors"}};
  for (const auto& [part, unit] : kUnits) {
    if (metric.find(part) != std::string_view::npos) return unit;
  }
  return "";
}

// Parses "a.sum,b": each metric once, sorted by name. Throws std::runtime_error that lists the valid names.
inline std::vector<Metric> ParseMetrics(std::string_view list) {
  constexpr std::string_view kSum = ".sum";
  std::vector<Metric> metrics;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string name(list.substr(at, comma - at));
    const std::string_view stem =
        std::string_view(name).substr(0, name.size() - (name.ends_with(kSum) ? kSum.size() : 0));
    at = comma + 1;
    const size_t before = metrics.size();
    const bool is_whole = stem.starts_with("launch__") || stem.starts_with("memory_") || stem.ends_with("_pct");
    const std::string full = std::string(stem) + (is_whole ? "" : ".sum");
    for (const Metric& known : MetricsOfLaunches()) {
      if (stem == known.name) metrics.push_back({full, known.unit, known.value, nullptr});
    }
    for (const CounterInfo& info : AllCounters()) {
      if (HasMetric(info) && stem == info.metric) metrics.push_back({full, UnitOf(stem), nullptr, info.field});
    }
    if (metrics.size() > before) continue;
    std::string there;
    for (const Metric& known : MetricsOfLaunches()) there += "\n  " + known.name;
    for (const CounterInfo& info : AllCounters()) there += HasMetric(info) ? "\n  " + std::string(info.metric) : "";
    throw std::runtime_error("there is no metric " + (name.empty() ? "without a name" : name) + "; there are:" + there);
  }
  std::ranges::sort(metrics, {}, &Metric::name);
  metrics.erase(std::ranges::unique(metrics, {}, &Metric::name).begin(), metrics.end());
  return metrics;
}

}  // namespace lockstep::vgpu::cudart
