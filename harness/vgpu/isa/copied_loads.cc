#include "vgpu/isa/copied_loads.h"

#include <algorithm>
#include <optional>
#include <string>

#include "vgpu/isa/value_flow.h"

// A compiler copies a struct with the bytes between its members, in pieces that it likes: vectors of words, words of 8
// bytes, and for padding vectors of single bytes. A load of such a piece counts here where every register that some
// element comes to, by moves and selects or by taking it apart into bytes and joining these, is only stored, in such a
// piece or as part of an argument. Single words and numbers in floating point are no pieces of that kind: they are
// somebody's data.
namespace lockstep::vgpu {
namespace value_use {
namespace {

class CopyPlanner {
 public:
  CopyPlanner(const ptx::Function& function, const std::vector<uint32_t>& pc, std::shared_ptr<CopyPlan>& plan)
      : function_(function), pc_(pc), plan_(plan), uses_(function) {}

  void Plan() {
    const size_t n = function_.body.size();
    if (std::none_of(function_.body.begin(), function_.body.end(), IsPiece)) return;
    const size_t registers = static_cast<size_t>(uses_.registers());
    readers_.resize(registers), writers_.resize(registers), shifted_.resize(registers), known_.resize(registers);
    slot_.assign(registers, CopyPlan::kNoSlot);
    for (size_t k = 0; k < n; ++k) {
      uses_.ForReads(k, [&](int reg) { readers_[static_cast<size_t>(reg)].push_back(k); });
      uses_.ForWrites(k, [&](int reg) {
        ++writers_[static_cast<size_t>(reg)];
        shifted_[static_cast<size_t>(reg)] += IsShiftByBytes(function_.body[k]);
      });
    }
    for (size_t k = 0; k < n; ++k) {
      if (IsPiece(function_.body[k])) AddLoad(k);
    }
    if (slots_ == 0) return;
    for (size_t k = 0; k < n; ++k) {
      if (IsStore(function_.body[k])) AddStore(k);
    }
    plan_->slots += slots_;
  }

 private:
  static size_t ElementsOf(const ptx::Operand& operand) {
    const auto* vector = std::get_if<ptx::VectorRef>(&operand.value);
    return vector == nullptr ? 1 : vector->elements.size();
  }
  static bool MovesPiece(const ptx::Instruction& i, const ptx::Operand& data) {
    const size_t elements = ElementsOf(data);
    return elements <= CopyPlan::kMostElements && (elements > 1 || ptx::SizeOf(TypeOf(i, true)) == 8);
  }
  static bool IsPiece(const ptx::Instruction& i) {
    if (!MayBeUnused(i) || i.operands.empty()) return false;
    const ptx::Type type = TypeOf(i, true);
    const bool byte = ptx::SizeOf(type) == 1;  // of padding that becomes part of an argument
    return type != ptx::Type::kF32 && type != ptx::Type::kF64 && (byte || MovesPiece(i, i.operands[0]));
  }
  static bool IsStore(const ptx::Instruction& i) {
    if (i.opcode != "st" || i.operands.size() != 2) return false;
    bool argument = false, plain = true;
    for (const std::string& word : i.modifiers) {
      argument |= word.starts_with("param");
      plain &= word != "volatile" && word != "relaxed" && word != "release" && word != "mmio" && word != "async" &&
               word != "bulk";
    }
    return plain && (argument || MovesPiece(i, i.operands[1]));
  }

  // By element; -1: none.
  std::vector<int> Registers(const ptx::Operand& operand) const {
    const auto* vector = std::get_if<ptx::VectorRef>(&operand.value);
    if (vector == nullptr) return {uses_.Operand(operand)};
    std::vector<int> registers;
    for (const ptx::Operand& element : vector->elements) registers.push_back(uses_.Operand(element));
    return registers;
  }
  bool IsBase(const ptx::Operand& address, int reg) const {
    const auto* at = std::get_if<ptx::AddressRef>(&address.value);
    return at == nullptr || (!at->base_register.empty() && uses_.Register(at->base_register) == reg);
  }

  bool OnlyCopied(int reg) {
    std::optional<bool>& known = known_[static_cast<size_t>(reg)];
    if (known) return *known;
    known = true;  // where a move leads back here
    bool copied = true;
    for (const size_t k : readers_[static_cast<size_t>(reg)]) copied = copied && Copies(k, reg);
    known_[static_cast<size_t>(reg)] = copied;
    return copied;
  }
  bool Copies(size_t k, int reg) {
    const ptx::Instruction& i = function_.body[k];
    if (i.opcode == "st") return IsStore(i) && !IsBase(i.operands[0], reg);
    const bool selects = i.opcode == "selp" && i.operands.size() == 4;
    const bool moves = (i.opcode == "mov" || IsWidthChange(i)) && i.operands.size() == 2;
    const bool joins =
        i.opcode == "or" && i.operands.size() == 3 && (IsShifted(i.operands[1]) || IsShifted(i.operands[2]));
    if (!selects && !moves && !joins && !IsShiftByBytes(i)) return false;
    for (const int to : Registers(i.operands[0])) {
      if (to >= 0 && !OnlyCopied(to)) return false;
    }
    return true;
  }

  static bool IsWidthChange(const ptx::Instruction& i) {
    if (i.opcode != "cvt" || i.modifiers.size() != 2) return false;
    return std::all_of(i.modifiers.begin(), i.modifiers.end(), [](const std::string& type) {
      return (type[0] == 'u' || type[0] == 's') && type.find_first_not_of("0123456789", 1) == std::string::npos;
    });
  }
  static bool IsShiftByBytes(const ptx::Instruction& i) {
    if ((i.opcode != "shl" && i.opcode != "shr") || i.operands.size() != 3) return false;
    const auto* by = std::get_if<ptx::IntegerImmediate>(&i.operands[2].value);
    return by != nullptr && by->value % 8 == 0;
  }
  // Whether an operand is a register that only such shifts write.
  bool IsShifted(const ptx::Operand& operand) const {
    const int reg = uses_.Operand(operand);
    return reg >= 0 && writers_[static_cast<size_t>(reg)] > 0 &&
           shifted_[static_cast<size_t>(reg)] == writers_[static_cast<size_t>(reg)];
  }

  CopyPlan::Access& Add(size_t k, size_t elements) {
    if (plan_ == nullptr) plan_ = std::make_shared<CopyPlan>();
    plan_->accesses.emplace_back();
    plan_->access_of.resize(std::max<size_t>(plan_->access_of.size(), pc_[k] + 1));
    plan_->access_of[pc_[k]] = static_cast<uint32_t>(plan_->accesses.size());
    CopyPlan::Access& access = plan_->accesses.back();
    access.elements = static_cast<uint8_t>(elements);
    access.element_bytes = static_cast<uint8_t>(ptx::SizeOf(TypeOf(function_.body[k], true)));
    access.slot.fill(CopyPlan::kNoSlot);
    return access;
  }
  void AddLoad(size_t k) {
    const std::vector<int> registers = Registers(function_.body[k].operands[0]);
    const auto copied = [&](int reg) {
      return reg >= 0 && !readers_[static_cast<size_t>(reg)].empty() && OnlyCopied(reg);
    };
    if (std::none_of(registers.begin(), registers.end(), copied)) return;
    CopyPlan::Access& access = Add(k, registers.size());
    for (size_t e = 0; e < registers.size(); ++e) {
      access.copied[e] = copied(registers[e]);
      if (!access.copied[e] || writers_[static_cast<size_t>(registers[e])] != 1) continue;
      access.slot[e] = slot_[static_cast<size_t>(registers[e])] = plan_->slots + slots_;
      slots_ += access.element_bytes == 8 ? 2 : 1;
    }
  }
  void AddStore(size_t k) {
    const std::vector<int> registers = Registers(function_.body[k].operands[1]);
    const auto slot = [&](int reg) { return reg < 0 ? CopyPlan::kNoSlot : slot_[static_cast<size_t>(reg)]; };
    if (registers.size() > CopyPlan::kMostElements ||
        std::all_of(registers.begin(), registers.end(), [&](int reg) { return slot(reg) == CopyPlan::kNoSlot; })) {
      return;
    }
    CopyPlan::Access& access = Add(k, registers.size());
    for (size_t e = 0; e < registers.size(); ++e) access.slot[e] = slot(registers[e]);
  }

  const ptx::Function& function_;
  const std::vector<uint32_t>& pc_;
  std::shared_ptr<CopyPlan>& plan_;
  const Uses uses_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<int> writers_, shifted_;  // how many, and how many of them shift by whole bytes
  std::vector<std::optional<bool>> known_;
  std::vector<uint32_t> slot_;
  uint32_t slots_ = 0;
};

}  // namespace
}  // namespace value_use

void PlanCopies(const ptx::Function& function, const std::vector<uint32_t>& pc, std::shared_ptr<CopyPlan>& plan) {
  const bool loads = std::any_of(function.body.begin(), function.body.end(), value_use::MayBeUnused);
  if (loads) value_use::CopyPlanner(function, pc, plan).Plan();
}

}  // namespace lockstep::vgpu
