// A program as people read it.
#pragma once

#include <string>

#include "vgpu/core/listing.h"
#include "vgpu/decode/decoder.h"

namespace lockstep::vgpu {

// program: of the image's kernel, as DecodeKernel left it.
Listing ListProgram(const ModuleImage& image, const Program& program);

// The kernel's head, and a line an instruction: its index, source line, text, what it is, and where its operands lie.
std::string Disassemble(const Program& program, const Listing& listing);

}  // namespace lockstep::vgpu
