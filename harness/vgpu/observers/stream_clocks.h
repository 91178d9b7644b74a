// What is ordered before what, among the streams and the host: a vector clock for each.
//
// A stream's operations have numbers from 1; its clock says of each stream how many operations are ordered before the
// next. A slot is a stream's place in the clocks; that of a removed stream is used again once the host has waited for
// all that was in it. Host threads are one: what any of them has waited for counts for all.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/observers/stream_checker.h"

namespace lockstep::vgpu {

class StreamClocks {
 public:
  using Clock = std::vector<uint32_t>;  // by slot; missing ones are 0

  // A stream, by its slot.
  uint32_t Add(int device, StreamKind kind);
  void Remove(uint32_t slot);

  // An operation is put in the stream: fills in its slot, number and clocks.
  void Begin(uint32_t slot, StreamPoint& point);
  // All that is ordered before the stream's next operation.
  Clock Before(uint32_t slot) const;
  // An event is recorded in the stream, and stands for what is returned; the stream waits for one. In the default
  // stream both are actions like any other: it waits for the blocking streams first, and they for it from then on.
  Clock Record(uint32_t slot) { return streams_.at(slot).clock = Before(slot); }
  void Wait(uint32_t slot, const Clock& event) {
    Record(slot);
    Join(streams_.at(slot).clock, event);
  }

  void HostWaits(const Clock& event);
  // For the stream; the default one waits for all blocking ones first.
  void HostWaits(uint32_t slot);
  void HostWaitsForDevice(int device);
  // What comes is behind all that is in the device's streams, but the host has not waited.
  void Fence(int device);

  const Clock& host() const { return host_; }
  bool HostHasWaited(uint32_t slot, uint32_t sequence) const { return slot < host_.size() && sequence <= host_[slot]; }
  // Rises with each wait of the host's.
  uint64_t waits() const { return waits_; }
  // There is, besides the devices' default streams, one that may be at work.
  bool several() const { return streams_.size() > defaults_; }

  static void Join(Clock& into, const Clock& from);

 private:
  struct Stream {
    int device;
    StreamKind kind;
    bool removed = false;
    Clock clock = {};
  };
  void Retire();

  std::map<uint32_t, Stream> streams_;  // by slot
  size_t defaults_ = 0;
  std::vector<uint32_t> last_;  // by slot: the number of its last operation
  Clock host_;
  std::map<int, Clock> fences_;  // by device
  uint64_t waits_ = 0;
};

}  // namespace lockstep::vgpu
