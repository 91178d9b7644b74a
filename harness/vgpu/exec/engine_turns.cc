// The engine's loops: blocks take turns, a block's warps take turns, and a warp's groups run.
#include <algorithm>
#include <bit>
#include <chrono>

#include "vgpu/core/hint.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/definedness_tracker.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/interruption.h"
#include "vgpu/exec/launch_pauses.h"
#include "vgpu/exec/read_tracker.h"
#include "vgpu/exec/warp_turns.h"
#include "vgpu/observers/block_isolation.h"

namespace lockstep::vgpu {
namespace {

// For a launch that may wait for the host: instructions before its first pause, and between later pauses.
constexpr uint64_t kFirstStretch = 1 << 24;
constexpr uint64_t kStretch = 1 << 20;
// Turns that each block gets, in which all of them only poll, before a launch counts as waiting for something else.
constexpr size_t kTurnsToStandstill = 64;

// Instructions that a group may run while other groups are ready, and that a block may run while other blocks wait that
// it may in turn depend on.
constexpr uint64_t kGroupQuantum = 1 << 14;
constexpr uint64_t kBlockQuantum = 1 << 21;
constexpr size_t kConcurrentBlocks = 80;
// Average number of turns that each other block gets between the late block's first and second turn.
constexpr size_t kTurnsWithout = 64;
// Back edges of a spin loop per turn: what the loop waits for happens in other turns.
constexpr int32_t kSpinQuantum = 4;
// Calls of RunGroup per check of the launch's clock: a check at each took 4 % of a kernel with many barriers.
constexpr uint32_t kTurnsALook = 16;
// Passes over all warps of a block, all of them spinning, before lanes that wait to reconverge are released.
constexpr uint32_t kIdlePasses = 4;
// The same for a kernel with spin loops whose threads appear to make progress: instructions without a barrier or exit.
constexpr uint64_t kPatience = 1 << 22;

}  // namespace

// Called at the end of a turn. *told is the block's instruction count at the last notification of observers.
bool Engine::GoesOn(const Block& block, uint64_t* told) {
  if (launch_.isolation == nullptr) return true;
  if (block.instructions - *told >= kBlockQuantum) {
    *told = block.instructions;
    // Events that observers have not received yet cannot be compared.
    if (read_tracker_ != nullptr && read_tracker_->delays()) launch_.isolation->Break();
    for (Observer* observer : observers_) observer->OnBlockGoesOn(block.index);
  }
  return !launch_.isolation->broken();
}

void Engine::RunBlocks() {
  const Interruption::Running running(1);
  RunAllBlocks();
  FlushSharedNotes();
  if (read_tracker_ != nullptr) read_tracker_->End();
  if (definedness_tracker_ != nullptr) definedness_tracker_->Tell();
}

// NOLINTNEXTLINE(readability-function-size): one loop, whose state is local so that it stays in registers
void Engine::RunAllBlocks() {
  uint32_t index = 0;
  if (!launch_.interleaved) {
    while (TakeBlock(&index)) {
      Block* block = StartBlock(index);
      BlockTurn turn;
      uint64_t told = 0;
      do {
        turn = RunBlock(*block);
      } while (turn == BlockTurn::kSpun && GoesOn(*block, &told));
      if (turn != BlockTurn::kFinished) {
        if (launch_.isolation != nullptr) launch_.isolation->Break();
        return;
      }
      if (launch_.budget != 0) {
        const uint64_t charged = ChargedTo(*block);
        const uint64_t before = launch_.executed.fetch_add(charged, std::memory_order_relaxed);
        if (before + charged > launch_.budget) {
          launch_.over_budget.store(true, std::memory_order_relaxed);
          if (launch_.isolation != nullptr) launch_.isolation->Break();
        }
      }
      FinishBlock(block);
    }
    return;
  }

  std::vector<Block*> started;
  size_t at = 0;
  size_t idle = 0;   // consecutive turns in which a block only spun
  bool more = true;  // there may be blocks left to start
  const auto start = [&] {
    if (!more || started.size() >= launch_.resident_blocks) return false;
    const std::vector<Block*> next = StartNext();
    started.insert(started.end(), next.begin(), next.end());
    return more = !next.empty();
  };
  if (launch_.info.cooperative) {
    while (start()) {
    }
  }
  // With checkers, many blocks take turns in a pseudo-random but reproducible order. A turn lasts until the block's
  // warps reach a barrier or a wait. That exposes code that works only if all work of earlier blocks is already done.
  // The first block (which owns the first tile if tiles come from a counter) gets its second turn late, when the others
  // have gone as far as they can without it.
  uint32_t random = 1 + launch_.order * 0x9e3779b9u;
  const Block* late = nullptr;
  bool had_late = false;
  size_t without = 0;  // turns of other blocks since
  for (;;) {
    while (UsesShortTimeSlices() && started.size() < kConcurrentBlocks && start()) {
    }
    if (started.empty() && !start()) return;
    if (UsesShortTimeSlices()) {
      random = random * 1664525 + 1013904223;
      at = (random >> 8) % started.size();
      if (++without > kTurnsWithout * started.size()) late = nullptr;
      if (started[at] == late) at = (at + 1) % started.size();
    }
    if (idle >= started.size()) {
      idle = 0;
      if (start()) at = started.size() - 1;
    }
    if (at >= started.size()) at = 0;
    const BlockTurn turn = RunBlock(*started[at]);
    if (!had_late) {
      had_late = true;
      if (turn != BlockTurn::kFinished) late = started[at];
    }
    if (launch_.pauses != nullptr && turn == BlockTurn::kSpun) {
      const bool may_start = more && started.size() < launch_.resident_blocks;
      if (!PauseAtStandstill(started, may_start, late == nullptr || !UsesShortTimeSlices())) return;
    }
    switch (turn) {
      case BlockTurn::kFault:
        return;
      case BlockTurn::kSpun:
        ++idle;
        ++at;
        break;
      case BlockTurn::kFinished:
        idle = 0;
        if (started[at] == late) late = nullptr;
        FinishBlock(started[at]);
        started.erase(started.begin() + static_cast<std::ptrdiff_t>(at));
        break;
    }
  }
}

bool Engine::PauseAtStandstill(const std::vector<Block*>& started, bool may_start, bool is_counted) {
  SincePause& since = since_pause_;
  // Executing anything other than a poll restarts the count of polls.
  const bool polled = waiting_.in_a_row == since.in_a_row + (executed_ - since.executed);
  since.in_a_row = waiting_.in_a_row;
  since.executed = executed_;
  since.progressed |= !polled;
  since.idle_turns = polled && is_counted ? since.idle_turns + 1 : 0;
  const bool waits = !may_start && since.idle_turns >= kTurnsToStandstill * started.size();
  if (!waits && executed_ - since.begin < (has_paused_ ? kStretch : kFirstStretch)) return true;

  has_paused_ = true;
  const auto begin = std::chrono::steady_clock::now();
  std::string why;
  {
    const Interruption::Running aside(-1);
    why = launch_.pauses->Pause({waits, since.progressed, since.reads_clock, started.size()});
  }
  launch_.stood_aside +=
      static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  ForgetRanges();  // the host may have freed memory
  waiting_.in_a_row = 0;
  since = {.begin = executed_, .executed = executed_};
  if (why.empty()) return true;
  FaultAtStandstill(started, why);
  return false;
}

void Engine::FaultAtStandstill(const std::vector<Block*>& started, const std::string& why) {
  const auto polls = [](const Warp& warp) {
    const std::vector<Group>& groups = warp.state->groups;
    return warp.alive != 0 && std::any_of(groups.begin(), groups.end(), [](const Group& group) { return group.spun; });
  };
  const auto before = [](const Block* a, const Block* b) { return a->index < b->index; };
  std::vector<Block*> blocks = started;
  std::sort(blocks.begin(), blocks.end(), before);
  for (Block* block : blocks) {
    for (Warp& warp : block->warps) {
      if (!polls(warp)) continue;
      Finding finding = MakeFinding(warp, warp.pc, std::countr_zero(warp.active), FindingKind::kTimeout, why);
      finding.hint = Hint::kWaitsInVain;
      return Fault(warp, std::move(finding));
    }
  }
  Warp& warp = blocks.front()->warps.front();
  Fault(warp, MakeFinding(warp, warp.pc, 0, FindingKind::kTimeout, why));
}

Engine::BlockTurn Engine::RunBlock(Block& block) {
  const uint64_t limit = block.instructions + (UsesShortTimeSlices() ? 1 : kBlockQuantum);
  for (;;) {
    bool progressed = false;
    bool spun = false;
    const uint32_t warps = launch_.info.warps_per_block;
    WarpSchedule turns =
        PerturbsSchedule() ? WarpSchedule(warps, block.index, block.rounds++, launch_.order) : WarpSchedule(warps);
    for (uint32_t left = warps; left-- != 0;) {
      Warp& warp = block.warps[turns.Next()];
      if (warp.alive == 0) continue;
      switch (RunWarp(block, warp)) {
        case WarpTurn::kProgressed:
          progressed = true;
          break;
        case WarpTurn::kSpun:
          spun = true;
          break;
        case WarpTurn::kBlocked:
          break;
        case WarpTurn::kFault:
          CheckEarlierFault(block, warp, turns, left);
          return BlockTurn::kFault;
      }
    }
    if (block.live_warps == 0) return BlockTurn::kFinished;
    if (progressed) {
      block.idle_passes = 0;
      if (launch_.program->may_wait && block.instructions - block.last_event > kPatience) {
        for (Warp& warp : block.warps) ReleaseParked(*warp.state);
        block.last_event = block.instructions;
      }
      if (block.instructions >= limit) return BlockTurn::kSpun;
      continue;
    }
    if (spun && ++block.idle_passes < kIdlePasses) return BlockTurn::kSpun;
    // No progress. Lanes waiting to reconverge may be what the others wait for.
    block.idle_passes = 0;
    bool released = false;
    for (Warp& warp : block.warps) {
      if (warp.alive == 0) continue;
      if (!spun) ReportPartialBarrier(warp);
      released |= ReleaseParked(*warp.state);
    }
    if (spun) return BlockTurn::kSpun;
    if (!released) {
      Deadlock(block);
      return BlockTurn::kFault;
    }
  }
}

// If several warps fault in one round, the message shows the lowest one: thread 0 just past the end is clearer than
// thread 96. left: warps that have had no turn in this round.
void Engine::CheckEarlierFault(Block& block, const Warp& faulted, WarpSchedule& turns, uint32_t left) {
  uint32_t first = faulted.index;
  while (left-- != 0 && fault_->finding.memory) {
    Warp& warp = block.warps[turns.Next()];
    if (warp.index > first || warp.alive == 0) continue;
    BlockFinding known = std::move(*fault_);
    fault_.reset();
    block.output = std::move(fault_output_);
    if (RunWarp(block, warp) == WarpTurn::kFault) {
      first = warp.index;
    } else {
      fault_ = std::move(known);
      fault_output_ = std::move(block.output);
    }
  }
}

Engine::WarpTurn Engine::RunWarp(Block& block, Warp& warp) {
  WarpState& s = *warp.state;
  for (Group& group : s.groups) group.spun = false;
  s.spin_budget = kSpinQuantum;
  bool progressed = false;
  bool spun = false;
  // Instructions up to a clock read: the turn continues, and its end decides whether they were useful work.
  uint64_t before_pause = 0;
  while (warp.alive != 0) {
    if (s.current < 0 || s.groups[s.current].status != GroupStatus::kReady || s.groups[s.current].spun) {
      const int next = NextReady(s);
      if (next < 0) break;
      LoadGroup(warp, next);
    }
    uint64_t fuel = kGroupQuantum;
    if (launch_.budget != 0) {
      // Blocks that cannot wait for each other run one after the other, possibly on several engines.
      const Waiting& waiting = launch_.interleaved ? waiting_ : block.waiting;
      const uint64_t used = launch_.interleaved ? ChargedInAll() : ChargedTo(block);
      if (used >= launch_.budget || waiting.in_a_row >= launch_.budget) {
        const bool worked = used >= launch_.budget;
        Finding finding =
            MakeFinding(warp, warp.pc, std::countr_zero(warp.active), FindingKind::kTimeout,
                        (worked ? "the launch took more than " : "threads only waited for each other, for more than ") +
                            launch_.budget_text);
        if (!worked) {
          finding.hint = Hint::kWaitsInVain;
        }
        Fault(warp, std::move(finding));
        return WarpTurn::kFault;
      }
      fuel = std::min(fuel, launch_.budget - used);
    }
    if (++turns_ % kTurnsALook == 0) {
      const bool asked = Interruption::IsAsked();
      if (asked || (launch_.clock != nullptr && launch_.clock->IsOver())) {
        Fault(warp, MakeFinding(warp, warp.pc, std::countr_zero(warp.active), FindingKind::kTimeout,
                                asked ? "interrupted while this kernel ran"
                                      : "the launch exceeded the time limit for kernels on the virtual GPU"));
        return WarpTurn::kFault;
      }
    }
    s.reason = StopReason::kNone;
    warp.stop = false;
    const uint64_t ran = RunGroup(warp, fuel);
    s.executed += ran;
    block.instructions += ran;
    executed_ += ran;
    before_pause += ran;
    if (s.reason != StopReason::kPaused || before_pause >= kGroupQuantum) {
      const bool waited = s.reason == StopReason::kSpun;
      block.waiting.Add(before_pause, waited);
      waiting_.Add(before_pause, waited);
      if (waited) s.waited += before_pause;
      before_pause = 0;
    }
    switch (s.reason) {
      case StopReason::kFault:
        return WarpTurn::kFault;
      case StopReason::kSwitched:
        progressed = true;
        break;
      case StopReason::kPaused:
        since_pause_.reads_clock = true;
        break;
      case StopReason::kSpun:
        SaveGroup(warp);
        s.groups[s.current].spun = true;
        s.spin_budget = kSpinQuantum;
        spun = true;
        break;
      case StopReason::kNone:  // the quantum is over
        SaveGroup(warp);
        s.groups[s.current].spun = true;
        progressed = true;
        break;
    }
  }
  if (warp.alive == 0) return WarpTurn::kProgressed;
  return spun ? WarpTurn::kSpun : progressed ? WarpTurn::kProgressed : WarpTurn::kBlocked;
}

void Engine::Charge(Warp& warp, uint64_t instructions) {
  warp.block->extra += instructions;
  extra_ += instructions;
  // A charge of a whole quantum ends the group's run, so that the budget is checked.
  if (instructions >= kGroupQuantum) warp.stop = true;
}

void Engine::PassTime(Warp& warp, uint32_t begin, uint32_t branch) {
  constexpr uint64_t kFraction = 16;
  WarpState& s = *warp.state;
  const uint64_t length = branch - begin + 1;
  if (s.waits_in != begin || s.executed > s.waited_until + length) s.waits = 0;
  const uint64_t passed = s.waits / kFraction;
  s.waits += 1 + passed;
  s.waits_in = begin;
  s.executed += passed * length;
  s.waited_until = s.executed;
  warp.block->instructions += passed * length;
  executed_ += passed * length;
  const auto lanes = static_cast<uint64_t>(std::popcount(warp.active));
  for (uint32_t pc = begin; pc <= branch; ++pc) issue_[pc] += PcIssue{passed, passed * lanes};
}

uint64_t Engine::RunGroup(Warp& warp, uint64_t fuel) {
  const Insn* const code = code_;
  PcIssue* const issue = issue_.data();
  const uint32_t* const straight = straight_.data();
  uint64_t left = fuel;
  do {
    const uint32_t pc = warp.pc;
    const Insn* insn = &code[pc];
    LaneMask mask = warp.active;
    if (const uint32_t run = straight[pc]; run <= left && run > 1) {
      PcIssue& count = straight_issue_[pc];
      count.warps += 1;
      count.threads += static_cast<uint64_t>(std::popcount(mask));
      const uint32_t end = pc + run;
      uint32_t next = pc;
      do {
        warp.pc = ++next;
        insn->handler(warp, *insn, mask);
        ++insn;
      } while (next != end && !warp.stop);
      left -= next - pc;
      if (next != end) StopShort(pc, next, mask);
      continue;
    }
    warp.pc = pc + 1;
    if (insn->handler == Converge && warp.state->reconverge_pc != pc) {
      --left;
      continue;
    }
    if (insn->guard != kNoRow) {
      const LaneMask guard = *Source<LaneMask>(warp, insn->guard);
      mask &= (insn->flags & kGuardNegated) != 0 ? ~guard : guard;
    }
    issue[pc].warps += 1;
    issue[pc].threads += static_cast<uint64_t>(std::popcount(mask));
    if (insn->handler == Branch && (mask == warp.active || mask == 0)) {
      if (mask != 0) warp.pc = static_cast<uint32_t>(insn->immediate);
    } else if (mask != 0 || (insn->flags & kAlwaysCall) != 0) {
      insn->handler(warp, *insn, mask);
    }
    --left;
  } while (!warp.stop && left != 0);
  return fuel - left;
}

void Engine::StopShort(uint32_t begin, uint32_t end, LaneMask mask) {
  const uint64_t threads = static_cast<uint64_t>(std::popcount(mask));
  straight_issue_[begin].warps -= 1;
  straight_issue_[begin].threads -= threads;
  for (uint32_t pc = begin; pc < end; ++pc) issue_[pc] += PcIssue{1, threads};
}

}  // namespace lockstep::vgpu
