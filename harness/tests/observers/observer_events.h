// Events as the engine would send them, for tests of observers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

class EventSource {
 public:
  EventSource(Observer& observer, uint32_t blocks, uint32_t threads, uint32_t shared_bytes, uint32_t cluster = 1,
              bool strong_is_data = false)
      : observer_(observer) {
    info_.grid = {blocks, 1, 1};
    info_.cluster = {cluster, 1, 1};
    info_.block = {threads, 1, 1};
    info_.warps_per_block = (threads + 31) / 32;
    info_.shared_bytes = shared_bytes;
    info_.strong_is_data = strong_is_data;
    Launch();
  }

  // A launch of the same shape again; all its blocks begin.
  void Launch() {
    if (running_) Finish();
    observer_.OnLaunchBegin(info_);
    for (uint32_t b = 0; b < info_.grid.x; ++b) observer_.OnBlockBegin(b);
    running_ = true;
  }
  void Finish() {
    for (uint32_t b = 0; b < info_.grid.x; ++b) observer_.OnBlockEnd(b);
    observer_.OnLaunchEnd();
    running_ = false;
  }

  // The place of the next events.
  EventSource& At(uint32_t block, uint32_t warp, LaneMask mask = kFullMask) {
    block_ = block;
    warp_ = warp;
    mask_ = mask;
    return *this;
  }

  struct Options {
    AccessKind kind = AccessKind::kLoad;
    MemorySpace space = MemorySpace::kShared;
    MemoryOrder order = MemoryOrder::kWeak;
    MemoryScope scope = MemoryScope::kGpu;
    int bytes = 4;
    bool same_value = false;
    bool returns_value = true;
    bool overwrites = false;
    bool waits = false;
    bool constant = false;
    bool plain_shared_load = false;
    LaneMask keeps = 0;  // lanes whose value is in memory already
  };
  // address(lane) is the lane's address.
  void Access(uint32_t pc, const Options& options, const std::function<uint64_t(uint32_t)>& address) {
    Tell(pc, options, address, [&](const MemoryAccess& access) { observer_.OnMemory(access); });
  }
  // The issue of an asynchronous copy, which will make this store later.
  void IssueCopy(uint32_t pc, const Options& options, const std::function<uint64_t(uint32_t)>& address) {
    Tell(pc, options, address, [&](const MemoryAccess& access) { observer_.OnCopyIssued(access); });
  }

  WarpEvent Event(uint32_t pc = 0) const { return {mask_, pc, block_, warp_}; }
  void SyncWarp() { observer_.OnWarpSync(Event()); }
  void Fence(MemoryScope scope = MemoryScope::kGpu) { observer_.OnFence(Event(), scope); }
  void Exit() { observer_.OnExit(Event()); }
  void Arrive(uint32_t barrier = 0, uint32_t pc = 0, bool stays = false, bool waits = true) {
    WarpEvent event = Event(pc);
    event.stays = stays;
    event.waits = waits;
    observer_.OnBarrierArrive(event, barrier);
  }
  void Complete(uint64_t warps, uint32_t barrier = 0) { observer_.OnBarrierComplete(block_, barrier, warps); }
  // __syncthreads() of a whole block.
  void SyncBlock(uint32_t block) {
    const uint32_t warps = info_.warps_per_block;
    for (uint32_t w = 0; w < warps; ++w) At(block, w).Arrive();
    Complete((uint64_t{1} << warps) - 1);
  }

 private:
  struct KeptValues : StoreTest {
    explicit KeptValues(LaneMask lanes) : StoreTest{&Keeps}, lanes(lanes) {}
    static bool Keeps(const StoreTest& test, int lane) {
      return (static_cast<const KeptValues&>(test).lanes >> lane & 1) != 0;
    }
    const LaneMask lanes;
  };

  template <typename F>
  void Tell(uint32_t pc, const Options& options, const std::function<uint64_t(uint32_t)>& address, const F& tell) {
    std::array<uint64_t, kWarpSize> addresses{};
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) addresses[lane] = mask_ >> lane & 1 ? address(lane) : 0xdead;
    MemoryAccess access{};
    access.space = options.space;
    access.kind = options.kind;
    access.order = options.order;
    access.scope = options.scope;
    access.bytes = static_cast<uint8_t>(options.bytes);
    access.same_value = options.same_value;
    access.returns_value = options.returns_value;
    access.overwrites = options.overwrites;
    access.waits = options.waits;
    access.constant = options.constant;
    access.plain_shared_load = options.plain_shared_load;
    const KeptValues kept(options.keeps);
    access.store = &kept;
    access.form = FormOf(addresses.data(), mask_, access.bytes, options.kind == AccessKind::kLoad);
    access.mask = mask_;
    access.address = addresses.data();
    access.pc = pc;
    access.block_index = block_;
    access.warp_index = warp_;
    access.thread_base = warp_ * kWarpSize;
    tell(access);
  }

  Observer& observer_;
  LaunchInfo info_;
  bool running_ = false;
  uint32_t block_ = 0, warp_ = 0;
  LaneMask mask_ = kFullMask;
};

}  // namespace lockstep::vgpu
