// Finds plain loads that start a compare-and-swap loop, the programming guide's way to write an atomic operation that
// the hardware lacks:
//
//   int old = *word, assumed;
//   do {
//     assumed = old;
//     old = atomicCAS(word, assumed, f(assumed));
//   } while (assumed != old);
//
// The loaded value is only a guess. If another thread has changed the word in the meantime, the compare-and-swap fails
// and returns the current value. So the load may run concurrently with other threads' atomics.
#pragma once

#include <vector>

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// By instruction: weak loads whose unmodified value is the comparand of a compare-and-swap on the same address, if the
// program checks the compare-and-swap's result. Empty if there are none.
std::vector<bool> FindSpeculativeLoads(const FunctionOpcodes& opcodes);

}  // namespace lockstep::vgpu
