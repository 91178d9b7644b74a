// The hint at the end of a finding's message: one sentence, chosen by what is known about the case.
#include <algorithm>
#include <string_view>

#include "vgpu/core/finding.h"
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

// All of it by threads of one warp.
std::string_view RaceWithinWarp(const ThreadPlace& first, const ThreadPlace& second, bool one_line) {
  if (first.access == AccessKind::kStore && second.access == AccessKind::kStore && one_line) {
    return "several threads of one warp store to this address, and any one of them may win: let one thread store, or "
           "give each its own element";
  }
  if (IsVolatile(first) || IsVolatile(second)) {
    return "threads of a warp need not run in lockstep, and volatile does not make them: put __syncwarp() between the "
           "read and the write";
  }
  return "threads of a warp need not run in lockstep: put __syncwarp() between these two accesses";
}

// In a kernel with a cuda::barrier: the threads may well meet there, but on the wrong side of an access.
std::string_view RaceAroundMemoryBarrier(const ThreadPlace& first, const ThreadPlace& second) {
  const bool reads = first.access == AccessKind::kLoad, read_next = second.access == AccessKind::kLoad;
  if (!reads && !read_next) return "two threads store to the same address with no barrier between the stores";
  return reads ? "a thread may overwrite this element before another thread has read it: read first, then arrive at "
                 "the barrier, and write only after waiting on it"
               : "a thread may read this element before another thread has written it: write first, then arrive at the "
                 "barrier, and read only after waiting on it";
}

// in_next_round: the second access stands before the first in a loop, so that a barrier at the loop's end parts them.
std::string_view RaceWithinBlock(const ThreadPlace& first, const ThreadPlace& second, bool one_line,
                                 bool needs_loop_barrier, bool in_next_round) {
  const bool reads = first.access == AccessKind::kLoad, read_next = second.access == AccessKind::kLoad;
  if (!reads && !read_next) {
    return "two threads store to the same address: give each its own element, let only one thread store, or put "
           "__syncthreads() between the stores";
  }
  if (one_line && needs_loop_barrier) {
    return "some threads write here while others read: end the loop's body with __syncthreads(), outside of any if";
  }
  if (one_line) {
    return "some threads write here while others read: read into a variable first, then __syncthreads(), then write";
  }
  if (in_next_round) {
    return reads ? "in the loop's next round, a thread may overwrite this element before another thread has read it: "
                   "end the loop's body with __syncthreads(), outside of any if"
                 : "in the loop's next round, a thread may read this element before another thread has written it: end "
                   "the loop's body with __syncthreads(), outside of any if";
  }
  return reads ? "a thread may overwrite this element before another thread has read it: put __syncthreads() between "
                 "the read and the write"
               : "a thread may read this element before another thread has written it: put __syncthreads() between the "
                 "write and the read";
}

// For threads that communicate through words in memory: what is missing. Empty: unknown.
std::string_view HintOf(OrderClue clue) {
  switch (clue) {
    case OrderClue::kNoRelease:
      return "the other block may see the flag or counter before it sees this write: put __threadfence() between this "
             "write and the atomic or store that signals the other block";
    case OrderClue::kNarrowRelease:
      return "the fence after this write covers only its own block: between blocks, use __threadfence() before the "
             "atomic or store that signals the other block";
    case OrderClue::kLateRelease:
      return "the reader has seen no flag or counter that was set after this write and a fence: write the data first, "
             "then __threadfence(), then set the flag";
    case OrderClue::kNoAcquire:
      return "the flag was read, but nothing orders this read of the data after it: put __threadfence() between the "
             "two; volatile does not order them";
    case OrderClue::kNarrowAcquire:
      return "the fence after the read of the flag covers only one block: between blocks, use __threadfence()";
    case OrderClue::kConstantLoad:
      return "the write comes first, but __ldg(), ld.global.nc and const __restrict__ pointers read through a cache "
             "that may miss what this kernel writes: use an ordinary load";
    case OrderClue::kNone:
      break;
  }
  return "";
}

std::string_view RaceBetweenBlocks(const ThreadPlace& first, const ThreadPlace& second, bool one_line) {
  const bool stores = first.access == AccessKind::kStore && second.access == AccessKind::kStore;
  const bool one_block = first.block == second.block;
  if (stores && one_line && !one_block && first.thread == second.thread) {
    return "the same thread of every block stores here: the index has to depend on blockIdx too, as blockIdx.x * "
           "blockDim.x + threadIdx.x does, or one block alone has to store";
  }
  if (stores && one_line) {
    return "each element is to be stored by one thread alone, and here two have it: an index is blockIdx.x * "
           "blockDim.x + threadIdx.x, and a loop over the grid moves on by gridDim.x * blockDim.x; to add up, use an "
           "atomic operation";
  }
  if (first.access == AccessKind::kAtomic && second.access == AccessKind::kAtomic) {
    return "both accesses are atomic, but one of them only within its own block: between blocks, use atomicAdd (not "
           "atomicAdd_block), or cuda::thread_scope_device";
  }
  if (first.access == AccessKind::kAtomic || second.access == AccessKind::kAtomic) {
    return "one access is atomic and the other is not: make both atomic, or read the result in a later kernel";
  }
  if (HasModifier(first, "cv") || HasModifier(second, "cv")) {
    return "__ldcv() bypasses caches, but it is still a plain load: to read a word that other blocks write, use "
           "cuda::atomic_ref or a volatile pointer";
  }
  if (stores) return "blocks run concurrently and in any order: give each its own element, or use an atomic operation";
  if (one_line) {
    return "blocks run concurrently and in any order, and one writes here what another reads: use an atomic operation, "
           "or write to another buffer";
  }
  if (first.access == AccessKind::kLoad) {
    return "blocks run side by side in any order, and one overwrites here what another still has to read: write to "
           "another buffer than the one that is read, or in a later kernel";
  }
  return "blocks run concurrently and in any order: use an atomic operation, two kernels, or __threadfence() before "
         "the atomic that signals the others";
}

std::string_view RaceHint(const Finding& finding) {
  if (!finding.second) return "";
  const ThreadPlace &first = finding.first, &second = *finding.second;
  if (IsCopyUnderWay(second) && first.access == AccessKind::kLoad) {
    return "cp.async may write at any time once it is issued, and another thread may not have read the old contents "
           "yet: synchronise the threads between the last read and the copy";
  }
  if (IsCopyUnderWay(first) || IsCopyUnderWay(second)) {
    return "a cp.async copy is still in flight, and __syncthreads() alone does not wait for it: wait for it "
           "(__pipeline_wait_prior, or a wait on its barrier), then synchronise the threads";
  }
  const bool one_line =
      first.line == second.line && first.file == second.file && (first.line != 0 || first.ptx_line == second.ptx_line);
  const bool one_block =
      !finding.across_blocks && Flatten(first.block, finding.grid) == Flatten(second.block, finding.grid);
  // A line reads before it writes, so one that has written comes to its read again in the next copy of a loop's body.
  const bool is_unrolled = one_line && first.access == AccessKind::kStore && second.access == AccessKind::kLoad &&
                           first.ptx_line < second.ptx_line;
  const bool needs_loop_barrier = is_unrolled || (first.in_loop && second.in_loop && !finding.loop_has_barrier);
  if (finding.lost_update && one_block && first.access == AccessKind::kStore && needs_loop_barrier) {
    return "threads update this element one after the other, and nothing orders them: end the loop's body with "
           "__syncthreads(), outside of any if; threads that add at the same time need atomicAdd()";
  }
  if (finding.lost_update) {
    return "several threads update this element at the same time, and updates get lost: use an atomic such as "
           "atomicAdd(), or give each thread its own element";
  }
  if (!one_line && finding.clue != OrderClue::kNone) return HintOf(finding.clue);
  if (!one_block) {
    return RaceBetweenBlocks(first, second, one_line);
  }
  if (first.access == AccessKind::kAtomic || second.access == AccessKind::kAtomic) {
    return "one access is atomic and the other is not: make both atomic, or put __syncthreads() between them";
  }
  const bool one_warp =
      Flatten(first.thread, finding.block_dim) / kWarpSize == Flatten(second.thread, finding.block_dim) / kWarpSize;
  if (one_warp && (!finding.several_warps || IsVolatile(first) || IsVolatile(second))) {
    return RaceWithinWarp(first, second, one_line);
  }
  const bool in_next_round = first.in_loop && second.in_loop && second.ptx_line < first.ptx_line;
  return finding.memory_barriers ? RaceAroundMemoryBarrier(first, second)
                                 : RaceWithinBlock(first, second, one_line, needs_loop_barrier, in_next_round);
}

std::string_view BoundsHint(const MemoryPlace& memory, bool is_plane) {
  if (memory.in_buffer && memory.buffer_name.ends_with(kFreedName)) {
    return "the buffer was freed before this access: free it after the last kernel that uses it";
  }
  if (memory.wrapped) return "an unsigned index wraps around below zero: check for 0 before you subtract";
  if (RelationTo(memory) == Beside::kBefore) {
    return "the index is negative, or an unsigned subtraction has wrapped around: check it before the access";
  }
  if (memory.one_too_far) {
    return "off by one: is there a `<=` where `<` belongs, or does the last element access a neighbour it does not "
           "have? The last index is the length minus one";
  }
  constexpr uint64_t kGap = 512;  // bytes between allocations
  if (memory.space == MemorySpace::kGlobal && memory.address - memory.buffer_base >= memory.buffer_bytes + kGap) {
    return "the address is far from any buffer: was the buffer freed, or is the index far out of range?";
  }
  switch (memory.space) {
    case MemorySpace::kShared:
      if (memory.is_dynamic && memory.buffer_bytes == 0) {
        return "this array is extern, and the launch gives it no memory: the third argument of <<<…>>> is its size in "
               "bytes";
      }
      if (memory.is_dynamic) {
        return "compare the index with the array's length, which the third argument of <<<…>>> gives in bytes: n "
               "elements are n * sizeof of them";
      }
      return "check the largest index against the array's length: one thread too many (`<=`), a neighbour too far, or "
             "padding that the length leaves out?";
    case MemorySpace::kLocal:
      return "check the index against the length of the thread's local array";
    case MemorySpace::kConst:
      return "check the index against the length of the __constant__ array";
    default:
      return is_plane
                 ? "check x and y each against its own end, and the length of a row: element (row, column) lies at "
                   "row * width + column"
                 : "check the index against the array's length before the access: the last block has threads past the "
                   "end";
  }
}

// Elements of shared memory that are more than the block has threads, so that one each does not fill them.
bool IsBeyondThreads(const Finding& finding) {
  if (!finding.memory || finding.memory->bytes == 0) return false;
  const MemoryPlace& memory = *finding.memory;
  return (memory.address - memory.buffer_base) / memory.bytes >= finding.block_dim.Count();
}

std::string_view UninitializedHint(MemorySpace space, AccessKind access, bool copies_async, bool is_beyond_threads) {
  switch (space) {
    case MemorySpace::kGlobal:
      return access == AccessKind::kAtomic
                 ? "cudaMalloc does not clear memory: set the value first, with cudaMemset or a copy"
                 : "cudaMalloc does not clear memory: fill the buffer first, or read only the part that was written";
    case MemorySpace::kShared:
      if (copies_async) {
        return "shared memory starts uninitialised: write every element before you read it; data from an asynchronous "
               "copy is there only after its thread has waited for the copy, and the other threads for that thread";
      }
      if (is_beyond_threads) {
        return "shared memory starts uninitialised, and this index is beyond the block's threads: does each thread "
               "fill more than one element, and does the block have as many threads as the kernel expects?";
      }
      return "shared memory starts uninitialised: some thread must write every element before you read it, 0 where "
             "there is no input (no early return, no if without else)";
    default:
      return "no value was assigned on this path through the kernel: initialise the variable where you declare it";
  }
}

}  // namespace

std::string_view HintOf(const Finding& finding) {
  if (!finding.hint.empty()) return finding.hint;
  switch (finding.kind) {
    case FindingKind::kOutOfBounds:
      return BoundsHint(finding.memory.value_or(MemoryPlace{}), finding.grid.y > 1 || finding.block_dim.y > 1);
    case FindingKind::kInvalidAddress:
      if (finding.memory && finding.memory->space == MemorySpace::kConst && finding.memory->in_buffer) {
        return "ld.const reads __constant__ variables alone, which have 64 KB of addresses of their own: load from this "
               "buffer with ld.global";
      }
      return finding.memory && finding.memory->address < kNullPage
                 ? "was the pointer ever set? Check what cudaMalloc returned, and that you pass the right argument"
                 : "this is not a device pointer: did you allocate it with cudaMalloc, and pass it as the right "
                   "argument?";
    case FindingKind::kUninitialized:
      return UninitializedHint(finding.memory ? finding.memory->space : MemorySpace::kGlobal, finding.first.access,
                               finding.copies_async, IsBeyondThreads(finding));
    case FindingKind::kRace:
      return RaceHint(finding);
    case FindingKind::kTrap:
      if (finding.first.in_file.ends_with("cooperative_groups.h")) {
        return "cooperative groups trap when a group is not valid: a kernel that calls grid.sync() must be launched "
               "with cudaLaunchCooperativeKernel";
      }
      return "the kernel stops itself here, with __trap()";
    case FindingKind::kTimeout:
      // What the compiler turns round ends by a test; a jump without any closes a loop that has none.
      if (finding.first.instruction == "bra.uni") {
        return "this loop never ends: nothing in it changes what it tests, so the compiler tests that once. Is a step "
               "missing? Read a word that another thread writes through cuda::atomic_ref or a volatile pointer";
      }
      return InfoOf(finding.kind).hint;
    case FindingKind::kUnsupported:
      if (finding.detail.ends_with(kTooMuchLocal)) {
        return "every thread has a copy of its own of what a kernel declares: a large array belongs in shared or "
               "global memory";
      }
      return finding.kernel.empty() ? "" : InfoOf(finding.kind).hint;  // of an instruction, or of an API call
    default:
      return InfoOf(finding.kind).hint;
  }
}

}  // namespace lockstep::vgpu
