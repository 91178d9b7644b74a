#include "vgpu/decode/listing.h"

#include <algorithm>
#include <unordered_map>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/liveness.h"
#include "vgpu/analysis/operand_form.h"
#include "vgpu/decode/flow.h"
#include "vgpu/decode/source_variables.h"
#include "vgpu/ptx/text.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// How informative a type is: a float most, then a signed integer, then an unsigned one; untyped bits least.
int Telling(Type type) {
  switch (type) {
    case Type::kF16:
    case Type::kF32:
    case Type::kF64:
      return 3;
    case Type::kS8:
    case Type::kS16:
    case Type::kS32:
    case Type::kS64:
      return 2;
    case Type::kU8:
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
      return 1;
    default:
      return 0;
  }
}

constexpr int kRounds = 4;  // passes over a function to propagate types

class FunctionLister {
 public:
  explicit FunctionLister(const ptx::Function& function)
      : function_(function), opcodes_(function), layout_(AllocateRegisters(opcodes_, AnalyzeFlow(opcodes_))) {
    const RegisterUses uses = FindRegisterUses(opcodes_);
    for (size_t k = 0; k < uses.registers.name.size(); ++k) type_[uses.registers.name[k]] = uses.registers.type[k];
    for (size_t k = 0; k < function.body.size(); ++k) {
      ForRegisters(k, [&](const OperandPart&, Type type, const std::string& name) {
        const auto known = type_.find(name);
        if (known != type_.end() && ptx::SizeOf(type) == ptx::SizeOf(known->second) &&
            Telling(type) > Telling(known->second)) {
          known->second = type;
        }
      });
    }
    // A move, shuffle or select gives its result and its first source the same type, the more informative of the two.
    for (int round = 0; round < kRounds; ++round) {
      for (size_t k = 0; k < function.body.size(); ++k) Unify(k);
    }
  }

  bool KeepsRegisters() const { return !layout_.shares_rows; }
  std::optional<ListedRegister> Find(const std::string& name) const {
    std::vector<ListedRegister> found;
    Add(name, found);
    return found.empty() ? std::nullopt : std::optional(found.front());
  }

  ListedInsn List(size_t index) const {
    const ptx::Instruction& i = function_.body[index];
    ListedInsn listed;
    listed.text = ptx::TextOf(i);
    listed.traits = opcodes_[index].traits;
    if (i.call) return listed;  // a call's results exist only after it returns
    const bool stores = opcodes_[index].Has(kStores | kAtomic);
    ForRegisters(index, [&](const OperandPart& part, Type, const std::string& name) {
      if (part.destination()) {
        Add(name, listed.writes);
      } else if (stores) {
        Add(name, listed.stores);
      }
    });
    for (const ptx::Operand& operand : i.operands) {
      const auto* address = std::get_if<ptx::AddressRef>(&operand.value);
      if (address == nullptr || opcodes_[index].Has(kByHandle)) continue;
      // The address of a local variable depends on the call, except in the kernel itself.
      listed.has_address = address->base_symbol.empty() || !IsLocal(address->base_symbol);
      if (address->base_register.empty()) break;
      std::vector<ListedRegister> base;
      Add(address->base_register, base);
      if (base.empty()) {
        listed.has_address = false;
      } else {
        listed.base = base.front();
      }
      break;
    }
    return listed;
  }

 private:
  // Calls f(part, type, name) for registers used as operands, not within addresses.
  template <typename F>
  void ForRegisters(size_t index, const F& f) const {
    const ptx::Instruction& i = function_.body[index];
    const Modifiers modifiers(i, opcodes_[index].name);
    const std::vector<OperandForm>& form = ParseForm(opcodes_[index].form);
    const auto visit = [&](const OperandPart& part, const ptx::Operand& operand, const auto& self) -> void {
      if (const auto* r = std::get_if<ptx::RegisterRef>(&operand.value)) {
        f(part, ResolveType(part, modifiers), r->name);
      } else if (const auto* vector = std::get_if<ptx::VectorRef>(&operand.value)) {
        for (const ptx::Operand& element : vector->elements) self(part, element, self);
      }
    };
    for (size_t k = 0; k < std::min(form.size(), i.operands.size()); ++k) {
      visit(form[k].part, i.operands[k], visit);
      if (!form[k].has_second) continue;
      for (const ptx::Operand& second : i.operands[k].second) visit(form[k].second, second, visit);
    }
  }

  void Unify(size_t index) {
    const ptx::Instruction& i = function_.body[index];
    const Opcode& opcode = opcodes_[index];
    if (!opcode.Is(Meaning::kMove) && !opcode.Is(Meaning::kShuffle) && !opcode.Is(Meaning::kSelect)) return;
    if (i.operands.size() < 2) return;
    const auto type_of = [&](const ptx::Operand& operand) -> Type* {
      const auto* r = std::get_if<ptx::RegisterRef>(&operand.value);
      const auto known = r == nullptr ? type_.end() : type_.find(r->name);
      return known == type_.end() ? nullptr : &known->second;
    };
    Type *const a = type_of(i.operands[0]), *const b = type_of(i.operands[1]);
    if (a == nullptr || b == nullptr || ptx::SizeOf(*a) != ptx::SizeOf(*b)) return;
    (Telling(*a) > Telling(*b) ? *b : *a) = Telling(*a) > Telling(*b) ? *a : *b;
  }

  void Add(const std::string& name, std::vector<ListedRegister>& to) const {
    const auto row = layout_.row.find(name);
    const auto type = type_.find(name);
    if (row != layout_.row.end() && type != type_.end()) to.push_back({name, row->second, type->second});
  }
  bool IsLocal(const std::string& symbol) const {
    return !function_.is_entry && std::any_of(function_.variables.begin(), function_.variables.end(),
                                              [&](const ptx::Variable& v) { return v.name == symbol; });
  }

  const ptx::Function& function_;
  const FunctionOpcodes opcodes_;
  const RegisterLayout layout_;
  std::unordered_map<std::string, Type> type_;  // by register
};

}  // namespace

Listing ListProgram(const ModuleImage& image, const Program& program) {
  Listing listing;
  listing.insns.resize(program.code.size());
  AnalysisWork work;
  SourceVariableReader variables(listing.source);
  for (const FunctionInfo& info : program.functions) {
    const auto found = image.functions.find(info.name);
    if (found == image.functions.end() || info.entry_pc == info.end_pc) continue;
    const ptx::Function& function = *found->second;
    const FunctionLister lister(function);
    // The decoder makes one counted instruction for each one in the text, in order.
    size_t index = 0;
    ListedFunction listed{function, info, &info == program.functions.data() ? &program.kernel : nullptr, {}, {}};
    for (uint32_t pc = info.entry_pc; pc < info.end_pc && index < function.body.size(); ++pc) {
      if (!program.info[pc].counted) continue;
      listing.insns[pc] = lister.List(index++);
      listed.pc_of.push_back(pc);
    }
    listed.pc_of.push_back(info.end_pc);
    if (lister.KeepsRegisters()) listed.find_register = [&](const std::string& name) { return lister.Find(name); };
    variables.Add(listed);
  }
  return listing;
}

}  // namespace lockstep::vgpu
