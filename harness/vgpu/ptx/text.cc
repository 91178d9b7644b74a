#include "vgpu/ptx/text.h"

#include <cstdio>

#include "vgpu/ptx/overloaded.h"

namespace lockstep::vgpu::ptx {
namespace {

std::string WithOffset(const std::string& name, int64_t offset) {
  if (offset == 0) return name;
  return name + (offset > 0 ? "+" : "") + std::to_string(offset);
}

std::string Joined(const std::vector<Operand>& operands) {
  std::string text;
  for (const Operand& operand : operands) text += (text.empty() ? "" : ", ") + TextOf(operand);
  return text;
}

std::string Operands(const Instruction& instruction) {
  if (instruction.parts.empty()) return Joined(instruction.operands);
  std::string text;
  for (size_t k = 0; k < instruction.operands.size(); ++k) {
    std::string part = k < instruction.parts.size() ? instruction.parts[k] : "";
    text += k == 0 ? "" : ", ";
    if (part.starts_with("-")) {
      text += "-";
      part.erase(0, 1);
    }
    text += TextOf(instruction.operands[k]);
    if (!part.empty()) text += "." + part;
  }
  return text;
}

std::string TextOf(const FloatImmediate& immediate) {
  char text[32];
  std::snprintf(text, sizeof text, immediate.is_double ? "0d%016llX" : "0f%08llX",
                static_cast<unsigned long long>(immediate.bits));
  return text;
}

std::string TextOf(const AddressRef& address) {
  if (!address.base_register.empty()) return WithOffset(address.base_register, address.offset);
  if (!address.base_symbol.empty()) return WithOffset(address.base_symbol, address.offset);
  return std::to_string(address.offset);
}

}  // namespace

std::string TextOf(const Operand& operand) {
  const bool is_address = std::holds_alternative<AddressRef>(operand.value);
  std::string text = std::visit(Overloaded{[](const SinkRef&) -> std::string { return "_"; },
                                           [](const RegisterRef& r) { return (r.negated ? "!" : "") + r.name; },
                                           [](const SpecialRef& s) { return s.name; },
                                           [](const IntegerImmediate& i) {
                                             return i.is_unsigned ? std::to_string(static_cast<uint64_t>(i.value))
                                                                  : std::to_string(i.value);
                                           },
                                           [](const FloatImmediate& f) { return TextOf(f); },
                                           [](const SymbolRef& s) { return WithOffset(s.name, s.offset); },
                                           [](const AddressRef& a) { return TextOf(a); },
                                           [](const VectorRef& v) { return "{" + Joined(v.elements) + "}"; }},
                                operand.value);
  for (const Operand& second : operand.second) text += (is_address ? ", " : "|") + TextOf(second);
  return is_address ? "[" + text + "]" : text;
}

std::string TextOf(const Instruction& instruction) {
  std::string text;
  if (instruction.guard) text = std::string(instruction.guard->negated ? "@!" : "@") + instruction.guard->name + " ";
  text += instruction.opcode;
  for (const std::string& word : instruction.modifiers) text += "." + word;
  std::string operands = Operands(instruction);
  if (instruction.call) {
    const Instruction::CallInfo& call = *instruction.call;
    operands = call.returns.empty() ? "" : "(" + Joined(call.returns) + "), ";
    operands += TextOf(call.target) + ", (" + Joined(call.arguments) + ")";
    if (!call.prototype_or_table.empty()) operands += ", " + call.prototype_or_table;
  }
  return operands.empty() ? text : text + " " + operands;
}

}  // namespace lockstep::vgpu::ptx
