// What the decoder asks of the memory instructions' family.
#pragma once

#include "vgpu/isa/opcode_table.h"

namespace lockstep::vgpu {

// ld and st on a kernel's parameters (kernel) or on a lane's parameter area. stores: st.
Selection SelectParameterAccess(Modifiers& modifiers, bool kernel, bool stores);

}  // namespace lockstep::vgpu
