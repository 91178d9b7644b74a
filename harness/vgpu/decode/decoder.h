// Syntax tree → Program.
//
// A kernel is decoded together with every function that it can reach. What cannot be decoded (an unknown opcode, an
// unsupported modifier, operands of the wrong shape) becomes an instruction that stops the kernel with a message when
// it is executed; so a module is never refused for code that it does not run. Handlers trust their rows, so every width
// and range is checked here: the text may be hostile.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "vgpu/core/program.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// The parts of a loaded module that decoding needs.
struct ModuleImage {
  const ptx::Module* syntax = nullptr;
  std::unordered_map<std::string, uint64_t> addresses;  // of .global and .const variables, by VariableKey
  std::unordered_map<std::string_view, const ptx::Function*>
      functions;                                                      // definitions take precedence over declarations
  std::unordered_map<std::string_view, uint64_t> function_addresses;  // in kFunctionWindow
  std::set<uint64_t> textures;                                        // the addresses of .texref variables
};

// A variable's key: its name, or FUNCTION::NAME for a variable declared in a function's body.
std::string VariableKey(const ptx::Function* function, const std::string& name);

// Never throws because of the text's contents.
std::shared_ptr<const Program> DecodeKernel(const ModuleImage& image, const ptx::Function& entry);

// "reduce3_kernel<128u>" for "_Z14reduce3_kernelILj128EEvPKiPij": without the parameter list.
std::string Demangle(const std::string& mangled);

}  // namespace lockstep::vgpu
