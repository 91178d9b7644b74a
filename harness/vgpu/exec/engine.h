// One CPU thread's interpreter: runs blocks of one launch.
//
// Theory of operation. A launch (exec/launch.cc) gives each CPU thread an Engine. An engine takes blocks in index order
// and runs each until its warps have finished. The warps of a block take turns; a warp runs until its lanes wait, exit,
// spin or have run for long. If blocks may wait for each other (Program::order_sensitive, clusters) there is one
// engine. It starts another block, up to the number resident on the device, when all started ones only spin. All these
// decisions depend on counts of executed instructions, so a launch is the same in every run.
//
// The loop (RunGroup) fetches an instruction, applies the guard, counts, and calls the handler. A straight sequence of
// instructions that all lanes execute is counted as one. A handler that cannot continue sets Warp::stop;
// WarpState::reason says why. A fault is recorded in the engine and ends its work.
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

class GridRuntime;   // exec/grid_runtime.h
class LaunchPauses;  // exec/launch_pauses.h
class TextureTable;  // texture/texture.h
struct TraceJob;     // exec/warp_trace.h
struct ReplayJob;    // exec/block_replay.h
class Debugger;      // exec/debugger.h

// State shared by all engines of a launch; read-only while they run, except for the atomics and stood_aside.
struct LaunchState {
  const Program* program = nullptr;
  GlobalMemory* memory = nullptr;
  const TextureTable* textures = nullptr;
  LaunchInfo info;
  const uint8_t* parameters = nullptr;  // 64 bytes of padding follow
  uint32_t parameter_bytes = 0;
  uint32_t shared_bytes = 0;  // static + dynamic + reserved
  uint32_t dynamic_shared_offset = 0;
  uint32_t reserved_shared_offset = 0;  // the runtime's part, up to shared_bytes
  uint32_t sm_count = 1, warps_per_sm = 1;
  GridRuntime* runtime = nullptr;  // nullptr: its kernel may not use the device runtime
  uint64_t grid_workspace = 0;     // %envreg1/2: the barrier of cooperative groups
  bool counters = true;
  bool usual_turns = false;             // DeviceOptions::usual_turns
  uint32_t order = 0;                   // seed for the order of warps and blocks when the schedule is perturbed
  Dim3 cluster;                         // blocks per cluster; 1 × 1 × 1 without clusters
  bool has_clusters = false;            // launched with clusters
  bool interleaved = false;             // blocks may wait for each other: one engine runs several of them in turn
  bool parallel = false;                // several engines: atomics must be atomic on the host
  BlockIsolation* isolation = nullptr;  // several engines, as long as no two blocks conflict
  uint64_t budget = 0;                  // warp instructions; 0: no limit. See Charged()
  std::string budget_text;              // "1000 warp instructions"
  uint64_t start_charge = 0;            // what starting a block counts against the budget, see StartCharge()
  LaunchClock* clock = nullptr;         // limits processor time in addition to the budget; nullptr: no limit
  TraceJob* trace = nullptr;            // a warp to trace; needs one thread
  Debugger* debugger = nullptr;         // it needs one thread, too
  ReplayJob* replay = nullptr;          // a block to record, if there is neither a trace nor a debugger
  std::vector<TouchedRange>* watched = nullptr;  // records the kernel's accesses to these ranges
  uint32_t resident_blocks = 1;                  // how many blocks may be running at once if they wait for each other
  LaunchPauses* pauses = nullptr;                // for launches that run interleaved; nullptr: never pauses
  uint64_t stood_aside = 0;                      // total nanoseconds of pauses, during which threads' clocks advanced
  std::function<void(uint32_t block_index, std::string&& output)> block_output;
  std::atomic<uint32_t> next_block{0};
  std::atomic<uint64_t> executed{0};
  std::atomic<uint32_t> stop_before{0xffffffffu};  // blocks from this index on need not start: an earlier one faulted
  std::atomic<bool> over_budget{false};
};

// What counts against a launch's budget. A polling warp runs more instructions the slower the others are, so polling
// counts only a fraction; but an endless wait must still end the launch.
inline constexpr uint64_t kWaitingShare = 16;
inline uint64_t Charged(uint64_t executed, uint64_t waited) { return executed - waited + waited / kWaitingShare; }

// An instruction that handles many bytes, such as a call of printf, counts one extra for each this many bytes.
inline constexpr uint64_t kBytesAnInstruction = 64;

// Starting a block costs time too: its memory is filled. Without this charge, a grid of empty blocks with much shared
// or local memory could run for hours within any instruction budget.
inline uint64_t StartCharge(uint64_t started_bytes) { return 8 + started_bytes / 512; }

class ReadTracker;         // exec/read_tracker.h
class DefinednessTracker;  // exec/definedness_tracker.h
class InstructionHook;     // exec/instruction_hook.h
class WarpSchedule;        // exec/warp_turns.h

// A finding or fault and the block that it comes from, for a deterministic order.
struct BlockFinding {
  uint32_t block_index = 0;
  Finding finding;
};

inline Dim3 Unflatten(uint64_t index, const Dim3& extent) {
  return {static_cast<uint32_t>(index % extent.x), static_cast<uint32_t>(index / extent.x % extent.y),
          static_cast<uint32_t>(index / extent.x / extent.y)};
}

// Describes the memory at an address. Global: a device address; shared, local, param: an offset. pc: the accessing
// instruction, which tells the buffer that was meant if the address is in none; kNoPc: not known.
MemoryPlace DescribeMemory(const LaunchState& launch, MemorySpace space, uint64_t address, uint32_t bytes, uint32_t pc);
ThreadPlace DescribeThread(const LaunchState& launch, uint32_t block_index, uint32_t thread_index, uint32_t pc);

class Engine {
 public:
  Engine(LaunchState& launch, std::vector<Observer*> observers);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void RunBlocks();  // until no blocks are left

  // For handlers.
  LaunchState& launch() { return launch_; }
  const Program& program() const { return *launch_.program; }
  const std::vector<Observer*>& observers() const { return observers_; }
  // Observers of memory accesses, if any.
  bool observed() const { return observed_; }
  // Whether warps, and lanes of an atomic, take turns in unusual orders, which lets checkers find more.
  bool PerturbsSchedule() const { return !observers_.empty() && !launch_.usual_turns; }
  const std::vector<Observer*>& memory_observers() const { return memory_observers_; }
  PcMemory* memory_counters(uint32_t pc) { return launch_.counters ? &memory_[pc] : nullptr; }
  // Whether an access that has been counted has the largest excess over its ideal of all executions of this instruction
  // so far, so that it should be kept.
  bool IsWorst(uint32_t pc, uint64_t excess) const { return excess > excess_[pc]; }
  void Keep(const Warp& warp, MemorySpace space, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
            int bytes, const AccessCost& cost);
  // Keeps a divergent branch, if none has been kept for this instruction.
  void KeepBranch(const Warp& warp, LaneMask taken);
  const KeptSample& sample(uint32_t pc) const { return samples_[pc]; }
  // Whether to record touched global memory although counters are off.
  bool follows_touches() const { return !launch_.watched->empty(); }
  // The running instruction only waited and will be executed again: removes it from the count.
  void Uncount(const Warp& warp, LaneMask mask) {
    PcIssue& issue = issue_[warp.pc - 1];
    issue.warps -= 1;
    issue.threads -= static_cast<uint64_t>(std::popcount(mask));
  }
  // Charges the running instruction with this many additional instructions of the launch's budget.
  void Charge(Warp& warp, uint64_t instructions);
  // Called for an iteration, from `begin` to its branch, of a loop that only waits for a clock. After n iterations in a
  // row, the next counts as 1 + n / 16, so that long waits end sooner.
  void PassTime(Warp& warp, uint32_t begin, uint32_t branch);
  Locality& locality() { return locality_; }
  const Locality& locality() const { return locality_; }
  struct Range {
    uint64_t base = 1, end = 0;
  };
  // Cached data of a memory instruction from its last execution, and the number of its accesses of the most common
  // shapes. Accesses of one shape cost the same, so only their number is kept.
  struct alignas(64) Site {
    Range range;                                   // the allocation that it used last
    std::shared_ptr<const AccessPattern> pattern;  // in shared memory; nullptr: consecutive, or not yet known
    uint64_t of_pattern = 0;                       // accesses with this pattern
    uint64_t side_by_side = 0;  // consecutive accesses of shared memory, or aligned ones of global memory
    uint64_t last = 0;          // global memory: the first lane's address
    bool noted = false;         // shared-memory access whose events may be delayed: observers/shared_notes.h
    bool of_global = false;     // side_by_side counts global accesses
    uint8_t bytes = 0;          // per lane, for side_by_side
    uint8_t unsteady = 0;       // consecutive patterns that hardly recurred
    uint8_t passed = 0;         // accesses since the last search for a pattern, if patterns don't recur

    // Whether to search for a pattern after an access that does not match the site's. Data-dependent addresses have a
    // new one each time, and the search takes longer than the access.
    bool LooksForPattern() {
      constexpr uint64_t kRecurs = 4;
      constexpr uint8_t kMostUnsteady = 16, kPassedOver = 64;
      if (pattern == nullptr || of_pattern >= kRecurs) unsteady = 0;
      if (unsteady < kMostUnsteady) return ++unsteady, true;
      return ++passed % kPassedOver == 0;
    }
  };
  static_assert(sizeof(Site) == 64);
  Site& site(uint32_t pc) { return sites_[pc]; }
  Range& range(uint32_t pc) { return sites_[pc].range; }
  // Sets or clears the pattern of the instruction at pc.
  void SetPattern(uint32_t pc, std::shared_ptr<const AccessPattern> pattern);
  AccessPatterns& patterns() { return patterns_; }
  void ForgetRanges();

  // Records a load at site(warp.pc - 1) with `noted` set. first: the first active lane's address.
  [[gnu::always_inline]] void NoteLoad(const Warp& warp, LaneMask mask, uint32_t bytes, uint32_t first,
                                       const Extent& extent) {
    if (!notes_.HasRoom(warp.block->index) || extent.Meets(notes_.stores())) BeginNotes(*warp.block);
    notes_.Add({SharedNote::PlaceOf(warp.pc - 1, false, bytes, warp.index), first, mask}, extent);
  }
  // Records a store of consecutive addresses, 4 bytes per lane. False: observers must be notified now.
  [[gnu::always_inline]] bool NoteStore(const Warp& warp, LaneMask mask, const Extent& extent) {
    if (!notes_.HasRoom(warp.block->index)) BeginNotes(*warp.block);
    if (extent.Meets(notes_.loads())) return false;
    if (!warp.block->shared_use.TakeStore(extent, mask >> std::countr_zero(mask))) return false;
    const uint32_t first = static_cast<uint32_t>(extent.low);
    notes_.Add({SharedNote::PlaceOf(warp.pc - 1, true, 4, warp.index), first, mask}, extent);
    return true;
  }
  bool takes_notes() const { return takes_notes_; }
  // Passes the recorded accesses to observers, before any event that must come after them.
  void FlushSharedNotes() {
    if (!notes_.empty()) FlushNotes(false);
  }
  // The same before a barrier completes or the block ends. whole: everything before this point happens before
  // everything after it.
  void FlushSharedNotes(Block& block, bool whole) {
    if (!takes_notes_) return;
    if (!notes_.empty()) FlushNotes(whole && noted_block_ == &block);
    if (whole) block.shared_use.Begin();
  }

  // The source position of a lane at the instruction at pc.
  ThreadPlace Place(const Warp& warp, uint32_t pc, int lane) const;
  // Makes a finding with kernel, launch and place filled in.
  Finding MakeFinding(const Warp& warp, uint32_t pc, int lane, FindingKind kind, std::string detail) const {
    return MakeFinding(Place(warp, pc, lane), kind, std::move(detail));
  }
  Finding MakeFinding(ThreadPlace place, FindingKind kind, std::string detail) const;
  void Report(const Warp& warp, Finding finding) { Report(warp.block->index, std::move(finding)); }
  void Report(uint32_t block_index, Finding finding);
  // With checkers: reports lanes that a .sync instruction's mask names but that went past it while others waited for
  // them.
  void ReportPassedSync(const Warp& warp, const ConvergenceEntry& entry);
  // Records the fault and stops the warp. Only the first fault of an engine counts.
  void Fault(Warp& warp, Finding finding);
  // The same for a memory access of the running instruction.
  void MemoryFault(Warp& warp, int lane, FindingKind kind, AccessKind access, MemorySpace space, uint64_t address,
                   uint32_t bytes);
  bool faulted() const { return fault_.has_value(); }

  // Follows loaded values, if an observer wants to know which of them are used; otherwise nullptr.
  ReadTracker* read_tracker() { return read_tracker_.get(); }
  // Follows shuffled values, if an observer wants to find undefined ones; otherwise nullptr.
  DefinednessTracker* definedness_tracker() { return definedness_tracker_.get(); }
  InstructionHook* hook() { return hook_.get(); }                                // nullptr: none
  const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }  // running if live_warps is not 0

  // Results.
  const std::optional<BlockFinding>& fault() const { return fault_; }
  std::vector<BlockFinding>& findings() { return findings_; }
  const std::string& fault_output() const { return fault_output_; }  // printf output of the faulting block
  void AddTo(std::vector<PcCounters>& by_pc) const;
  struct BlockCount {
    uint32_t block_index;
    uint64_t instructions;
    uint64_t charged;  // amount charged against the budget
  };
  const std::vector<BlockCount>& block_counts() const { return block_counts_; }
  uint64_t longest_warp() const { return longest_warp_; }

 private:
  enum class WarpTurn : uint8_t { kProgressed, kSpun, kBlocked, kFault };
  enum class BlockTurn : uint8_t { kFinished, kSpun, kFault };

  Block* StartBlock(uint32_t index);
  // How much of the launch's budget a block has used; or all blocks together, if blocks wait for each other.
  uint64_t ChargedTo(const Block& block) const {
    return launch_.start_charge + Charged(block.instructions, block.waiting.instructions) + block.extra;
  }
  uint64_t ChargedInAll() const {
    return launch_.start_charge * started_ + Charged(executed_, waiting_.instructions) + extra_;
  }
  // Starts the next block, or all blocks of the next cluster; empty when none are left.
  std::vector<Block*> StartNext();
  void FinishBlock(Block* block);
  BlockTurn RunBlock(Block& block);
  // The same for blocks that may wait for each other.
  bool UsesShortTimeSlices() const { return launch_.interleaved && PerturbsSchedule(); }
  void CheckEarlierFault(Block& block, const Warp& faulted, WarpSchedule& turns, uint32_t left);
  WarpTurn RunWarp(Block& block, Warp& warp);
  uint64_t RunGroup(Warp& warp, uint64_t fuel);  // returns the number of instructions run
  void StopShort(uint32_t begin, uint32_t end, LaneMask mask);
  bool TakeBlock(uint32_t* index);
  bool GoesOn(const Block& block, uint64_t* told);
  void RunAllBlocks();
  // After a block's turn. False: the launch has ended with a fault.
  bool PauseAtStandstill(const std::vector<Block*>& started, bool may_start, bool is_counted);
  void FaultAtStandstill(const std::vector<Block*>& started, const std::string& why);
  void FollowReads();
  void FollowShuffles();
  void FollowWarp();
  void BeginNotes(Block& block);
  void FlushNotes(bool last);
  void ReportPartialBarrier(const Warp& warp);
  void Deadlock(Block& block);

  LaunchState& launch_;
  std::vector<Observer*> observers_, memory_observers_;
  bool observed_ = false;
  std::unique_ptr<ReadTracker> read_tracker_;
  std::unique_ptr<DefinednessTracker> definedness_tracker_;
  std::unique_ptr<InstructionHook> hook_;
  std::vector<Insn> own_code_;  // empty: the program's code is used directly
  const Insn* code_;            // program's code or own_code_
  std::vector<PcIssue> issue_;
  // By pc: the length of the straight-line sequence that starts there, and how often all lanes executed it together.
  std::vector<uint32_t> straight_;
  std::vector<PcIssue> straight_issue_;
  std::vector<PcMemory> memory_;
  std::vector<uint32_t> excess_;  // by pc: the excess of the kept sample
  std::vector<KeptSample> samples_;
  std::vector<Site> sites_;
  AccessPatterns patterns_;
  std::vector<const AccessPattern*> pattern_of_;  // by pc, same as in the site
  SharedNotes notes_;
  Block* noted_block_ = nullptr;
  bool takes_notes_ = false;
  Locality locality_;
  std::vector<std::unique_ptr<Block>> blocks_;  // all blocks ever created
  std::vector<Block*> free_blocks_;
  std::optional<BlockFinding> fault_;
  std::string fault_output_;
  std::vector<BlockFinding> findings_;
  std::vector<BlockCount> block_counts_;
  uint64_t longest_warp_ = 0;
  uint64_t executed_ = 0, extra_ = 0;  // instructions, and the sum of Charge()
  uint64_t started_ = 0;               // blocks started so far
  uint32_t turns_ = 0;                 // calls of RunGroup so far
  Waiting waiting_;
  // For launches that may pause; counted since the last pause unless noted otherwise.
  struct SincePause {
    uint64_t begin = 0;     // executed_ at the pause
    uint64_t executed = 0;  // executed_ after the last turn of a block
    uint64_t in_a_row = 0;  // waiting_.in_a_row at the pause
    size_t idle_turns = 0;  // consecutive idle turns of blocks
    bool progressed = false, reads_clock = false;
  };
  SincePause since_pause_;
  bool has_paused_ = false;
};

}  // namespace lockstep::vgpu
