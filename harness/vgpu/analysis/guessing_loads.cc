#include "vgpu/analysis/guessing_loads.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/value_flow.h"
#include "vgpu/analysis/waiting_loads.h"

namespace lockstep::vgpu {
namespace {

using value_use::Has;

bool IsWeakLoad(const ptx::Instruction& i) {
  if (i.opcode != "ld") return false;
  return std::none_of(i.modifiers.begin(), i.modifiers.end(), [](const std::string& word) {
    return word == "volatile" || word == "relaxed" || word == "acquire" || word == "nc";
  });
}
const std::string* Register(const ptx::Instruction& i, size_t operand) {
  if (operand >= i.operands.size()) return nullptr;
  const auto* reg = std::get_if<ptx::RegisterRef>(&i.operands[operand].value);
  return reg == nullptr ? nullptr : &reg->name;
}

bool IsRead(const std::vector<ptx::Instruction>& body, const std::string& reg) {
  AnalysisWork::Spend(kStepsAnInstruction * body.size());
  return std::any_of(body.begin(), body.end(), [&](const ptx::Instruction& i) {
    for (size_t k = i.opcode == "st" ? 0 : 1; k < i.operands.size(); ++k) {
      const std::string* operand = Register(i, k);
      if (operand != nullptr && *operand == reg) return true;
    }
    return false;
  });
}

}  // namespace

std::vector<bool> FindGuessingLoads(const ptx::Function& function) {
  const std::vector<ptx::Instruction>& body = function.body;
  std::vector<bool> guesses;
  for (const ptx::Instruction& swap : body) {
    if (swap.opcode != "atom" || !Has(swap, "cas")) continue;
    const std::string* compared = Register(swap, 2);
    const std::string* found = Register(swap, 0);
    if (compared == nullptr || found == nullptr || !IsRead(body, *found)) continue;
    // Registers that hold what is compared, or hand it on.
    std::set<std::string> holds = {*compared};
    for (bool more = true; more;) {
      more = false;
      AnalysisWork::Spend(kStepsAnInstruction * body.size());
      for (const ptx::Instruction& i : body) {
        const std::string *to = Register(i, 0), *from = Register(i, 1);
        if (i.opcode == "mov" && to != nullptr && from != nullptr && holds.count(*to) != 0) {
          more |= holds.insert(*from).second;
        }
      }
    }
    for (size_t k = 0; k < body.size(); ++k) {
      const std::string* to = Register(body[k], 0);
      if (!IsWeakLoad(body[k]) || to == nullptr || holds.count(*to) == 0 || !SameAddress(body[k], swap)) continue;
      guesses.resize(body.size());
      guesses[k] = true;
    }
  }
  return guesses;
}

}  // namespace lockstep::vgpu
