// The measurements of one rung's evidence run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/model/api_counts.h"
#include "judge/model/stream_timeline.h"
#include "vgpu/core/counters.h"
#include "vgpu/model/advice.h"

namespace lockstep::judge {

struct RungProfile {
  std::string rung;
  std::string source;       // "submission" or "reference"
  uint64_t elements = 0;    // problem size
  double microseconds = 0;  // modelled, all launches together
  // Modelled for the device that the tests run on, where `microseconds` are another's.
  std::optional<double> device_microseconds;
  vgpu::Counters counters;                 // of all launches
  ApiCounts api;                           // of the host code
  std::optional<StreamTimeline> timeline;  // where the assignment asks for it
  std::vector<vgpu::LaunchRecord> launches;
  std::vector<vgpu::LineCounters> lines;   // of all launches, by file (its name alone) and line
  std::vector<vgpu::KernelAdvice> advice;  // on a submission's kernels
};

RungProfile MakeProfile(std::string rung, std::string source, uint64_t elements,
                        const std::vector<vgpu::LaunchRecord>& launches, const ApiCounts& api = {});

// The blocks of the largest launch; of all, where a grid was cut into several, of whatever kernels: later passes have far
// fewer.
uint64_t MaxBlocks(const std::vector<vgpu::LaunchRecord>& launches);

// What follows from a profile's launches (blocks, warps, …) and from its counters (sectors, requests, …), by name.
// docs/reference/assignment-toml.md lists them.
std::vector<std::pair<std::string_view, uint64_t>> DerivedFigures(const RungProfile& profile);

// A figure by the name that metrics use: a counter's, elements, microseconds, one of ApiCounts or StreamTimeline, or
// one that is derived. nullopt: there is none of that name.
std::optional<double> FigureOf(const RungProfile& profile, std::string_view name);
bool IsFigure(std::string_view name);

// The lines of a profile that cost most in a counter, the costliest first; none that cost nothing.
std::vector<vgpu::LineCounters> CostliestLines(const RungProfile& profile, std::string_view counter, size_t most);

}  // namespace lockstep::judge
