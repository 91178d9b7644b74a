#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <variant>

#include "vgpu/analysis/plans.h"
#include "vgpu/analysis/value_flow.h"

// Origins and updates are found without looking at control flow: a register has the origins of all its definitions, and
// in compiled code nearly every register has only one. The results are only used to word messages.
namespace lockstep::vgpu {
namespace value_use {
namespace {

constexpr size_t kMostOrigins = 3;  // origins of an address; beyond that it counts as having none

class OriginFinder {
 public:
  OriginFinder(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc,
               const std::function<std::optional<uint32_t>(const std::string&)>& parameter, AccessOrigins& origins)
      : opcodes_(opcodes), pc_(pc), parameter_(parameter), found_(origins), uses_(opcodes) {}

  void Find() {
    const size_t n = opcodes_.size();
    AnalysisWork::Spend(kStepsAnInstruction * n);
    of_.resize(static_cast<size_t>(uses_.registers()));
    // A pointer advanced in a loop is defined later in the text, so a second pass is needed.
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t k = 0; k < n; ++k) Follow(k);
    }
    for (size_t k = 0; k < n; ++k) Note(k);
  }

 private:
  using Origins = std::vector<uint32_t>;
  // The last load through a base register that has not been written since.
  struct LoadedAt {
    size_t instruction;
    int64_t offset;
  };

  static const ptx::AddressRef* AddressOf(const ptx::Instruction& i) {
    for (const ptx::Operand& operand : i.operands) {
      if (const auto* address = std::get_if<ptx::AddressRef>(&operand.value)) return address;
    }
    return nullptr;
  }

  void Follow(size_t k) {
    const ptx::Instruction& i = uses_.instruction(k);
    const Opcode& opcode = uses_.opcode(k);
    const int into = i.operands.empty() ? -1 : uses_.Operand(i.operands[0]);
    if (into < 0 || ptx::SizeOf(uses_.type(into)) != 8) return;
    Origins& origins = of_[static_cast<size_t>(into)];
    const auto add = [&](uint32_t offset) {
      if (origins.size() <= kMostOrigins && std::find(origins.begin(), origins.end(), offset) == origins.end()) {
        origins.push_back(offset);
      }
    };
    if (opcode.Has(kLoads)) {
      const ptx::AddressRef* address = AddressOf(i);
      if (address == nullptr || !address->base_register.empty()) return;
      if (const auto offset = parameter_(address->base_symbol)) add(*offset + static_cast<uint32_t>(address->offset));
      return;
    }
    // A factor is an index or an element size, never an address.
    const Meaning meaning = opcode.meaning;
    if (!opcode.pure() || meaning == Meaning::kMultiply || meaning == Meaning::kShiftLeft) return;
    for (size_t o = meaning == Meaning::kMultiplyAdd ? 3 : 1; o < i.operands.size(); ++o) {
      const int from = uses_.Operand(i.operands[o]);
      if (from < 0 || from == into) continue;
      for (const uint32_t offset : of_[static_cast<size_t>(from)]) add(offset);
    }
  }

  void Note(size_t k) {
    const ptx::Instruction& i = uses_.instruction(k);
    const Opcode& opcode = uses_.opcode(k);
    const ptx::AddressRef* address = opcode.accesses_memory() && !opcode.Has(kByHandle) ? AddressOf(i) : nullptr;
    if (address != nullptr && address->base_register.empty() && !address->base_symbol.empty()) {
      const auto at = std::pair(address->base_symbol, address->offset);
      if (opcode.Has(kStores)) {
        if (const auto load = loaded_at_symbol_.find(at); load != loaded_at_symbol_.end()) PairUp(load->second, k);
      } else if (opcode.Has(kLoads)) {
        loaded_at_symbol_.insert_or_assign(at, k);
      }
    }
    if (address != nullptr && !address->base_register.empty()) {
      const int base = uses_.Register(address->base_register);
      const Origins& origins = of_[static_cast<size_t>(base)];
      if (!origins.empty() && origins.size() <= kMostOrigins) found_.parameters[pc_[k]] = origins;
      if (opcode.Has(kLoads)) {
        loaded_.insert_or_assign(base, LoadedAt{k, address->offset});
      } else if (opcode.Has(kStores)) {
        NoteUpdate(k, base, address->offset);
      }
    }
    uses_.ForWrites(k, [&](int reg) { loaded_.erase(reg); });
  }

  void NoteUpdate(size_t store, int base, int64_t offset) {
    const auto load = loaded_.find(base);
    if (load == loaded_.end() || load->second.offset != offset) return;
    PairUp(load->second.instruction, store);
  }

  // Pairs a load and a store of one address in the same line.
  void PairUp(size_t load, size_t store) {
    const ptx::SourceLocation& of_load = uses_.instruction(load).location;
    const ptx::SourceLocation& of_store = uses_.instruction(store).location;
    if (of_load.line != of_store.line || of_load.file != of_store.file) return;
    found_.updates[pc_[load]] = found_.updates[pc_[store]] = pc_[load];
  }

  const FunctionOpcodes& opcodes_;
  const std::vector<uint32_t>& pc_;
  const std::function<std::optional<uint32_t>(const std::string&)>& parameter_;
  AccessOrigins& found_;
  const Uses uses_;
  std::vector<Origins> of_;                                             // by register
  std::unordered_map<int, LoadedAt> loaded_;                            // by base register
  std::map<std::pair<std::string, int64_t>, size_t> loaded_at_symbol_;  // of a variable at a constant offset
};

}  // namespace
}  // namespace value_use

void FindAccessOrigins(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc,
                       const std::function<std::optional<uint32_t>(const std::string&)>& parameter,
                       AccessOrigins& origins) {
  value_use::OriginFinder(opcodes, pc, parameter, origins).Find();
}

}  // namespace lockstep::vgpu
