// What the instructions of a program look like to people: their text, and which registers they write, store and
// address memory by. For listings and traces; decode/listing.cc makes it.
#pragma once

#include <string>
#include <vector>

#include "vgpu/core/insn.h"
#include "vgpu/core/opcode_traits.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

struct ListedRegister {
  std::string name;
  RowRef row = kNoRow;
  // As wide as the row's elements. A register of bits has the type that the function's instructions use it with.
  ptx::Type type = ptx::Type::kNone;
};

struct ListedInsn {
  std::string text;                            // "@%p1 ld.global.u32 %r5, [%rd4+4]"; empty: a pseudo-instruction
  Traits traits;                               // its opcode's
  std::vector<ListedRegister> writes, stores;  // what it makes; what it brings to memory
  bool has_address = false;                    // of an access of memory: base + Insn::immediate
  ListedRegister base;                         // row kNoRow: 0
};

struct Listing {
  std::vector<ListedInsn> insns;  // by pc
};

}  // namespace lockstep::vgpu
