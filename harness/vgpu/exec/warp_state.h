// Divergence within a warp: groups of lanes, convergence points, call frames.
//
// Lanes that run together form a *group*: a mask, a pc and a call frame. A branch that sends lanes different ways
// splits the group and opens a *convergence entry* for the point where the ways meet again (the immediate
// post-dominator): the lanes it expects and those that have arrived. A group that reaches the point of its innermost
// entry parks there; when all expected lanes have arrived or exited they go on as one group under the entry's parent.
// One group runs at a time, until it parks, blocks or has spun for a while, so the order is the same in every run.
//
// Parked lanes wait for lanes that may in turn wait for them (a spin lock inside a warp, a __syncwarp in a branch).
// When nothing else can run, ReleaseParked lets them go on as groups of their own; that gives up convergence, never
// progress.
//
// The running group's mask, pc and rows live in Warp (active, pc, base[0]); Save and Load move them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/program.h"
#include "vgpu/core/read_tags.h"
#include "vgpu/core/undefined_values.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/async_copies.h"

namespace lockstep::vgpu {

// What a byte of shared or local memory holds that no one has written.
inline constexpr int kUnwritten = 0xcb;

struct Frame {
  Frame* parent = nullptr;
  const FunctionInfo* function = nullptr;
  const CallSite* site = nullptr;  // in the caller
  uint32_t return_pc = kNoPc;
  uint32_t local_base = 0;  // where the function's local variables start in a lane's local memory
  uint32_t depth = 0;
  LaneMask lanes = 0;                // that have not returned
  uint32_t dynamic[kWarpSize] = {};  // bytes that alloca took behind the local variables, a lane
  uint32_t MostDynamic() const { return *std::max_element(dynamic, dynamic + kWarpSize); }
  size_t capacity = 0;
  AlignedBytes rows;
  std::unique_ptr<UndefinedValues> undefined;  // null: none are known
};

enum class GroupStatus : uint8_t { kReady, kAtBarrier, kAtWarpSync };

enum class BarrierReduction : uint8_t { kNone, kPopc, kAnd, kOr };

// Why the running group handed control back.
enum class StopReason : uint8_t {
  kNone,
  kSwitched,  // parked, blocked or exited: the warp's current group is gone or not ready
  kPaused,    // to read a clock
  kSpun,      // a spin loop used up its quantum, or nanosleep
  kFault,
};

struct Group {
  LaneMask mask = 0;
  uint32_t pc = 0;
  Frame* frame = nullptr;
  int32_t entry = -1;  // innermost convergence entry; -1: none
  GroupStatus status = GroupStatus::kReady;
  bool spun = false;                                     // in the warp's current turn
  uint8_t barrier = 0;                                   // kAtBarrier
  BarrierReduction reduction = BarrierReduction::kNone;  // kAtBarrier: bar.red writes a row on completion
  uint32_t wait_pc = 0;                                  // the instruction it waits at
  LaneMask members = 0;                                  // kAtWarpSync: the member mask
};

struct ConvergenceEntry {
  uint32_t pc = kNoPc;  // of the pseudo-instruction; kNoPc: the slot is free
  int32_t parent = -1;
  Frame* frame = nullptr;
  LaneMask expected = 0, arrived = 0;
  // A .sync instruction at which expected lanes wait for lanes that have arrived here, and so went past it.
  uint32_t passed_sync = kNoPc;
  LaneMask passed = 0;
};

struct WarpState {
  std::vector<Group> groups;
  int current = -1;  // the running group; -1: none
  std::vector<ConvergenceEntry> entries;
  uint32_t reconverge_pc = kNoPc;  // of the running group's innermost entry
  int32_t spin_budget = 0;         // back edges of spin loops that are left in this turn
  bool wrote = false;              // global or shared memory, since the last back edge of a spin loop
  StopReason reason = StopReason::kNone;
  uint64_t executed = 0;  // instructions, pseudo-instructions included: %clock, among others
  uint64_t slept = 0;     // clocks of nanosleep

  Frame entry_frame;
  std::vector<std::unique_ptr<Frame>> frames;  // all call frames ever made for this warp
  std::vector<Frame*> free_frames;

  // Rows of special registers: 32 elements each.
  alignas(64) uint32_t thread_x[kWarpSize];
  alignas(64) uint32_t thread_y[kWarpSize];
  alignas(64) uint32_t thread_z[kWarpSize];

  std::unique_ptr<AsyncCopies> async_copies;  // null until the warp has one
  std::unique_ptr<ReadTags> read_tags;        // the same
  std::unique_ptr<UndefinedWarp> undefined;   // the same
  LaneMask cluster_arrived = 0;               // lanes that are between arrival and wait at the cluster's barrier
  LaneMask cluster_parity = 0;                // of the phase in which they arrived

  std::unique_ptr<uint8_t[]> local;  // 32 × Program::local_stride; null when there is none
  size_t local_capacity = 0;
};

// Puts the warp at the start of its program with one group of all its lanes.
void StartWarp(Warp& warp, const Program& program, LaneMask lanes);

inline void SaveGroup(Warp& warp) {
  WarpState& s = *warp.state;
  if (s.current < 0) return;
  s.groups[s.current].mask = warp.active;
  s.groups[s.current].pc = warp.pc;
}

inline void LoadGroup(Warp& warp, int index) {
  WarpState& s = *warp.state;
  const Group& g = s.groups[index];
  s.current = index;
  warp.active = g.mask;
  warp.pc = g.pc;
  warp.base[0] = g.frame->rows.get();
  s.reconverge_pc = g.entry < 0 ? kNoPc : s.entries[g.entry].pc;
}

// Adds a ready group.
void AddReady(WarpState& state, LaneMask mask, uint32_t pc, Frame* frame, int32_t entry);
// The running group is a ready group no more: removes it and hands control back.
void DropCurrent(Warp& warp);
// The running group stays, blocked, and control goes back. `pc` is where it goes on.
void BlockCurrent(Warp& warp, GroupStatus status);
// Makes the lanes that are not in `mask` a ready group of their own that goes on at warp.pc.
void SplitOff(Warp& warp, LaneMask mask);

// Sends `taken` of the running group to `target`, the others on to warp.pc. reconvergence: the pc of the pseudo-
// instruction where they meet, or kNoPc.
void Diverge(Warp& warp, LaneMask taken, uint32_t target, uint32_t reconvergence);
// The pseudo-instruction at a convergence point.
void Converge(Warp& warp, const Insn& insn, LaneMask mask);
// Lanes of the running group exit the kernel.
void ExitLanes(Warp& warp, LaneMask mask);
// Lets lanes that wait at convergence points go on as groups of their own. False: there were none. Where other lanes
// wait for them at a .sync instruction on the way to such a point, its entry takes note of that.
bool ReleaseParked(WarpState& state);
// A ready group that has not spun in this turn, the one after the current one first; -1: none.
int NextReady(const WarpState& state);

Frame* PushFrame(Warp& warp, const FunctionInfo& function, const CallSite& site);
void PopFrame(Warp& warp);

// After an exit: .sync instructions that waited for the lanes that are gone.
void CheckGathers(Warp& warp);
// .sync instructions: runs the instruction's own handler once the lanes that the member mask names have come. Stands
// in for that handler in Insn::handler.
void GatherAndRun(Warp& warp, const Insn& insn, LaneMask mask);

}  // namespace lockstep::vgpu
