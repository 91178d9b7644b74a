// Builds the engine's findings: where a thread is, what is at an address, who waits for whom.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/core/dim3.h"
#include "vgpu/core/hint.h"
#include "vgpu/core/row.h"
#include "vgpu/core/source_place.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/instruction_hook.h"
#include "vgpu/exec/standing.h"
#include "vgpu/memory/freed.h"

namespace lockstep::vgpu {
namespace {

// Sets the location that a message shows and, for inlined toolkit code, that code's own location.
void SetSource(const Program& program, uint32_t pc, ThreadPlace& place) {
  const ptx::SourceLocation shown = SourcePlaces(program).Shown(pc);
  place.file = program.FileName(shown);
  place.line = shown.line;
  const ptx::SourceLocation& own = program.info[pc].location;
  if (own.file == shown.file && own.line == shown.line) return;
  place.in_file = program.FileName(own);
  place.in_line = own.line;
}

// The variable that contains the offset, or else the last one that ends before it, or else the first.
const NamedRange* FindRange(const std::vector<NamedRange>& ranges, uint64_t offset) {
  const NamedRange* best = nullptr;
  for (const NamedRange& range : ranges) {
    if (offset >= range.offset && offset - range.offset < range.bytes) return &range;
    if (best == nullptr || (range.offset <= offset && range.offset >= best->offset)) best = &range;
  }
  return best;
}

std::string DynamicSharedName(const Program& program) {
  for (const NamedRange& range : program.shared_variables) {
    if (range.bytes == 0) return range.name;
  }
  return "dynamic shared memory";
}

void SetBuffer(const Allocation& a, MemoryPlace& place) {
  place.in_buffer = true;
  place.buffer_name = a.label;
  place.buffer_base = a.base;
  place.buffer_bytes = a.bytes;
  place.allocated_at = a.allocated_at;
}

// An unsigned index that went below zero, widened to 64 bits: the address is 2^32 elements past the intended one.
uint64_t TurnOf(const MemoryPlace& place) { return uint64_t{place.bytes} << 32; }
void SetWrapped(MemoryPlace& place) {
  place.wrapped = true;
  place.address -= TurnOf(place);
}
void DescribeWrapped(const GlobalMemory& memory, MemoryPlace& place) {
  const uint64_t turn = TurnOf(place);
  if (place.address < turn) return;
  const Allocation* a = memory.Nearest(place.address - turn);
  if (a == nullptr || place.address - turn >= a->base) return;
  SetBuffer(*a, place);
  SetWrapped(place);
}

// A negative offset in shared or local memory: it was meant for the first array. Both addresses are moved up by 2^32,
// so that one can be below the other.
bool DescribeNegative(const std::vector<NamedRange>& ranges, MemoryPlace& place) {
  const auto offset = static_cast<int32_t>(place.address);
  if (offset >= 0 || place.address >> 32 != 0 || ranges.empty()) return false;
  const NamedRange& range = *std::min_element(
      ranges.begin(), ranges.end(), [](const NamedRange& a, const NamedRange& b) { return a.offset < b.offset; });
  constexpr uint64_t kUp = uint64_t{1} << 32;
  place.in_buffer = true;
  place.address = kUp + static_cast<uint64_t>(int64_t{offset});
  place.buffer_name = range.name;
  place.buffer_base = kUp + range.offset;
  place.buffer_bytes = range.bytes;
  return true;
}

// The buffer that an access was meant for. A freed buffer qualifies only if the kernel was given its address; otherwise
// an out-of-range index that happens to hit its old address is more likely.
const Allocation* NamedFor(const LaunchState& launch, uint64_t address) {
  const Allocation* nearest = launch.memory->Nearest(address);
  const Allocation* freed =
      nearest != nullptr && nearest == launch.memory->Find(address) ? nullptr : FindFreed(address);
  if (freed == nullptr) return nearest;
  bool given = nearest == nullptr || freed->label.starts_with(kKernelHeapName);
  for (uint32_t at = 0; at + sizeof(uint64_t) <= launch.parameter_bytes && !given; at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, launch.parameters + at, sizeof word);
    given = word >= freed->base && word - freed->base < freed->bytes;
  }
  return given ? freed : nearest;
}

// The buffer whose pointer the instruction computed the address from, if there is exactly one.
const Allocation* PointedTo(const LaunchState& launch, uint32_t pc) {
  const auto& parameters = launch.program->origins.parameters;
  const auto origins = parameters.find(pc);
  if (origins == parameters.end()) return nullptr;
  const Allocation* found = nullptr;
  for (const uint32_t offset : origins->second) {
    uint64_t pointer = 0;
    if (offset + sizeof pointer > launch.parameter_bytes) continue;
    std::memcpy(&pointer, launch.parameters + offset, sizeof pointer);
    const Allocation* a = launch.memory->Find(pointer);
    if (a == nullptr || a == found) continue;
    if (found != nullptr) return nullptr;
    found = a;
  }
  return found;
}

// Whether the address is in a buffer, of this device or another.
bool IsInBuffer(const GlobalMemory& memory, uint64_t address) {
  const Allocation* a = memory.Nearest(address);
  return a != nullptr && address - a->base < a->bytes;
}

void Describe(const LaunchState& launch, uint32_t pc, MemoryPlace& place) {
  const NamedRange* range = nullptr;
  switch (place.space) {
    case MemorySpace::kGlobal:
    case MemorySpace::kConst:
      if (const Allocation* meant = IsInBuffer(*launch.memory, place.address) ? nullptr : PointedTo(launch, pc)) {
        SetBuffer(*meant, place);
        const uint64_t turn = TurnOf(place);
        if (place.address >= meant->base + turn / 2 && place.address < meant->base + turn) SetWrapped(place);
        return;
      }
      if (const Allocation* a = NamedFor(launch, place.address)) SetBuffer(*a, place);
      if (!place.in_buffer) DescribeWrapped(*launch.memory, place);
      return;
    case MemorySpace::kShared:
      if (DescribeNegative(launch.program->shared_variables, place)) return;
      if (launch.reserved_shared_offset > launch.dynamic_shared_offset &&
          place.address >= launch.dynamic_shared_offset) {
        place.in_buffer = true;
        place.is_dynamic = true;
        place.buffer_name = DynamicSharedName(*launch.program);
        place.buffer_base = launch.dynamic_shared_offset;
        place.buffer_bytes = launch.reserved_shared_offset - launch.dynamic_shared_offset;
        return;
      }
      range = FindRange(launch.program->shared_variables, place.address);
      break;
    case MemorySpace::kLocal:
      if (DescribeNegative(launch.program->functions[0].local_variables, place)) return;
      range = FindRange(launch.program->functions[0].local_variables, place.address);
      break;
    case MemorySpace::kParam:
      place.in_buffer = true;
      place.buffer_name = "kernel parameters";
      place.buffer_bytes = launch.parameter_bytes;
      return;
  }
  if (range == nullptr) return;
  place.in_buffer = true;
  place.buffer_name = range->name;
  place.buffer_base = range->offset;
  place.buffer_bytes = range->bytes;
  place.is_dynamic = range->bytes == 0;  // an extern array, without memory from the launch
}

// Whether this lane is the last that runs the instruction, as when a guard lets one thread too many pass. False for
// the warp's last lane, which may have successors, and for a single lane, which may be its block's leader, unless the
// element has the thread's number.
bool IsLastLane(const Warp& warp, int lane, uint64_t element) {
  const Insn& insn = warp.engine->program().code[warp.pc - 1];
  LaneMask running = warp.active;
  if (insn.guard != kNoRow) {
    const LaneMask guard = *Source<LaneMask>(warp, insn.guard);
    running &= (insn.flags & kGuardNegated) != 0 ? ~guard : guard;
  }
  if (lane + 1 >= kWarpSize || running >> (lane + 1) != 0) return false;
  const uint64_t threads = warp.engine->launch().info.block.Count();
  const uint64_t number = warp.block->index * threads + warp.index * kWarpSize + static_cast<uint64_t>(lane);
  return std::popcount(running) > 1 || number == element;
}

}  // namespace

MemoryPlace DescribeMemory(const LaunchState& launch, MemorySpace space, uint64_t address, uint32_t bytes,
                           uint32_t pc) {
  MemoryPlace place;
  place.space = space;
  place.address = address;
  place.bytes = bytes;
  Describe(launch, pc, place);
  return place;
}

ThreadPlace DescribeThread(const LaunchState& launch, uint32_t block_index, uint32_t thread_index, uint32_t pc) {
  const Program& program = *launch.program;
  ThreadPlace place;
  place.block = Unflatten(block_index, launch.info.grid);
  place.thread = Unflatten(thread_index, launch.info.block);
  SetSource(program, pc, place);
  place.instruction = program.Text(pc);
  place.traits = program.info[pc].traits;
  place.ptx_line = program.info[pc].ptx_line;
  place.in_loop = program.info[pc].in_loop;
  switch (program.code[pc].insn_class) {
    case InsnClass::kStore:
      place.access = AccessKind::kStore;
      break;
    case InsnClass::kAtomic:
      place.access = AccessKind::kAtomic;
      break;
    default:
      break;
  }
  return place;
}

ThreadPlace Engine::Place(const Warp& warp, uint32_t pc, int lane) const {
  return DescribeThread(launch_, warp.block->index, warp.index * kWarpSize + static_cast<uint32_t>(lane), pc);
}

Finding Engine::MakeFinding(ThreadPlace place, FindingKind kind, std::string detail) const {
  Finding finding;
  finding.kind = kind;
  finding.kernel = launch_.info.kernel;
  finding.launch = launch_.info.ordinal;
  finding.grid = launch_.info.grid;
  finding.block_dim = launch_.info.block;
  finding.first = std::move(place);
  finding.detail = std::move(detail);
  return finding;
}

void Engine::Report(uint32_t block, Finding finding) {
  // A loop can report the same finding endlessly. Keep one per pair of instructions, from the lowest block, so that the
  // result does not depend on which CPU thread ran which block.
  const int second = finding.second ? finding.second->ptx_line : 0;
  for (BlockFinding& known : findings_) {
    if (known.finding.kind != finding.kind || known.finding.first.ptx_line != finding.first.ptx_line ||
        (known.finding.second ? known.finding.second->ptx_line : 0) != second) {
      continue;
    }
    finding.count += known.finding.count;
    if (block < known.block_index) {
      known = {block, std::move(finding)};
    } else {
      known.finding.count = finding.count;
    }
    return;
  }
  findings_.push_back({block, std::move(finding)});
}

void Engine::Fault(Warp& warp, Finding finding) {
  warp.stop = true;
  warp.state->reason = StopReason::kFault;
  if (fault_) return;
  finding.fatal = true;
  if (hook_ != nullptr) hook_->AtFault(warp, finding);
  const uint32_t block = warp.block->index;
  fault_ = BlockFinding{block, std::move(finding)};
  fault_output_ = std::move(warp.block->output);
  uint32_t bound = launch_.stop_before.load(std::memory_order_relaxed);
  while (block < bound && !launch_.stop_before.compare_exchange_weak(bound, block, std::memory_order_relaxed)) {
  }
}

void Engine::MemoryFault(Warp& warp, int lane, FindingKind kind, AccessKind access, MemorySpace space, uint64_t address,
                         uint32_t bytes) {
  Finding finding = MakeFinding(warp, warp.pc - 1, lane, kind, "");
  finding.first.access = access;
  finding.memory = DescribeMemory(launch_, space, address, bytes, warp.pc - 1);
  const uint64_t end = finding.memory->buffer_base + finding.memory->buffer_bytes;
  finding.memory->one_too_far = kind == FindingKind::kOutOfBounds && finding.memory->in_buffer && address == end &&
                                IsLastLane(warp, lane, finding.memory->buffer_bytes / bytes);
  if (kind == FindingKind::kOutOfBounds && !finding.memory->in_buffer) finding.kind = FindingKind::kInvalidAddress;
  Fault(warp, std::move(finding));
}

void Engine::ReportPartialBarrier(const Warp& warp) {
  const WarpState& s = *warp.state;
  for (const Group& group : s.groups) {
    if (group.status != GroupStatus::kAtBarrier) continue;
    for (const ConvergenceEntry& entry : s.entries) {
      if (entry.pc == kNoPc || entry.arrived == 0 || (entry.expected & group.mask) == 0) continue;
      Finding finding = MakeFinding(warp, group.wait_pc, std::countr_zero(group.mask), FindingKind::kBarrierDivergence,
                                    "only some threads of a warp reach this barrier");
      finding.second = Place(warp, entry.pc, std::countr_zero(entry.arrived));
      finding.hint = Hint::kBarrierInBranch;
      const auto same = [&](const BlockFinding& f) { return f.finding.first.ptx_line == finding.first.ptx_line; };
      if (std::none_of(findings_.begin(), findings_.end(), same)) {
        finding.standing = StandingText(launch_, {warp.block});
      }
      Report(warp, std::move(finding));
      return;
    }
  }
}

void Engine::ReportPassedSync(const Warp& warp, const ConvergenceEntry& entry) {
  if (observers_.empty()) return;
  // If the reconvergence point is the kernel's end, the lanes that went past have returned, as in `if (i >= n)
  // return;`: they need not come.
  const Program& program = *launch_.program;
  uint32_t next = entry.pc;
  while (program.code[next].handler == Converge) ++next;
  const Handler exit = program.code[program.functions[0].end_pc - 1].handler;
  if (program.code[next].handler == exit && program.code[next].guard == kNoRow) return;

  const int lane = std::countr_zero(entry.expected);
  Finding finding = MakeFinding(warp, entry.passed_sync, lane, FindingKind::kWarpSyncMismatch, "");
  const Dim3 gone = Place(warp, entry.pc, std::countr_zero(entry.passed)).thread;
  finding.detail = "only some of the threads named in the mask reach this " + program.Text(entry.passed_sync) +
                   ": thread " + PointText(gone) + " went past it";
  finding.hint = Hint::kWarpSyncInBranch;
  Report(warp, std::move(finding));
}

// Nothing in the block can run: reports who waits where.
void Engine::Deadlock(Block& block) {
  Warp* first = nullptr;
  const Group* waiting = nullptr;
  std::optional<ThreadPlace> other;  // the first that waits elsewhere
  for (Warp& warp : block.warps) {
    for (const Group& group : warp.state->groups) {
      if (first == nullptr) {
        first = &warp;
        waiting = &group;
      } else if (!other && group.wait_pc != waiting->wait_pc) {
        other = Place(warp, group.wait_pc, std::countr_zero(group.mask));
      }
    }
  }
  const bool barrier = waiting->status == GroupStatus::kAtBarrier;
  Finding finding = MakeFinding(*first, waiting->wait_pc, std::countr_zero(waiting->mask),
                                barrier ? FindingKind::kBarrierDivergence : FindingKind::kWarpSyncMismatch,
                                "deadlock: no thread of the block can go on");
  finding.second = std::move(other);
  const bool numbered = (block.barriers_in_use & ~uint32_t{1}) != 0;
  finding.hint = !barrier ? Hint::kMaskOfOthers : numbered ? Hint::kNamedBarrier : Hint::kOneBarrierForAll;
  Fault(*first, std::move(finding));
}

}  // namespace lockstep::vgpu
