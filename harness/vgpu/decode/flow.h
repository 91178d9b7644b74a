// Control flow and register allocation of one function, from its syntax tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

inline constexpr size_t kNoInstruction = static_cast<size_t>(-1);

struct ControlFlowGraph;  // analysis/control_flow_graph.h

struct Flow {
  // For each instruction that may diverge (guarded bra, brx.idx): the first instruction of the immediate post-dominator
  // block, where lanes reconverge. kNoInstruction if that is only the function's end, and for every other instruction.
  std::vector<size_t> reconvergence;
  // For each instruction, and for the end (index body.size()): whether some branch reconverges here.
  std::vector<bool> is_reconvergence_point;
  // For each instruction: whether it starts a basic block.
  std::vector<bool> is_leader;
  // For each instruction: whether it is in a loop.
  std::vector<bool> in_loop;
  std::shared_ptr<const ControlFlowGraph> graph;
};

// In a .func, ret is a jump to one common end: the index body.size() is a valid reconvergence point there (the decoder
// puts the real return there), also for a guarded ret. Paths on which every thread ends (exit, trap, a kernel's early
// return) do not count: a branch with only one other path has no reconvergence point. Throws PtxError for a branch to
// an unknown label.
Flow AnalyzeFlow(const FunctionOpcodes& opcodes);

struct RegisterLayout {
  std::unordered_map<std::string, RowRef> row;  // register name → offset in the frame
  uint32_t frame_bytes = 0;                     // multiple of 64; predicates first
  uint32_t registers = 0;                       // maximum number of live 32-bit registers per thread; for occupancy
  bool live_at_entry = false;                   // a thread may read a register that it has not written
  bool shares_rows = true;                      // a row may be reused after its register's last use
};

// Registers with disjoint live ranges share a row. A guarded write does not end a live range. The opcode table's form
// says whether an operand is read or written; operands of an unknown opcode count as both.
RegisterLayout AllocateRegisters(const FunctionOpcodes& opcodes, const Flow& flow);

}  // namespace lockstep::vgpu
