// The modelled time of a launch. time_model.cc has the formulas, docs/concepts/time-model.md explains them.
#pragma once

#include "vgpu/core/counters.h"
#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

struct TimeEstimate {
  double microseconds = 0;
  const char* bound_by = "launch";  // "issue", "tensor", "shared", "l2", "dram", "latency", "launch"
};

// Depends only on the launch's shape, resources and counters, or on what a library's function counts, so it is the same
// on every machine and in every run. Does not read LaunchRecord::microseconds, bound_by and theoretical_occupancy.
TimeEstimate EstimateTime(const LaunchRecord& launch, const DeviceProfile& device);

}  // namespace lockstep::vgpu
