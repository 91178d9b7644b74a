#include "vgpu/observers/race/block_clocks.h"

#include <algorithm>
#include <bit>

namespace lockstep::vgpu {

void BlockClocks::Join(uint32_t* into, const uint32_t* from, uint32_t count) {
  for (uint32_t w = 0; w < count; ++w) into[w] = std::max(into[w], from[w]);
}

void BlockClocks::JoinSeen(uint32_t* into, uint32_t warp) {
  Join(into, seen_[warp].data(), warps_);
  into[warp] = std::max(into[warp], time_[warp] + 1);
}

void BlockClocks::Begin(uint32_t threads, uint32_t block_index) {
  if (orders_) order_ = {};
  block_index_ = block_index;
  orders_ = heard_ = false;
  warps_ = std::min<uint32_t>((threads + kWarpSize - 1) / kWarpSize, kMaxWarps);
  alive_warps_ = (uint64_t{1} << warps_) - 1;
  just_fenced_ = 0;
  for (uint32_t w = 0; w < warps_; ++w) {
    const uint32_t left = threads - w * kWarpSize;
    alive_[w] = left >= kWarpSize ? kFullMask : (LaneMask{1} << left) - 1;
    time_[w] = 0;
    std::fill_n(seen_[w].begin(), warps_, 0u);
    lanes_[w].reset();
  }
  for (; met_ != 0; met_ &= met_ - 1) meeting_[static_cast<size_t>(std::countr_zero(met_))] = {};
}

void BlockClocks::Exit(uint32_t warp, LaneMask lanes) {
  alive_[warp] &= ~lanes;
  if (alive_[warp] == 0) alive_warps_ &= ~(uint64_t{1} << warp);
}

void BlockClocks::SyncWarp(uint32_t warp, LaneMask lanes) {
  const uint32_t now = ++time_[warp];
  if ((lanes & alive_[warp]) == alive_[warp]) {
    seen_[warp][warp] = now;
    lanes_[warp].reset();
    return;
  }
  if (!lanes_[warp]) lanes_[warp] = std::make_unique<LaneTable>();
  LaneTable& table = *lanes_[warp];
  std::array<uint32_t, kWarpSize> joined{};
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    Join(joined.data(), table[std::countr_zero(left)].data(), kWarpSize);
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) joined[std::countr_zero(left)] = now;
  for (LaneMask left = lanes; left != 0; left &= left - 1) table[std::countr_zero(left)] = joined;
}

void BlockClocks::Arrive(uint32_t warp, uint32_t barrier, bool waits, bool stays) {
  Meeting& meeting = meeting_[barrier % kBarriers];
  met_ |= 1u << barrier % kBarriers;
  if (waits) meeting.waiting |= uint64_t{1} << warp;
  if (stays) {
    meeting.staying |= uint64_t{1} << warp;
    return;
  }
  if (orders_) BringOrder(meeting, warp);
  JoinSeen(meeting.clock.data(), warp);
  ++time_[warp];
}

bool BlockClocks::Complete(uint32_t barrier, uint64_t warps) {
  Meeting& meeting = meeting_[barrier % kBarriers];
  if ((alive_warps_ & ~(warps & meeting.waiting & meeting.staying)) == 0) {
    CompleteWhole(meeting);
    met_ &= ~(1u << barrier % kBarriers);
    return true;
  }
  for (uint64_t left = meeting.staying; left != 0; left &= left - 1) {
    const uint32_t warp = static_cast<uint32_t>(std::countr_zero(left));
    if (orders_) BringOrder(meeting, warp);
    JoinSeen(meeting.clock.data(), warp);
    ++time_[warp];
  }
  warps &= meeting.waiting;
  const bool whole = (alive_warps_ & ~warps) == 0;
  if (whole) {
    // Exited threads no longer hold up the barrier; their accesses are complete.
    for (uint32_t w = 0; w < warps_; ++w) {
      if (alive_warps_ >> w & 1) continue;
      meeting.clock[w] = std::max(meeting.clock[w], time_[w] + 1);
      if (orders_) BringOrder(meeting, w);
    }
  }
  for (uint32_t w = 0; w < warps_; ++w) {
    if (!(warps >> w & 1)) continue;
    Join(seen_[w].data(), meeting.clock.data(), warps_);
    if (orders_) TakeOrder(meeting, w);
  }
  std::fill_n(meeting.clock.begin(), warps_, 0u);
  EndOrder(meeting);
  meeting.waiting = meeting.staying = 0;
  met_ &= ~(1u << barrier % kBarriers);
  return whole;
}

// All live threads have waited: everything so far happens before everything from now on. No warp had seen more of
// another warp than that warp's clock.
void BlockClocks::CompleteWhole(Meeting& meeting) {
  if (orders_) {
    for (uint32_t w = 0; w < warps_; ++w) BringOrder(meeting, w);
  }
  for (uint32_t w = 0; w < warps_; ++w) {
    meeting.clock[w] = time_[w] + 1;
    time_[w] += alive_warps_ >> w & 1;
  }
  for (uint32_t w = 0; w < warps_; ++w) {
    if (!(alive_warps_ >> w & 1)) continue;
    seen_[w] = meeting.clock;
    if (orders_) TakeOrder(meeting, w);
  }
  std::fill_n(meeting.clock.begin(), warps_, 0u);
  if (orders_) EndOrder(meeting);
  meeting.waiting = meeting.staying = 0;
}

void BlockClocks::BringOrder(Meeting& meeting, uint32_t warp) {
  Acquire(warp, kDeviceLevel);
  const WarpOrder& order = order_[warp];
  meeting.known.Join(order.known);
  for (size_t k = 0; k < kOrderLevels; ++k) meeting.fenced[k].Join(order.fenced[k]);
}

void BlockClocks::TakeOrder(const Meeting& meeting, uint32_t warp) {
  WarpOrder& order = order_[warp];
  order.known.Join(meeting.known);
  for (size_t k = 0; k < kOrderLevels; ++k) order.fenced[k].Join(meeting.fenced[k]);
}

void BlockClocks::EndOrder(Meeting& meeting) {
  meeting.known = {};
  meeting.fenced = {};
}

void BlockClocks::Release(uint32_t warp, OrderLevel level) {
  WarpOrder& order = order_[warp];
  // Everything fenced earlier is already known: by program order, or through the barrier that propagated it.
  OrderClock now = order.known;
  Clock times = seen_[warp];
  times[warp] = std::max(times[warp], time_[warp] + 1);
  now.Join(block_index_, times.data(), warps_);
  for (size_t k = 0; k <= level; ++k) order.fenced[k] = now;
  ++time_[warp];
  orders_ = true;
}

void BlockClocks::Acquire(uint32_t warp, OrderLevel level) {
  if (!HasPending(warp)) return;
  WarpOrder& order = order_[warp];
  order.fenced_narrowly = false;
  for (size_t k = 0; k < kOrderLevels; ++k) {
    OrderClock& pending = order.pending[k];
    if (pending.empty()) continue;
    if (k > level) {
      order.fenced_narrowly = true;
      continue;
    }
    if (const uint32_t* times = pending.TimesOf(block_index_)) Join(seen_[warp].data(), times, warps_);
    order.known.Join(pending);
    pending = {};
  }
}

FencedTimes BlockClocks::Fenced() const {
  FencedTimes all;
  const auto join = [&](const OrderClock& clock, std::vector<uint32_t>& into) {
    const uint32_t* times = clock.TimesOf(block_index_);
    if (times == nullptr) return;
    into.resize(warps_);
    Join(into.data(), times, warps_);
  };
  for (uint32_t w = 0; w < warps_ && orders_; ++w) {
    join(order_[w].fenced[kBlockLevel], all.block);
    join(order_[w].fenced[kDeviceLevel], all.device);
  }
  return all;
}

}  // namespace lockstep::vgpu
