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
  // For each instruction that may send lanes different ways (guarded bra, brx.idx): the first instruction
  // of the immediate post-dominator block, where they come together again. kNoInstruction where the ways
  // meet only at the function's end, and for every other instruction.
  std::vector<size_t> reconvergence;
  // For each instruction, and for the end (index body.size()): some branch reconverges here.
  std::vector<bool> is_reconvergence_point;
  // For each instruction: the first of a basic block.
  std::vector<bool> is_leader;
  // For each instruction: some way leads from it back to it.
  std::vector<bool> in_loop;
  std::shared_ptr<const ControlFlowGraph> graph;
};

// In a .func, ret counts as a jump to one common end: the index body.size() is a valid reconvergence point there
// (the decoder puts the real return at it), also for a guarded ret. Ways on which every thread ends (exit, trap, a
// kernel's early return) do not count: a branch with one other way has no reconvergence. Throws PtxError for a branch
// to an unknown label.
Flow AnalyzeFlow(const FunctionOpcodes& opcodes);

struct RegisterLayout {
  std::unordered_map<std::string, RowRef> row;  // register name → offset in the frame
  uint32_t frame_bytes = 0;                     // multiple of 64; predicates first
  uint32_t registers = 0;      // 32-bit registers a thread that are live at once, at most; for occupancy
  bool live_at_entry = false;  // a thread may read some register that it has not written
};

// Registers whose live ranges do not overlap share a row. A guarded write does not end a live range. What an operand
// is (read, written) comes from the opcode table's form; operands of an opcode it does not know count as both.
RegisterLayout AllocateRegisters(const FunctionOpcodes& opcodes, const Flow& flow);

}  // namespace lockstep::vgpu
