// The modelled time of a launch. Formulas: time_model.cc; what they mean: docs/concepts/time-model.md.
#pragma once

#include "vgpu/core/counters.h"
#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

struct TimeEstimate {
  double microseconds = 0;
  const char* bound_by = "launch";  // "issue", "shared", "l2", "dram", "latency" or "launch"
};

// A function of the launch's shape, resources and counters alone: the same on every machine and in every run.
// LaunchRecord::microseconds, bound_by and theoretical_occupancy are not read.
TimeEstimate EstimateTime(const LaunchRecord& launch, const DeviceProfile& device);

}  // namespace lockstep::vgpu
