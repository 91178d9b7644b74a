// The measurements of one rung's evidence run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  double microseconds = 0;  // modelled, sum over all launches
  // Modelled for the device that the tests run on, if `microseconds` are for another.
  std::optional<double> device_microseconds;
  vgpu::Counters counters;                 // of all launches
  ApiCounts api;                           // of the host code
  std::optional<StreamTimeline> timeline;  // if the assignment asks for it
  std::vector<vgpu::LaunchRecord> launches;
  std::vector<vgpu::LineCounters> lines;   // of all launches, by file (its name alone) and line
  std::vector<vgpu::KernelAdvice> advice;  // on a submission's kernels
};

RungProfile MakeProfile(std::string rung, std::string source, uint64_t elements,
                        const std::vector<vgpu::LaunchRecord>& launches, const ApiCounts& api = {});

// The blocks of the largest launch. If the others together have more than an eighth as many, a grid was split over
// several launches, of one kernel or of several: then the total. (Later passes of a design have far fewer blocks.)
uint64_t MaxBlocks(const std::vector<vgpu::LaunchRecord>& launches);

// A figure derived from a profile's launches (blocks, warps, …) or counters (sectors, requests, …).
struct DerivedFigure {
  std::string_view name;
  uint64_t value = 0;
  const char* text = "";  // what it counts, where its name does not say it
};
// docs/reference/assignment-toml.md lists them.
std::vector<DerivedFigure> DerivedFigures(const RungProfile& profile);

// A figure by its name in metrics: a counter, elements, microseconds, one of ApiCounts or StreamTimeline, or a derived
// one. nullopt: unknown name.
std::optional<double> FigureOf(const RungProfile& profile, std::string_view name);
bool IsFigure(std::string_view name);
// What it counts, in words; "" where its name says it.
std::string FigureText(std::string_view name);

// The lines of a profile with the highest values of a counter, highest first; lines with 0 are left out.
std::vector<vgpu::LineCounters> CostliestLines(const RungProfile& profile, std::string_view counter, size_t most);

}  // namespace lockstep::judge
