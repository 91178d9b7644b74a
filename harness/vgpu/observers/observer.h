// Observers: counters and checkers. They get one event a warp instruction, never one a lane, and they never
// change what the program computes. Which ones run is fixed before a launch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "vgpu/core/counters.h"
#include "vgpu/core/finding.h"
#include "vgpu/core/insn.h"
#include "vgpu/core/memory_flags.h"
#include "vgpu/core/warp.h"
#include "vgpu/memory/access_form.h"

namespace lockstep::vgpu {

struct Program;        // core/program.h
class BlockIsolation;  // observers/block_isolation.h
class SharedNotes;     // observers/shared_notes.h

// A thread's place in the launch: block_index is the linear index of the block in the grid, thread_index
// warp * 32 + lane.
struct LaunchInfo {
  const Program* program = nullptr;
  uint64_t ordinal = 0;
  std::string kernel;
  Dim3 grid, block;
  uint32_t warps_per_block = 0;
  uint32_t shared_bytes = 0;  // static + dynamic
  Dim3 cluster{1, 1, 1};      // blocks
  bool cooperative = false;
};

// Whether the bytes that a lane is about to store lie there already. Looked up only when somebody asks.
struct StoreTest {
  bool (*keeps)(const StoreTest& test, int lane) = nullptr;
};

// One warp instruction's access to one space. An instruction whose generic addresses fall into several
// spaces gives one event a space.
struct MemoryAccess {
  MemorySpace space;
  AccessKind kind;
  MemoryOrder order = MemoryOrder::kWeak;
  MemoryScope scope = MemoryScope::kGpu;
  uint8_t bytes;                     // a lane: element size × vector elements (1 to 32)
  uint8_t skipped = 0;               // bytes of the instruction's access before these: elements told by themselves
  const StoreTest* store = nullptr;  // stores: nullptr where it can't be told
  bool same_value = false;           // stores: lanes that hit the same address stored the same bytes
  bool returns_value = true;         // atomics: false for red
  bool waits = false;                // volatile loads: the value decides whether to wait on (analysis/waiting_loads.h)
  bool constant = false;             // loads: by a cache that does not see what this kernel stores (ld.global.nc)
  AccessForm form = AccessForm::kScattered;
  LaneMask mask;            // lanes that access
  const uint64_t* address;  // [32]; global: device address; shared, local: offset in the window
  uint32_t pc;
  uint32_t block_index, warp_index;
  uint32_t thread_base;  // = warp_index * 32
  // The engine says so of what there is most of, a weak load of shared memory: one look for checkers that pass over it.
  bool plain_shared_load = false;

  bool KeepsValue(uint32_t lane) const { return store != nullptr && store->keeps(*store, static_cast<int>(lane)); }
};

struct WarpEvent {  // barrier arrival, __syncwarp, fence, exit
  LaneMask mask;    // lanes that take part
  uint32_t pc;
  uint32_t block_index, warp_index;
  bool waits = true;   // false: bar.arrive
  bool stays = false;  // these lanes do nothing more until the barrier is completed
};

class Observer {
 public:
  virtual ~Observer() = default;

  // An observer that can serve several CPU threads at once returns a fresh instance for another thread and
  // later takes its results over with Absorb (called in thread order). One that can't returns nullptr:
  // then the launch runs on one thread.
  virtual std::unique_ptr<Observer> Fork() const { return nullptr; }
  virtual void Absorb(Observer& /*forked*/) {}
  // The same for a launch whose blocks have nothing to do with each other, as far as the isolation finds; where they do
  // have, the fork is thrown away. This observer itself gets no event of that launch but OnLaunchBegin and OnLaunchEnd.
  virtual std::unique_ptr<Observer> ForkIsolated(BlockIsolation&) const { return Fork(); }

  virtual void OnLaunchBegin(const LaunchInfo&) {}
  virtual void OnLaunchEnd() {}
  // Several blocks may be resident on one thread; events carry block_index.
  virtual void OnBlockBegin(uint32_t /*block_index*/) {}
  virtual void OnBlockEnd(uint32_t /*block_index*/) {}
  // A block has run for a few million instructions since its begin or since this was told last.
  virtual void OnBlockGoesOn(uint32_t /*block_index*/) {}

  // False: OnMemory does nothing, and need not be called.
  virtual bool WatchesMemory() const { return true; }
  virtual void OnMemory(const MemoryAccess&) {}
  // cp.async: the copy that will make this store has been issued, and may make it at any moment from now on. OnMemory
  // tells of the store once its threads have waited for it.
  virtual void OnCopyIssued(const MemoryAccess&) {}
  // True: a load is told with those lanes and bytes alone that the program uses. All events then come once that is
  // known of the loads before them, in the order in which they happened.
  virtual bool WantsUsedReads() const { return false; }
  // True: uses of values that a shuffle has read from lanes that take no part in it are to be found
  // (exec/definedness_tracker.h).
  virtual bool ChecksShuffles() const { return false; }
  // A store or an atomic operation is about to happen, of which OnMemory will be told later.
  virtual void BeforeDelayedStore(const MemoryAccess&) {}
  // Whether accesses of shared memory may be told by OnSharedNotes, later and together, instead. The engine does so
  // where all observers agree.
  virtual bool TakesSharedNotes() const { return false; }
  virtual void OnSharedNotes(const SharedNotes&) {}
  // bar.sync / bar.arrive / bar.red: a warp arrives. When the barrier completes, OnBarrierComplete names
  // the warps that took part (bit w = warp w) and whether it spans the whole block.
  virtual void OnBarrierArrive(const WarpEvent&, uint32_t /*barrier*/) {}
  virtual void OnBarrierComplete(uint32_t /*block_index*/, uint32_t /*barrier*/, uint64_t /*warps*/) {}
  virtual void OnWarpSync(const WarpEvent&) {}  // bar.warp.sync: orders memory among mask
  virtual void OnFence(const WarpEvent&, MemoryScope) {}
  virtual void OnExit(const WarpEvent&) {}

  // Host side, between launches: what the initialisation shadow needs.
  virtual void OnAllocate(uint64_t /*address*/, uint64_t /*bytes*/) {}
  virtual void OnFree(uint64_t /*address*/, uint64_t /*bytes*/) {}
  virtual void OnHostWrite(uint64_t /*address*/, uint64_t /*bytes*/) {}               // memcpy H2D, memset
  virtual void OnHostCopy(uint64_t /*to*/, uint64_t /*from*/, uint64_t /*bytes*/) {}  // memcpy D2D
  virtual void OnHostRead(uint64_t /*address*/, uint64_t /*bytes*/) {}                // memcpy D2H
};

}  // namespace lockstep::vgpu
