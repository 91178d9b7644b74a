// The memory instructions' interface to the decoder.
#pragma once

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// The memory that ld.param and st.param access.
enum class ParameterPlace : uint8_t {
  kKernel,
  kArea,   // a lane's parameter area
  kLocal,  // local memory, for a function parameter whose address is taken
};
Selection SelectParameterAccess(Modifiers& modifiers, ParameterPlace place, bool stores);

}  // namespace lockstep::vgpu
