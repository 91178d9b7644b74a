// Happens-before among streams and the host: one vector clock for each.
//
// A stream's operations are numbered from 1. Its clock holds, for each stream, how many operations happen before the
// stream's next one. A slot is a stream's index in the clocks; a removed stream's slot is reused after the host has
// waited for all its operations. All host threads count as one: a wait by any of them counts for all.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/observers/stream_checker.h"

namespace lockstep::vgpu {

class StreamClocks {
 public:
  using Clock = std::vector<uint32_t>;  // by slot; missing ones are 0

  // Adds a stream and returns its slot.
  uint32_t Add(int device, StreamKind kind);
  void Remove(uint32_t slot);

  // Enqueues an operation in the stream: fills in its slot, number and clocks.
  void Begin(uint32_t slot, StreamPoint& point);
  // The clock of the stream's next operation.
  Clock Before(uint32_t slot) const;
  // Record returns the clock of an event recorded in the stream; Wait makes the stream wait for it. In the default
  // stream both act like any other operation: it first waits for the blocking streams, and they wait for it from then
  // on.
  Clock Record(uint32_t slot) { return streams_.at(slot).clock = Before(slot); }
  void Wait(uint32_t slot, const Clock& event) {
    Record(slot);
    Join(streams_.at(slot).clock, event);
  }

  void HostWaits(const Clock& event);
  // The host waits for the stream; the default stream first waits for all blocking ones.
  void HostWaits(uint32_t slot);
  void HostWaitsForDevice(int device);
  // Later operations happen after everything in the device's streams, but the host has not waited.
  void Fence(int device);

  const Clock& host() const { return host_; }
  bool HostHasWaited(uint32_t slot, uint32_t sequence) const { return slot < host_.size() && sequence <= host_[slot]; }
  // Increases with each wait by the host.
  uint64_t waits() const { return waits_; }
  // Whether there are two streams, which may be the default streams of two devices.
  bool several() const { return streams_.size() > 1; }

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
  std::vector<uint32_t> last_;          // by slot: number of its last operation
  Clock host_;
  std::map<int, Clock> fences_;  // by device
  uint64_t waits_ = 0;
};

}  // namespace lockstep::vgpu
