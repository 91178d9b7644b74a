// Observers: checkers, and what records footprints. They get one event per warp instruction, never one per lane, and
// never change what the program computes. The set of observers is fixed before a launch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "vgpu/core/counters.h"
#include "vgpu/core/dim3.h"
#include "vgpu/core/finding.h"
#include "vgpu/core/lane_mask.h"
#include "vgpu/core/memory_flags.h"
#include "vgpu/memory/access_form.h"

namespace lockstep::vgpu {

struct Program;        // core/program.h
class BlockIsolation;  // observers/block_isolation.h
class SharedNotes;     // observers/shared_notes.h

// A launch. In its events, block_index is a block's linear index in the grid.
struct LaunchInfo {
  const Program* program = nullptr;
  uint64_t ordinal = 0;
  std::string kernel;
  Dim3 grid, block;
  uint32_t warps_per_block = 0;
  uint32_t shared_bytes = 0;  // static + dynamic + reserved
  Dim3 cluster{1, 1, 1};      // blocks
  bool cooperative = false;
  uint64_t current_graph = 0;   // LaunchSpec::current_graph
  bool strong_is_data = false;  // DeviceOptions::strong_is_data
};

// Whether the bytes that a lane is about to store, or an atomic's result, are already there. Evaluated only on request.
struct StoreTest {
  bool (*keeps)(const StoreTest& test, int lane) = nullptr;
};

// One warp instruction's access to one memory space. An instruction whose generic addresses are in several spaces
// causes one event per space.
struct MemoryAccess {
  MemorySpace space;
  AccessKind kind;
  MemoryOrder order = MemoryOrder::kWeak;
  MemoryScope scope = MemoryScope::kGpu;
  uint8_t bytes;        // per lane: element size × vector elements (1 to 32)
  uint8_t skipped = 0;  // bytes of the instruction's access before this part, if elements are reported separately
  const StoreTest* store = nullptr;  // stores and atomics that return a value; nullptr if it cannot be determined
  bool same_value = false;           // stores: lanes that hit the same address stored the same bytes
  bool returns_value = true;         // atomics: false for red
  bool overwrites = false;           // an atomic exchange whose result nobody reads
  bool waits = false;  // volatile loads, atomics: the value decides whether the thread keeps waiting (waiting_loads.h)
  bool constant = false;  // loads through a cache that does not see this kernel's stores (ld.global.nc)
  AccessForm form = AccessForm::kScattered;
  LaneMask mask;            // active lanes
  const uint64_t* address;  // [32]; global: device address; shared, local: offset in the window
  uint32_t pc;
  uint32_t block_index, warp_index;
  uint32_t thread_base;  // = warp_index * 32
  // Set by the engine for the most frequent event, a weak load of shared memory: checkers that ignore it need one test.
  bool plain_shared_load = false;

  bool KeepsValue(uint32_t lane) const { return store != nullptr && store->keeps(*store, static_cast<int>(lane)); }
};

struct WarpEvent {  // barrier arrival, __syncwarp, fence, exit
  LaneMask mask;    // lanes that take part
  uint32_t pc;
  uint32_t block_index, warp_index;
  bool waits = true;   // false: bar.arrive
  bool stays = false;  // these lanes do nothing else until the barrier completes
};

class Observer {
 public:
  virtual ~Observer() = default;

  // An observer that supports several CPU threads returns a new instance for another thread, and later merges its
  // results with Absorb (called in thread order). An observer that does not returns nullptr; then the launch runs on
  // one thread.
  virtual std::unique_ptr<Observer> Fork() const { return nullptr; }
  virtual void Absorb(Observer& /*forked*/) {}
  // The same for a launch whose blocks do not interact, as far as the isolation knows; if they do, the fork is
  // discarded. This observer itself then gets only OnLaunchBegin and OnLaunchEnd of that launch.
  virtual std::unique_ptr<Observer> ForkIsolated(BlockIsolation&) const { return Fork(); }

  virtual void OnLaunchBegin(const LaunchInfo&) {}
  virtual void OnLaunchEnd() {}
  // Several blocks may be resident on one thread; events carry block_index.
  virtual void OnBlockBegin(uint32_t /*block_index*/) {}
  virtual void OnBlockEnd(uint32_t /*block_index*/) {}
  // A block has run a few million instructions since its start or since the last such call.
  virtual void OnBlockGoesOn(uint32_t /*block_index*/) {}

  // False: OnMemory does nothing and need not be called.
  virtual bool WatchesMemory() const { return true; }
  virtual void OnMemory(const MemoryAccess&) {}
  // cp.async: a copy has been issued; from now on it may perform this store at any moment. OnMemory reports the store
  // once its threads have waited for it.
  virtual void OnCopyIssued(const MemoryAccess&) {}
  // True: report only those lanes and bytes of a load that the program uses. All events are then delayed until that is
  // known for the earlier loads; their order stays the same.
  virtual bool WantsUsedReads() const { return false; }
  // True: find uses of values that a shuffle read from lanes that do not take part in it (exec/definedness_tracker.h).
  virtual bool ChecksShuffles() const { return false; }
  // A store or atomic is about to be executed; OnMemory will report it later.
  virtual void BeforeDelayedStore(const MemoryAccess&) {}
  // True: shared-memory accesses may be reported later and together, by OnSharedNotes. The engine does so if this is
  // true for all observers that watch memory.
  virtual bool TakesSharedNotes() const { return false; }
  virtual void OnSharedNotes(const SharedNotes&) {}
  // bar.sync / bar.arrive / bar.red: a warp arrives. When the barrier completes, OnBarrierComplete gets the warps that
  // took part (bit w = warp w).
  virtual void OnBarrierArrive(const WarpEvent&, uint32_t /*barrier*/) {}
  virtual void OnBarrierComplete(uint32_t /*block_index*/, uint32_t /*barrier*/, uint64_t /*warps*/) {}
  virtual void OnWarpSync(const WarpEvent&) {}  // bar.warp.sync: orders memory among the lanes in its mask
  virtual void OnFence(const WarpEvent&, MemoryScope) {}
  virtual void OnExit(const WarpEvent&) {}

  // Host-side events between launches, for tracking initialised memory; the first two also for a kernel's malloc, free.
  virtual void OnAllocate(uint64_t /*address*/, uint64_t /*bytes*/) {}
  virtual void OnFree(uint64_t /*address*/, uint64_t /*bytes*/) {}
  virtual void OnHostWrite(uint64_t /*address*/, uint64_t /*bytes*/) {}               // memcpy H2D, memset
  virtual void OnHostCopy(uint64_t /*to*/, uint64_t /*from*/, uint64_t /*bytes*/) {}  // memcpy D2D
  virtual void OnHostRead(uint64_t /*address*/, uint64_t /*bytes*/) {}                // memcpy D2H
  // The offset of the first element in this range that nothing has written; `bytes`: there is none, as far as is known.
  virtual uint64_t FirstUnwritten(uint64_t /*address*/, uint64_t bytes, uint32_t /*element*/) { return bytes; }
};

}  // namespace lockstep::vgpu
