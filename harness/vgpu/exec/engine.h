// One CPU thread's interpreter: runs blocks of one launch.
//
// Theory of operation. A launch (exec/launch.cc) gives each CPU thread an Engine. An engine takes blocks in index order
// and runs each until its warps have finished; within a block the warps take turns, and a warp runs until its lanes
// wait at a barrier, exit or spin. Where blocks may wait for each other (Program::order_sensitive) there is one engine,
// which starts another block, as many as would be resident on the device, when all started ones only spin.
// Everything is decided by counts of executed instructions, so a launch is the same in every run.
//
// The loop (RunGroup) fetches, applies the guard, counts, and calls the instruction's handler. Instructions in a row
// that all lanes execute are counted once for all. A handler that can't go on sets Warp::stop; what happened is in
// WarpState::reason. A fault is recorded in the engine and ends its work.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/pc_counters.h"
#include "vgpu/core/program.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/launch_clock.h"
#include "vgpu/memory/access_pattern.h"
#include "vgpu/memory/address_space.h"
#include "vgpu/memory/locality.h"
#include "vgpu/memory/memory.h"
#include "vgpu/observers/observer.h"
#include "vgpu/observers/shared_notes.h"

namespace lockstep::vgpu {

struct TraceJob;  // exec/warp_trace.h

// What all engines of a launch share; read-only while they run, but for the atomics.
struct LaunchState {
  const Program* program = nullptr;
  GlobalMemory* memory = nullptr;
  LaunchInfo info;
  const uint8_t* parameters = nullptr;  // padded as shared memory is
  uint32_t parameter_bytes = 0;
  uint32_t shared_bytes = 0;  // static + dynamic + reserved
  uint32_t dynamic_shared_offset = 0;
  uint32_t reserved_shared_offset = 0;  // the runtime's own part, up to shared_bytes
  uint32_t sm_count = 1, warps_per_sm = 1;
  uint64_t grid_workspace = 0;  // %envreg1/2: cooperative groups' barrier
  bool counters = true;
  bool usual_turns = false;             // DeviceOptions::usual_turns
  Dim3 cluster;                         // blocks of a cluster; 1 × 1 × 1 without
  bool has_clusters = false;            // launched with clusters
  bool interleaved = false;             // blocks may wait for each other: one engine keeps several of them going
  bool parallel = false;                // several engines: atomics must be atomic on the host
  BlockIsolation* isolation = nullptr;  // several engines, as long as no block meets another
  uint64_t budget = 0;                  // warp instructions; 0: no limit. See Charged()
  std::string budget_text;              // "1000 warp instructions", and how they come about
  uint64_t start_charge = 0;            // that a block's start counts as against the budget, see StartCharge()
  LaunchClock* clock = nullptr;         // behind the budget; nullptr: no limit of time
  TraceJob* trace = nullptr;            // a warp to be traced: on one thread
  std::vector<TouchedRange>* watched = nullptr;  // told what the kernel touches of them
  uint32_t resident_blocks = 1;  // blocks that may have started and not finished, where they wait for each other
  std::function<void(uint32_t block_index, std::string&& output)> block_output;
  std::atomic<uint32_t> next_block{0};
  std::atomic<uint64_t> executed{0};
  std::atomic<uint32_t> stop_before{0xffffffffu};  // no block from here on need start: an earlier one faulted
  std::atomic<bool> over_budget{false};
};

// What counts against a launch's budget. A warp that polls while others are slow runs more instructions the slower they
// are, which is no work of its own; but a wait that never ends has to end the launch.
inline constexpr uint64_t kWaitingShare = 16;
inline uint64_t Charged(uint64_t executed, uint64_t waited) { return executed - waited + waited / kWaitingShare; }

// An instruction that handles many bytes, such as a call of printf, counts as one more for each so many.
inline constexpr uint64_t kBytesAnInstruction = 64;

// Starting a block is work too: its memory is filled. Without this, a grid of empty blocks with much shared or local
// memory would take hours within any budget of instructions.
inline uint64_t StartCharge(uint64_t started_bytes) { return 8 + started_bytes / 512; }

class ReadTracker;         // exec/read_tracker.h
class DefinednessTracker;  // exec/definedness_tracker.h
class WarpTrace;           // exec/warp_trace.h
class WarpTurns;           // exec/warp_turns.h

// A finding or fault with the block that it comes from, for a fixed order.
struct BlockFinding {
  uint32_t block_index = 0;
  Finding finding;
};

inline Dim3 Unflatten(uint64_t index, const Dim3& extent) {
  return {static_cast<uint32_t>(index % extent.x), static_cast<uint32_t>(index / extent.x % extent.y),
          static_cast<uint32_t>(index / extent.x / extent.y)};
}

// What lies at an address; global: a device address; shared, local, param: an offset.
MemoryPlace DescribeMemory(const LaunchState& launch, MemorySpace space, uint64_t address, uint32_t bytes);
ThreadPlace DescribeThread(const LaunchState& launch, uint32_t block_index, uint32_t thread_index, uint32_t pc);

class Engine {
 public:
  Engine(LaunchState& launch, std::vector<Observer*> observers);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void RunBlocks();  // until none is left

  // For handlers.
  LaunchState& launch() { return launch_; }
  const Program& program() const { return *launch_.program; }
  const std::vector<Observer*>& observers() const { return observers_; }
  // Those that want to know of memory accesses, if any.
  bool observed() const { return observed_; }
  const std::vector<Observer*>& memory_observers() const { return memory_observers_; }
  PcMemory* memory_counters(uint32_t pc) { return launch_.counters ? &memory_[pc] : nullptr; }
  // The running instruction has only waited and will be executed again: it counts once.
  void TakeBack(const Warp& warp, LaneMask mask) {
    PcIssue& issue = issue_[warp.pc - 1];
    issue.warps -= 1;
    issue.threads -= static_cast<uint64_t>(std::popcount(mask));
  }
  // What the running instruction takes beyond one: it counts against the launch's budget.
  void Charge(Warp& warp, uint64_t instructions);
  Locality& locality() { return locality_; }
  const Locality& locality() const { return locality_; }
  struct Range {
    uint64_t base = 1, end = 0;
  };
  // What is known of a memory instruction from its last execution, and accesses of the commonest shapes, which are
  // counted here: those of one shape are worth the same each.
  struct alignas(64) Site {
    Range range;                                   // the allocation that it used
    std::shared_ptr<const AccessPattern> pattern;  // in shared memory; nullptr: side by side, as far as is known
    uint64_t of_pattern = 0;                       // accesses, since it has this pattern
    uint64_t side_by_side = 0;                     // accesses of shared memory, or aligned ones of global memory
    uint64_t last = 0;                             // in global memory: where the first lane went
    bool noted = false;      // an access of shared memory that observers may be told of later: observers/shared_notes.h
    bool of_global = false;  // side_by_side
    uint8_t bytes = 0;       // a lane, of side_by_side
  };
  static_assert(sizeof(Site) == 64);
  Site& site(uint32_t pc) { return sites_[pc]; }
  Range& range(uint32_t pc) { return sites_[pc].range; }
  // The instruction at pc has another pattern now, or none.
  void SetPattern(uint32_t pc, std::shared_ptr<const AccessPattern> pattern);
  AccessPatterns& patterns() { return patterns_; }
  void ForgetRanges();

  // An access at site(warp.pc - 1), which is `noted`. first: the first active lane's address.
  [[gnu::always_inline]] void NoteLoad(const Warp& warp, LaneMask mask, uint32_t bytes, uint32_t first,
                                       const Extent& extent) {
    if (!notes_.HasRoom(warp.block->index) || extent.Meets(notes_.stores())) BeginNotes(*warp.block);
    notes_.Add({SharedNote::PlaceOf(warp.pc - 1, false, bytes, warp.index), first, mask}, extent);
  }
  // A store side by side of 4 bytes a lane. False: observers must be told of it now.
  [[gnu::always_inline]] bool NoteStore(const Warp& warp, LaneMask mask, const Extent& extent) {
    if (!notes_.HasRoom(warp.block->index)) BeginNotes(*warp.block);
    if (extent.Meets(notes_.loads())) return false;
    if (!warp.block->shared_use.TakeStore(extent, mask >> std::countr_zero(mask))) return false;
    const uint32_t first = static_cast<uint32_t>(extent.low);
    notes_.Add({SharedNote::PlaceOf(warp.pc - 1, true, 4, warp.index), first, mask}, extent);
    return true;
  }
  bool takes_notes() const { return takes_notes_; }
  // Tells observers of what is noted, before they are told anything that comes behind it.
  void TellSharedNotes() {
    if (!notes_.empty()) TellNotes(false);
  }
  // The same before a barrier of a block is completed, or the block ends. whole: behind it, all before is ordered.
  void TellSharedNotes(Block& block, bool whole) {
    if (!takes_notes_) return;
    if (!notes_.empty()) TellNotes(whole && noted_block_ == &block);
    if (whole) block.shared_use.Begin();
  }

  // The place of a lane at the instruction at pc.
  ThreadPlace Place(const Warp& warp, uint32_t pc, int lane) const;
  // A finding with kernel, launch and place filled in.
  Finding MakeFinding(const Warp& warp, uint32_t pc, int lane, FindingKind kind, std::string detail) const {
    return MakeFinding(Place(warp, pc, lane), kind, std::move(detail));
  }
  Finding MakeFinding(ThreadPlace place, FindingKind kind, std::string detail) const;
  void Report(const Warp& warp, Finding finding) { Report(warp.block->index, std::move(finding)); }
  void Report(uint32_t block_index, Finding finding);
  // With checkers on: lanes that a .sync instruction's mask names went past it, while others waited there for them.
  void ReportPassedSync(const Warp& warp, const ConvergenceEntry& entry);
  // Records the fault and stops the warp. The first one of an engine counts.
  void Fault(Warp& warp, Finding finding);
  // At the running instruction.
  void MemoryFault(Warp& warp, int lane, FindingKind kind, AccessKind access, MemorySpace space, uint64_t address,
                   uint32_t bytes);
  bool faulted() const { return fault_.has_value(); }

  // Follows what loads bring, where an observer wants to know which of it is used; nullptr: none does.
  ReadTracker* read_tracker() { return read_tracker_.get(); }
  // Follows what shuffles bring, where an observer wants to know whether that is undefined; nullptr: none does.
  DefinednessTracker* definedness_tracker() { return definedness_tracker_.get(); }
  WarpTrace* trace() { return trace_.get(); }  // nullptr: nobody asked for one

  // Results.
  const std::optional<BlockFinding>& fault() const { return fault_; }
  std::vector<BlockFinding>& findings() { return findings_; }
  const std::string& fault_output() const { return fault_output_; }  // printf of the block that faulted
  void AddTo(std::vector<PcCounters>& by_pc) const;
  struct BlockCount {
    uint32_t block_index;
    uint64_t instructions;
    uint64_t charged;  // against the budget
  };
  const std::vector<BlockCount>& block_counts() const { return block_counts_; }

 private:
  enum class WarpTurn : uint8_t { kProgressed, kSpun, kBlocked, kFault };
  enum class BlockTurn : uint8_t { kFinished, kSpun, kFault };

  Block* StartBlock(uint32_t index);
  // What a block has taken of the launch's budget; where blocks wait for each other, what all of them have.
  uint64_t ChargedTo(const Block& block) const {
    return launch_.start_charge + Charged(block.instructions, block.waiting.instructions) + block.extra;
  }
  uint64_t ChargedInAll() const {
    return launch_.start_charge * started_ + Charged(executed_, waiting_.instructions) + extra_;
  }
  // The next block, or the next cluster's blocks; nothing when all have been taken.
  std::vector<Block*> StartNext();
  void FinishBlock(Block* block);
  BlockTurn RunBlock(Block& block);
  // Turns are in other orders than the usual one: so that checkers see more.
  bool StirsTurns() const { return !observers_.empty() && !launch_.usual_turns; }
  // Of blocks that may wait for each other.
  bool TakesShortTurns() const { return launch_.interleaved && StirsTurns(); }
  void LookForEarlierFault(Block& block, const Warp& faulted, WarpTurns& turns, uint32_t left);
  WarpTurn RunWarp(Block& block, Warp& warp);
  uint64_t RunGroup(Warp& warp, uint64_t fuel);  // returns the instructions that it ran
  void StopShort(uint32_t begin, uint32_t end, LaneMask mask);
  bool TakeBlock(uint32_t* index);
  bool GoesOn(const Block& block, uint64_t* told);
  void RunAllBlocks();
  void FollowReads();
  void FollowShuffles();
  void FollowWarp();
  void BeginNotes(Block& block);
  void TellNotes(bool last);
  void ReportPartialBarrier(const Warp& warp);
  void Deadlock(Block& block);

  LaunchState& launch_;
  std::vector<Observer*> observers_, memory_observers_;
  bool observed_ = false;
  std::unique_ptr<ReadTracker> read_tracker_;
  std::unique_ptr<DefinednessTracker> definedness_tracker_;
  std::unique_ptr<WarpTrace> trace_;
  std::vector<Insn> own_code_;  // empty: none is needed
  const Insn* code_;            // the program's, or the own one
  std::vector<PcIssue> issue_;
  // By pc: how many instructions from there on all go straight, and how often they did all together.
  std::vector<uint32_t> straight_;
  std::vector<PcIssue> straight_issue_;
  std::vector<PcMemory> memory_;
  std::vector<Site> sites_;
  AccessPatterns patterns_;
  std::vector<const AccessPattern*> pattern_of_;  // by pc, as the site has it
  SharedNotes notes_;
  Block* noted_block_ = nullptr;
  bool takes_notes_ = false;
  Locality locality_;
  std::vector<std::unique_ptr<Block>> blocks_;  // all ever made
  std::vector<Block*> free_blocks_;
  std::optional<BlockFinding> fault_;
  std::string fault_output_;
  std::vector<BlockFinding> findings_;
  std::vector<BlockCount> block_counts_;
  uint64_t executed_ = 0, extra_ = 0;  // instructions, and what Charge() has added
  uint64_t started_ = 0;               // blocks
  Waiting waiting_;
};

}  // namespace lockstep::vgpu
