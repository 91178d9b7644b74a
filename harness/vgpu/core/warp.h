// The part of a warp that instruction handlers see. The engine (exec/) has the rest.
#pragma once

#include <cstdint>

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

class Block;       // exec/block.h: barrier state, shared memory, the warps
class Engine;      // exec/engine.h: one CPU thread's interpreter
struct WarpState;  // exec/warp_state.h: parked lane groups, convergence points, call frames

class Warp {
 public:
  // base[0]: the running group's call frame; base[1]: the constant pool. See core/insn.h.
  uint8_t* base[2] = {nullptr, nullptr};
  LaneMask active = 0;  // lanes of the group that is running
  LaneMask alive = 0;   // lanes that exist and have not exited
  LaneMask carry = 0;   // the condition code that add.cc and similar instructions leave for addc
  uint32_t pc = 0;      // index of the NEXT instruction in the program's code
  uint32_t index = 0;   // warp index in the block
  bool stop = false;    // set by a handler to return control to the engine (blocked, exited, faulted)
  Block* block = nullptr;
  Engine* engine = nullptr;
  WarpState* state = nullptr;
};

}  // namespace lockstep::vgpu
