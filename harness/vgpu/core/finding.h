// Everything a message needs about an error in a kernel: faults, which stop the kernel, and checkers' findings, which
// do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/dim3.h"
#include "vgpu/core/finding_kind.h"
#include "vgpu/core/opcode_traits.h"

namespace lockstep::vgpu {

enum class MemorySpace : uint8_t { kGlobal, kShared, kLocal, kConst, kParam };
enum class AccessKind : uint8_t { kLoad, kStore, kAtomic };

std::string_view NameOf(MemorySpace space);  // "global"
std::string_view NameOf(AccessKind access);  // "load", "store", "atomic operation"

inline constexpr uint64_t kNullPage = 4096;  // lower addresses come from a null pointer

// A thread at an instruction or, for a race between streams, an operation.
struct ThreadPlace {
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::string file;  // as in .file; empty without -lineinfo
  int line = 0;
  std::string in_file;  // if toolkit code was inlined at file:line: its own location; otherwise empty
  int in_line = 0;
  std::string instruction;  // PTX opcode with modifiers: "st.shared.u32"
  int ptx_line = 0;
  AccessKind access = AccessKind::kLoad;
  bool in_loop = false;   // control can return to the instruction
  std::string operation;  // "cudaMemcpyAsync in stream 2"; empty for a thread
  Traits traits = {};     // of the opcode
};

// A place in memory in the programmer's terms.
struct MemoryPlace {
  MemorySpace space = MemorySpace::kGlobal;
  uint64_t address = 0;     // as computed by the instruction; shared and local: offset in the window
  uint32_t bytes = 0;       // size of the access
  bool in_buffer = false;   // buffer_* describe the buffer that contains the address or is nearest to it
  std::string buffer_name;  // label given at allocation, variable name, "dynamic shared memory", …
  uint64_t buffer_base = 0, buffer_bytes = 0;
  std::string allocated_at;  // "reduction.cu:120" if known
  bool is_dynamic = false;   // the buffer is the block's dynamic shared memory
  bool wrapped = false;      // the real address is 2^32 elements higher: an unsigned index went below zero
  bool one_too_far = false;  // a single thread reaches here: the element just past the end
};

// Position of an access relative to its nearest buffer.
enum class Beside : uint8_t { kNowhere, kWithin, kBefore, kAcrossTheEnd, kPastTheEnd };
inline Beside RelationTo(const MemoryPlace& memory) {
  if (!memory.in_buffer) return Beside::kNowhere;
  if (memory.address < memory.buffer_base) return Beside::kBefore;
  const uint64_t offset = memory.address - memory.buffer_base;
  if (offset >= memory.buffer_bytes) return Beside::kPastTheEnd;
  return memory.bytes > memory.buffer_bytes - offset ? Beside::kAcrossTheEnd : Beside::kWithin;
}

// The name of memory that a kernel's malloc returned.
inline constexpr std::string_view kKernelHeapName = "malloc in a kernel";
// Ends the sentence about a kernel whose own variables are too large.
inline constexpr std::string_view kTooMuchLocal = " bytes of local memory, and 524288 is the most";
// Appended to the name of a freed allocation.
inline constexpr std::string_view kFreedName = " (freed)";

struct Finding {
  FindingKind kind = FindingKind::kTrap;
  bool fatal = false;       // stopped the kernel
  std::string kernel;       // demangled, without parameters: "reduce3_sequential_kernel<128u>"
  std::string launched_by;  // "parent at sort.cu:12" for a kernel that another one launched
  uint64_t launch = 0;      // ordinal of the launch on the device, from 0
  Dim3 grid, block_dim;
  ThreadPlace first;
  std::optional<ThreadPlace> second;  // the other access of a race
  bool across_blocks = false;         // races only: the findings folded into this one include a race between blocks
  Hint clue{};                        // races only: what synchronisation through words in memory seems to lack
  bool lost_update = false;           // races only: both accesses are of one update, as of `++bins[x]`
  bool several_warps = false;         // races only: the accesses folded into this one are of more than one warp
  bool loop_has_barrier = false;      // races only: the loop around the second access has a barrier of the block
  bool warp_barrier = false;          // races only: between the accesses is a warp's barrier, but none of the block
  // The kernel contains asynchronous copies to shared memory / memory barriers (cuda::barrier).
  bool copies_async = false, memory_barriers = false;
  std::optional<MemoryPlace> memory;
  std::vector<std::string> standing;  // where blocked threads wait: "16 of 64 at the barrier in …"
  std::string detail;                 // a sentence: "write after read", "assertion `x` failed", …
  Hint hint{};                        // kNone: use the default for this kind of case
  uint64_t count = 1;                 // number of equal findings folded into this one
};

// What would have ordered a race's two accesses: a block "barrier", "warp barrier", "fence", "atomic" (both belong to
// one update), "blocks" (different blocks, which no barrier orders), "cache" (the load may use a cache that need not
// see the store), "streams".
std::string_view MissingOrder(const Finding& race);

// The error of a launch stopped by the finding.
inline LaunchError ErrorOf(const Finding& finding) {
  constexpr uint64_t kSharedSpan = uint64_t{1} << 24;  // address range; addresses beyond it are invalid
  const bool is_far = finding.memory && finding.memory->space == MemorySpace::kShared &&
                      finding.kind != FindingKind::kMisaligned && finding.memory->address >= kSharedSpan;
  return is_far ? LaunchError::kIllegalInstruction : InfoOf(finding.kind).error;
}

// A line of a message. The label is a word for its kind: "at", "input"; "": a plain sentence; " ": the same kind as the
// line above.
struct MessageLine {
  MessageLine(std::string text) : text(std::move(text)) {}
  MessageLine(const char* text) : text(text) {}
  MessageLine(std::string label, std::string text, std::string file = "", int line = 0)
      : label(std::move(label)), text(std::move(text)), file(std::move(file)), line(line) {}
  std::string Rendered() const;  // texts of labelled lines are aligned

  std::string label, text;
  std::string file;  // the source line that it names, if any
  int line = 0;
};

// The text of a finding, in parts. Names of kernels, buffers and files come from the submission; their control
// characters are replaced by '?'.
struct FindingText {
  std::string_view heading;        // "RACE"
  std::string launch;              // "reduce3_sequential_kernel<<<1,128>>>"; empty if not in a kernel
  std::vector<MessageLine> lines;  // the first one says what happened
  std::string_view hint;           // may be empty
};
FindingText Describe(const Finding& finding);

// The same as one string of several lines, without trailing newline or colour:
//   RACE  reduce3_sequential_kernel<<<1,128>>>
//     shared memory, write after read, sdata[64], 4 bytes
//     first   block (0,0,0) thread (64,0,0)  reduction.cu:41
//     …
std::string Format(const Finding& finding);
// The finding's own hint, or the default for this kind of case; kNone if there is none.
Hint HintOf(const Finding& finding);

// Folds findings of one kind and kernel at the same places; also races within one line, or that one barrier fixes.
class FindingList {
 public:
  void Add(Finding finding);  // folds; keeps at most kMaximum distinct findings and counts the rest
  const std::vector<Finding>& findings() const { return findings_; }
  uint64_t dropped() const { return dropped_; }
  void Clear();
  static constexpr size_t kMaximum = 100;

 private:
  std::vector<Finding> findings_;
  uint64_t dropped_ = 0;
};

}  // namespace lockstep::vgpu
