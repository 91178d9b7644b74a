#include "vgpu/exec/launch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <span>

#include "vgpu/core/hint.h"
#include "vgpu/core/source_place.h"
#include "vgpu/exec/interruption.h"
#include "vgpu/exec/read_tracker.h"
#include "vgpu/exec/standing.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kMaxOutput = 16 << 20;  // per launch

// Prints the blocks' output in order of block index, as early as that order allows.
class OrderedOutput {
 public:
  explicit OrderedOutput(const std::function<void(std::string_view)>& print) : print_(print) {}

  void Add(uint32_t block_index, std::string&& text) {
    const std::lock_guard lock(mutex_);
    waiting_[block_index] = std::move(text);
    for (auto it = waiting_.find(next_); it != waiting_.end(); it = waiting_.find(++next_)) {
      Print(it->second);
      waiting_.erase(it);
    }
  }

  void Print(const std::string& text) {
    const size_t n = std::min(text.size(), kMaxOutput - printed_);
    printed_ += n;
    if (n > 0) print_(std::string_view(text).substr(0, n));
  }

 private:
  const std::function<void(std::string_view)>& print_;
  std::mutex mutex_;
  std::map<uint32_t, std::string> waiting_;
  uint32_t next_ = 0;
  size_t printed_ = 0;
};

// Begin and end of the contiguous instructions in loops around `first` to `last`; both 0 outside of a loop.
std::pair<uint32_t, uint32_t> LoopAround(const Program& program, uint32_t first, uint32_t last) {
  if (!program.info[first].in_loop || !program.info[last].in_loop) return {0, 0};
  while (first > 0 && program.info[first - 1].in_loop) --first;
  while (last < program.info.size() && program.info[last].in_loop) ++last;
  return {first, last};
}

bool Has(std::span<const Insn> code, InsnClass barrier) {
  return std::ranges::count(code, barrier, &Insn::insn_class) > 0;
}

bool LoopHasBarrier(const Program& program, uint32_t pc) {
  const auto [begin, end] = LoopAround(program, pc, pc);
  return Has(std::span(program.code).subspan(begin, end - begin), InsnClass::kBarrier);
}

bool HasWarpBarriersAlone(std::span<const Insn> code) {
  return Has(code, InsnClass::kWarpSync) && !Has(code, InsnClass::kBarrier);
}

// Whether the barriers between two accesses, or between them in the next round of their loop, are only those of a warp.
bool HasWarpBarrierBetween(const Program& program, uint32_t one, uint32_t other) {
  const auto [first, last] = std::minmax(one, other);
  const std::span<const Insn> code = program.code;
  if (HasWarpBarriersAlone(code.subspan(first, last - first))) return true;
  const auto [begin, end] = LoopAround(program, first, last);
  return begin < end && (HasWarpBarriersAlone(code.subspan(last, end - last)) ||
                         HasWarpBarriersAlone(code.subspan(begin, first - begin)));
}

}  // namespace

Finding FromChecker(const LaunchState& launch, const RawFinding& raw) {
  const auto place = [&](const Party& party) {
    ThreadPlace p = DescribeThread(launch, party.block_index, party.thread_index, party.pc);
    p.access = party.access;
    return p;
  };
  Finding finding;
  finding.kind = raw.kind;
  finding.kernel = launch.info.kernel;
  finding.launch = launch.info.ordinal;
  finding.grid = launch.info.grid;
  finding.block_dim = launch.info.block;
  finding.first = place(raw.first);
  if (raw.has_second) finding.second = place(raw.second);
  if (raw.has_memory) finding.memory = DescribeMemory(launch, raw.space, raw.address, raw.bytes, raw.first.pc);
  finding.detail = raw.detail;
  finding.hint = raw.hint;
  finding.count = raw.count;
  finding.across_blocks = raw.across_blocks;
  finding.several_warps = raw.several_warps;
  finding.clue = raw.clue;
  if (const Program* program = launch.info.program) {
    finding.copies_async = program->copies_async;
    finding.memory_barriers = program->memory_barriers;
    finding.lost_update = raw.kind == FindingKind::kRace && program->origins.AreOneUpdate(raw.first.pc, raw.second.pc);
    finding.warp_barrier =
        raw.kind == FindingKind::kRace && HasWarpBarrierBetween(*program, raw.first.pc, raw.second.pc);
    finding.loop_has_barrier = raw.kind == FindingKind::kRace && LoopHasBarrier(*program, raw.second.pc);
    // In a kernel with barriers the array was probably meant to be shared by the threads.
    if (raw.kind == FindingKind::kUninitialized && raw.space == MemorySpace::kLocal &&
        Has(program->code, InsnClass::kBarrier))
      finding.hint = Hint::kArrayOfOneThread;
  }
  return finding;
}

// Whether the finding is about one barrier of the source, which the compiler has split into two.
bool IsOnePlace(const Finding& finding) {
  return finding.kind == FindingKind::kBarrierDivergence && finding.second && finding.first.line != 0 &&
         finding.first.line == finding.second->line && finding.first.file == finding.second->file;
}

namespace {

using Engines = std::vector<std::unique_ptr<Engine>>;

// Forks each observer by fork(observer); empty if one cannot be forked.
template <typename F>
std::vector<std::unique_ptr<Observer>> Forks(const std::vector<Observer*>& observers, const F& fork) {
  std::vector<std::unique_ptr<Observer>> forks;
  for (Observer* observer : observers) {
    forks.push_back(fork(*observer));
    if (forks.back() == nullptr) return {};
  }
  return forks;
}
std::vector<Observer*> Pointers(const std::vector<std::unique_ptr<Observer>>& owned) {
  std::vector<Observer*> pointers;
  for (const auto& observer : owned) pointers.push_back(observer.get());
  return pointers;
}
void Absorb(const std::vector<Observer*>& observers, const std::vector<std::unique_ptr<Observer>>& forks) {
  for (size_t k = 0; k < forks.size(); ++k) observers[k]->Absorb(*forks[k]);
}

// Runs the launch on several threads; the first thread uses the original observers. No engines: some observer cannot be
// forked.
Engines RunForked(LaunchState& launch, const std::vector<Observer*>& observers, ThreadPool& pool, size_t threads) {
  if (threads <= 1) return {};
  std::vector<std::vector<std::unique_ptr<Observer>>> forks(1);
  while (forks.size() < threads) {
    forks.push_back(Forks(observers, [](const Observer& observer) { return observer.Fork(); }));
    if (forks.back().size() < observers.size()) return {};
  }
  launch.parallel = true;
  Engines engines;
  for (size_t k = 0; k < threads; ++k) {
    engines.push_back(std::make_unique<Engine>(launch, k == 0 ? observers : Pointers(forks[k])));
  }
  pool.Run(static_cast<int>(threads), [&](int k) { engines[static_cast<size_t>(k)]->RunBlocks(); });
  for (const auto& fork : forks) Absorb(observers, fork);
  return engines;
}

// Runs the launch on several threads with isolated blocks (block_isolation.h). No engines: the attempt was abandoned
// and has had no effect.
Engines RunIsolated(LaunchState& launch, const std::vector<Observer*>& observers, ThreadPool& pool,
                    BlockIsolation& isolation, size_t threads) {
  isolation.Begin(threads);
  std::vector<std::vector<std::unique_ptr<Observer>>> forks;
  while (forks.size() < threads) {
    forks.push_back(Forks(observers, [&](const Observer& observer) { return observer.ForkIsolated(isolation); }));
    if (forks.back().size() < observers.size()) return {};
  }
  if (!isolation.watched()) return {};
  launch.parallel = true;
  launch.isolation = &isolation;
  // A launch that exceeds this share of its budget is restarted on one thread. So an attempt in vain adds at most
  // 1 / threads of the time that the budget allows.
  const uint64_t budget = launch.budget;
  if (budget != 0) launch.budget = std::max<uint64_t>(budget / threads, 1);
  Engines engines;
  for (const auto& fork : forks) engines.push_back(std::make_unique<Engine>(launch, Pointers(fork)));
  pool.Run(static_cast<int>(threads), [&](int k) {
    try {
      engines[static_cast<size_t>(k)]->RunBlocks();
    } catch (const IsolationBroken&) {
    }
  });
  launch.budget = budget;
  launch.isolation = nullptr;
  if (isolation.broken() && !Interruption::IsAsked()) {
    isolation.Restore();
    engines.clear();
    launch.parallel = false;
    launch.next_block = 0;
    launch.executed = 0;
    launch.stop_before = 0xffffffffu;
    launch.over_budget = false;
  } else if (!isolation.broken()) {
    for (const auto& fork : forks) Absorb(observers, fork);
  }
  isolation.End();
  return engines;
}

// If blocks run in parallel, whether the launch exceeded its budget, and in which block, must not depend on which
// thread ran which block: the blocks' own counts, added in block order, decide.
std::optional<Finding> BudgetFault(const LaunchState& launch, const Engines& engines, uint32_t before_block) {
  if (launch.budget == 0 || launch.interleaved) return std::nullopt;
  std::vector<Engine::BlockCount> counts;
  for (const auto& engine : engines) {
    counts.insert(counts.end(), engine->block_counts().begin(), engine->block_counts().end());
  }
  std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.block_index < b.block_index; });
  uint64_t sum = 0;
  for (const Engine::BlockCount& count : counts) {
    if (count.block_index >= before_block) break;
    sum += count.charged;
    if (sum <= launch.budget) continue;
    Finding finding;
    finding.kind = FindingKind::kTimeout;
    finding.fatal = true;
    finding.kernel = launch.info.kernel;
    finding.launch = launch.info.ordinal;
    finding.grid = launch.info.grid;
    finding.block_dim = launch.info.block;
    finding.first.block = Unflatten(count.block_index, launch.info.grid);
    finding.detail = "the launch took more than " + launch.budget_text + " in its first " +
                     (count.block_index == 0 ? "block" : std::to_string(count.block_index + 1) + " blocks");
    finding.hint = Hint::kBlocksDoTooMuch;
    return finding;
  }
  return std::nullopt;
}

// Where threads are in a launch that does not end: of the block with the fault, or of all blocks, if these may wait for
// each other or the launch was interrupted.
std::vector<std::string> StandingOf(const LaunchState& launch, const Engines& engines, const BlockFinding& fault) {
  constexpr FindingKind kStuck[] = {FindingKind::kTimeout, FindingKind::kBarrierDivergence,
                                    FindingKind::kWarpSyncMismatch};
  if (std::ranges::find(kStuck, fault.finding.kind) == std::end(kStuck)) return {};
  const bool all = launch.interleaved || Interruption::IsAsked();
  std::vector<Block*> blocks;
  uint64_t ended = 0;
  for (const auto& engine : engines) {
    ended += engine->block_counts().size();
    for (const auto& block : engine->blocks()) {
      if (block->live_warps != 0 && (all || block->index == fault.block_index)) blocks.push_back(block.get());
    }
  }
  std::ranges::sort(blocks, {}, [](const Block* block) { return block->index; });
  return StandingText(launch, blocks, all ? std::optional(ended) : std::nullopt);
}

// LaunchRecord::stores, in the kernel's order.
std::vector<std::string> StoresOf(const LaunchState& launch) {
  const Program& program = *launch.program;
  std::set<uint32_t> stores;
  for (const auto& [pc, offsets] : program.origins.parameters) {
    if (!program.info[pc].traits.Any(kStores)) continue;
    for (const uint32_t offset : offsets) {
      uint64_t pointer = 0;
      if (offset + sizeof pointer <= launch.parameter_bytes) {
        std::memcpy(&pointer, launch.parameters + offset, sizeof pointer);
      }
      const auto holds = [&](const TouchedRange& range) { return pointer - range.base < range.bytes; };
      if (std::ranges::any_of(*launch.watched, holds)) stores.insert(pc);
    }
  }
  std::vector<std::string> texts;
  for (const uint32_t pc : stores) {
    std::string text = SourcePlaces(program).Text(pc);
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

void SumCounters(const Program& program, const std::vector<PcCounters>& by_pc, const std::vector<KeptSample>& samples,
                 Counters* counters, std::vector<LineCounters>* lines) {
  const SourcePlaces places(program);
  const std::vector<ptx::SourceLocation> call_sites = places.CallSites();
  std::map<std::pair<int, int>, LineCounters> by_line;
  for (size_t pc = 0; pc < by_pc.size(); ++pc) {
    const InsnInfo& info = program.info[pc];
    if (!info.counted || by_pc[pc].issue.warps == 0) continue;
    const ptx::SourceLocation place = places.ShownWith(call_sites, static_cast<uint32_t>(pc));
    LineCounters& line = by_line[{place.file, place.line}];
    const InsnClass insn_class = program.code[pc].insn_class;
    line.counters += PcSums{by_pc[pc], insn_class, info.conditional_branch, info.in_loop, info.tensor, info.steps};
    if (samples[pc] == nullptr) continue;
    KeptSample& of_space = samples[pc]->space == MemorySpace::kShared ? line.shared : line.global;
    KeepWorse(samples[pc]->is_branch ? line.branch : of_space, samples[pc]);
  }
  for (auto& [place, sum] : by_line) {
    *counters += sum.counters;
    if (place.second == 0 || place.first < 0 || place.first >= static_cast<int>(program.files.size())) continue;
    sum.file = program.files[static_cast<size_t>(place.first)];
    sum.line = place.second;
    lines->push_back(std::move(sum));
  }
  std::sort(lines->begin(), lines->end(), [](const LineCounters& a, const LineCounters& b) {
    return a.file != b.file ? a.file < b.file : a.line < b.line;
  });
}

namespace {

// Runs the blocks: on several threads, without isolation or with it, or in order on this one.
Engines RunBlocks(LaunchState& launch, const std::vector<Observer*>& observers, ThreadPool& pool,
                  BlockIsolation* isolation, LaunchOutcome& outcome) {
  launch.interleaved = launch.program->order_sensitive || launch.has_clusters;
  const uint64_t most = launch.interleaved || launch.trace != nullptr || launch.debugger != nullptr
                            ? 1
                            : static_cast<uint64_t>(pool.size());
  const size_t threads = static_cast<size_t>(std::min(most, launch.info.grid.Count()));
  Engines engines = RunForked(launch, observers, pool, threads);
  // Printed output could not be undone.
  if (engines.empty() && threads > 1 && isolation != nullptr && !launch.program->calls_printf) {
    engines = RunIsolated(launch, observers, pool, *isolation, threads);
    outcome.blocks_met = isolation->broken();
  }
  if (engines.empty()) {
    engines.push_back(std::make_unique<Engine>(launch, observers));
    engines[0]->RunBlocks();
  }
  outcome.threads = static_cast<int>(engines.size());
  for (const auto& engine : engines) {
    for (const Engine::BlockCount& count : engine->block_counts()) outcome.instructions += count.instructions;
  }
  return engines;
}

// The engine with the fault of the lowest block; nullptr if none has one.
const Engine* FaultedOf(const Engines& engines) {
  const Engine* faulted = nullptr;
  for (const auto& engine : engines) {
    if (!engine->fault()) continue;
    if (faulted == nullptr || engine->fault()->block_index < faulted->fault()->block_index) faulted = engine.get();
  }
  return faulted;
}

// Findings of blocks up to the one that faulted: those after it may or may not have run.
void AddFindings(const LaunchState& launch, const Engines& engines, const std::vector<Checker*>& checkers,
                 uint32_t fault_block, LaunchOutcome& outcome) {
  std::vector<BlockFinding> found;
  for (const auto& engine : engines) {
    for (BlockFinding& finding : engine->findings()) {
      if (finding.block_index > fault_block) continue;
      if (outcome.fault) finding.finding.count = 1;
      found.push_back(std::move(finding));
    }
    const ReadTracker* tracker = engine->read_tracker();
    if (tracker != nullptr && tracker->missed_a_use()) outcome.gaps.Add(Gap::kLateUses);
  }
  std::stable_sort(found.begin(), found.end(), [](const BlockFinding& a, const BlockFinding& b) {
    return std::tuple(a.block_index, a.finding.first.ptx_line, a.finding.kind) <
           std::tuple(b.block_index, b.finding.first.ptx_line, b.finding.kind);
  });
  for (BlockFinding& finding : found) outcome.findings.push_back(std::move(finding.finding));
  for (Checker* checker : checkers) {
    outcome.gaps.Add(checker->TakeGaps());
    for (const RawFinding& raw : checker->TakeFindings()) {
      if (raw.first.block_index > fault_block) continue;
      Finding finding = FromChecker(launch, raw);
      if (!IsOnePlace(finding)) outcome.findings.push_back(std::move(finding));
    }
  }
}

void AddCounters(const LaunchState& launch, const Engines& engines, LaunchOutcome& outcome) {
  std::vector<PcCounters> by_pc(launch.program->code.size());
  std::vector<KeptSample> samples(by_pc.size());
  std::vector<const Locality*> localities;
  for (const auto& engine : engines) {
    engine->AddTo(by_pc);
    localities.push_back(&engine->locality());
    for (size_t pc = 0; pc < samples.size(); ++pc) KeepWorse(samples[pc], engine->sample(static_cast<uint32_t>(pc)));
  }
  SumCounters(*launch.program, by_pc, samples, &outcome.counters, &outcome.lines);
  const Locality::Footprint footprint = Locality::FootprintOf(localities);
  outcome.counters.global_load_footprint = footprint.loads;
  outcome.counters.global_store_footprint = footprint.stores;
  outcome.counters.atomic_footprint = footprint.atomics;

  uint64_t most = 0, all = 0, blocks = 0;
  for (const auto& engine : engines) {
    outcome.longest_warp = std::max(outcome.longest_warp, engine->longest_warp());
    for (const Engine::BlockCount& count : engine->block_counts()) {
      const uint64_t worked = count.charged - launch.start_charge;
      most = std::max(most, worked);
      all += worked;
      ++blocks;
    }
  }
  const auto takes_tickets = [&](size_t pc) {
    const Traits traits = launch.program->info[pc].traits;
    return by_pc[pc].memory.requests > 0 && traits.Any(kAtomic) && traits.Any(kPolls);
  };
  // If blocks take work from a counter, the first one to run here takes most of it, which is no property of the kernel.
  const bool may_share = blocks > 1 && launch.program->order_sensitive;
  for (size_t pc = 0; pc < by_pc.size() && may_share; ++pc) {
    if (takes_tickets(pc)) all = 0;
  }
  outcome.busiest_block =
      all > 0 ? static_cast<double>(most) * static_cast<double>(blocks) / static_cast<double>(all) : 0;
}

}  // namespace

LaunchOutcome RunLaunch(LaunchState& launch, const std::vector<Observer*>& observers,
                        const std::vector<Checker*>& checkers, ThreadPool& pool, BlockIsolation* isolation,
                        const std::function<void(std::string_view)>& print) {
  for (Observer* observer : observers) observer->OnLaunchBegin(launch.info);
  OrderedOutput output(print);
  launch.block_output = [&](uint32_t block, std::string&& text) { output.Add(block, std::move(text)); };
  LaunchOutcome outcome;
  const Engines engines = RunBlocks(launch, observers, pool, isolation, outcome);
  for (Observer* observer : observers) observer->OnLaunchEnd();

  const Engine* const faulted = FaultedOf(engines);
  const uint32_t fault_block = faulted == nullptr ? 0xffffffffu : faulted->fault()->block_index;
  if (faulted != nullptr) {
    outcome.fault = faulted->fault()->finding;
    outcome.fault->standing = StandingOf(launch, engines, *faulted->fault());
    output.Print(faulted->fault_output());
  }
  if (std::optional<Finding> over = BudgetFault(launch, engines, fault_block)) outcome.fault = std::move(over);
  AddFindings(launch, engines, checkers, fault_block, outcome);
  if (outcome.fault) return outcome;
  for (TouchedRange& range : *launch.watched) {
    for (const auto& engine : engines) engine->locality().AddTo(range);
  }
  if (!launch.watched->empty()) outcome.stores = StoresOf(launch);
  if (launch.counters) AddCounters(launch, engines, outcome);
  return outcome;
}

}  // namespace lockstep::vgpu
