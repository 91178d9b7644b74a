// Chooses the hint at the end of a finding's message from the facts of the case.

#include "vgpu/core/finding.h"
#include "vgpu/core/hint.h"
#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {
namespace {

uint64_t Flatten(const Dim3& index, const Dim3& size) {
  return index.x + size.x * (index.y + uint64_t{size.y} * index.z);
}

bool HasModifier(const ThreadPlace& place, const std::string& word) {
  return (place.instruction + ".").find("." + word + ".") != std::string::npos;
}
bool IsVolatile(const ThreadPlace& place) { return HasModifier(place, "volatile"); }
bool IsCopyUnderWay(const ThreadPlace& place) { return place.traits.Any(kAsynchronous); }

bool IsOneWarp(const Finding& race) {
  return !race.second || Flatten(race.first.thread, race.block_dim) / kWarpSize ==
                             Flatten(race.second->thread, race.block_dim) / kWarpSize;
}

// Whether __syncwarp() is the remedy: all folded accesses are of one warp, or these two are and one is volatile.
bool IsWithinWarp(const Finding& race) {
  const bool is_volatile = IsVolatile(race.first) || (race.second && IsVolatile(*race.second));
  return IsOneWarp(race) && (!race.several_warps || is_volatile);
}

// Both accesses are by threads of one warp.
Hint RaceWithinWarp(const ThreadPlace& first, const ThreadPlace& second, bool one_line) {
  if (first.access == AccessKind::kStore && second.access == AccessKind::kStore && one_line)
    return Hint::kWarpStoresOneElement;
  if (IsVolatile(first) || IsVolatile(second)) return Hint::kVolatileIsNoBarrier;
  return Hint::kMissingSyncWarp;
}

// In a kernel with a cuda::barrier: the threads may synchronise there, but on the wrong side of an access.
Hint RaceAroundMemoryBarrier(const ThreadPlace& first, const ThreadPlace& second) {
  const bool reads = first.access == AccessKind::kLoad, read_next = second.access == AccessKind::kLoad;
  if (!reads && !read_next) return Hint::kStoresWithoutBarrier;
  return reads ? Hint::kReadThenArrive : Hint::kWriteThenArrive;
}

// in_next_round: the second access precedes the first in a loop, so that a barrier at the loop's end separates them.
Hint RaceWithinBlock(const ThreadPlace& first, const ThreadPlace& second, bool one_line, bool needs_loop_barrier,
                     bool in_next_round) {
  const bool reads = first.access == AccessKind::kLoad, read_next = second.access == AccessKind::kLoad;
  if (!reads && !read_next) return Hint::kBlockStoresOneElement;
  if (one_line && needs_loop_barrier) return Hint::kUpdatesInLoop;
  if (one_line) return Hint::kUpdatesInPlace;
  if (in_next_round) {
    return reads ? Hint::kOverwritesInNextRound : Hint::kReadsInNextRound;
  }
  return reads ? Hint::kMissingBarrierBeforeWrite : Hint::kMissingBarrierBeforeRead;
}

Hint RaceBetweenBlocks(const ThreadPlace& first, const ThreadPlace& second, bool one_line) {
  const bool stores = first.access == AccessKind::kStore && second.access == AccessKind::kStore;
  const bool one_block = first.block == second.block;
  if (stores && one_line && !one_block && first.thread == second.thread && !first.in_loop)
    return Hint::kIndexWithoutBlock;
  if (stores && one_line) return Hint::kElementOfTwoBlocks;
  if (first.access == AccessKind::kAtomic && second.access == AccessKind::kAtomic) return Hint::kAtomicOfOneBlock;
  if (first.access == AccessKind::kAtomic || second.access == AccessKind::kAtomic) return Hint::kMixedAtomicsOfBlocks;
  if (HasModifier(first, "cv") || HasModifier(second, "cv")) return Hint::kUncachedLoad;
  if (stores) return Hint::kBlocksStoreOneElement;
  if (one_line) return Hint::kBlocksUpdateOneElement;
  if (first.access == AccessKind::kLoad) return Hint::kBlocksOverwriteInput;
  return Hint::kBlocksUnordered;
}

Hint RaceHint(const Finding& finding) {
  if (!finding.second) return Hint::kNone;
  const ThreadPlace &first = finding.first, &second = *finding.second;
  if (IsCopyUnderWay(second) && first.access == AccessKind::kLoad) return Hint::kAsyncCopyOverwrites;
  if (IsCopyUnderWay(first) || IsCopyUnderWay(second)) return Hint::kAsyncCopyInFlight;
  const bool one_line =
      first.line == second.line && first.file == second.file && (first.line != 0 || first.ptx_line == second.ptx_line);
  const bool one_block =
      !finding.across_blocks && Flatten(first.block, finding.grid) == Flatten(second.block, finding.grid);
  // A line reads before it writes, so a write followed by a read means the next copy of an unrolled loop's body.
  const bool is_unrolled = one_line && first.access == AccessKind::kStore && second.access == AccessKind::kLoad &&
                           first.ptx_line < second.ptx_line;
  const bool needs_loop_barrier = is_unrolled || (first.in_loop && second.in_loop && !finding.loop_has_barrier);
  if (finding.lost_update && one_block && first.access == AccessKind::kStore && needs_loop_barrier)
    return Hint::kUpdatesOneByOne;
  if (finding.lost_update) return Hint::kLostUpdate;
  if (!one_line && finding.clue != Hint::kNone) return finding.clue;
  if (!one_block) {
    return RaceBetweenBlocks(first, second, one_line);
  }
  if (first.access == AccessKind::kAtomic || second.access == AccessKind::kAtomic) {
    // A read before the atomic operation decides whether or how to do it; a read after it wants its result.
    const bool is_first = first.access == AccessKind::kLoad && first.ptx_line < second.ptx_line;
    const bool is_second = second.access == AccessKind::kLoad && second.ptx_line < first.ptx_line;
    return is_first || is_second ? Hint::kReadAmongAtomics : Hint::kMixedAtomicsOfBlock;
  }
  if (IsWithinWarp(finding)) return RaceWithinWarp(first, second, one_line);
  if (finding.warp_barrier && !IsOneWarp(finding)) return Hint::kWarpBarrierAmongWarps;
  const bool in_next_round = first.in_loop && second.in_loop && second.ptx_line < first.ptx_line;
  return finding.memory_barriers ? RaceAroundMemoryBarrier(first, second)
                                 : RaceWithinBlock(first, second, one_line, needs_loop_barrier, in_next_round);
}

Hint BoundsHint(const MemoryPlace& memory, const Finding& finding) {
  if (memory.in_buffer && memory.buffer_name.ends_with(kFreedName)) return Hint::kFreedBuffer;
  if (memory.wrapped) return Hint::kUnsignedBelowZero;
  if (RelationTo(memory) == Beside::kBefore) return Hint::kIndexBelowZero;
  const bool has_rows = memory.space == MemorySpace::kGlobal && finding.block_dim.y > 1;  // perhaps without a guard
  if (memory.one_too_far && !has_rows) return Hint::kOffByOne;
  constexpr uint64_t kGap = 512;  // bytes between allocations
  if (memory.space == MemorySpace::kGlobal && memory.address - memory.buffer_base >= memory.buffer_bytes + kGap)
    return Hint::kFarFromBuffers;
  switch (memory.space) {
    case MemorySpace::kShared:
      if (memory.is_dynamic && memory.buffer_bytes == 0) return Hint::kExternArrayWithoutMemory;
      if (memory.is_dynamic) return Hint::kExternArrayTooShort;
      return Hint::kSharedArrayTooShort;
    case MemorySpace::kLocal:
      return Hint::kLocalArrayTooShort;
    case MemorySpace::kConst:
      return Hint::kConstantArrayTooShort;
    default:
      if (finding.grid.y > 1 || finding.block_dim.y > 1) return Hint::kPastThePlane;
      // If there are exactly as many threads as elements, no thread's own element is past the end.
      return memory.bytes * finding.grid.Count() * finding.block_dim.Count() == memory.buffer_bytes ? Hint::kWrongIndex
                                                                                                    : Hint::kPastTheEnd;
  }
}

// Whether the element's index is at least the block's number of threads: one store per thread does not reach it.
bool IsBeyondThreads(const Finding& finding) {
  if (!finding.memory || finding.memory->bytes == 0) return false;
  const MemoryPlace& memory = *finding.memory;
  return (memory.address - memory.buffer_base) / memory.bytes >= finding.block_dim.Count();
}

Hint UninitializedHint(MemorySpace space, AccessKind access, bool copies_async, bool is_beyond_threads) {
  switch (space) {
    case MemorySpace::kGlobal:
      return access == AccessKind::kAtomic ? Hint::kAtomicOnUncleared : Hint::kUncleared;
    case MemorySpace::kShared:
      if (copies_async) return Hint::kSharedBeforeAsyncCopy;
      if (is_beyond_threads) return Hint::kSharedBeyondThreads;
      return Hint::kSharedUnset;
    default:
      return Hint::kVariableUnset;
  }
}

}  // namespace

std::string_view MissingOrder(const Finding& race) {
  if (!race.first.operation.empty() || (race.second && !race.second->operation.empty())) return "streams";
  if (race.lost_update) return "atomic";
  if (race.clue == Hint::kConstantLoad) return "cache";
  if (race.clue != Hint::kNone && race.clue != Hint::kOrdersNothing) return "fence";
  if (race.across_blocks) return "blocks";
  return IsWithinWarp(race) ? "warp barrier" : "barrier";
}

Hint HintOf(const Finding& finding) {
  if (finding.hint != Hint::kNone) return finding.hint;
  switch (finding.kind) {
    case FindingKind::kOutOfBounds:
      return BoundsHint(finding.memory.value_or(MemoryPlace{}), finding);
    case FindingKind::kInvalidAddress:
      if (finding.memory && finding.memory->space == MemorySpace::kConst && finding.memory->in_buffer)
        return Hint::kNoConstant;
      return finding.memory && finding.memory->address < kNullPage ? Hint::kNullPointer : Hint::kNoDevicePointer;
    case FindingKind::kUninitialized:
      return UninitializedHint(finding.memory ? finding.memory->space : MemorySpace::kGlobal, finding.first.access,
                               finding.copies_async, IsBeyondThreads(finding));
    case FindingKind::kRace:
      return RaceHint(finding);
    case FindingKind::kTrap:
      if (finding.first.in_file.ends_with("cooperative_groups.h")) return Hint::kGroupNotValid;
      return Hint::kTrap;
    case FindingKind::kTimeout:
      // Compiled loops end with a conditional branch; an unconditional one closes a loop without a condition.
      if (finding.first.instruction == "bra.uni") return Hint::kLoopTestsNothingNew;
      return InfoOf(finding.kind).hint;
    case FindingKind::kUnsupported:
      if (finding.detail.ends_with(kTooMuchLocal)) return Hint::kTooMuchLocal;
      return finding.kernel.empty() ? Hint::kNone : InfoOf(finding.kind).hint;  // none for an API call
    default:
      return InfoOf(finding.kind).hint;
  }
}

}  // namespace lockstep::vgpu
