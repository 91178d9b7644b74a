#include "vgpu/memory/access_pattern.h"

#include <algorithm>
#include <bit>

#include "vgpu/memory/access_cost.h"

namespace lockstep::vgpu {
namespace {

bool AreApart(const uint32_t offset[kWarpSize], LaneMask lanes) {
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    for (LaneMask others = left & (left - 1); others != 0; others &= others - 1) {
      if (offset[lane] == offset[std::countr_zero(others)]) return false;
    }
  }
  return true;
}

AccessPattern Learn(const uint32_t* a, const uint64_t address[kWarpSize], LaneMask lanes, uint32_t bytes,
                    AccessKind access) {
  AccessPattern p;
  const int first_lane = std::countr_zero(lanes);
  const uint32_t first = a[first_lane];
  int32_t lowest = 0, highest = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    p.care[lane] = 0 - ((lanes >> lane) & 1);
    p.offset[lane] = (a[lane] - first) & p.care[lane];
    lowest = std::min(lowest, static_cast<int32_t>(p.offset[lane]));
    highest = std::max(highest, static_cast<int32_t>(p.offset[lane]));
  }
  p.mask = lanes;
  p.low = static_cast<uint32_t>(lowest);
  p.span = static_cast<uint32_t>(highest) - static_cast<uint32_t>(lowest) + bytes;
  p.phase = static_cast<uint32_t>(address[first_lane]) % 4;
  AddSharedCost(access, address, lanes, static_cast<int>(bytes), p.cost);
  p.form = FormOf(address, lanes, bytes, access == AccessKind::kLoad);
  p.apart = p.form == AccessForm::kScattered && AreApart(p.offset, lanes);
  p.uniform[0] = address[0] == address[1];
  p.uniform[1] = address[kWarpSize / 2] == address[kWarpSize / 2 + 1];
  p.bytes = bytes;
  p.access = access;
  return p;
}

}  // namespace

std::shared_ptr<const AccessPattern> AccessPatterns::Find(const uint32_t* a, const uint64_t address[kWarpSize],
                                                          LaneMask lanes, uint32_t bytes, AccessKind access) {
  const int first = std::countr_zero(lanes);
  for (const auto& known : recent_) {
    if (known != nullptr && known->bytes == bytes && known->access == access &&
        known->phase == static_cast<uint32_t>(address[first]) % 4 && known->Matches(a, a[first], lanes)) {
      return known;
    }
  }
  next_ = (next_ + 1) % recent_.size();
  return recent_[next_] = std::make_shared<const AccessPattern>(Learn(a, address, lanes, bytes, access));
}

}  // namespace lockstep::vgpu
