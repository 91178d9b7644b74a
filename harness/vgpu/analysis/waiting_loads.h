// Volatile loads by which a thread waits for another one, told apart from those that read data; and relaxed ones, which
// in shared memory are held to the same within a warp. Both are called volatile here.
//
// In CUDA code volatile serves for both: `while (*flag == 0);` polls a word until it has changed, `sum += partial[i]`
// reads what others have left. The first may well run beside the store that it waits for. The second may not: volatile
// makes the thread look at memory, it does not say that what is there is the new value. So a volatile load is taken to
// wait where
//
//   * it, or another volatile load of that address, may be repeated because of the value that it brought: the value
//     decides, by way of registers, votes, shuffles or shared memory, a branch from which control may come to such a
//     load while the address stays the same; or
//   * the value decides branches and nothing else, as in `if (*stop) return;`.
//
// A word that holds both a flag and a value is waited on as a whole. In doubt a load is taken to wait: in functions
// that are not inlined where the value leaves them, and in very large ones.
#pragma once

#include <vector>

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// By instruction; empty where the function has no volatile load. entry: of a kernel.
std::vector<bool> FindWaitingLoads(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, bool entry);

// Whether two loads or atomics name the same address in the same way.
bool SameAddress(const ptx::Instruction& a, const ptx::Instruction& b);

}  // namespace lockstep::vgpu
