// What went wrong in a kernel, with all that a message needs: faults, which stop the kernel, and the
// checkers' findings, which do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/finding_kind.h"
#include "vgpu/core/opcode_traits.h"
#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

// Of a race between threads that tell each other things by words in memory: what seems to be missing.
enum class OrderClue : uint8_t {
  kNone,
  kNoRelease,      // nothing fences the store
  kNarrowRelease,  // a fence behind the store does, but only for its own block or cluster
  kLateRelease,    // no word that the reader has read was written behind the store and a fence
  kNoAcquire,      // such a word has been read, but no fence stands behind that
  kNarrowAcquire,  // one does, but of too narrow a scope
  kConstantLoad,   // the store does come first, but the load goes through a cache that need not see it
};

enum class MemorySpace : uint8_t { kGlobal, kShared, kLocal, kConst, kParam };
enum class AccessKind : uint8_t { kLoad, kStore, kAtomic };

inline constexpr uint64_t kNullPage = 4096;  // addresses below come from a null pointer

// A thread at an instruction; or, of a race between streams, an operation.
struct ThreadPlace {
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::string file;  // as .file has it; empty without -lineinfo
  int line = 0;
  std::string in_file;  // where code of the toolkit was inlined at file:line: its own place; else empty
  int in_line = 0;
  std::string instruction;  // PTX opcode with modifiers: "st.shared.u32"
  int ptx_line = 0;
  AccessKind access = AccessKind::kLoad;
  std::string operation;  // "cudaMemcpyAsync in stream 2"; empty: a thread
  Traits traits = {};     // the opcode's
};

// A place in memory, put the way a programmer thinks of it.
struct MemoryPlace {
  MemorySpace space = MemorySpace::kGlobal;
  uint64_t address = 0;     // as the instruction formed it; shared and local: offset in the window
  uint32_t bytes = 0;       // size of the access
  bool in_buffer = false;   // buffer_* hold the buffer that holds, or is nearest to, the address
  std::string buffer_name;  // label given at allocation, variable name, "dynamic shared memory", …
  uint64_t buffer_base = 0, buffer_bytes = 0;
  std::string allocated_at;  // "reduction.cu:120" where known
  bool wrapped = false;      // the instruction's address lies 2^32 elements farther: an unsigned index below zero
};

// How an access lies beside the buffer that holds, or is nearest to, its address.
enum class Beside : uint8_t { kNowhere, kWithin, kBefore, kAcrossTheEnd, kPastTheEnd };
inline Beside BesideBuffer(const MemoryPlace& memory) {
  if (!memory.in_buffer) return Beside::kNowhere;
  if (memory.address < memory.buffer_base) return Beside::kBefore;
  const uint64_t offset = memory.address - memory.buffer_base;
  if (offset >= memory.buffer_bytes) return Beside::kPastTheEnd;
  return memory.bytes > memory.buffer_bytes - offset ? Beside::kAcrossTheEnd : Beside::kWithin;
}

// The name of what a kernel's malloc gave.
inline constexpr std::string_view kKernelHeapName = "malloc in a kernel";
// Behind the name of an allocation that is gone.
inline constexpr std::string_view kFreedName = " (freed)";

struct Finding {
  FindingKind kind = FindingKind::kTrap;
  bool fatal = false;   // stopped the kernel
  std::string kernel;   // demangled, without parameters: "reduce3_sequential_kernel<128u>"
  uint64_t launch = 0;  // ordinal of the launch on the device, from 0
  Dim3 grid, block_dim;
  ThreadPlace first;
  std::optional<ThreadPlace> second;  // a race's other party
  // A race: among those folded into this one, some are between warps of one block, or between blocks.
  bool across_warps = false, across_blocks = false;
  OrderClue clue = OrderClue::kNone;  // of a race
  // What the kernel has anywhere: copies into shared memory that arrive later; barriers in memory (cuda::barrier).
  bool copies_async = false, memory_barriers = false;
  std::optional<MemoryPlace> memory;
  std::string detail;  // a sentence: "write after read", "assertion `x` failed", the mended flag …
  std::string hint;    // one sentence, may be empty
  uint64_t count = 1;  // equal findings folded into this one
};

// What a finding says, in parts. Names of kernels, buffers and files come from the submission: control characters in
// them are shown as '?'.
struct FindingText {
  std::string_view heading;        // "RACE"
  std::string launch;              // "reduce3_sequential_kernel<<<1,128>>>"; empty: in no kernel
  std::vector<std::string> lines;  // without indentation; the first says what happened
  std::string hint;                // may be empty
};
FindingText Describe(const Finding& finding);

// The same as one text of several lines, no trailing newline, no colour. The form DESIGN gives:
//   RACE  reduce3_sequential_kernel<<<1,128>>>
//     shared memory, write after read, sdata[64], 4 bytes
//     first   block (0,0,0) thread (64,0,0)  reduction.cu:41
//     …
std::string Format(const Finding& finding);
// One sentence: the finding's own hint, or the one that fits the case. May be empty.
std::string_view HintOf(const Finding& finding);

// Findings with the same kind, kernel, instructions and source lines are folded.
class FindingList {
 public:
  void Add(Finding finding);  // folds; keeps at most kMaximum distinct ones, counts the rest
  const std::vector<Finding>& findings() const { return findings_; }
  uint64_t dropped() const { return dropped_; }
  void Clear();
  static constexpr size_t kMaximum = 100;

 private:
  std::vector<Finding> findings_;
  uint64_t dropped_ = 0;
};

}  // namespace lockstep::vgpu
