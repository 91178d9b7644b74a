// What one rung's evidence run was measured to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/model/api_counts.h"
#include "vgpu/core/counters.h"

namespace lockstep::judge {

struct RungProfile {
  std::string rung;
  std::string source;       // "submission" or "reference"
  uint64_t elements = 0;    // problem size
  double microseconds = 0;  // modelled, all launches together
  vgpu::Counters counters;  // of all launches
  ApiCounts api;            // of the host code
  std::vector<vgpu::LaunchRecord> launches;
  std::vector<vgpu::LineCounters> lines;  // of all launches, by file (its name alone) and line
};

RungProfile MakeProfile(std::string rung, std::string source, uint64_t elements,
                        const std::vector<vgpu::LaunchRecord>& launches, const ApiCounts& api = {});

// A figure by the name that metrics use: a counter's, or blocks, max_blocks, threads, warps, launches,
// shared_conflicts, requests, sectors, sectors_ideal, microseconds, elements, or one of ApiCounts. nullopt: there is
// none of that name.
std::optional<double> FigureOf(const RungProfile& profile, std::string_view name);
bool IsFigure(std::string_view name);

// The lines of a profile that cost most in a counter, the costliest first; none that cost nothing.
std::vector<vgpu::LineCounters> CostliestLines(const RungProfile& profile, std::string_view counter, size_t most);

}  // namespace lockstep::judge
