// The configurations of assignment 10, and a kernel family's time in each of them on a device.
//
// A launch's work is counted once, and its time on any device follows from that (vgpu/model/time_model.h): blocks and
// threads depend on the configuration, not the device.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../../assignments/10_tuning/tuning.h"
#include "vgpu/core/counters.h"
#include "vgpu/model/occupancy.h"
#include "vgpu/model/profile.h"
#include "vgpu/model/time_model.h"

namespace lockstep::suites {

using ConfigKey = std::tuple<int, int, int, int>;
inline ConfigKey KeyOf(const Config& config) { return {config.block, config.tile, config.unroll, config.items}; }

inline std::string TextOf(const Config& config) {
  return "block " + std::to_string(config.block) + ", tile " + std::to_string(config.tile) + ", unroll " +
         std::to_string(config.unroll) + ", items " + std::to_string(config.items);
}

// The violated rule, for a message.
inline std::string BrokenRule(const Config& config) {
  const auto listed = [](const auto& list, int value) {
    return std::find(std::begin(list), std::end(list), value) != std::end(list);
  };
  const std::tuple<const char*, bool> lists[] = {{"block", listed(kBlocks, config.block)},
                                                 {"tile", listed(kTiles, config.tile)},
                                                 {"unroll", listed(kUnrolls, config.unroll)},
                                                 {"items", listed(kItems, config.items)}};
  for (const auto& [name, is_listed] : lists) {
    if (!is_listed) return std::string(name) + " is not in its list";
  }
  const std::tuple<const char*, int, int> limits[] = {
      {"block * items exceeds kMostElements", config.block * config.items, kMostElements},
      {"tile exceeds kMostStaged * block", config.tile, kMostStaged * config.block},
      {"unroll * items exceeds kMostCompares", config.unroll * config.items, kMostCompares}};
  for (const auto& [sentence, value, limit] : limits) {
    if (value > limit) return sentence;
  }
  return "";
}

// The valid configurations, or those that are not, in the order of the lists.
inline std::vector<Config> Configs(bool valid = true) {
  std::vector<Config> configs;
  for (const int block : kBlocks) {
    for (const int tile : kTiles) {
      for (const int unroll : kUnrolls) {
        for (const int items : kItems) {
          const Config config{block, tile, unroll, items};
          if (BrokenRule(config).empty() == valid) configs.push_back(config);
        }
      }
    }
  }
  return configs;
}

// A family's launches for one n and m, by configuration.
using Launches = std::map<ConfigKey, vgpu::LaunchRecord>;

struct TimedConfig {
  Config config;
  double microseconds = 0;
};

// A family's launch times on one device, fastest first, without those that the device can't launch. `limits`: the
// launching device; `clock`: the device they are timed as.
inline std::vector<TimedConfig> LandscapeOf(const Launches& launches, const vgpu::DeviceProfile& limits,
                                            const vgpu::DeviceProfile& clock) {
  std::vector<TimedConfig> timed;
  for (const auto& [key, launch] : launches) {
    const auto& [block, tile, unroll, items] = key;
    if (vgpu::MaxBlocksPerSm(limits, block, static_cast<int>(launch.registers),
                             uint64_t{launch.static_shared} + launch.dynamic_shared) < 1) {
      continue;
    }
    timed.push_back({{block, tile, unroll, items}, vgpu::EstimateTime(launch, clock).microseconds});
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const TimedConfig& a, const TimedConfig& b) { return a.microseconds < b.microseconds; });
  return timed;
}

inline std::optional<double> TimeOf(const std::vector<TimedConfig>& landscape, const Config& config) {
  for (const TimedConfig& timed : landscape) {
    if (KeyOf(timed.config) == KeyOf(config)) return timed.microseconds;
  }
  return std::nullopt;
}

}  // namespace lockstep::suites
