#include "vgpu/exec/access_pattern.h"

#include <algorithm>

#include "vgpu/observers/coalescing.h"

namespace lockstep::vgpu {

void AccessPattern::Learn(const uint32_t* a, const uint64_t address[kWarpSize], LaneMask lanes, uint32_t bytes,
                          AccessKind access) {
  const int first_lane = std::countr_zero(lanes);
  const uint32_t first = a[first_lane];
  int32_t lowest = 0, highest = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    care[lane] = 0 - ((lanes >> lane) & 1);
    offset[lane] = (a[lane] - first) & care[lane];
    lowest = std::min(lowest, static_cast<int32_t>(offset[lane]));
    highest = std::max(highest, static_cast<int32_t>(offset[lane]));
  }
  mask = lanes;
  low = static_cast<uint32_t>(lowest);
  span = static_cast<uint32_t>(highest) - static_cast<uint32_t>(lowest) + bytes;
  phase = static_cast<uint32_t>(address[first_lane]) % 4;
  const Wavefronts w = CountWavefronts(address, lanes, static_cast<int>(bytes), access);
  wavefronts = w.actual;
  wavefronts_ideal = w.ideal;
  form = FormOf(address, lanes, bytes, access == AccessKind::kLoad);
  uniform[0] = address[0] == address[1];
  uniform[1] = address[kWarpSize / 2] == address[kWarpSize / 2 + 1];
}

}  // namespace lockstep::vgpu
