#include <algorithm>
#include <string>

#include "vgpu/analysis/bit_uses.h"
#include "vgpu/analysis/plans.h"
#include "vgpu/analysis/value_flow.h"

// A compiler copies a struct together with its padding, in pieces of its choice: vectors, 8-byte words, single bytes of
// padding. The bytes that such a piece loads count here if they are only stored again, in such a piece or as part of
// an argument (analysis/bit_uses.h): their register passes only through moves and selects, or is split into bytes that
// are joined again, and every other reader of the register uses other bytes of it. Single elements of 2 or 4 bytes and
// floating-point numbers are not such pieces: they are data.
namespace lockstep::vgpu {
namespace value_use {
namespace {

class CopyPlanner {
 public:
  CopyPlanner(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, std::shared_ptr<CopyPlan>& plan)
      : opcodes_(opcodes), pc_(pc), plan_(plan), uses_(opcodes) {}

  void Plan() {
    const size_t n = opcodes_.size();
    std::vector<bool> pieces(n);
    for (size_t k = 0; k < n; ++k) pieces[k] = IsPiece(k);
    if (std::find(pieces.begin(), pieces.end(), true) == pieces.end()) return;
    const size_t registers = static_cast<size_t>(uses_.registers());
    writers_.resize(registers), slot_.assign(registers, CopyPlan::kNoSlot);
    std::vector<bool> copies(n);
    for (size_t k = 0; k < n; ++k) {
      uses_.ForWrites(k, [&](int reg) { ++writers_[static_cast<size_t>(reg)]; });
      copies[k] = IsStore(k);
    }
    bits_ = FindBitUses(opcodes_, uses_, copies);
    for (size_t k = 0; k < n; ++k) {
      if (pieces[k]) AddLoad(k);
    }
    if (slots_ == 0) return;
    for (size_t k = 0; k < n; ++k) {
      if (copies[k]) AddStore(k);
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
  bool IsPiece(size_t k) const {
    const ptx::Instruction& i = uses_.instruction(k);
    // Constant memory has no uninitialised bytes.
    if (!uses_.MayBeUnused(k) || Has(i, "const") || i.operands.empty()) return false;
    const ptx::Type type = TypeOf(i, true);
    const bool byte = ptx::SizeOf(type) == 1;  // of padding that becomes part of an argument
    return type != ptx::Type::kF32 && type != ptx::Type::kF64 && (byte || MovesPiece(i, i.operands[0]));
  }
  bool IsStore(size_t k) const {
    const ptx::Instruction& i = uses_.instruction(k);
    if (!uses_.opcode(k).Has(kStores) || i.operands.size() != 2) return false;
    bool argument = false, plain = true;
    for (const std::string& word : i.modifiers) {
      argument |= word.starts_with("param");
      plain &= word != "volatile" && word != "relaxed" && word != "release" && word != "mmio" && word != "async" &&
               word != "bulk" && word != "b128";
    }
    return plain && (argument || MovesPiece(i, i.operands[1]));
  }

  // The register of each element; -1: none.
  std::vector<int> Registers(const ptx::Operand& operand) const {
    const auto* vector = std::get_if<ptx::VectorRef>(&operand.value);
    if (vector == nullptr) return {uses_.Operand(operand)};
    std::vector<int> registers;
    for (const ptx::Operand& element : vector->elements) registers.push_back(uses_.Operand(element));
    return registers;
  }
  CopyPlan::Access& Add(size_t k, size_t elements) {
    if (plan_ == nullptr) plan_ = std::make_shared<CopyPlan>();
    plan_->accesses.emplace_back();
    plan_->access_of.resize(std::max<size_t>(plan_->access_of.size(), pc_[k] + 1));
    plan_->access_of[pc_[k]] = static_cast<uint32_t>(plan_->accesses.size());
    CopyPlan::Access& access = plan_->accesses.back();
    access.elements = static_cast<uint8_t>(elements);
    access.element_bytes = static_cast<uint8_t>(ptx::SizeOf(TypeOf(uses_.instruction(k), true)));
    access.slot.fill(CopyPlan::kNoSlot);
    return access;
  }
  // Bit k: byte k of the register is at most stored. 0 if nothing reads the register.
  uint64_t CopiedBytes(int reg, uint32_t bytes) const {
    const BitUses bits = reg < 0 ? BitUses{} : bits_[static_cast<size_t>(reg)];
    uint64_t copied = 0;
    for (uint32_t byte = 0; byte < bytes && bits.any() != 0; ++byte) {
      copied |= uint64_t{(bits.used >> (8 * byte) & 0xff) == 0} << byte;
    }
    return copied;
  }
  // Whether a whole word, or a whole element, is copied.
  static bool HasWord(uint64_t copied, uint32_t bytes) {
    const uint64_t word = bytes < 4 ? (uint64_t{1} << bytes) - 1 : 0xf;
    return (copied & word) == word || (copied >> 4 & word) == word;
  }
  void AddLoad(size_t k) {
    const std::vector<int> registers = Registers(uses_.instruction(k).operands[0]);
    const uint32_t bytes = static_cast<uint32_t>(ptx::SizeOf(TypeOf(uses_.instruction(k), true)));
    std::vector<uint64_t> copied;
    for (const int reg : registers) copied.push_back(CopiedBytes(reg, bytes));
    if (std::none_of(copied.begin(), copied.end(), [&](uint64_t c) { return HasWord(c, bytes); })) return;
    CopyPlan::Access& access = Add(k, registers.size());
    for (size_t e = 0; e < registers.size(); ++e) {
      access.copied |= copied[e] << (e * bytes);
      if (!HasWord(copied[e], bytes) || writers_[static_cast<size_t>(registers[e])] != 1) continue;
      access.slot[e] = slot_[static_cast<size_t>(registers[e])] = plan_->slots + slots_;
      slots_ += bytes == 8 ? 2 : 1;
    }
  }
  void AddStore(size_t k) {
    const std::vector<int> registers = Registers(uses_.instruction(k).operands[1]);
    const auto slot = [&](int reg) { return reg < 0 ? CopyPlan::kNoSlot : slot_[static_cast<size_t>(reg)]; };
    if (registers.size() > CopyPlan::kMostElements ||
        std::all_of(registers.begin(), registers.end(), [&](int reg) { return slot(reg) == CopyPlan::kNoSlot; })) {
      return;
    }
    CopyPlan::Access& access = Add(k, registers.size());
    for (size_t e = 0; e < registers.size(); ++e) access.slot[e] = slot(registers[e]);
  }

  const FunctionOpcodes& opcodes_;
  const std::vector<uint32_t>& pc_;
  std::shared_ptr<CopyPlan>& plan_;
  const Uses uses_;
  std::vector<int> writers_;   // how many
  std::vector<BitUses> bits_;  // by register
  std::vector<uint32_t> slot_;
  uint32_t slots_ = 0;
};

}  // namespace
}  // namespace value_use

void PlanCopies(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, std::shared_ptr<CopyPlan>& plan) {
  if (value_use::AnyMayBeUnused(opcodes)) value_use::CopyPlanner(opcodes, pc, plan).Plan();
}

}  // namespace lockstep::vgpu
