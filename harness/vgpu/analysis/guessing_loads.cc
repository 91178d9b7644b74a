#include "vgpu/analysis/guessing_loads.h"

#include <algorithm>
#include <set>
#include <string>
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

bool IsRead(const FunctionOpcodes& opcodes, const std::string& reg) {
  AnalysisWork::Spend(kStepsAnInstruction * opcodes.size());
  for (size_t k = 0; k < opcodes.size(); ++k) {
    const ptx::Instruction& i = opcodes.body()[k];
    for (size_t o = opcodes[k].has_result() ? 1 : 0; o < i.operands.size(); ++o) {
      const std::string* operand = Register(i, o);
      if (operand != nullptr && *operand == reg) return true;
    }
  }
  return false;
}

// An instruction's address; a register that holds a variable's address and nothing else becomes that variable. nvcc
// loads a shared variable by its name, and passes an atomic operation on it a register.
ptx::AddressRef AddressByName(const FunctionOpcodes& opcodes, const ptx::Instruction& i) {
  ptx::AddressRef address = std::get<ptx::AddressRef>(i.operands[1].value);
  AnalysisWork::Spend(kStepsAnInstruction * opcodes.size());
  const ptx::SymbolRef* variable = nullptr;
  for (size_t k = 0; k < opcodes.size(); ++k) {
    const std::string* to = Register(opcodes.body()[k], 0);
    if (!opcodes[k].has_result() || to == nullptr || *to != address.base_register) continue;
    if (variable != nullptr || !opcodes[k].Is(Meaning::kMove)) return address;
    variable = std::get_if<ptx::SymbolRef>(&opcodes.body()[k].operands[1].value);
    if (variable == nullptr) return address;
  }
  return variable == nullptr ? address : ptx::AddressRef{"", variable->name, variable->offset + address.offset};
}

bool SamePlace(const FunctionOpcodes& opcodes, const ptx::Instruction& load, const ptx::Instruction& swap) {
  if (SameAddress(load, swap)) return true;
  const ptx::AddressRef x = AddressByName(opcodes, load), y = AddressByName(opcodes, swap);
  return !x.base_symbol.empty() && x.base_symbol == y.base_symbol && x.offset == y.offset;
}

}  // namespace

std::vector<bool> FindSpeculativeLoads(const FunctionOpcodes& opcodes) {
  const std::vector<ptx::Instruction>& body = opcodes.body();
  std::vector<bool> guesses;
  for (size_t at = 0; at < body.size(); ++at) {
    const ptx::Instruction& swap = body[at];
    if (!opcodes[at].Has(kAtomic) || !opcodes[at].has_result() || !Has(swap, "cas")) continue;
    const std::string* compared = Register(swap, 2);
    const std::string* found = Register(swap, 0);
    if (compared == nullptr || found == nullptr || !IsRead(opcodes, *found)) continue;
    // Registers that hold the compared value or a copy of it.
    std::set<std::string> holds = {*compared};
    for (bool more = true; more;) {
      more = false;
      AnalysisWork::Spend(kStepsAnInstruction * body.size());
      for (size_t k = 0; k < body.size(); ++k) {
        const std::string *to = Register(body[k], 0), *from = Register(body[k], 1);
        if (opcodes[k].Is(Meaning::kMove) && to != nullptr && from != nullptr && holds.count(*to) != 0) {
          more |= holds.insert(*from).second;
        }
      }
    }
    for (size_t k = 0; k < body.size(); ++k) {
      const std::string* to = Register(body[k], 0);
      if (!IsWeakLoad(opcodes[k], body[k]) || to == nullptr || holds.count(*to) == 0 ||
          !SamePlace(opcodes, body[k], swap))
        continue;
      guesses.resize(body.size());
      guesses[k] = true;
    }
  }
  return guesses;
}

}  // namespace lockstep::vgpu
