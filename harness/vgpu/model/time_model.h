// The modelled time of a launch. time_model.cc has the formulas, docs/concepts/time-model.md explains them.
#pragma once

#include <array>

#include "vgpu/core/counters.h"
#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

struct TimeEstimate {
  double microseconds = 0;
  const char* bound_by = "launch";  // "issue", "tensor", "shared", "l2", "dram", "latency", "launch"
};

// Depends only on the launch's shape, resources and counters, or on a library function's counts, so it is the same on
// every machine and in every run. Does not read LaunchRecord::microseconds, bound_by and theoretical_occupancy.
// `registers`: registers per thread on that device, if it is not the device that the launch ran on.
TimeEstimate EstimateTime(const LaunchRecord& launch, const DeviceProfile& device, uint32_t registers);
inline TimeEstimate EstimateTime(const LaunchRecord& launch, const DeviceProfile& device) {
  return EstimateTime(launch, device, launch.registers);
}

// The time that each of EstimateTime's seven parts would take alone.
std::array<TimeEstimate, 7> TimeParts(const LaunchRecord& launch, const DeviceProfile& device, uint32_t registers);

// The latency part if each block has a warp as long as the longest one. EstimateTime uses the mean of a block's warps,
// which idle warps lower. 0 if the longest warp is unknown.
double LongestWarpMicroseconds(const LaunchRecord& launch, const DeviceProfile& device);

}  // namespace lockstep::vgpu
