// Shared-memory loads whose check is deferred.
//
// Between two barriers of a block, most shared memory is either only read or only written. A load of memory that has
// not been written since the last barrier can race only with a store before the next one. So such loads are noted but
// not entered into shadow memory, and the barrier drops them. They are entered, in order, only if a store overlaps them
// or if threads synchronise by other means than a barrier of the block.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "vgpu/observers/access_extent.h"
#include "vgpu/observers/observer.h"
#include "vgpu/observers/race/access_log.h"
#include "vgpu/observers/shared_notes.h"

namespace lockstep::vgpu {

class DeferredLoads {
 public:
  static constexpr size_t kMaximum = 2048;

  // Starts a new interval between barriers.
  void Begin() {
    Drop();
    open_ = true;
  }
  // Whether loads may be deferred; false for the rest of an interval in which they were too many or had to be entered.
  bool open() const { return open_; }
  bool empty() const { return loads_.empty(); }
  bool Meets(const Extent& extent) const { return extent_.Meets(extent); }

  void Add(const MemoryAccess& event, uint32_t number, const Extent& extent) {
    const uint64_t* address = event.address;
    Add(event.form, event.mask, event.bytes, number, extent,
        [=](uint32_t lane) { return static_cast<uint32_t>(address[lane]); });
  }
  void Add(const SharedNotes& notes, const SharedNote& note, uint32_t number, const Extent& extent) {
    const AccessPattern* pattern = notes.PatternOf(note);
    const auto bytes = static_cast<uint8_t>(note.bytes());
    if (pattern != nullptr) {
      Add(pattern->form, note.mask, bytes, number, extent,
          [&](uint32_t lane) { return note.first + pattern->offset[lane]; });
    } else {
      const uint32_t origin = note.first - static_cast<uint32_t>(std::countr_zero(note.mask)) * bytes;
      Add(AccessForm::kUnit, note.mask, bytes, number, extent, [=](uint32_t lane) { return origin + lane * bytes; });
    }
  }

  // Calls f(event, number) for each load, in order, with the log's numbers. Nothing is deferred from then until the
  // next barrier.
  template <typename F>
  void Enter(const AccessLog& log, const F& f) {
    open_ = false;
    for (const Load& load : loads_) {
      uint64_t address[kWarpSize];
      Expand(load, address);
      MemoryAccess event{};
      event.space = MemorySpace::kShared;
      event.kind = AccessKind::kLoad;
      event.bytes = load.bytes;
      event.form = load.form;
      event.mask = load.mask;
      event.address = address;
      const Access& access = log[load.number];
      event.pc = access.pc;
      event.block_index = access.block_index;
      event.warp_index = access.warp;
      event.thread_base = access.warp * kWarpSize;
      f(event, load.number);
    }
    Drop();
  }

 private:
  struct Load {
    uint32_t number;
    LaneMask mask;
    uint32_t place[2];  // lane 0's address and the stride; or each half's address; or [0]: an index into lanes_
    uint8_t bytes;
    AccessForm form;
    bool uniform[2] = {false, false};  // per half
  };

  // address(lane), below 2^32.
  template <typename F>
  void Add(AccessForm form, LaneMask mask, uint8_t bytes, uint32_t number, const Extent& extent, const F& address) {
    extent_.Join(extent);
    // Written in place: building it elsewhere and copying it immediately would stall on the pending stores.
    Load& load = loads_.emplace_back();
    load.number = number;
    load.mask = mask;
    load.bytes = bytes;
    load.form = form;
    switch (form) {
      case AccessForm::kUnit:
      case AccessForm::kStrided: {
        const LaneMask rest = mask & (mask - 1);
        const uint32_t first = static_cast<uint32_t>(std::countr_zero(mask));
        const uint32_t next = static_cast<uint32_t>(std::countr_zero(rest)) & (kWarpSize - 1);
        load.place[1] = bytes;
        if (form == AccessForm::kStrided) {
          const int32_t span = static_cast<int32_t>(address(next) - address(first));
          load.place[1] = static_cast<uint32_t>(span / static_cast<int32_t>(next - first));
        }
        load.place[0] = address(first) - first * load.place[1];
        break;
      }
      case AccessForm::kHalves:
        for (uint32_t half = 0; half < 2; ++half) {
          const uint32_t lane = half * (kWarpSize / 2);
          load.place[half] = address(lane);
          load.uniform[half] = address(lane) == address(lane + 1);
        }
        break;
      case AccessForm::kScattered:
        load.place[0] = static_cast<uint32_t>(lanes_.size());
        lanes_.emplace_back();
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) lanes_.back()[lane] = address(lane);
    }
    open_ = loads_.size() < kMaximum;
  }

  void Drop() {
    loads_.clear();
    lanes_.clear();
    extent_ = {};
  }
  void Expand(const Load& load, uint64_t address[kWarpSize]) const {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      switch (load.form) {
        case AccessForm::kUnit:
        case AccessForm::kStrided:
          address[lane] =
              load.place[0] + lane * load.place[1];  // modulo 2^32, since shared-memory addresses are below that
          break;
        case AccessForm::kHalves: {
          const uint32_t half = lane / (kWarpSize / 2);
          address[lane] = load.place[half] + (load.uniform[half] ? 0 : lane % (kWarpSize / 2) * load.bytes);
          break;
        }
        case AccessForm::kScattered:
          address[lane] = lanes_[load.place[0]][lane];
      }
    }
  }

  bool open_ = false;
  Extent extent_;
  std::vector<Load> loads_;
  std::vector<std::array<uint32_t, kWarpSize>> lanes_;
};

}  // namespace lockstep::vgpu
