// A decoded kernel: the entry and every function that it can reach, in one flat array of instructions.
//
// Program::code holds what the loop runs; everything that only messages, counters and rare instructions need lies in
// side tables with the same index or behind an index in Insn::immediate. Pseudo-instructions (convergence points, local
// addresses, the return at a function's end) carry InsnInfo::counted == false and show up in no counter.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/insn.h"
#include "vgpu/core/kernel_info.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

struct CopyPlan;         // core/copy_plan.h
struct DefinednessPlan;  // core/definedness_plan.h
struct UsePlan;          // core/use_plan.h

inline constexpr uint32_t kNoPc = 0xffffffffu;
inline constexpr size_t kMostInlined = 64;  // calls within calls that a message follows

struct InsnInfo {
  ptx::SourceLocation location;
  int inline_site = -1;  // into Program::inline_sites: where the code was inlined; -1: nowhere
  int ptx_line = 0;
  uint32_t text = 0;                         // into Program::texts
  Traits traits = {};                        // of its opcode
  MemorySpace space = MemorySpace::kGlobal;  // of a memory instruction; kGlobal for generic ones too
  bool counted = true;                       // false: a pseudo-instruction
  bool conditional_branch = false;
  bool in_loop = false;  // of its function: control may come from it back to it
};

// A piece of a thread's parameter area, of its local memory, or a register row: where an argument or a return value
// lies.
struct ValuePlace {
  RowRef row = kNoRow;  // kNoRow: in the parameter area, or in local memory
  uint32_t offset = 0;  // in the area, or from the frame's first local variable
  uint32_t bytes = 0;
  bool local = false;  // a function's parameter whose address is taken
};

struct FunctionInfo {
  std::string name;
  uint32_t entry_pc = 0, end_pc = 0;
  // A call frame is frame_bytes of register rows, then 32 parameter areas of area_bytes, one a lane.
  uint32_t frame_bytes = 0;
  uint32_t register_bytes = 0;  // the frame's first part; behind it lie the decoder's own rows
  uint32_t area_bytes = 0;      // multiple of 16
  uint32_t local_bytes = 0;     // multiple of 16
  bool reads_unwritten = true;  // a thread may read a register that it has not written
  std::vector<ValuePlace> parameters, returns;
};

enum class Builtin : uint8_t { kNone, kVprintf, kAssertFail, kMalloc, kFree };

// A .sync instruction: what runs once its lanes are gathered, from all places with the same handler.
struct SynchronousInfo {
  Handler handler = nullptr;
  RowRef members = kNoRow;        // the member mask
  bool is_barrier = false;        // bar.warp.sync
  uint8_t element_bytes[8] = {};  // of Insn::row; 0: a predicate's row
};

struct CallSite {
  uint32_t callee = kNoPc;  // index in Program::functions
  Builtin builtin = Builtin::kNone;
  RowRef target = kNoRow;  // an indirect call: the row with the functions' addresses
  std::vector<ValuePlace> arguments, returns;
};

// A variable in shared or local memory, for messages. The only extern array has no bytes of its own.
struct NamedRange {
  std::string name;
  uint32_t offset = 0, bytes = 0;
};

// 64-byte aligned bytes: constant rows, frames, shared memory.
struct AlignedDelete {
  void operator()(uint8_t* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<uint8_t[], AlignedDelete>;
inline AlignedBytes MakeAlignedBytes(size_t bytes) {
  return AlignedBytes(static_cast<uint8_t*>(::operator new[](bytes, std::align_val_t{64})));
}

struct Program {
  KernelInfo kernel;
  std::vector<Insn> code;
  std::vector<InsnInfo> info;                    // beside code
  std::vector<SynchronousInfo> synchronous;      // beside code
  std::shared_ptr<UsePlan> uses;                 // loads whose values may not be used; nullptr: there are none
  std::shared_ptr<CopyPlan> copies;              // loads of values that are only copied; nullptr: there are none
  std::shared_ptr<DefinednessPlan> definedness;  // nullptr: there are no shuffles
  std::vector<std::string> texts;                // "st.shared.u32"
  std::vector<std::string> files;                // SourceLocation::file
  std::vector<ptx::InlineSite> inline_sites;
  std::vector<FunctionInfo> functions;  // [0]: the entry
  std::unordered_map<uint64_t, uint32_t> function_of_address;
  std::vector<CallSite> calls;
  std::vector<std::vector<uint32_t>> branch_tables;
  std::vector<std::string> unsupported;  // sentences, by Insn::immediate of the instruction that raises them
  std::vector<NamedRange> shared_variables;
  std::vector<NamedRange> local_variables;  // of the entry
  AlignedBytes constants;
  size_t constant_bytes = 0;

  uint32_t local_stride = 0;  // bytes of local memory a lane, call stack included
  bool bounded_stack = true;  // no recursion and no indirect call: local_stride can't overflow
  // Blocks may tell each other apart by what they see in global memory: such a kernel runs on one CPU thread.
  bool order_sensitive = false;
  bool may_wait = false;         // has loops that may wait for other threads
  bool copies_async = false;     // from global to shared memory (cp.async)
  bool memory_barriers = false;  // threads arrive at barriers in memory (mbarrier)
  bool lanes_exchange = false;   // has instructions by which lanes see each other's registers
  bool calls_printf = false;
  bool uses_reserved_shared = false;  // the runtime's own shared memory, behind the block's: cooperative groups

  const std::string& Text(uint32_t pc) const { return texts[info[pc].text]; }
  std::string_view FileName(const ptx::SourceLocation& place) const {
    return place.file >= 0 && place.file < static_cast<int>(files.size()) ? std::string_view(files[place.file])
                                                                          : std::string_view();
  }
  std::string_view File(uint32_t pc) const { return FileName(info[pc].location); }

  // The places that an instruction belongs to: its own first, then the call that was inlined there, then the call that
  // that one was inlined by … up to the line in the text of the kernel or function that holds it all. For a fault in
  // a header of the toolkit the first place that is not in such a header is the student's.
  std::vector<ptx::SourceLocation> InlineChain(uint32_t pc) const {
    std::vector<ptx::SourceLocation> chain{info[pc].location};
    for (int site = info[pc].inline_site; site >= 0 && chain.size() < kMostInlined;) {
      chain.push_back(inline_sites[static_cast<size_t>(site)].location);
      site = inline_sites[static_cast<size_t>(site)].caller;
    }
    return chain;
  }
};

}  // namespace lockstep::vgpu
