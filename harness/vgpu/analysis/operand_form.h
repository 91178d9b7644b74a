// The parsed operand forms of the opcode table: the role of each operand of an instruction.
//
// The decoder lays out rows by them, and flow analysis tells reads from writes by them. core/opcode_table.h describes
// the syntax of the forms.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/core/opcode_table.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// One part of an operand that holds a register, an immediate, a vector or an address.
struct OperandPart {
  enum class Role : uint8_t { kDestination, kSource, kAddress };
  enum class Typing : uint8_t {
    kNone,      // an address
    kModifier,  // the type of the k-th type modifier
    kDoubled,   // twice as wide as the first type modifier
    kFixed,     // always `type`
  };
  Role role = Role::kSource;
  Typing typing = Typing::kNone;
  int modifier = 0;                   // kModifier: which one
  ptx::Type type = ptx::Type::kNone;  // kFixed
  bool vector = false;                // {a, b, …} or a scalar, flattened
  bool coordinates = false;           // of an address: [tensor, {x, y}], [texture, {x, y}]

  bool destination() const { return role == Role::kDestination; }
  bool address() const { return role == Role::kAddress; }
};

struct OperandForm {
  OperandPart part;
  bool has_second = false;  // d|p: the part after the bar; its row is kNoRow if omitted
  OperandPart second;
  bool optional = false;
};

// One element per operand, in PTX order. Each distinct form is parsed once and cached; references stay valid forever.
// Throws std::logic_error on a syntax error, which is a bug in an opcode's row.
const std::vector<OperandForm>& ParseForm(std::string_view form);

// The type of a part in an instruction with these modifiers; kNone for an address, or if the modifier is absent.
ptx::Type ResolveType(const OperandPart& part, const Modifiers& modifiers);

// The type of the same kind with twice the width (u16 → u32, f32 → f64, b64 → b128); kNone if there is none.
ptx::Type Doubled(ptx::Type type);

}  // namespace lockstep::vgpu
