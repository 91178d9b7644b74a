// The operand forms of the opcode table, parsed: what each operand of an instruction is.
//
// The decoder lays out rows by them, and flow analysis tells reads from writes by them. The language of the
// forms is described in core/opcode_table.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/core/opcode_table.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// One place in the text of an instruction that holds a register, an immediate, a vector or an address.
struct OperandPart {
  enum class Role : uint8_t { kDestination, kSource, kAddress };
  enum class Typing : uint8_t {
    kNone,      // an address
    kModifier,  // by the k-th type modifier
    kDoubled,   // twice the width of the first type modifier
    kFixed,     // always `type`
  };
  Role role = Role::kSource;
  Typing typing = Typing::kNone;
  int modifier = 0;                   // kModifier: which one
  ptx::Type type = ptx::Type::kNone;  // kFixed
  bool vector = false;                // {a, b, …} or a scalar, flattened

  bool destination() const { return role == Role::kDestination; }
  bool address() const { return role == Role::kAddress; }
};

struct OperandForm {
  OperandPart part;
  bool has_second = false;  // d|p: the part behind the bar; its row is kNoRow when the text has none
  OperandPart second;
  bool optional = false;
};

// One element an operand, in PTX order. Parsed once a distinct form and kept: the result lives for ever. Throws
// std::logic_error on a form that is not of the language, which is a mistake in an opcode's row.
const std::vector<OperandForm>& ParseForm(std::string_view form);

// The type that a part has in an instruction with these modifiers; kNone for an address, or where the modifier is
// absent.
ptx::Type ResolveType(const OperandPart& part, const Modifiers& modifiers);

// The type of the same kind and twice the width (u16 → u32, f32 → f64, b64 → b128); kNone where there is none.
ptx::Type Doubled(ptx::Type type);

}  // namespace lockstep::vgpu
