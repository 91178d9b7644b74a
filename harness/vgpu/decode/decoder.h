// Syntax tree → Program.
//
// A kernel is decoded with every function that it can reach. What can't be decoded (an opcode without a row, a modifier
// that no one honours, operands of the wrong shape) becomes an instruction that stops the kernel with a sentence when
// it is executed; so a module is never refused for what it does not run. Hostile texts are the reason for every check
// of width and range here: handlers trust their rows.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "vgpu/core/program.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// What decoding needs of a loaded module.
struct ModuleImage {
  const ptx::Module* syntax = nullptr;
  std::unordered_map<std::string, uint64_t> addresses;  // of .global and .const variables, see VariableKey
  std::unordered_map<std::string_view, const ptx::Function*> functions;  // those with a body first
  std::unordered_map<std::string_view, uint64_t> function_addresses;     // in kFunctionWindow
};

// A variable's key: its name, or FUNCTION::NAME for one that a function's body declares.
std::string VariableKey(const ptx::Function* function, const std::string& name);

// Never throws for what the text holds.
std::shared_ptr<const Program> DecodeKernel(const ModuleImage& image, const ptx::Function& entry);

// "reduce3_kernel<128u>" of "_Z14reduce3_kernelILj128EEvPKiPij": without the parameter list.
std::string Demangle(const std::string& mangled);

}  // namespace lockstep::vgpu
