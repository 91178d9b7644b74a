#include "vgpu/device/loaded_module.h"

#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/core/float_environment.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {
namespace {

using ptx::Space;

// Function addresses: 16 bytes per function, from a window of 2^32 bytes that all modules share.
constexpr uint64_t kFunctionBytes = 16;
constexpr uint64_t kFunctionsPerModule = 1 << 16;
constexpr uint64_t kConstantBytes = 64 << 10;  // that a module's .const variables may have

}  // namespace

LoadedModule::LoadedModule(ptx::Module syntax, ModuleHandle handle, GlobalMemory& memory) : syntax_(std::move(syntax)) {
  image_.syntax = &syntax_;
  const uint64_t first = kFunctionWindow + handle % (kWindowBytes / kFunctionBytes / kFunctionsPerModule) *
                                               kFunctionsPerModule * kFunctionBytes;
  uint64_t k = 0;
  for (const ptx::Function& f : syntax_.functions) {
    const ptx::Function*& known = image_.functions[f.name];
    if (known == nullptr || f.has_body) known = &f;
  }
  for (const bool entries : {false, true}) {  // kernels have addresses too, for launches from kernels
    for (const ptx::Function& f : syntax_.functions) {
      if (f.is_entry != entries) continue;
      const uint64_t address = first + (k + 1) * kFunctionBytes;
      if (!image_.function_addresses.emplace(f.name, address).second) continue;
      if (entries) entry_at_[address] = f.name;
      if (++k + 1 >= kFunctionsPerModule) throw ptx::PtxError(f.ptx_line, "the module has too many functions");
    }
  }
  try {
    PlaceVariables(memory);
  } catch (...) {
    for (const VariableInfo& v : placed_) memory.Free(v.address);
    throw;
  }
}

void LoadedModule::PlaceVariables(GlobalMemory& memory) {
  // Place all variables first, so that initialisers may refer to later ones.
  for (const ptx::Variable& v : syntax_.variables) Place(nullptr, v, memory);
  for (const ptx::Function& f : syntax_.functions) {
    for (const ptx::Variable& v : f.variables) Place(&f, v, memory);
  }
  for (const ptx::Variable& v : syntax_.variables) Initialize(nullptr, v);
  for (const ptx::Function& f : syntax_.functions) {
    for (const ptx::Variable& v : f.variables) Initialize(&f, v);
  }
}

void LoadedModule::Place(const ptx::Function* scope, const ptx::Variable& v, GlobalMemory& memory) {
  if (v.space != Space::kGlobal && v.space != Space::kConst) return;
  const uint64_t bytes = v.TotalBytes();
  if (bytes == 0) return;  // a variable that is only declared (.extern) gets memory too, as with NVIDIA's driver
  const bool constant = v.space == Space::kConst;
  if (constant) constant_bytes_ += bytes;
  if (constant_bytes_ > kConstantBytes) {  // with ptxas's message
    throw ptx::PtxError(0, "file uses too much global constant data (" + std::to_string(constant_bytes_) + " bytes, " +
                               std::to_string(kConstantBytes) + " max)");
  }
  const uint64_t address = memory.Allocate(bytes, v.name, "", true, constant);
  if (address == 0) throw ptx::PtxError(0, "variable " + v.name + " does not fit into the device's memory");
  const VariableInfo info{address, bytes, constant, v.is_managed, v.is_texture};
  if (v.is_texture) image_.textures.insert(address);
  placed_.push_back(info);
  std::memset(reinterpret_cast<void*>(address), 0, bytes);
  image_.addresses[VariableKey(scope, v.name)] = address;
  if (scope == nullptr) variables_[v.name] = info;
}

void LoadedModule::Initialize(const ptx::Function* scope, const ptx::Variable& v) const {
  const auto at = image_.addresses.find(VariableKey(scope, v.name));
  if (at == image_.addresses.end() || (v.space != Space::kGlobal && v.space != Space::kConst)) return;
  const uint64_t bytes = v.TotalBytes();
  uint8_t* const target = reinterpret_cast<uint8_t*>(at->second);
  if (!v.bytes.empty()) std::memcpy(target, v.bytes.data(), std::min<uint64_t>(v.bytes.size(), bytes));
  for (const ptx::Variable::Relocation& r : v.relocations) {
    if (r.size < 1 || r.size > 8 || r.offset > bytes || static_cast<uint64_t>(r.size) > bytes - r.offset) {
      throw ptx::PtxError(0, "variable " + v.name + " has an address beyond its end");
    }
    uint64_t value = 0;
    if (const auto variable = image_.addresses.find(r.symbol); variable != image_.addresses.end()) {
      value = variable->second;
    } else if (const auto f = image_.function_addresses.find(r.symbol); f != image_.function_addresses.end()) {
      value = f->second;
    } else {
      throw ptx::PtxError(0, "variable " + v.name + " holds the address of " + r.symbol + ", which is not known");
    }
    value += static_cast<uint64_t>(r.addend);
    if (r.mask != 0) value = (value & r.mask) >> std::countr_zero(r.mask);
    std::memcpy(target + r.offset, &value, static_cast<size_t>(r.size));
  }
}

std::shared_ptr<const Program> LoadedModule::ShareProgram(std::string_view kernel) {
  if (const auto it = programs_.find(kernel); it != programs_.end()) return it->second;
  const auto f = image_.functions.find(kernel);
  if (f == image_.functions.end() || !f->second->is_entry) return nullptr;
  const DefaultFloatEnvironment environment;
  return programs_[std::string(kernel)] = DecodeKernel(image_, *f->second);
}

const KernelInfo* LoadedModule::KernelAt(uint64_t address) {
  const auto found = entry_at_.find(address);
  const Program* program = found == entry_at_.end() ? nullptr : FindProgram(found->second);
  return program == nullptr ? nullptr : &program->kernel;
}

const Program* LoadedModule::FindProgram(std::string_view kernel) { return ShareProgram(kernel).get(); }

std::vector<std::string> LoadedModule::KernelNames() const {
  std::vector<std::string> names;
  for (const ptx::Function& f : syntax_.functions) {
    if (f.is_entry && f.has_body) names.push_back(f.name);
  }
  return names;
}

std::optional<VariableInfo> LoadedModule::FindVariable(std::string_view name) const {
  const auto it = variables_.find(name);
  return it == variables_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace lockstep::vgpu
