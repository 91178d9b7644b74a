#include "vgpu/analysis/guessing_loads.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/value_flow.h"
#include "vgpu/analysis/waiting_loads.h"

namespace lockstep::vgpu {
namespace {

using value_use::Has;

bool IsWeakLoad(const Opcode& opcode, const ptx::Instruction& i) {
  if (!opcode.Has(kLoads)) return false;
  return std::none_of(i.modifiers.begin(), i.modifiers.end(), [](const std::string& word) {
    return word == "volatile" || word == "relaxed" || word == "acquire" || word == "nc";
  });
}
const std::string* Register(const ptx::Instruction& i, size_t operand) {
  if (operand >= i.operands.size()) return nullptr;
  const auto* reg = std::get_if<ptx::RegisterRef>(&i.operands[operand].value);
  return reg == nullptr ? nullptr : &reg->name;
}

// What a function's registers hold, by name.
class Values {
 public:
  explicit Values(const FunctionOpcodes& opcodes) : opcodes_(opcodes) {
    for (size_t k = 0; k < opcodes.size(); ++k) {
      const ptx::Instruction& i = opcodes.body()[k];
      for (size_t o = opcodes[k].has_result() ? 1 : 0; o < i.operands.size(); ++o) {
        if (const std::string* reg = Register(i, o)) read_.insert(*reg);
      }
      const std::string* to = Register(i, 0);
      if (to == nullptr || !opcodes[k].has_result()) continue;
      const bool moves = opcodes[k].Is(Meaning::kMove) && i.operands.size() > 1;
      const std::string* from = Register(i, 1);
      if (moves && from != nullptr) copies_[*to].push_back(*from);
      if (IsWeakLoad(opcodes[k], i)) loads_[*to].push_back(k);
      const auto* variable = moves ? std::get_if<ptx::SymbolRef>(&i.operands[1].value) : nullptr;
      const auto [known, is_first] = variable_.emplace(*to, variable);
      if (!is_first) known->second = nullptr;
    }
  }

  bool IsRead(const std::string& reg) const { return read_.contains(reg); }

  // Marks the weak loads of the swap's place whose value the register holds, or a copy of it.
  void MarkLoads(const std::string& reg, const ptx::Instruction& swap, std::vector<bool>& marks) const {
    std::vector<std::string_view> holds = {reg};
    std::unordered_set<std::string_view> known = {reg};
    while (!holds.empty()) {
      const std::string_view at = holds.back();
      holds.pop_back();
      if (const auto copies = copies_.find(at); copies != copies_.end()) {
        AnalysisWork::Spend(kStepsAnInstruction * copies->second.size());
        for (const std::string_view from : copies->second) {
          if (known.insert(from).second) holds.push_back(from);
        }
      }
      const auto loads = loads_.find(at);
      if (loads == loads_.end()) continue;
      AnalysisWork::Spend(kStepsAnInstruction * loads->second.size());
      for (const size_t k : loads->second) {
        if (!SamePlace(opcodes_.body()[k], swap)) continue;
        marks.resize(opcodes_.size());
        marks[k] = true;
      }
    }
  }

 private:
  // An instruction's address; a register that holds a variable's address and nothing else becomes that variable. nvcc
  // loads a shared variable by its name, and passes an atomic operation on it a register.
  ptx::AddressRef AddressByName(const ptx::Instruction& i) const {
    const auto* address = i.operands.size() < 2 ? nullptr : std::get_if<ptx::AddressRef>(&i.operands[1].value);
    if (address == nullptr) return {};
    const auto found = variable_.find(address->base_register);
    if (found == variable_.end() || found->second == nullptr) return *address;
    return {"", found->second->name, found->second->offset + address->offset};
  }

  bool SamePlace(const ptx::Instruction& load, const ptx::Instruction& swap) const {
    if (SameAddress(load, swap)) return true;
    const ptx::AddressRef x = AddressByName(load), y = AddressByName(swap);
    return !x.base_symbol.empty() && x.base_symbol == y.base_symbol && x.offset == y.offset;
  }

  const FunctionOpcodes& opcodes_;
  std::unordered_set<std::string_view> read_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> copies_;
  std::unordered_map<std::string_view, std::vector<size_t>> loads_;
  // The variable whose address is the only value of the register; null if there is none.
  std::unordered_map<std::string_view, const ptx::SymbolRef*> variable_;
};

}  // namespace

std::vector<bool> FindSpeculativeLoads(const FunctionOpcodes& opcodes) {
  std::vector<bool> guesses;
  std::optional<Values> values;
  for (size_t at = 0; at < opcodes.size(); ++at) {
    const ptx::Instruction& swap = opcodes.body()[at];
    if (!opcodes[at].Has(kAtomic) || !opcodes[at].has_result() || !Has(swap, "cas")) continue;
    const std::string* compared = Register(swap, 2);
    const std::string* found = Register(swap, 0);
    if (!values) values.emplace(opcodes);
    if (compared != nullptr && found != nullptr && values->IsRead(*found)) values->MarkLoads(*compared, swap, guesses);
  }
  return guesses;
}

}  // namespace lockstep::vgpu
