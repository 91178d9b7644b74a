// The registers that each instruction reads and writes, and each register's live range in a function.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// The registers in a function's text, numbered, with their declared types.
struct RegisterSet {
  std::vector<std::string> name;
  std::vector<ptx::Type> type;
  std::vector<bool> of_interface;  // a parameter or return value in .reg: the caller accesses it too
};

// One occurrence of a register. An operand of unknown role counts as read and written.
struct RegisterUse {
  int reg;
  bool reads, writes;
};

// The register uses of all instructions, in instruction order.
struct RegisterUses {
  RegisterSet registers;
  std::vector<RegisterUse> uses;
  std::vector<size_t> first;  // by instruction, with a sentinel at the end
};

// Throws PtxError for an undeclared register.
RegisterUses FindRegisterUses(const FunctionOpcodes& opcodes);

// The instructions from `first` to `last`, both inclusive, contain every point where the register is live.
struct LiveInterval {
  size_t first = SIZE_MAX, last = 0;
};

struct Liveness {
  std::vector<LiveInterval> interval;  // by register
  uint32_t pressure = 0;               // maximum number of live 32-bit registers, without predicates
  bool live_at_entry = false;          // a thread may read a register that it has not written
};

// A guarded write keeps the old value in the other lanes, so it does not end a live range. For functions too large to
// solve exactly (2^29 pairs of block and register, or steps), ranges may be longer than necessary, never shorter.
Liveness FindLiveness(const ptx::Function& function, const ControlFlowGraph& graph, const RegisterUses& uses);

}  // namespace lockstep::vgpu
