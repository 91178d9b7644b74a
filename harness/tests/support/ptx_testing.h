// Shared by the parser's tests: small modules in, parts of the syntax tree out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu::ptx {

inline constexpr const char* kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";

inline Module ParseModule(const std::string& text) { return Parse(kHeader + text); }

// A kernel with this body, parsed.
inline Function ParseBody(const std::string& body) {
  Module module = ParseModule(".visible .entry k(.param .u64 a, .param .u32 n)\n{\n" + body + "\n}\n");
  return std::move(module.functions.at(0));
}

// What the parser says about a whole text, or about a kernel's body, which begins on line 6; "" when it takes it.
inline std::string ErrorOf(const std::string& text) {
  try {
    Parse(text);
  } catch (const PtxError& error) {
    return error.what();
  }
  return "";
}
inline std::string BodyError(const std::string& body) {
  return ErrorOf(kHeader + (".entry k()\n{\n" + body + "\n}\n"));
}

inline const RegisterRef& Register(const Operand& operand) { return std::get<RegisterRef>(operand.value); }
inline const SymbolRef& Symbol(const Operand& operand) { return std::get<SymbolRef>(operand.value); }
inline const AddressRef& Address(const Operand& operand) { return std::get<AddressRef>(operand.value); }
inline int64_t Integer(const Operand& operand) { return std::get<IntegerImmediate>(operand.value).value; }

}  // namespace lockstep::vgpu::ptx
