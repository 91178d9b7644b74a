// Which registers an instruction reads and writes, and where in a function each register holds a value that is
// still needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// The registers that a function's text mentions, numbered, with their declared types.
struct RegisterSet {
  std::vector<std::string> name;
  std::vector<ptx::Type> type;
  std::vector<bool> of_interface;  // a parameter or return value in .reg: the caller touches it too
};

// One mention of a register. An operand of unknown role is a read and a write.
struct RegisterUse {
  int reg;
  bool reads, writes;
};

// The uses of all instructions, one instruction's after another's.
struct RegisterUses {
  RegisterSet registers;
  std::vector<RegisterUse> uses;
  std::vector<size_t> first;  // by instruction, with one more at the end
};

// Throws PtxError for a register that is not declared.
RegisterUses FindRegisterUses(const FunctionOpcodes& opcodes);

// The text between `first` and `last`, both included, holds every place at which a register is needed.
struct LiveInterval {
  size_t first = SIZE_MAX, last = 0;
};

struct Liveness {
  std::vector<LiveInterval> interval;  // by register
  uint32_t pressure = 0;               // 32-bit registers that are needed at once, at most; predicates do not count
  bool live_at_entry = false;          // a thread may read some register that it has not written
};

// A write under a guard leaves the old value in the other lanes, so it ends no life. Functions too large to solve
// exactly (2^29 pairs of block and register) get longer intervals, never shorter ones.
Liveness FindLiveness(const ptx::Function& function, const ControlFlowGraph& graph, const RegisterUses& uses);

}  // namespace lockstep::vgpu
