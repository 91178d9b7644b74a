// Refuses a text with what is no instruction, as ptxas does when a module is loaded; what is one but not supported stops
// the thread that comes to it.
#pragma once

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Throws ptx::PtxError with the line. A text of a later PTX ISA than 9.0 may have names that are not known here, so it is
// not checked.
void CheckInstructions(const ptx::Module& module);

}  // namespace lockstep::vgpu
