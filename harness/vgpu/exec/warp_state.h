// Divergence within a warp: groups of lanes, convergence points, call frames.
//
// Lanes that run together form a *group*: a mask, a pc and a call frame. A divergent branch splits the group and opens
// a *convergence entry* for the reconvergence point (the branch's immediate post-dominator). The entry records the
// lanes that it expects and those that have arrived. A group that reaches the point of its innermost entry parks there.
// When all expected lanes have arrived or exited, they continue as one group under the entry's parent. One group runs
// at a time, until it parks, blocks or has used up its turn, so the order is the same in every run.
//
// Parked lanes may wait for lanes that in turn wait for them (a spin lock inside a warp, a __syncwarp in a branch). If
// nothing else can run, ReleaseParked lets them continue as separate groups. That gives up convergence but guarantees
// progress.
//
// Warp holds the running group's mask, pc and rows (active, pc, base[0]); SaveGroup and LoadGroup copy them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/program.h"
#include "vgpu/core/undefined_values.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/async_copies.h"
#include "vgpu/exec/value_origins.h"

namespace lockstep::vgpu {

// The value of each byte of shared or local memory before its first write.
inline constexpr int kUnwritten = 0xcb;

struct Frame {
  Frame* parent = nullptr;
  const FunctionInfo* function = nullptr;
  const CallSite* site = nullptr;  // in the caller
  uint32_t return_pc = kNoPc;
  uint32_t local_base = 0;  // offset of the function's local variables in a lane's local memory
  uint32_t depth = 0;
  LaneMask lanes = 0;                // that have not returned
  uint32_t dynamic[kWarpSize] = {};  // bytes that alloca took after the local variables, per lane
  uint32_t MostDynamic() const { return *std::max_element(dynamic, dynamic + kWarpSize); }
  size_t capacity = 0;
  AlignedBytes rows;
  std::unique_ptr<UndefinedValues> undefined;  // null: none
};

enum class GroupStatus : uint8_t { kReady, kAtBarrier, kAtWarpSync };

enum class BarrierReduction : uint8_t { kNone, kPopc, kAnd, kOr };

// Why the running group returned control.
enum class StopReason : uint8_t {
  kNone,
  kSwitched,  // parked, blocked or exited: the warp's current group no longer exists or is not ready
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
  // A .sync instruction at which expected lanes wait for other lanes that have arrived here and so passed it.
  uint32_t passed_sync = kNoPc;
  LaneMask passed = 0;
};

// The initial value of every register byte in a function that may read a register before it has written it.
inline constexpr uint8_t kUnwrittenRegister = 0x5a;

struct WarpState {
  std::vector<Group> groups;
  int current = -1;  // the running group; -1: none
  std::vector<ConvergenceEntry> entries;
  uint32_t reconverge_pc = kNoPc;  // for the running group's innermost entry
  int32_t spin_budget = 0;         // back edges of spin loops left in this turn
  bool wrote = false;              // to global or shared memory, since the last back edge of a spin loop
  StopReason reason = StopReason::kNone;
  uint64_t executed = 0;  // instructions including pseudo-instructions; read by %clock, among others
  uint64_t waited = 0;    // of these, in turns that only polled
  uint64_t slept = 0;     // clocks of nanosleep
  // A loop that waits for a clock (Engine::PassTime): its first pc, `executed` after its last iteration, iterations.
  uint64_t waits_in = 0, waited_until = 0, waits = 0;

  Frame entry_frame;
  std::vector<std::unique_ptr<Frame>> frames;  // all call frames that this warp has ever used
  std::vector<Frame*> free_frames;

  // Rows of special registers: 32 elements each.
  alignas(64) uint32_t thread_x[kWarpSize];
  alignas(64) uint32_t thread_y[kWarpSize];
  alignas(64) uint32_t thread_z[kWarpSize];

  std::unique_ptr<AsyncCopies> async_copies;  // null until first needed
  std::unique_ptr<ValueOrigins> origins;      // likewise
  std::unique_ptr<UndefinedWarp> undefined;   // likewise
  LaneMask cluster_arrived = 0;               // lanes that have arrived at the cluster's barrier and not yet waited
  LaneMask cluster_parity = 0;                // the parity of the phase in which they arrived

  std::unique_ptr<uint8_t[]> local;  // 32 × Program::local_stride; null if that is 0
  size_t local_capacity = 0;
};

// Puts the warp at the start of its program, with one group of all its lanes.
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

void AddReady(WarpState& state, LaneMask mask, uint32_t pc, Frame* frame, int32_t entry);
// The running group is no longer ready: removes it and returns control.
void DropCurrent(Warp& warp);
// Blocks the running group and returns control. It will continue at warp.pc.
void BlockCurrent(Warp& warp, GroupStatus status);
// Moves the lanes that are not in `mask` to a new ready group, which will continue at warp.pc.
void SplitOff(Warp& warp, LaneMask mask);

// Sends lanes `taken` of the running group to `target`, the others to warp.pc. reconvergence: the pc of the
// pseudo-instruction at the reconvergence point, or kNoPc.
void Diverge(Warp& warp, LaneMask taken, uint32_t target, uint32_t reconvergence);
// The pseudo-instruction at a convergence point.
void Converge(Warp& warp, const Insn& insn, LaneMask mask);
// Lanes of the running group exit the kernel.
void ExitLanes(Warp& warp, LaneMask mask);
// Lets lanes that wait at convergence points continue as separate groups. False: there were none. If other lanes wait
// for them at a .sync instruction before such a point, the convergence entry records it.
bool ReleaseParked(WarpState& state);
// The next ready group after the current one that has not spun in this turn; -1: none.
int NextReady(const WarpState& state);

Frame* PushFrame(Warp& warp, const FunctionInfo& function, const CallSite& site);
void PopFrame(Warp& warp);

// After an exit: checks .sync instructions that waited for the exited lanes.
void CheckGathers(Warp& warp);
// Replaces the handler of .sync instructions in Insn::handler: runs the original one once the lanes in the member mask
// have arrived.
void GatherAndRun(Warp& warp, const Insn& insn, LaneMask mask);

}  // namespace lockstep::vgpu
