// Converts instructions back to text, for listings.
#pragma once

#include <string>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

// "%r5", "[%rd4+4]", "{%f1, %f2}", "0f3F800000".
std::string TextOf(const Operand& operand);
// "@!%p1 ld.global.u32 %r5, [%rd4+4]", without the semicolon.
std::string TextOf(const Instruction& instruction);

}  // namespace lockstep::vgpu::ptx
