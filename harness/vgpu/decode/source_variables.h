// Reads a function's source variables and their locations: DWARF 2, as nvcc -G writes it into PTX.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/core/listing.h"
#include "vgpu/core/program.h"

namespace lockstep::vgpu {

namespace dwarf {
struct Unit;
}

struct ListedFunction {
  const ptx::Function& function;
  const FunctionInfo& info;
  const KernelInfo* kernel;     // of a kernel, else null
  std::vector<uint32_t> pc_of;  // by instruction of the text; one more for the end
  // Null: registers share rows, so none can be shown.
  std::function<std::optional<ListedRegister>(const std::string&)> find_register;
};

class SourceVariableReader {
 public:
  // Indices of SourceVariables::types, by a unit's entries.
  using KnownTypes = std::map<std::pair<const dwarf::Unit*, uint64_t>, size_t>;
  explicit SourceVariableReader(SourceVariables& source);
  ~SourceVariableReader();
  // Adds a function's variables; none if its debug information is not as expected.
  void Add(const ListedFunction& listed);

 private:
  SourceVariables& source_;
  std::map<const ptx::DebugSections*, std::unique_ptr<const dwarf::Unit>> units_;  // each read once
  KnownTypes known_;
};

}  // namespace lockstep::vgpu
