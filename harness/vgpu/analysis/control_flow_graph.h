// Basic blocks of a function and the edges between them.
#pragma once

#include <unordered_map>
#include <vector>

#include "vgpu/analysis/dominators.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Where control goes after an instruction.
enum class Leaving : uint8_t {
  kNext,    // to the next instruction
  kBranch,  // bra
  kTable,   // brx.idx
  kReturn,  // ret
  kExit,    // exit, trap: the thread ends
};
Leaving LeavingOf(Meaning meaning);

// Nodes 0 … blocks-1 are the blocks in text order; the nodes after them are the function's branch tables. With a node
// per table, a table's targets are edges only once, however many instructions use it.
struct ControlFlowGraph {
  struct Block {
    size_t first, last;  // instructions, both inclusive
  };
  std::vector<Block> blocks;
  std::vector<size_t> block_of;  // by instruction
  int nodes = 0;
  std::vector<Adjacency::Edge> edges;
  // Blocks that leave the function: by ret or the text's end, by exit, by trap. If guarded, they have edges too.
  std::vector<int> returns, exits, traps;

  bool IsTable(int node) const { return node >= static_cast<int>(blocks.size()); }
};

// Throws PtxError for a branch to an unknown label or table.
ControlFlowGraph BuildControlFlowGraph(const FunctionOpcodes& opcodes);

}  // namespace lockstep::vgpu
