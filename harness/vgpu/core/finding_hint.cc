// The hint at the end of a finding's message: one sentence, chosen by what is known about the case.
#include <algorithm>
#include <string_view>

#include "vgpu/core/finding.h"

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

// several_warps: the block has more warps; what they do at other sizes or in the next round is unknown.
std::string_view RaceWithinWarp(const ThreadPlace& first, const ThreadPlace& second, bool one_line,
                                bool several_warps) {
  if (first.access == AccessKind::kStore && second.access == AccessKind::kStore && one_line) {
    return "several threads of one warp store to this address, and any of them may win: let one thread store, or give "
           "each its own element";
  }
  if (IsVolatile(first) || IsVolatile(second)) {
    return "threads of one warp need not run in step, and volatile does not make them: put __syncwarp() between the "
           "read and the write";
  }
  return several_warps ? "threads of one warp need not run in step: put __syncwarp() between these two accesses, or "
                         "__syncthreads() where threads of several warps share the array"
                       : "threads of one warp need not run in step: put __syncwarp() between these two accesses";
}

// In a kernel with a cuda::barrier: the threads may well meet there, but on the wrong side of an access.
std::string_view RaceBesideMemoryBarrier(const ThreadPlace& first, const ThreadPlace& second) {
  const bool reads = first.access == AccessKind::kLoad, read_next = second.access == AccessKind::kLoad;
  if (!reads && !read_next) return "two threads store to one address, and no barrier lies between the two stores";
  return reads
             ? "the element is overwritten while another thread may still have to read it: read first, then arrive at "
               "the barrier, and write only behind the wait on it"
             : "the element is read while another thread may still have to write it: write first, then arrive at the "
               "barrier, and read only behind the wait on it";
}

std::string_view RaceWithinBlock(const ThreadPlace& first, const ThreadPlace& second, bool one_line) {
  const bool reads = first.access == AccessKind::kLoad, read_next = second.access == AccessKind::kLoad;
  if (!reads && !read_next) {
    return "two threads store to one address: give each its own element, let one thread store, or put __syncthreads() "
           "between the stores";
  }
  if (one_line) {
    return "threads write by this line what others read by it: in a loop, end the body with "
           "__syncthreads(), outside of any if; else read first, then __syncthreads(), then write";
  }
  return reads ? "the element is overwritten while another thread may still have to read it: put __syncthreads() "
                 "between the read and the write"
               : "the element is read while another thread may still have to write it: put __syncthreads() between the "
                 "write and the read";
}

// For threads that communicate through words in memory: what is missing. Empty: unknown.
std::string_view HintOf(OrderClue clue) {
  switch (clue) {
    case OrderClue::kNoRelease:
      return "nothing makes this write visible before the flag or the counter that tells the other block: put "
             "__threadfence() before the atomic or the store that tells it";
    case OrderClue::kNarrowRelease:
      return "the fence behind this write is for its own block only: between blocks it has to be __threadfence(), "
             "before the atomic or the store that tells the other block";
    case OrderClue::kLateRelease:
      return "the reader has seen no flag or counter that was set behind this write and a fence: write the data first, "
             "then __threadfence(), then tell the others";
    case OrderClue::kNoAcquire:
      return "the flag has been read, but nothing keeps this read of the data behind it: put __threadfence() between "
             "the two; volatile does not order them";
    case OrderClue::kNarrowAcquire:
      return "the fence behind the read of the flag is for one block only: between blocks it has to be __threadfence()";
    case OrderClue::kConstantLoad:
      return "the write comes first, but __ldg(), ld.global.nc and a const __restrict__ pointer read by a cache that "
             "need not see what the kernel itself writes: read this by an ordinary load";
    case OrderClue::kNone:
      break;
  }
  return "";
}

std::string_view RaceBetweenBlocks(const ThreadPlace& first, const ThreadPlace& second, bool one_line) {
  const bool stores = first.access == AccessKind::kStore && second.access == AccessKind::kStore;
  if (first.access == AccessKind::kAtomic && second.access == AccessKind::kAtomic) {
    return "both accesses are atomic, but one only among the threads of its own block: between blocks use "
           "atomicAdd and the like, not their _block forms, or cuda::thread_scope_device";
  }
  if (first.access == AccessKind::kAtomic || second.access == AccessKind::kAtomic) {
    return "one access is atomic and the other is not: make both atomic, or read the result in a later kernel";
  }
  if (HasModifier(first, "cv") || HasModifier(second, "cv")) {
    return "__ldcv() says which caches to pass by, and is a plain load all the same: read a word that other blocks "
           "write by cuda::atomic_ref, or through a volatile pointer";
  }
  if (stores) return "blocks run side by side in any order: give each its own element, or use an atomic operation";
  if (one_line) {
    return "blocks run side by side in any order, and one writes here what another reads: use an atomic operation, or "
           "write to another buffer";
  }
  return "blocks run side by side in any order: use an atomic operation, two kernels, or __threadfence() before the "
         "atomic that tells the others";
}

std::string_view RaceHint(const Finding& finding) {
  if (!finding.second) return "";
  const ThreadPlace &first = finding.first, &second = *finding.second;
  if (IsCopyUnderWay(second) && first.access == AccessKind::kLoad) {
    return "cp.async may write at any time from its issue on, and another thread may still have to read what is there: "
           "let the threads meet between the last read and the copy";
  }
  if (IsCopyUnderWay(first) || IsCopyUnderWay(second)) {
    return "a copy that cp.async started is under way, and __syncthreads() does not wait for it by itself: wait for it "
           "(__pipeline_wait_prior, a wait on its barrier), then let the threads meet";
  }
  const bool one_line =
      first.line == second.line && first.file == second.file && (first.line != 0 || first.ptx_line == second.ptx_line);
  if (finding.lost_update) {
    return "several threads update this element at the same time, and one's update gets lost: use atomicAdd() or the "
           "like, or give each thread an element of its own";
  }
  if (!one_line && finding.clue != OrderClue::kNone) return HintOf(finding.clue);
  if (finding.across_blocks || Flatten(first.block, finding.grid) != Flatten(second.block, finding.grid)) {
    return RaceBetweenBlocks(first, second, one_line);
  }
  if (first.access == AccessKind::kAtomic || second.access == AccessKind::kAtomic) {
    return "one access is atomic and the other is not: make both atomic, or put __syncthreads() between them";
  }
  const bool one_warp =
      Flatten(first.thread, finding.block_dim) / kWarpSize == Flatten(second.thread, finding.block_dim) / kWarpSize;
  if (one_warp && !finding.across_warps) {
    return RaceWithinWarp(first, second, one_line, finding.block_dim.Count() > kWarpSize);
  }
  return finding.memory_barriers ? RaceBesideMemoryBarrier(first, second) : RaceWithinBlock(first, second, one_line);
}

std::string_view BoundsHint(const MemoryPlace& memory) {
  if (memory.in_buffer && memory.buffer_name.ends_with(kFreedName)) {
    return "the buffer was freed before this access: free it after the last kernel that uses it";
  }
  if (memory.wrapped) return "an unsigned number can't go below zero: test for 0 before you subtract";
  if (BesideBuffer(memory) == Beside::kBefore) {
    return "the index is below zero, or a difference of unsigned numbers has wrapped: test it before the access";
  }
  if (memory.one_too_far) {
    return "one thread goes one element too far: is there a `<=` where `<` belongs, or a neighbour that the last "
           "element does not have? The last index is the length minus one";
  }
  constexpr uint64_t kGap = 512;  // bytes between allocations
  if (memory.space == MemorySpace::kGlobal && memory.address - memory.buffer_base >= memory.buffer_bytes + kGap) {
    return "the address is far from any buffer: was its own one freed, or is the index out of all range?";
  }
  switch (memory.space) {
    case MemorySpace::kShared:
      return "compare the index with the array's length; of an extern array, the third launch argument gives it in "
             "bytes";
    case MemorySpace::kLocal:
      return "compare the index with the length of the thread's own array";
    case MemorySpace::kConst:
      return "compare the index with the length of the __constant__ array";
    default:
      return "compare the index with the array's length before the access: the last block has threads beyond the end";
  }
}

std::string_view UninitializedHint(MemorySpace space, AccessKind access, bool copies_async) {
  switch (space) {
    case MemorySpace::kGlobal:
      return access == AccessKind::kAtomic
                 ? "cudaMalloc leaves garbage: set the value first, with cudaMemset or a copy"
                 : "cudaMalloc leaves garbage: fill the buffer first, or read only the part that was written";
    case MemorySpace::kShared:
      if (copies_async) {
        return "shared memory starts with garbage: each element must be written, and what an asynchronous copy "
               "brings is there only once its thread has waited for that copy, and the others for the thread";
      }
      return "shared memory starts with garbage: each element must be written, by a thread that has one to write";
    default:
      return "nothing has set the variable on this way through the kernel: give it a value where it is declared";
  }
}

}  // namespace

std::string_view HintOf(const Finding& finding) {
  if (!finding.hint.empty()) return finding.hint;
  switch (finding.kind) {
    case FindingKind::kOutOfBounds:
      return BoundsHint(finding.memory.value_or(MemoryPlace{}));
    case FindingKind::kInvalidAddress:
      return finding.memory && finding.memory->address < kNullPage
                 ? "was the pointer ever set? Check what cudaMalloc returned, and that this argument is the right one"
                 : "the pointer is no device pointer: was it allocated with cudaMalloc, and passed as the right "
                   "argument?";
    case FindingKind::kUninitialized:
      return UninitializedHint(finding.memory ? finding.memory->space : MemorySpace::kGlobal, finding.first.access,
                               finding.copies_async);
    case FindingKind::kRace:
      return RaceHint(finding);
    case FindingKind::kTrap:
      if (finding.first.in_file.ends_with("cooperative_groups.h")) {
        return "cooperative groups stop the kernel where a group is not what it has to be: a grid that meets "
               "(grid.sync()) has to be launched by cudaLaunchCooperativeKernel";
      }
      return "the kernel stops itself here, by __trap()";
    case FindingKind::kUnsupported:
      return finding.kernel.empty() ? "" : InfoOf(finding.kind).hint;  // of an instruction, or of an API call
    default:
      return InfoOf(finding.kind).hint;
  }
}

}  // namespace lockstep::vgpu
