// Plain loads that begin a loop of compare-and-swap, as the programming guide writes an atomic operation that the
// hardware does not have:
//
//   int old = *word, assumed;
//   do {
//     assumed = old;
//     old = atomicCAS(word, assumed, f(assumed));
//   } while (assumed != old);
//
// What such a load brings is a guess. If another thread has changed the word meanwhile, the compare-and-swap fails and
// says what is there, so the load may run beside others' atomic operations.
#pragma once

#include <vector>

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// By instruction: weak loads whose value, as it is, is what a compare-and-swap of the same address compares with, and
// the program looks at what the compare-and-swap found. Empty where there is none.
std::vector<bool> FindGuessingLoads(const FunctionOpcodes& opcodes);

}  // namespace lockstep::vgpu
