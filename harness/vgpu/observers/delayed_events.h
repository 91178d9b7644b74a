// Holds events back from observers until it is known which lanes use what the loads before them have brought.
//
// Theory of operation. Events stand in a queue, in the order in which they happened. A load of which it is not yet
// known who uses it (a *read*) keeps itself and all behind it waiting. Once all its lanes are settled it is told with
// the lanes that use it, or not at all where nobody does; of a vector, elements that are used by different lanes are
// told one by one. So observers see what they would see of a program that makes only the reads that it uses, each at
// the moment of its load. While no read is open, events go straight on.
//
// The queue is bounded: when it is full, all its reads are told with the lanes that use them by then. A lane that still
// may is left out: most never do, and a finding must be sure.
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
    LaneMask lanes = 0;  // that have made it
    // By element: lanes that use it, and those that still may.
    std::array<LaneMask, UsePlan::kMostElements> used{}, open{};
    bool settled = false;
    uint32_t events = 0;  // in the queue

    // Lanes that may still use it do not count.
    void Settle() {
      open.fill(0);
      settled = true;
    }
  };

  explicit DelayedEvents(std::vector<Observer*> observers);

  // Accesses between these two are those of one read.
  uint32_t BeginRead(uint32_t parts);
  Read& EndRead();
  // nullptr: it has been told.
  Read* Find(uint32_t read) { return read - first_read_ < reads_.size() ? &reads_[read - first_read_] : nullptr; }
  void Drain();   // tells what is known by now
  void Finish();  // tells all: what is open is not used
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
    Call call;  // if it is there, it is the event
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
  uint32_t first_read_ = 0;     // the number of reads_[0]
  uint32_t running_ = kNoRead;  // between BeginRead and EndRead
};

}  // namespace lockstep::vgpu
