// The readable form of a program's instructions: their text and the registers that they write, store and use as
// addresses. Used by listings and traces; made by decode/listing.cc.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "vgpu/core/insn.h"
#include "vgpu/core/opcode_traits.h"
#include "vgpu/core/source_variables.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

struct ListedRegister {
  std::string name;
  RowRef row = kNoRow;
  // As wide as the row's elements. An untyped (.b) register gets the type with which the function's instructions use
  // it.
  ptx::Type type = ptx::Type::kNone;
};

struct ListedInsn {
  std::string text;                            // "@%p1 ld.global.u32 %r5, [%rd4+4]"; empty for a pseudo-instruction
  Traits traits;                               // of the opcode
  std::vector<ListedRegister> writes, stores;  // registers written; registers stored to memory
  bool has_address = false;                    // memory accesses: base + Insn::immediate
  ListedRegister base;                         // row kNoRow: base is 0
};

// Padded with spaces to a column, at least two.
inline std::string Padded(std::string text, size_t columns) {
  text.resize(std::max(text.size(), columns) + 2, ' ');
  return text;
}

struct Listing {
  std::vector<ListedInsn> insns;  // by pc
  SourceVariables source;         // of functions compiled with -G
};

}  // namespace lockstep::vgpu
