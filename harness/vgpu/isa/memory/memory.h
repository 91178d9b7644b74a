// What the decoder asks of the memory instructions' family.
#pragma once

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// Where ld.param and st.param go.
enum class ParameterPlace : uint8_t {
  kKernel,
  kArea,   // a lane's parameter area
  kLocal,  // local memory: a function's parameter whose address is taken
};
Selection SelectParameterAccess(Modifiers& modifiers, ParameterPlace place, bool stores);

}  // namespace lockstep::vgpu
