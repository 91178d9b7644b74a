#include "vgpu/observers/delayed_events.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/memory/coalescing.h"
#include "vgpu/observers/shared_notes.h"

namespace lockstep::vgpu {
namespace {

struct KeptValues : StoreTest {
  LaneMask lanes = 0;
};

bool Keeps(const StoreTest& test, int lane) { return (static_cast<const KeptValues&>(test).lanes >> lane & 1) != 0; }

}  // namespace

DelayedEvents::DelayedEvents(std::vector<Observer*> observers)
    : observers_(std::move(observers)),
      takes_notes_(std::all_of(observers_.begin(), observers_.end(),
                               [](const Observer* observer) { return observer->TakesSharedNotes(); })) {}

uint32_t DelayedEvents::BeginRead(uint32_t parts) {
  running_ = first_read_ + static_cast<uint32_t>(reads_.size());
  Read& read = reads_.Append();
  read = Read{};
  read.parts = parts;
  return running_;
}

DelayedEvents::Read& DelayedEvents::EndRead() { return *Find(std::exchange(running_, kNoRead)); }

void DelayedEvents::Drain() {
  while (!queue_.empty()) {
    Event& event = queue_.front();
    if (event.call) {
      for (Observer* observer : observers_) event.call(*observer);
      event.call = nullptr;
    } else {
      const uint32_t number = event.access.read;
      if (number != kNoRead && !Find(number)->settled) return;
      Deliver(event.access);
      if (number != kNoRead) --Find(number)->events;
    }
    queue_.pop_front();
    while (!reads_.empty() && reads_.front().settled && reads_.front().events == 0) {
      reads_.pop_front();
      ++first_read_;
    }
  }
  // Reads without an event: the memory that they access is not watched.
  while (!reads_.empty() && reads_.front().settled && running_ == kNoRead) {
    reads_.pop_front();
    ++first_read_;
  }
}

void DelayedEvents::Finish() {
  for (size_t i = 0; i < reads_.size(); ++i) reads_[i].settled = true;
  Drain();
}

template <typename F>
void DelayedEvents::Tell(const F& call) {
  if (queue_.empty()) {
    for (Observer* observer : observers_) call(*observer);
    return;
  }
  queue_.Append().call = call;
  MakeRoom();
}

void DelayedEvents::OnMemory(const MemoryAccess& event) {
  if (queue_.empty() && running_ == kNoRead) {
    for (Observer* observer : observers_) observer->OnMemory(event);
    return;
  }
  Push(event, running_);
  if (running_ == kNoRead) MakeRoom();
}

void DelayedEvents::Push(const MemoryAccess& event, uint32_t number) {
  if (event.kind != AccessKind::kLoad) {
    for (Observer* observer : observers_) observer->BeforeDelayedStore(event);
  }
  Access& access = queue_.Append().access;
  access.event = event;
  Pack(access);
  access.read = number;
  access.keeps = 0;
  for (uint32_t lane = 0; event.store != nullptr && lane < kWarpSize; ++lane) {
    if ((event.mask >> lane & 1) != 0) access.keeps |= static_cast<LaneMask>(event.KeepsValue(lane)) << lane;
  }
  if (number == kNoRead) return;
  Read& read = *Find(number);
  read.lanes |= event.mask;
  ++read.events;
}

void DelayedEvents::MakeRoom() {
  while (queue_.size() >= kMostEvents) {
    Drain();
    // What is left begins with an open read.
    if (!queue_.empty()) Find(queue_.front().access.read)->settled = true;
  }
}

void DelayedEvents::Pack(Access& access) {
  const uint64_t* const address = access.event.address;
  constexpr uint32_t kHalf = kWarpSize / 2;
  switch (access.event.form) {
    case AccessForm::kUnit:
    case AccessForm::kStrided: {
      const LaneMask mask = std::max<LaneMask>(access.event.mask, 1), rest = mask & (mask - 1);
      const auto first = static_cast<uint32_t>(std::countr_zero(mask));
      uint64_t stride = access.event.bytes;
      if (rest != 0) {
        const auto next = static_cast<uint32_t>(std::countr_zero(rest));
        stride = static_cast<uint64_t>(static_cast<int64_t>(address[next] - address[first]) /
                                       static_cast<int64_t>(next - first));
      }
      access.half[0] = address[first] - first * stride;
      access.half[1] = access.half[0] + kHalf * stride;
      access.stride[0] = access.stride[1] = stride;
      break;
    }
    case AccessForm::kHalves:
      for (uint32_t half = 0; half < 2; ++half) {
        access.half[half] = address[half * kHalf];
        access.stride[half] = address[half * kHalf + 1] - address[half * kHalf];
      }
      break;
    case AccessForm::kScattered:
      std::copy_n(address, kWarpSize, scattered_.Append().begin());
  }
}

void DelayedEvents::Deliver(Access& access) {
  Addresses addresses;
  if (access.event.form == AccessForm::kScattered) {
    addresses = scattered_.front();
    scattered_.pop_front();
  } else {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const uint32_t half = lane / (kWarpSize / 2);
      addresses[lane] = access.half[half] + lane % (kWarpSize / 2) * access.stride[half];
    }
  }
  access.event.address = addresses.data();
  KeptValues kept;
  kept.keeps = Keeps;
  kept.lanes = access.keeps;
  if (access.event.store != nullptr) access.event.store = &kept;
  if (access.read == kNoRead) {
    for (Observer* observer : observers_) observer->OnMemory(access.event);
  } else {
    const Read& read = *Find(access.read);
    DeliverPart(access, addresses, read, 0, read.parts);
  }
  access.event.address = nullptr;
}

void DelayedEvents::DeliverPart(const Access& access, const Addresses& addresses, const Read& read, uint32_t first,
                                uint32_t count) {
  const LaneMask used = read.used[first] & access.event.mask;
  for (uint32_t part = first + 1; part < first + count; ++part) {
    if ((read.used[part] & access.event.mask) == used) continue;
    DeliverPart(access, addresses, read, first, count / 2);
    DeliverPart(access, addresses, read, first + count / 2, count - count / 2);
    return;
  }
  if (used == 0) return;
  MemoryAccess event = access.event;
  std::array<uint64_t, kWarpSize> address;
  event.mask = used;
  if (count != read.parts) {
    const uint32_t bytes = event.bytes / read.parts;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) address[lane] = addresses[lane] + first * bytes;
    event.address = address.data();
    event.bytes = static_cast<uint8_t>(count * bytes);
    event.skipped = static_cast<uint8_t>(first * bytes);
    event.form = AccessForm::kScattered;
  } else if (used != access.event.mask && !(event.form == AccessForm::kUnit && IsContiguous(used))) {
    event.form = AccessForm::kScattered;
  }
  for (Observer* observer : observers_) observer->OnMemory(event);
}

void DelayedEvents::OnSharedNotes(const SharedNotes& notes) {
  if (queue_.empty()) {
    for (Observer* observer : observers_) observer->OnSharedNotes(notes);
    return;
  }
  // These accesses may be reported between BeginRead and EndRead, but don't belong to that read.
  for (const SharedNote& note : notes) {
    uint64_t address[kWarpSize];
    Push(notes.Event(note, address), kNoRead);
  }
  if (running_ == kNoRead) MakeRoom();
}

void DelayedEvents::OnCopyIssued(const MemoryAccess& event) {
  std::array<uint64_t, kWarpSize> address;
  std::copy_n(event.address, kWarpSize, address.begin());
  Tell([=](Observer& observer) {
    MemoryAccess told = event;
    told.address = address.data();
    observer.OnCopyIssued(told);
  });
}
void DelayedEvents::OnBlockBegin(uint32_t block) {
  Tell([=](Observer& observer) { observer.OnBlockBegin(block); });
}
void DelayedEvents::OnBlockEnd(uint32_t block) {
  Tell([=](Observer& observer) { observer.OnBlockEnd(block); });
}
void DelayedEvents::OnBlockGoesOn(uint32_t block) {
  Tell([=](Observer& observer) { observer.OnBlockGoesOn(block); });
}
void DelayedEvents::OnBarrierArrive(const WarpEvent& event, uint32_t barrier) {
  Tell([=](Observer& observer) { observer.OnBarrierArrive(event, barrier); });
}
void DelayedEvents::OnBarrierComplete(uint32_t block, uint32_t barrier, uint64_t warps) {
  Tell([=](Observer& observer) { observer.OnBarrierComplete(block, barrier, warps); });
}
void DelayedEvents::OnWarpSync(const WarpEvent& event) {
  Tell([=](Observer& observer) { observer.OnWarpSync(event); });
}
void DelayedEvents::OnFence(const WarpEvent& event, MemoryScope scope) {
  Tell([=](Observer& observer) { observer.OnFence(event, scope); });
}
void DelayedEvents::OnExit(const WarpEvent& event) {
  Tell([=](Observer& observer) { observer.OnExit(event); });
}
void DelayedEvents::OnAllocate(uint64_t address, uint64_t bytes) {
  Tell([=](Observer& observer) { observer.OnAllocate(address, bytes); });
}
void DelayedEvents::OnFree(uint64_t address, uint64_t bytes) {
  Tell([=](Observer& observer) { observer.OnFree(address, bytes); });
}

}  // namespace lockstep::vgpu
