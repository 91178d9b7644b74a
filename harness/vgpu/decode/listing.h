// The human-readable form of a program.
#pragma once

#include <string>

#include "vgpu/core/listing.h"
#include "vgpu/decode/decoder.h"

namespace lockstep::vgpu {

// program: a kernel of the image, as decoded by DecodeKernel.
Listing ListProgram(const ModuleImage& image, const Program& program);

// The kernel's heading, then one line per instruction: index, source line, text, class and traits, operand locations.
std::string Disassemble(const Program& program, const Listing& listing);

}  // namespace lockstep::vgpu
