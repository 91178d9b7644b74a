// Delays events to observers until it is known which lanes use the values of earlier loads.
//
// Theory of operation. Events are queued in program order. A load whose users are not yet known (a *read*) holds back
// itself and all later events. Once all its lanes are settled, it is reported with the lanes that use it, or dropped if
// no lane does. For a vector load whose elements are used by different lanes, the elements are reported one by one. So
// observers see the events of a program that performs only the reads that it uses, each at the time of its load. While
// no read is open, events pass straight through.
//
// The queue is bounded. When it is full, all its reads are reported with the lanes that have used them so far. Lanes
// that might still use them are left out: most never do, and a finding must be certain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "vgpu/core/ring.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

class DelayedEvents : public Observer {
 public:
  static constexpr size_t kMostEvents = 1 << 14;

  struct Read {
    uint32_t parts = 1;
    LaneMask lanes = 0;  // that executed it
    // By element: lanes that have used it, and lanes that still may.
    std::array<LaneMask, UsePlan::kMostElements> used{}, open{};
    bool settled = false;
    uint32_t events = 0;  // in the queue

    // Lanes that might still use it count as not using it.
    void Settle() {
      open.fill(0);
      settled = true;
    }
  };

  explicit DelayedEvents(std::vector<Observer*> observers);

  // Accesses between these two calls belong to one read.
  uint32_t BeginRead(uint32_t parts);
  Read& EndRead();
  // nullptr: it has been reported.
  Read* Find(uint32_t read) { return read - first_read_ < reads_.size() ? &reads_[read - first_read_] : nullptr; }
  void Drain();   // reports with what is known so far
  void Finish();  // reports everything; open reads count as unused
  bool empty() const { return queue_.empty(); }

  bool TakesSharedNotes() const override { return takes_notes_; }
  void OnMemory(const MemoryAccess& access) override;
  void OnCopyIssued(const MemoryAccess& access) override;
  void OnSharedNotes(const SharedNotes& notes) override;
  void OnBlockBegin(uint32_t block) override;
  void OnBlockEnd(uint32_t block) override;
  void OnBlockGoesOn(uint32_t block) override;
  void OnBarrierArrive(const WarpEvent& event, uint32_t barrier) override;
  void OnBarrierComplete(uint32_t block, uint32_t barrier, uint64_t warps) override;
  void OnWarpSync(const WarpEvent& event) override;
  void OnFence(const WarpEvent& event, MemoryScope scope) override;
  void OnExit(const WarpEvent& event) override;
  void OnAllocate(uint64_t address, uint64_t bytes) override;
  void OnFree(uint64_t address, uint64_t bytes) override;

 private:
  static constexpr uint32_t kNoRead = 0xffffffffu;

  struct Access {
    MemoryAccess event;
    std::array<uint64_t, kWarpSize> address;
    uint32_t read;
    LaneMask keeps;  // event.KeepsValue
  };
  using Call = std::function<void(Observer&)>;

  struct Event {
    Access access;
    Call call;  // if set, this is the event
  };

  template <typename F>
  void Tell(const F& call);
  void Push(const MemoryAccess& event, uint32_t read);
  void MakeRoom();
  void SettleAll();
  void Deliver(Access& access);
  void DeliverPart(const Access& access, const Read& read, uint32_t first, uint32_t count);

  const std::vector<Observer*> observers_;
  bool takes_notes_;
  Ring<Event> queue_;
  Ring<Read> reads_;
  uint32_t first_read_ = 0;     // number of reads_[0]
  uint32_t running_ = kNoRead;  // set between BeginRead and EndRead
};

}  // namespace lockstep::vgpu
