// Reads which variables a function has in the source, and where: DWARF 2, as nvcc -G writes it into PTX.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/core/listing.h"
#include "vgpu/core/program.h"

namespace lockstep::vgpu {

struct DwarfUnit;  // a module's information, read once

struct ListedFunction {
  const ptx::Function& function;
  const FunctionInfo& info;
  const KernelInfo* kernel;     // of an entry, else null
  std::vector<uint32_t> pc_of;  // by instruction of the text; one more for the end
  // Null: registers share rows, so that none can be shown.
  std::function<std::optional<ListedRegister>(const std::string&)> find_register;
};

class SourceVariableReader {
 public:
  explicit SourceVariableReader(SourceVariables& source);
  ~SourceVariableReader();
  // Adds a function's variables. Information that is not as expected adds none.
  void Add(const ListedFunction& listed);

 private:
  SourceVariables& source_;
  std::map<const ptx::DebugSections*, std::unique_ptr<DwarfUnit>> units_;
};

}  // namespace lockstep::vgpu
