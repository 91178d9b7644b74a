#include "vgpu/analysis/contraction.h"

#include <algorithm>
#include <span>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/value_flow.h"

// Theory of operation, found from ptxas's code. A product is contracted only if that makes it unnecessary: every use is
// one term of a sum of the same type in its basic block. Of two products in a sum the one that has no other use is
// taken, else the one with fewer, else the first; the other one is then needed.
namespace lockstep::vgpu {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

bool IsSum(const ptx::Instruction& i) { return i.opcode == "add" || i.opcode == "sub"; }

// The modifiers of a product or a sum without a rounding: .ftz and the type; of a sum without .sat. Else nothing.
using Form = std::pair<bool, std::string_view>;
std::optional<Form> FormOf(const ptx::Instruction& i) {
  if ((!IsSum(i) && (i.opcode != "mul" || i.guard)) || i.operands.size() != 3 || i.modifiers.empty()) return {};
  const std::string& type = i.modifiers.back();
  if (type.find('f') == std::string::npos || type == "f32x2") return {};
  bool flushes = false;
  for (const std::string& word : std::span(i.modifiers).first(i.modifiers.size() - 1)) {
    if (IsSum(i) && word == "sat") continue;
    if (flushes || word != "ftz") return {};
    flushes = true;
  }
  return Form(flushes, type);
}

class Contractor {
 public:
  explicit Contractor(const FunctionOpcodes& opcodes)
      : function_(opcodes.function()),
        uses_(opcodes),
        graph_(BuildControlFlowGraph(opcodes)),
        readers_(static_cast<size_t>(uses_.registers())),
        writers_(readers_.size()),
        free_(opcodes.size()),
        product_(opcodes.size(), kNone) {
    for (size_t k = 0; k < opcodes.size(); ++k) {
      uses_.ForReads(k, [&](int reg) { readers_[static_cast<size_t>(reg)].push_back(k); });
      uses_.ForWrites(k, [&](int reg) { writers_[static_cast<size_t>(reg)].push_back(k); });
    }
    for (size_t k = 0; k < opcodes.size(); ++k) free_[k] = OnlyTerms(k);
    for (const bool only_sole : {true, false}) {
      for (size_t k = 0; k < opcodes.size(); ++k) {
        if (product_[k] == kNone && IsSum(function_.body[k])) Choose(k, only_sole);
      }
    }
  }

  std::optional<ptx::Function> Run() const {
    if (std::ranges::all_of(product_, [](size_t product) { return product == kNone; })) return std::nullopt;
    ptx::Function to = function_;
    to.body.clear();
    std::vector<size_t> place;
    for (size_t k = 0; k < function_.body.size(); ++k) {
      place.push_back(to.body.size());
      if (free_[k] && std::ranges::all_of(Of(readers_, k, 0), [&](size_t sum) { return product_[sum] == k; })) continue;
      ptx::Instruction i = function_.body[k];
      if (product_[k] != kNone) {
        const std::vector<ptx::Operand>& factors = function_.body[product_[k]].operands;
        const bool is_first = uses_.Operand(k, 1) == uses_.Operand(product_[k], 0);
        ptx::Operand factor = factors[1], other = i.operands[is_first ? 2 : 1];
        if (i.opcode == "sub") Negate(is_first ? other : factor, i, to);
        i.opcode = "fma";
        i.modifiers.insert(i.modifiers.begin(), "rn");
        i.operands = {i.operands[0], factor, factors[2], other};
      }
      to.body.push_back(std::move(i));
    }
    place.push_back(to.body.size());
    for (ptx::Label& label : to.labels) label.instruction = place[label.instruction];
    return to;
  }

 private:
  using Places = std::vector<std::vector<size_t>>;  // instructions by register

  // Those of an operand, which is a register.
  const std::vector<size_t>& Of(const Places& places, size_t k, size_t operand) const {
    return places[static_cast<size_t>(uses_.Operand(k, operand))];
  }

  // Whether the instruction is a product all of whose uses it can be contracted with.
  bool OnlyTerms(size_t k) const {
    const ptx::Instruction& product = function_.body[k];
    if (product.opcode != "mul" || uses_.kind(k) == value_use::Kind::kUse || !FormOf(product)) return false;
    if (uses_.Operand(k, 0) < 0 || Of(writers_, k, 0).size() != 1 || Of(readers_, k, 0).empty()) return false;
    const auto keeps = [&](size_t factor, size_t sum) {  // its value
      if (uses_.Operand(k, factor) < 0) return true;
      AnalysisWork::Spend(Of(writers_, k, factor).size());
      return std::ranges::none_of(Of(writers_, k, factor), [&](size_t at) { return at >= k && at < sum; });
    };
    size_t last = k;
    return std::ranges::all_of(Of(readers_, k, 0), [&](size_t sum) {
      const bool again = sum <= std::exchange(last, sum);
      return !again && graph_.block_of[sum] == graph_.block_of[k] && IsSum(function_.body[sum]) &&
             FormOf(function_.body[sum]) == FormOf(product) && keeps(1, sum) && keeps(2, sum);
    });
  }

  void Choose(size_t sum, bool only_sole) {
    size_t product[2] = {kNone, kNone}, count[2] = {kNone, kNone};
    for (const size_t term : {0, 1}) {
      if (uses_.Operand(sum, term + 1) < 0 || Of(writers_, sum, term + 1).size() != 1) continue;
      const size_t at = Of(writers_, sum, term + 1)[0];
      if (free_[at]) product[term] = at, count[term] = Of(readers_, at, 0).size();
    }
    const int chosen = count[1] < count[0] ? 1 : 0;
    if (product[chosen] == kNone || (only_sole && count[chosen] != 1)) return;
    product_[sum] = product[chosen];
    if (product[1 - chosen] != kNone) free_[product[1 - chosen]] = false;
  }

  static void Negate(ptx::Operand& operand, ptx::Instruction sum, ptx::Function& to) {
    const std::string type = sum.modifiers.back();
    const ptx::Type bits = type.ends_with("x2") ? ptx::Type::kB32 : ptx::Type::kB16;
    to.registers.push_back({.name = "negative@" + std::to_string(to.registers.size()),
                            .space = ptx::Space::kReg,
                            .type = type == "f32" || type == "f64" ? *ptx::TypeFromName(type) : bits,
                            .count = 0});
    const ptx::Operand negative{ptx::RegisterRef{to.registers.back().name}, {}};
    sum.opcode = "neg";
    sum.modifiers = {type};
    sum.operands = {negative, std::exchange(operand, negative)};
    sum.guard.reset();
    to.body.push_back(std::move(sum));
  }

  const ptx::Function& function_;
  const value_use::Uses uses_;
  const ControlFlowGraph graph_;
  Places readers_, writers_;
  std::vector<bool> free_;       // by instruction: a product that may be contracted
  std::vector<size_t> product_;  // by sum: the product that is contracted
};

}  // namespace

std::optional<ptx::Function> Contracted(const FunctionOpcodes& opcodes) {
  const auto any = [&](bool sums) {
    return std::ranges::any_of(opcodes.body(),
                               [=](const auto& i) { return IsSum(i) == sums && FormOf(i).has_value(); });
  };
  if (opcodes.function().debug != nullptr || !any(false) || !any(true)) return std::nullopt;
  return Contractor(opcodes).Run();
}

}  // namespace lockstep::vgpu
