// Delays events to observers until it is known which lanes use the values of earlier loads.
//
// Theory of operation. Events are queued in program order. A load whose users are not yet known (a *read*) holds back
// itself and all later events. Once all its lanes are settled, it is reported with the lanes that use it, or dropped if
// no lane does. A vector load whose elements are used by different lanes is reported in parts. So observers see the
// events of a program that performs only the reads that it uses, each at the time of its load. While no read is open,
// events pass straight through.
//
// The queue is bounded. When it is full, its oldest read is reported with the lanes that have used it so far. Lanes
// that might still use it are left out: most never do, and a finding must be certain. The read tracker notices if one
// of them does use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "vgpu/core/use_plan.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

// A queue that reuses its slots: popping frees no memory, and pushing rarely allocates.
//
// std::deque allocates one node per element if elements are larger than half a node (512 bytes). For long events that
// cost a tenth of a checked launch.
template <typename T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& front() { return slots_[head_]; }
  T& operator[](size_t index) { return slots_[(head_ + index) & (slots_.size() - 1)]; }

  // Appends a slot, which still has its previous contents. References to other elements stay valid unless the ring
  // grows.
  T& Append() {
    if (size_ == slots_.size()) Grow();
    return (*this)[size_++];
  }
  void pop_front() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }

 private:
  static constexpr size_t kFewest = 16;  // all capacities are powers of two

  void Grow() {
    std::vector<T> slots(slots_.empty() ? kFewest : 2 * slots_.size());
    for (size_t i = 0; i < size_; ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    head_ = 0;
  }

  std::vector<T> slots_;
  size_t head_ = 0;
  size_t size_ = 0;
};

class DelayedEvents : public Observer {
 public:
  static constexpr size_t kMostEvents = 1 << 18;  // 36 MB

  struct Read {
    uint32_t parts = 1;
    LaneMask lanes = 0;                                   // that executed it
    std::array<LaneMask, UsePlan::kMostElements> used{};  // by element: lanes that have used it
    uint32_t open = 0;                                    // elements that more lanes may use
    bool settled = false;
    uint32_t events = 0;  // in the queue
  };

  explicit DelayedEvents(std::vector<Observer*> observers);

  // Accesses between these two calls belong to one read.
  uint32_t BeginRead(uint32_t parts);
  Read& EndRead();
  // nullptr: it has been reported.
  Read* Find(uint32_t read) { return read - first_read_ < reads_.size() ? &reads_[read - first_read_] : nullptr; }
  void Drain();   // reports events up to the first open read
  void Finish();  // reports everything, open reads with the lanes that have used them so far
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

  // An address is computed from that of its half-warp's first lane and a stride per lane; or they are in scattered_, in
  // the order of the queue.
  struct Access {
    MemoryAccess event;
    uint64_t half[2], stride[2];
    uint32_t read;
    LaneMask keeps;  // event.KeepsValue
  };
  using Addresses = std::array<uint64_t, kWarpSize>;
  using Call = std::function<void(Observer&)>;

  struct Event {
    Access access;
    Call call;  // if set, this call is the event
  };

  template <typename F>
  void Tell(const F& call);
  void Push(const MemoryAccess& event, uint32_t read);
  void MakeRoom();
  void Pack(Access& access);
  void Deliver(Access& access);
  void DeliverPart(const Access& access, const Addresses& addresses, const Read& read, uint32_t first, uint32_t count);

  const std::vector<Observer*> observers_;
  bool takes_notes_;
  Ring<Event> queue_;
  Ring<Addresses> scattered_;  // of the queue's accesses whose form is kScattered
  Ring<Read> reads_;
  uint32_t first_read_ = 0;     // number of reads_[0]
  uint32_t running_ = kNoRead;  // set between BeginRead and EndRead
};

}  // namespace lockstep::vgpu
