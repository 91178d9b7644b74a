#include "vgpu/observers/stream_clocks.h"

#include <algorithm>

namespace lockstep::vgpu {

void StreamClocks::Join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t k = 0; k < from.size(); ++k) into[k] = std::max(into[k], from[k]);
}

uint32_t StreamClocks::Add(int device, StreamKind kind) {
  uint32_t slot = 0;
  while (streams_.count(slot) != 0) ++slot;
  if (slot >= last_.size()) last_.resize(slot + 1);
  streams_[slot] = {device, kind};
  return slot;
}

void StreamClocks::Remove(uint32_t slot) {
  streams_.at(slot).removed = true;
  Retire();
}

void StreamClocks::Retire() {
  std::erase_if(streams_, [this](const auto& entry) {
    const auto& [slot, stream] = entry;
    return stream.removed && (last_[slot] == 0 || HostHasWaited(slot, last_[slot]));
  });
}

StreamClocks::Clock StreamClocks::Before(uint32_t slot) const {
  const Stream& stream = streams_.at(slot);
  Clock before = stream.clock;
  Join(before, host_);
  if (const auto fence = fences_.find(stream.device); fence != fences_.end()) Join(before, fence->second);
  if (stream.kind == StreamKind::kNonBlocking) return before;
  // The default stream waits for all blocking streams, and they wait for it.
  const StreamKind other_kind = stream.kind == StreamKind::kDefault ? StreamKind::kBlocking : StreamKind::kDefault;
  for (const auto& [other_slot, other] : streams_) {
    if (other.device == stream.device && other.kind == other_kind) Join(before, other.clock);
  }
  return before;
}

void StreamClocks::Begin(uint32_t slot, StreamPoint& point) {
  Stream& stream = streams_.at(slot);
  point.before = Before(slot);
  point.waited = host_;
  point.slot = slot;
  point.sequence = ++last_[slot];
  point.kind = stream.kind;
  stream.clock = point.before;
  if (stream.clock.size() <= slot) stream.clock.resize(slot + 1);
  stream.clock[slot] = point.sequence;
}

void StreamClocks::HostWaits(const Clock& event) {
  Join(host_, event);
  ++waits_;
  Retire();
}

void StreamClocks::HostWaits(uint32_t slot) {
  const Stream& stream = streams_.at(slot);
  HostWaits(stream.kind == StreamKind::kDefault ? Before(slot) : Clock(stream.clock));
}

void StreamClocks::HostWaitsForDevice(int device) {
  Clock all;
  for (const auto& [slot, stream] : streams_) {
    if (stream.device == device) Join(all, stream.clock);
  }
  HostWaits(all);
}

void StreamClocks::Fence(int device) {
  if (!several()) return;
  Clock& fence = fences_[device];
  for (const auto& [slot, stream] : streams_) {
    if (stream.device == device) Join(fence, stream.clock);
  }
}

}  // namespace lockstep::vgpu
