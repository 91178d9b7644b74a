#include "vgpu/ptx/linker.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "vgpu/ptx/cursor.h"

namespace lockstep::vgpu::ptx {
namespace {

using Renames = std::unordered_map<std::string, std::string>;

template <typename T>
bool IsGlobal(const T& symbol) {
  return symbol.is_extern || symbol.is_visible || symbol.is_weak;
}
bool IsGlobal(const Variable& symbol) {
  return symbol.is_extern || symbol.is_visible || symbol.is_weak || symbol.is_common;
}

class Linker {
 public:
  explicit Linker(std::vector<Module> modules) : modules_(std::move(modules)) {}

  Module Link() {
    for (const Module& module : modules_) {
      if (std::tuple(module.version_major, module.version_minor) >
          std::tuple(linked_.version_major, linked_.version_minor)) {
        linked_.version_major = module.version_major;
        linked_.version_minor = module.version_minor;
      }
      if (module.target_sm > linked_.target_sm) {
        linked_.target_sm = module.target_sm;
        linked_.target = module.target;
      }
    }
    ReserveGlobalNames();
    for (Module& module : modules_) {
      const Renames renames = RenameLocals(module);
      Rename(module, renames);
      MoveFiles(module);
      for (Variable& variable : module.variables) AddVariable(std::move(variable));
      for (Function& function : module.functions) AddFunction(std::move(function));
    }
    ResolveAliases();
    return std::move(linked_);
  }

 private:
  // A module-local name must not equal a global name, even one declared in another module.
  void ReserveGlobalNames() {
    for (const Module& module : modules_) {
      for (const Variable& v : module.variables) {
        if (IsGlobal(v)) taken_.insert(v.name);
      }
      for (const Function& f : module.functions) {
        if (IsGlobal(f)) taken_.insert(f.name);
      }
      for (const auto& [name, target] : module.aliases) taken_.insert(name);
    }
  }

  Renames RenameLocals(const Module& module) {
    Renames renames;
    const auto add = [&](const std::string& name) {
      if (taken_.insert(name).second) return;
      std::string unique;
      for (int k = 2; !taken_.insert(unique = name + "#" + std::to_string(k)).second;) ++k;
      renames.emplace(name, std::move(unique));
    };
    for (const Variable& v : module.variables) {
      if (!IsGlobal(v)) add(v.name);
    }
    for (const Function& f : module.functions) {
      if (!IsGlobal(f)) add(f.name);
    }
    return renames;
  }

  static void Rename(Module& module, const Renames& renames) {
    if (renames.empty()) return;
    const auto rename = [&](std::string& name) {
      if (const auto found = renames.find(name); found != renames.end()) name = found->second;
    };
    for (Variable& v : module.variables) {
      rename(v.name);
      for (Variable::Relocation& relocation : v.relocations) rename(relocation.symbol);
    }
    for (auto& [alias, target] : module.aliases) rename(target);
    for (Function& f : module.functions) {
      rename(f.name);
      ForSymbols(f, rename);
      for (Variable& v : f.variables) {
        for (Variable::Relocation& relocation : v.relocations) rename(relocation.symbol);
      }
    }
  }

  // Calls f(name) for every use of a module-scope name; the function's own declarations hide such names.
  template <typename F>
  static void ForSymbols(Function& function, const F& f) {
    std::unordered_set<std::string> own;
    for (const auto* list : {&function.parameters, &function.returns, &function.variables}) {
      for (const Variable& v : *list) own.insert(v.name);
    }
    for (const Label& label : function.labels) own.insert(label.name);
    for (const BranchTable& table : function.tables) own.insert(table.name);
    for (const CallPrototype& prototype : function.prototypes) own.insert(prototype.name);
    const auto visit = [&](std::string& name) {
      if (!name.empty() && !own.contains(name)) f(name);
    };
    const auto operand = [&](Operand& o, const auto& self) -> void {
      if (auto* symbol = std::get_if<SymbolRef>(&o.value)) visit(symbol->name);
      if (auto* address = std::get_if<AddressRef>(&o.value)) visit(address->base_symbol);
      if (auto* vector = std::get_if<VectorRef>(&o.value)) {
        for (Operand& element : vector->elements) self(element, self);
      }
      for (Operand& second : o.second) self(second, self);
    };
    for (Instruction& i : function.body) {
      for (Operand& o : i.operands) operand(o, operand);
      if (!i.call) continue;
      operand(i.call->target, operand);
      for (Operand& o : i.call->arguments) operand(o, operand);
    }
    for (BranchTable& table : function.tables) {
      for (std::string& target : table.targets) visit(target);
    }
  }

  // Merges the file tables of several modules.
  void MoveFiles(Module& module) {
    std::vector<int> moved;
    for (std::string& path : module.files) {
      const auto [known, is_new] = file_of_.emplace(path, static_cast<int>(linked_.files.size()));
      moved.push_back(known->second);
      if (is_new) linked_.files.push_back(std::move(path));
    }
    const auto move = [&](SourceLocation& place) {
      if (place.file < 0) return;
      place.file = place.file < static_cast<int>(moved.size()) ? moved[static_cast<size_t>(place.file)] : -1;
    };
    for (Function& f : module.functions) {
      for (Instruction& i : f.body) {
        move(i.location);
        move(i.inlined_at);
      }
      for (InlineSite& site : f.inline_sites) move(site.location);
    }
  }

  [[noreturn]] static void FailTwice(const std::string& name, int line) {
    throw PtxError(line, Quoted(name) + " is defined in two modules");
  }

  void AddVariable(Variable variable) {
    if (function_index_.contains(variable.name)) throw PtxError(0, Quoted(variable.name) + " is a function elsewhere");
    const auto [place, is_new] = variable_index_.emplace(variable.name, linked_.variables.size());
    if (is_new) {
      linked_.variables.push_back(std::move(variable));
      return;
    }
    Variable& earlier = linked_.variables[place->second];
    if (earlier.space != variable.space) {
      throw PtxError(0, Quoted(variable.name) + " is declared in two state spaces");
    }
    const uint64_t alignment = std::max(earlier.alignment, variable.alignment);
    const bool fits = earlier.TotalBytes() == variable.TotalBytes() || earlier.TotalBytes() == 0 ||
                      variable.TotalBytes() == 0 || (earlier.is_common && variable.is_common);
    if (!fits) throw PtxError(0, Quoted(variable.name) + " is declared with different sizes");
    if (Replaces(variable, earlier)) earlier = std::move(variable);
    earlier.alignment = alignment;
  }

  static bool Replaces(const Variable& later, const Variable& earlier) {
    if (later.is_extern) return false;
    if (earlier.is_extern) return true;
    if (later.is_common && earlier.is_common) return later.TotalBytes() > earlier.TotalBytes();
    const bool later_yields = later.is_weak || later.is_common, earlier_yields = earlier.is_weak || earlier.is_common;
    if (!later_yields && !earlier_yields) FailTwice(later.name, 0);
    return earlier_yields && !later_yields;
  }

  void AddFunction(Function function) {
    if (variable_index_.contains(function.name)) throw PtxError(0, Quoted(function.name) + " is a variable elsewhere");
    const auto [place, is_new] = function_index_.emplace(function.name, linked_.functions.size());
    if (is_new) {
      linked_.functions.push_back(std::move(function));
      return;
    }
    Function& earlier = linked_.functions[place->second];
    if (earlier.is_entry != function.is_entry) {
      throw PtxError(function.ptx_line, Quoted(function.name) + " is declared as a kernel and as a function");
    }
    if (!function.has_body) return;
    if (earlier.has_body && !earlier.is_weak && !function.is_weak) FailTwice(function.name, function.ptx_line);
    if (!earlier.has_body || (earlier.is_weak && !function.is_weak)) earlier = std::move(function);
  }

  // In a module that declares another module's alias, the name refers to the alias's target.
  void ResolveAliases() {
    Renames renames;
    for (const Module& module : modules_) {
      for (const auto& [name, target] : module.aliases) {
        const auto known = function_index_.find(name);
        if (known != function_index_.end() && linked_.functions[known->second].has_body) continue;
        renames.emplace(name, target);
      }
    }
    if (renames.empty()) return;
    std::erase_if(linked_.functions, [&](const Function& f) { return renames.contains(f.name); });
    linked_.aliases.insert(renames.begin(), renames.end());
    Rename(linked_, renames);
  }

  std::vector<Module> modules_;
  Module linked_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> file_of_;
  std::unordered_map<std::string, size_t> variable_index_, function_index_;
};

}  // namespace

Module LinkModules(std::vector<Module> modules) {
  if (modules.size() == 1) return std::move(modules.front());
  return Linker(std::move(modules)).Link();
}

}  // namespace lockstep::vgpu::ptx
