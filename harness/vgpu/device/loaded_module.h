// A module on a device: its syntax tree, the addresses of its variables, and its kernels decoded so far.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/decode/decoder.h"
#include "vgpu/decode/listing.h"
#include "vgpu/device/device.h"
#include "vgpu/memory/memory.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

class LoadedModule {
 public:
  // Throws ptx::PtxError (too many functions, no room for variables, an invalid initialiser); memory is then unchanged.
  LoadedModule(ptx::Module syntax, ModuleHandle handle, GlobalMemory& memory);

  // nullptr: the module has no such kernel. Decodes on first use.
  const Program* FindProgram(std::string_view kernel);
  std::shared_ptr<const Program> ShareProgram(std::string_view kernel);
  // The kernel at a function's address in device code; nullptr if there is none.
  const KernelInfo* KernelAt(uint64_t address);
  // program: one of this module's.
  Listing List(const Program& program) const { return ListProgram(image_, program); }
  std::vector<std::string> KernelNames() const;
  std::optional<VariableInfo> FindVariable(std::string_view name) const;
  const std::vector<VariableInfo>& placed() const { return placed_; }

 private:
  void PlaceVariables(GlobalMemory& memory);
  void Place(const ptx::Function* scope, const ptx::Variable& variable, GlobalMemory& memory);
  void Initialize(const ptx::Function* scope, const ptx::Variable& variable) const;

  ptx::Module syntax_;
  ModuleImage image_;
  std::map<uint64_t, std::string_view> entry_at_;
  std::vector<VariableInfo> placed_;
  uint64_t constant_bytes_ = 0;
  std::map<std::string, VariableInfo, std::less<>> variables_;  // module scope
  std::map<std::string, std::shared_ptr<const Program>, std::less<>> programs_;
};

}  // namespace lockstep::vgpu
