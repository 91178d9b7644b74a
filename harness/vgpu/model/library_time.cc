#include "vgpu/model/library_time.h"

#include <algorithm>

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

double PeakOperations(Arithmetic arithmetic, const DeviceProfile& device) {
  constexpr double kPerMultiplyAdd = 2;
  const double clocks = device.clock_ghz * 1e9 * device.sm_count;
  const double vector = kPerMultiplyAdd * kWarpSize * clocks;
  const double tensor = device.tensor_operations_per_clock * clocks;
  switch (arithmetic) {
    case Arithmetic::kNone:
      return 0;
    case Arithmetic::kFloat64:
      return device.cycles_per_float64 > 0 ? vector / device.cycles_per_float64 : vector;
    case Arithmetic::kTensorFloat64: {  // n.0 from 8.0 on have it, at twice the rate of their other units
      const bool has = tensor > 0 && device.cc_minor == 0 && device.cc_major >= 8;
      return PeakOperations(Arithmetic::kFloat64, device) * (has ? 2 : 1);
    }
    case Arithmetic::kFloat32:
      return vector * device.issue_per_clock;
    case Arithmetic::kTensorFloat32:  // tensor cores have had it since 8.0, at half the rate of 16 bits
      return device.cc_major >= 8 && tensor > 0 ? tensor / 2 : vector * device.issue_per_clock;
    case Arithmetic::kHalf:
      return tensor > 0 ? tensor : vector * device.issue_per_clock;
    case Arithmetic::kInt8:
      return tensor > 0 ? tensor * 2 : vector * device.issue_per_clock;
  }
  return 0;
}

TimeEstimate EstimateLibraryTime(const LibraryCounts& counts, const DeviceProfile& device) {
  constexpr double kBytesPerMicrosecond = 1e3;  // bytes per microsecond at 1 GB/s
  const double dram = counts.bytes / (device.dram_gb_per_s * device.dram_efficiency * kBytesPerMicrosecond);
  const double peak = PeakOperations(counts.arithmetic, device);
  const double issue = peak > 0 ? counts.operations / peak * 1e6 : 0;
  const double longest = std::max(dram, issue);
  const char* bound_by = longest < device.launch_overhead_us ? "launch" : issue > dram ? "issue" : "dram";
  return {device.launch_overhead_us + longest, bound_by};
}

}  // namespace lockstep::vgpu
