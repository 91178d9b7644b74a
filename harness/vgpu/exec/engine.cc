// An engine's parts, its counters, and the beginning and the end of its blocks.
#include "vgpu/exec/engine.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/core/copy_plan.h"
#include "vgpu/core/insn_class.h"
#include "vgpu/core/memory_flags.h"
#include "vgpu/exec/block_replay.h"
#include "vgpu/exec/debugger.h"
#include "vgpu/exec/definedness_tracker.h"
#include "vgpu/exec/read_tracker.h"
#include "vgpu/exec/warp_trace.h"
#include "vgpu/memory/access_cost.h"
#include "vgpu/observers/block_isolation.h"

namespace lockstep::vgpu {
namespace {

// Whether all lanes of the group execute this instruction and then the next one, unless the warp stops.
bool GoesStraight(const Insn& insn) {
  if (insn.guard != kNoRow || (insn.flags & (kAlwaysCall | kWarpSynchronous)) != 0) return false;
  return IsPure(insn.insn_class) || insn.insn_class == InsnClass::kLoad || insn.insn_class == InsnClass::kStore;
}

}  // namespace

Engine::Engine(LaunchState& launch, std::vector<Observer*> observers)
    : launch_(launch),
      observers_(std::move(observers)),
      code_(launch.program->code.data()),
      pattern_of_(launch.program->code.size()),
      notes_(pattern_of_.data()),
      locality_(launch.program->code.size()) {
  FollowReads();
  FollowShuffles();
  FollowWarp();
  for (Observer* observer : observers_) {
    if (observer->WatchesMemory()) memory_observers_.push_back(observer);
  }
  observed_ = !memory_observers_.empty();
  const size_t n = launch_.program->code.size();
  issue_.resize(n);
  straight_issue_.resize(n);
  straight_.resize(n);
  for (size_t pc = n; pc-- > 0;) {
    straight_[pc] = GoesStraight(launch_.program->code[pc]) ? 1 + (pc + 1 < n ? straight_[pc + 1] : 0) : 0;
  }
  memory_.resize(n);
  excess_.resize(n);
  samples_.resize(n);
  sites_.resize(n);
  takes_notes_ = observed_ && std::all_of(memory_observers_.begin(), memory_observers_.end(),
                                          [](const Observer* o) { return o->TakesSharedNotes(); });
  const CopyPlan* const copies = launch_.program->copies.get();
  for (size_t pc = 0; pc < n; ++pc) {
    const Insn& insn = launch_.program->code[pc];
    Site& site = sites_[pc];
    site.noted = takes_notes_ && pc < SharedNote::kMostPcs &&
                 (read_tracker_ == nullptr || !read_tracker_->Reads(static_cast<uint32_t>(pc))) &&
                 (copies == nullptr || copies->At(static_cast<uint32_t>(pc)) == nullptr) &&
                 (insn.insn_class == InsnClass::kLoad || insn.insn_class == InsnClass::kStore) &&
                 MemoryFlags::Unpack(insn.extra).order == MemoryOrder::kWeak;
  }
}

Engine::~Engine() = default;

// Observers that want to know which reads are used get their events from the read tracker.
void Engine::FollowReads() {
  const auto wants = [](const Observer* observer) { return observer->WantsUsedReads(); };
  if (launch_.program->uses == nullptr || std::none_of(observers_.begin(), observers_.end(), wants)) return;
  std::vector<Observer*> delayed, others;
  for (Observer* observer : observers_) (wants(observer) ? delayed : others).push_back(observer);
  read_tracker_ = std::make_unique<ReadTracker>(*launch_.program, std::move(delayed));
  others.push_back(&read_tracker_->events());
  observers_ = std::move(others);
  own_code_ = read_tracker_->TakeCode();
  code_ = own_code_.data();
}

void Engine::FollowShuffles() {
  const auto checks = [](const Observer* observer) { return observer->ChecksShuffles(); };
  if (launch_.program->definedness == nullptr || std::none_of(observers_.begin(), observers_.end(), checks)) return;
  if (own_code_.empty()) own_code_ = launch_.program->code;
  code_ = own_code_.data();
  definedness_tracker_ = std::make_unique<DefinednessTracker>(*this, own_code_);
}

void Engine::FollowWarp() {
  if (launch_.trace == nullptr && launch_.debugger == nullptr && launch_.replay == nullptr) return;
  if (own_code_.empty()) own_code_ = launch_.program->code;
  code_ = own_code_.data();
  if (launch_.trace != nullptr) {
    hook_ = std::make_unique<WarpTrace>(*this, *launch_.trace, own_code_);
  } else if (launch_.debugger != nullptr) {
    hook_ = launch_.debugger->Follow(*this, own_code_);
  } else {
    hook_ = RecordBlock(*this, *launch_.replay, own_code_);
  }
}

void Engine::AddTo(std::vector<PcCounters>& by_pc) const {
  for (size_t pc = 0; pc < by_pc.size(); ++pc) {
    by_pc[pc].issue += issue_[pc];
    for (uint32_t k = 0; k < straight_[pc] && straight_issue_[pc].warps != 0; ++k) {
      by_pc[pc + k].issue += straight_issue_[pc];
    }
    by_pc[pc].memory += memory_[pc];
    if (!launch_.counters) continue;
    const Site& site = sites_[pc];
    PcMemory& memory = by_pc[pc].memory;
    // Atomics are counted one by one; consecutive loads and stores all cost the same.
    if (site.side_by_side != 0) {
      memory.Add(site.side_by_side, CostCoalesced(site.of_global, AccessKind::kLoad, site.bytes));
    }
    if (site.pattern != nullptr) memory.Add(site.of_pattern, site.pattern->cost);
  }
}

void Engine::Keep(const Warp& warp, MemorySpace space, AccessKind access, const uint64_t address[kWarpSize],
                  LaneMask mask, int bytes, const AccessCost& cost) {
  AccessSample sample{.space = space, .access = access, .mask = mask, .bytes = static_cast<uint32_t>(bytes)};
  sample.cost = static_cast<uint32_t>(cost.actual);
  sample.ideal = static_cast<uint32_t>(cost.ideal);
  sample.block = warp.block->index;
  sample.warp = warp.index;
  for (const size_t lane : EachLane(mask)) {
    sample.at[lane] = address[lane];
  }
  excess_[warp.pc - 1] = sample.excess();
  samples_[warp.pc - 1] = std::make_shared<const AccessSample>(sample);
}

void Engine::KeepBranch(const Warp& warp, LaneMask taken) {
  if (samples_[warp.pc - 1] != nullptr) return;
  AccessSample sample{.is_branch = true, .mask = warp.active, .bytes = 1, .cost = 2, .ideal = 1};
  sample.block = warp.block->index;
  sample.warp = warp.index;
  for (size_t lane = 0; lane < kWarpSize; ++lane) sample.at[lane] = taken >> lane & 1;
  samples_[warp.pc - 1] = std::make_shared<const AccessSample>(sample);
}

void Engine::SetPattern(uint32_t pc, std::shared_ptr<const AccessPattern> pattern) {
  Site& site = sites_[pc];
  FlushSharedNotes();
  pattern_of_[pc] = pattern.get();
  if (site.pattern != nullptr && launch_.counters) memory_[pc].Add(site.of_pattern, site.pattern->cost);
  site.of_pattern = 0;
  site.pattern = std::move(pattern);
}

void Engine::ForgetRanges() {
  for (Site& site : sites_) site.range = {};
}

std::vector<Block*> Engine::StartNext() {
  std::vector<Block*> blocks;
  uint32_t index = 0;
  if (!launch_.has_clusters) {
    if (TakeBlock(&index)) blocks.push_back(StartBlock(index));
    return blocks;
  }
  // A cluster's blocks are started together. Clusters are numbered like blocks, each dimension divided by the
  // cluster's.
  const Dim3 &grid = launch_.info.grid, &shape = launch_.cluster;
  auto cluster = std::make_shared<Cluster>();
  for (uint64_t rank = 0; rank < shape.Count() && TakeBlock(&index); ++rank) {
    const Dim3 corner = Unflatten(index / shape.Count(), {grid.x / shape.x, grid.y / shape.y, grid.z / shape.z});
    const Dim3 inner = Unflatten(rank, shape);
    const Dim3 id{corner.x * shape.x + inner.x, corner.y * shape.y + inner.y, corner.z * shape.z + inner.z};
    blocks.push_back(StartBlock(id.x + grid.x * (id.y + grid.y * id.z)));
    blocks.back()->cluster = cluster;
    cluster->blocks.push_back(blocks.back());
    cluster->live += static_cast<uint32_t>(launch_.info.block.Count());
  }
  return blocks;
}

Block* Engine::StartBlock(uint32_t index) {
  const Program& program = *launch_.program;
  const Dim3& dim = launch_.info.block;
  const uint32_t threads = static_cast<uint32_t>(dim.Count());
  const uint32_t warps = launch_.info.warps_per_block;
  if (free_blocks_.empty()) {
    blocks_.push_back(std::make_unique<Block>());
    Block* b = blocks_.back().get();
    free_blocks_.push_back(b);
    b->warps.resize(warps);
    b->states.resize(warps);
    for (Barrier& barrier : b->barriers) {
      barrier.arrived.resize(warps);
      barrier.pc.resize(warps);
    }
    const size_t bytes = launch_.shared_bytes + 2 * size_t{kMemoryPadding};
    b->shared_storage = MakeAlignedBytes(bytes);
    std::memset(b->shared_storage.get(), kUnwritten, bytes);
    b->shared = b->shared_storage.get() + kMemoryPadding;
    b->shared_bytes = launch_.shared_bytes;
    if (takes_notes_) b->shared_use.Resize(launch_.shared_bytes);
    for (uint32_t w = 0; w < warps; ++w) {
      Warp& warp = b->warps[w];
      warp.index = w;
      warp.block = b;
      warp.engine = this;
      warp.state = &b->states[w];
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const Dim3 thread = Unflatten(w * kWarpSize + lane, dim);
        b->states[w].thread_x[lane] = thread.x;
        b->states[w].thread_y[lane] = thread.y;
        b->states[w].thread_z[lane] = thread.z;
      }
    }
  }
  Block* block = free_blocks_.back();
  free_blocks_.pop_back();
  ++started_;
  block->index = index;
  block->id = Unflatten(index, launch_.info.grid);
  block->instructions = 0;
  block->extra = 0;
  block->waiting = {};
  block->last_event = 0;
  block->rounds = 0;
  block->idle_passes = 0;
  block->live_warps = warps >= 64 ? ~uint64_t{0} : (uint64_t{1} << warps) - 1;
  block->output.clear();
  while (block->barriers_in_use != 0) {
    ResetBarrier(*block, static_cast<uint32_t>(std::countr_zero(block->barriers_in_use)));
  }
  std::memset(block->shared, kUnwritten, launch_.shared_bytes);
  std::memset(block->shared + launch_.reserved_shared_offset, 0, launch_.shared_bytes - launch_.reserved_shared_offset);
  for (uint32_t w = 0; w < warps; ++w) {
    const uint32_t lanes = std::min<uint32_t>(kWarpSize, threads - w * kWarpSize);
    StartWarp(block->warps[w], program, lanes == kWarpSize ? kFullMask : (LaneMask{1} << lanes) - 1);
  }
  if (definedness_tracker_ != nullptr) definedness_tracker_->BeginBlock(*block);
  for (Observer* observer : observers_) observer->OnBlockBegin(index);
  return block;
}

void Engine::BeginNotes(Block& block) {
  FlushSharedNotes();
  noted_block_ = &block;
  notes_.Begin(block.index);
}

void Engine::FlushNotes(bool last) {
  if (last) {
    notes_.set_last();
  } else {
    noted_block_->shared_use.Tell(notes_.loads());
    noted_block_->shared_use.Tell(notes_.stores());
  }
  for (Observer* observer : memory_observers_) observer->OnSharedNotes(notes_);
  notes_.Begin(notes_.block_index());
}

void Engine::FinishBlock(Block* block) {
  FlushSharedNotes(*block, true);
  for (Observer* observer : observers_) observer->OnBlockEnd(block->index);
  if (block->cluster != nullptr) {
    block->cluster->blocks[RankOf(*block)] = nullptr;
    block->cluster.reset();
  }
  block_counts_.push_back({block->index, block->instructions, ChargedTo(*block)});
  for (const Warp& warp : block->warps) {
    longest_warp_ = std::max(longest_warp_, Charged(warp.state->executed, warp.state->waited));
  }
  if (launch_.program->calls_printf) launch_.block_output(block->index, std::move(block->output));
  free_blocks_.push_back(block);
}

bool Engine::TakeBlock(uint32_t* index) {
  if (launch_.over_budget.load(std::memory_order_relaxed)) return false;
  if (launch_.isolation != nullptr && launch_.isolation->broken()) return false;
  *index = launch_.next_block.fetch_add(1, std::memory_order_relaxed);
  return *index < launch_.info.grid.Count() && *index < launch_.stop_before.load(std::memory_order_relaxed);
}

}  // namespace lockstep::vgpu
