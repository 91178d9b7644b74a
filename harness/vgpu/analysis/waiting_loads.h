// Distinguishes volatile loads that wait for another thread from those that read data. Relaxed and acquiring loads,
// and atomics that return a value, are treated in the same way; "volatile" includes them here.
//
// CUDA code uses volatile for both: `while (*flag == 0);` polls a word until it changes; `sum += partial[i]` reads
// other threads' results. The first may run concurrently with the store that it waits for. The second may not: volatile
// forces a read of memory but does not guarantee that the new value is there yet. A volatile load counts as waiting if
//
//   * it, or another volatile load of the same address, may be repeated depending on the loaded value: the
//     value decides, through registers, votes, shuffles or shared memory, a branch from which control may reach such a
//     load while the address stays the same; or
//   * the value only decides branches, as in `if (*stop) return;`.
//
// A word that holds both a flag and a value counts as waited on as a whole. In unclear cases a load counts as waiting:
// if the value leaves a function that is not inlined, and in very large functions.
#pragma once

#include <vector>

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// By instruction; empty if the function has none of them. entry: the function is a kernel.
std::vector<bool> FindSpinReads(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, bool entry);

// Whether two loads or atomics have the same address operand.
bool SameAddress(const ptx::Instruction& a, const ptx::Instruction& b);

}  // namespace lockstep::vgpu
