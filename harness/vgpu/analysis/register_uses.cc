#include <algorithm>

#include "vgpu/analysis/liveness.h"
#include "vgpu/analysis/operand_form.h"

namespace lockstep::vgpu {
namespace {

class UseFinder {
 public:
  explicit UseFinder(const FunctionOpcodes& opcodes) : opcodes_(opcodes), function_(opcodes.function()) {
    for (const auto* list : {&function_.parameters, &function_.returns}) {
      for (const ptx::Variable& variable : *list) {
        if (variable.space != ptx::Space::kReg) continue;
        declared_.emplace(variable.name, &variable);
        found_.registers.of_interface[Number(variable.name, function_.ptx_line)] = true;
      }
    }
    for (const ptx::Variable& variable : function_.registers) declared_.emplace(variable.name, &variable);
  }

  RegisterUses Find() {
    for (size_t k = 0; k < opcodes_.size(); ++k) {
      const ptx::Instruction& instruction = function_.body[k];
      line_ = instruction.ptx_line;
      found_.first.push_back(found_.uses.size());
      if (instruction.guard) Add(instruction.guard->name, true, false);
      if (instruction.call) {
        AddAll(instruction.call->returns, false, true);
        AddOperand(instruction.call->target, true, false);
        AddAll(instruction.call->arguments, true, false);
      } else {
        AddOperands(instruction, opcodes_[k]);
      }
    }
    found_.first.push_back(found_.uses.size());
    return std::move(found_);
  }

 private:
  void AddOperands(const ptx::Instruction& instruction, const Opcode& opcode) {
    const std::vector<OperandForm>& form = ParseForm(opcode.form);
    if (!Matches(form, instruction.operands.size())) {
      AddAll(instruction.operands, true, true);
      return;
    }
    for (size_t k = 0; k < instruction.operands.size(); ++k) {
      const ptx::Operand& operand = instruction.operands[k];
      AddValue(operand, !form[k].part.destination(), form[k].part.destination());
      // An address may be followed by coordinates, a bar by the second part.
      const bool writes = form[k].has_second && form[k].second.destination();
      for (const ptx::Operand& second : operand.second) AddOperand(second, !writes, writes);
    }
  }

  // Whether operands match the form by position: omitted ones are optional and come last.
  static bool Matches(const std::vector<OperandForm>& form, size_t operands) {
    return operands <= form.size() && std::all_of(form.begin() + static_cast<ptrdiff_t>(operands), form.end(),
                                                  [](const OperandForm& missing) { return missing.optional; });
  }

  void AddAll(const std::vector<ptx::Operand>& operands, bool reads, bool writes) {
    for (const ptx::Operand& operand : operands) AddOperand(operand, reads, writes);
  }

  void AddOperand(const ptx::Operand& operand, bool reads, bool writes) {
    AddValue(operand, reads, writes);
    for (const ptx::Operand& second : operand.second) AddOperand(second, reads, writes);
  }

  void AddValue(const ptx::Operand& operand, bool reads, bool writes) {
    if (const auto* reg = std::get_if<ptx::RegisterRef>(&operand.value)) {
      Add(reg->name, reads, writes);
    } else if (const auto* address = std::get_if<ptx::AddressRef>(&operand.value)) {
      if (!address->base_register.empty()) Add(address->base_register, true, false);
    } else if (const auto* vector = std::get_if<ptx::VectorRef>(&operand.value)) {
      AddAll(vector->elements, reads, writes);
    }
  }

  void Add(const std::string& name, bool reads, bool writes) {
    found_.uses.push_back({Number(name, line_), reads, writes});
  }

  int Number(const std::string& name, int line) {
    const auto known = number_.find(name);
    if (known != number_.end()) return known->second;
    const ptx::Variable* variable = Declaration(name);
    if (variable == nullptr) throw ptx::PtxError(line, "the register " + name + " is not declared");
    const int number = static_cast<int>(found_.registers.name.size());
    number_.emplace(name, number);
    found_.registers.name.push_back(name);
    found_.registers.type.push_back(variable->type);
    found_.registers.of_interface.push_back(false);
    return number;
  }

  // A single register, or a range's base name without the index.
  const ptx::Variable* Declaration(std::string_view name) const {
    const auto single = declared_.find(name);
    if (single != declared_.end() && single->second->count == 0) return single->second;
    uint64_t index = 0, scale = 1;
    for (size_t digits = 1; digits < name.size() && digits < 10; ++digits) {
      const char digit = name[name.size() - digits];
      if (digit < '0' || digit > '9') break;
      index += scale * static_cast<uint64_t>(digit - '0');
      scale *= 10;
      if (digit == '0' && digits > 1) continue;  // an index has no leading zeros
      const auto range = declared_.find(name.substr(0, name.size() - digits));
      if (range != declared_.end() && range->second->count > 0 && index < static_cast<uint64_t>(range->second->count)) {
        return range->second;
      }
    }
    return nullptr;
  }

  const FunctionOpcodes& opcodes_;
  const ptx::Function& function_;
  std::unordered_map<std::string_view, const ptx::Variable*> declared_;
  std::unordered_map<std::string, int> number_;
  RegisterUses found_;
  int line_ = 0;
};

}  // namespace

RegisterUses FindRegisterUses(const FunctionOpcodes& opcodes) { return UseFinder(opcodes).Find(); }

}  // namespace lockstep::vgpu
