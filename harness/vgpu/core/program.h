// A decoded kernel: the entry and every function that it can reach, in one flat array of instructions.
//
// Program::code holds what the interpreter loop runs. Data for messages, counters and rare instructions is in side
// tables, indexed by pc or through Insn::immediate. Pseudo-instructions (convergence points, local addresses, the
// return at a function's end) have InsnInfo::counted == false and appear in no counter.
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
inline constexpr size_t kMostInlined = 64;  // depth of nested inlined calls that a message shows

struct InsnInfo {
  ptx::SourceLocation location;
  int inline_site = -1;  // index into Program::inline_sites: where the code was inlined; -1: not inlined
  int ptx_line = 0;
  uint32_t text = 0;                         // index into Program::texts
  Traits traits = {};                        // of the opcode
  MemorySpace space = MemorySpace::kGlobal;  // of a memory instruction; kGlobal also for generic ones
  bool counted = true;                       // false: a pseudo-instruction
  bool conditional_branch = false;
  bool in_loop = false;  // control can return to this instruction, within its function or because a loop calls it
  TensorWork tensor;
  uint8_t steps = 1;  // that it counts as: 2 on pairs of floats (.f32x2), 5 to combine the values of 32 lanes (redux)
};

// The location of an argument or return value: in a thread's parameter area, in its local memory, or in a register row.
struct ValuePlace {
  RowRef row = kNoRow;  // kNoRow: in the parameter area or in local memory
  uint32_t offset = 0;  // in the area, or from the frame's first local variable
  uint32_t bytes = 0;
  bool local = false;  // a function parameter whose address is taken
};

// A variable in shared or local memory, for messages. The extern array has size 0.
struct NamedRange {
  std::string name;
  uint32_t offset = 0, bytes = 0;
};

struct FunctionInfo {
  std::string name;
  uint32_t entry_pc = 0, end_pc = 0;
  // A call frame is frame_bytes of register rows, then 32 parameter areas of area_bytes, one per lane.
  uint32_t frame_bytes = 0;
  uint32_t register_bytes = 0;  // the first part of the frame; the decoder's temporary rows follow
  uint32_t area_bytes = 0;      // multiple of 16
  uint32_t local_bytes = 0;     // multiple of 16
  bool reads_unwritten = true;  // a thread may read a register that it has not written
  std::vector<ValuePlace> parameters, returns;
  std::vector<NamedRange> local_variables;  // their offsets in the function's local memory
};

enum class Builtin : uint8_t { kNone, kVprintf, kAssertFail, kMalloc, kFree, kDeviceRuntime };

// A .sync instruction: the handler to run once its lanes are gathered. Lanes may arrive at any instruction with the
// same handler.
struct SynchronousInfo {
  Handler handler = nullptr;
  RowRef members = kNoRow;        // the member mask
  bool is_barrier = false;        // bar.warp.sync
  uint8_t element_bytes[8] = {};  // by Insn::row; 0: a predicate's row
};

struct CallSite {
  uint32_t callee = kNoPc;  // index into Program::functions
  Builtin builtin = Builtin::kNone;
  uint8_t runtime_function = 0;  // kDeviceRuntime: its row (decode/device_runtime.cc)
  RowRef target = kNoRow;        // indirect call: the row with the function addresses
  std::vector<ValuePlace> arguments, returns;
};

// 64-byte aligned storage: constant rows, frames, shared memory.
struct AlignedDelete {
  void operator()(uint8_t* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<uint8_t[], AlignedDelete>;
inline AlignedBytes MakeAlignedBytes(size_t bytes) {
  return AlignedBytes(static_cast<uint8_t*>(::operator new[](bytes, std::align_val_t{64})));
}

// Where the addresses of memory instructions come from, for messages. Made by analysis/access_origins.cc.
struct AccessOrigins {
  // By pc: the offsets of kernel parameters that the address is computed from and that may be pointers.
  std::unordered_map<uint32_t, std::vector<uint32_t>> parameters;
  // Maps the pc of a load and that of a store with one address and one line, as in `++bins[x]`, to the load's pc.
  std::unordered_map<uint32_t, uint32_t> updates;

  // Whether the instructions at both places belong to one such update.
  bool AreOneUpdate(uint32_t a, uint32_t b) const {
    const auto of_a = updates.find(a), of_b = updates.find(b);
    return of_a != updates.end() && of_b != updates.end() && of_a->second == of_b->second;
  }
};

struct Program {
  KernelInfo kernel;
  std::vector<Insn> code;
  std::vector<InsnInfo> info;                    // parallel to code
  std::vector<SynchronousInfo> synchronous;      // parallel to code
  std::shared_ptr<UsePlan> uses;                 // loads whose values may be unused; nullptr if there are none
  std::shared_ptr<CopyPlan> copies;              // loads whose values are only copied; nullptr if there are none
  std::shared_ptr<DefinednessPlan> definedness;  // nullptr if the program has no shuffles
  std::vector<RowRef> operand_rows;              // of instructions with kRowsInTable
  AccessOrigins origins;                         // of addresses
  std::vector<std::string> texts;                // "st.shared.u32"
  std::vector<std::string> files;                // SourceLocation::file
  std::vector<ptx::InlineSite> inline_sites;
  std::vector<FunctionInfo> functions;  // [0] is the entry
  std::unordered_map<uint64_t, uint32_t> function_of_address;
  std::vector<CallSite> calls;
  std::vector<std::vector<uint32_t>> branch_tables;
  std::vector<std::string> unsupported;  // sentences, by Insn::immediate of the failing instruction
  std::vector<NamedRange> shared_variables;
  AlignedBytes constants;
  size_t constant_bytes = 0;

  uint32_t local_stride = 0;  // bytes of local memory per lane, call stack included
  bool bounded_stack = true;  // no recursion and no indirect call: local_stride cannot overflow
  // Blocks may affect each other (strong accesses, atomics, malloc, launches); such a kernel runs on one CPU thread.
  bool order_sensitive = false;
  bool may_wait = false;         // has loops that may wait for other threads
  bool copies_async = false;     // has asynchronous copies into shared memory (cp.async, also bulk)
  bool memory_barriers = false;  // uses barriers in memory (mbarrier)
  bool lanes_exchange = false;   // has instructions by which lanes read each other's registers
  bool calls_printf = false;
  bool calls_malloc = false;          // or free
  bool calls_runtime = false;         // may launch kernels through the device runtime
  bool is_own = false;                // the kernel was not written in the toolkit's headers: SourcePlaces::KernelIsOwn
  bool uses_reserved_shared = false;  // uses the runtime's shared memory after the block's own: cooperative groups

  const std::string& Text(uint32_t pc) const { return texts[info[pc].text]; }
  std::string_view FileName(const ptx::SourceLocation& place) const {
    return place.file >= 0 && place.file < static_cast<int>(files.size()) ? std::string_view(files[place.file])
                                                                          : std::string_view();
  }
  std::string_view File(uint32_t pc) const { return FileName(info[pc].location); }

  // The source locations of an instruction: its own, then the call site that it was inlined at, then that call's own
  // call site, … up to a line of the enclosing kernel or function. For a fault inside a toolkit header, the first
  // location outside such headers is the student's.
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
