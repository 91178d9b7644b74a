#include "vgpu/analysis/waiting_loads.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/liveness.h"
#include "vgpu/analysis/value_flow.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kMostWork = size_t{1} << 26;  // volatile loads times instructions

using value_use::Has;

bool IsVolatileLoad(const FunctionOpcodes& opcodes, size_t k) {
  const ptx::Instruction& i = opcodes.body()[k];
  return opcodes[k].Has(kLoads) && (Has(i, "volatile") || Has(i, "relaxed") || Has(i, "acquire"));
}
bool IsReadingAtomic(const FunctionOpcodes& opcodes, size_t k) {
  return opcodes[k].Has(kAtomic) && opcodes[k].has_result();
}
bool HasSpace(const ptx::Instruction& i, std::string_view space) {
  return std::any_of(i.modifiers.begin(), i.modifiers.end(),
                     [&](const std::string& word) { return word.starts_with(space); });
}
// The value may be read back from there, by this thread or another one of its block.
bool IsPassedOn(const ptx::Instruction& i) { return !HasSpace(i, "global") && !HasSpace(i, "const"); }

const ptx::AddressRef* AddressOf(const ptx::Instruction& i) {
  return i.operands.size() < 2 ? nullptr : std::get_if<ptx::AddressRef>(&i.operands[1].value);
}

class WaitFinder {
 public:
  WaitFinder(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, bool entry)
      : opcodes_(opcodes), body_(opcodes.body()), graph_(graph), entry_(entry), uses_(FindRegisterUses(opcodes)) {
    const size_t registers = uses_.registers.name.size();
    writers_.resize(registers);
    for (size_t k = 0; k < body_.size(); ++k) {
      for (size_t u = uses_.first[k]; u < uses_.first[k + 1]; ++u) {
        const RegisterUse& use = uses_.uses[u];
        if (use.writes && (writers_[Index(use.reg)].empty() || writers_[Index(use.reg)].back() != k)) {
          writers_[Index(use.reg)].push_back(k);
        }
      }
    }
    successors_.resize(graph.blocks.size());
    for (const auto& [from, to] : graph.edges) AddEdge(from, to);
  }

  bool Waits(size_t load) {
    FollowValue(load);
    if (!entry_ && leaves_) return true;
    if (branches_.empty()) return false;
    if (!used_otherwise_) return true;
    const bool atomic = IsReadingAtomic(opcodes_, load);
    const std::vector<bool> ahead = Reach(load, nullptr);
    const std::vector<bool> blocked = Changing(load, ahead);
    return std::any_of(branches_.begin(), branches_.end(), [&](size_t branch) {
      if (!ahead[branch]) return false;
      const std::vector<bool> reached = Reach(branch, &blocked);
      for (size_t k = 0; k < body_.size(); ++k) {
        const bool reads = IsVolatileLoad(opcodes_, k) || (atomic && IsReadingAtomic(opcodes_, k));
        if (reached[k] && reads && AtOneAddress(k, load)) return true;
      }
      return false;
    });
  }

 private:
  static size_t Index(int reg) { return static_cast<size_t>(reg); }

  // A table's targets count as targets of its branch.
  void AddEdge(int from, int to) {
    if (graph_.IsTable(from)) return;
    if (!graph_.IsTable(to)) {
      successors_[Index(from)].push_back(Index(to));
      return;
    }
    AnalysisWork::Spend(8 * graph_.edges.size());  // each may be stored
    for (const auto& [table, target] : graph_.edges) {
      if (table == to) successors_[Index(from)].push_back(Index(target));
    }
  }

  template <typename F>
  void ForReads(size_t k, const F& f) const {
    for (size_t u = uses_.first[k]; u < uses_.first[k + 1]; ++u) {
      if (uses_.uses[u].reads) f(uses_.uses[u].reg);
    }
  }

  // Follows the value, flow-insensitively: collects in branches_ the branches that depend on it, and notes any other
  // use.
  void FollowValue(size_t load) {
    std::vector<bool> holds(uses_.registers.name.size());
    const auto mark = [&](size_t k) {
      bool more = false;
      for (size_t u = uses_.first[k]; u < uses_.first[k + 1]; ++u) {
        if (!uses_.uses[u].writes || holds[Index(uses_.uses[u].reg)]) continue;
        holds[Index(uses_.uses[u].reg)] = more = true;
      }
      return more;
    };
    mark(load);
    branches_.clear();
    used_otherwise_ = leaves_ = false;
    // Code reachable from a store of the value: a load there may return it. Kernel parameters are separate: nothing is
    // ever stored to them.
    std::vector<bool> behind_store(body_.size()), behind_parameter(body_.size()), stores(body_.size());
    const auto behind = [&](const ptx::Instruction& i) -> std::vector<bool>& {
      return HasSpace(i, "param") ? behind_parameter : behind_store;
    };
    for (bool more = true; more;) {
      more = false;
      AnalysisWork::Spend(kStepsAnInstruction * body_.size());
      for (size_t k = 0; k < body_.size(); ++k) {
        const ptx::Instruction& i = body_[k];
        bool reads = opcodes_[k].Has(kLoads) && IsPassedOn(i) && behind(i)[k] && !IsVolatileLoad(opcodes_, k);
        ForReads(k, [&](int reg) { reads |= holds[Index(reg)]; });
        if (!reads) continue;
        more |= mark(k);
        if (!opcodes_[k].Has(kStores) || !IsPassedOn(i) || stores[k]) continue;
        stores[k] = more = true;
        const std::vector<bool> reached = Reach(k, nullptr);
        for (size_t at = 0; at < reached.size(); ++at) {
          if (reached[at]) behind(i)[at] = true;
        }
      }
    }
    for (size_t k = 0; k < body_.size(); ++k) {
      const ptx::Instruction& i = body_[k];
      bool reads = false;
      ForReads(k, [&](int reg) { reads |= holds[Index(reg)] && !(i.guard && OnlyGuard(k, reg)); });
      bool guarded = false;
      if (i.guard) ForReads(k, [&](int reg) { guarded |= holds[Index(reg)]; });
      const Leaving leaving = LeavingOf(opcodes_[k].meaning);
      if ((leaving != Leaving::kNext) && (guarded || reads)) branches_.push_back(k);
      if (!reads || leaving != Leaving::kNext) continue;
      used_otherwise_ |= opcodes_[k].accesses_memory() || i.call || opcodes_[k].Is(Meaning::kShuffle);
      leaves_ |= i.call.has_value() || (opcodes_[k].Has(kStores) && HasSpace(i, "param"));
    }
    for (size_t reg = 0; reg < holds.size(); ++reg) leaves_ |= holds[reg] && uses_.registers.of_interface[reg];
  }
  // The register is the guard and no operand.
  bool OnlyGuard(size_t k, int reg) const {
    int mentions = 0;
    ForReads(k, [&](int r) { mentions += r == reg; });
    return mentions == 1 && uses_.registers.name[Index(reg)] == body_[k].guard->name;
  }

  // The instructions reachable from after `from` without passing a blocked one.
  std::vector<bool> Reach(size_t from, const std::vector<bool>* blocked) const {
    AnalysisWork::Spend(kStepsAnInstruction * body_.size());
    std::vector<bool> reached(body_.size());
    std::vector<size_t> open;
    const auto leave = [&](size_t k) {
      const size_t block = graph_.block_of[k];
      if (k == graph_.blocks[block].last) AnalysisWork::Spend(successors_[block].size());
      if (k != graph_.blocks[block].last) {
        open.push_back(k + 1);
      } else {
        for (const size_t next : successors_[block]) open.push_back(graph_.blocks[next].first);
      }
    };
    leave(from);
    while (!open.empty()) {
      const size_t k = open.back();
      open.pop_back();
      if (reached[k] || (blocked != nullptr && (*blocked)[k])) continue;
      reached[k] = true;
      leave(k);
    }
    return reached;
  }

  // The instructions in the load's loops that change its address. Not included: those that recompute it from unchanged
  // values, those that may pass on the old value, and those that restart from the beginning.
  std::vector<bool> Changing(size_t load, const std::vector<bool>& ahead) const {
    std::vector<bool> changing(body_.size()), known(uses_.registers.name.size());
    std::vector<int> open;
    const auto add = [&](int reg) {
      if (known[Index(reg)] || uses_.registers.type[Index(reg)] == ptx::Type::kPred)
        return;  // what selects is not part of the address
      open.push_back(reg);
      known[Index(reg)] = true;
    };
    ForReads(load, [&](int reg) {
      if (!(body_[load].guard && OnlyGuard(load, reg))) add(reg);
    });
    while (!open.empty()) {
      const int reg = open.back();
      open.pop_back();
      const std::vector<size_t>& writers = writers_[Index(reg)];
      AnalysisWork::Spend(writers.size());
      for (const size_t k : writers) {
        if (!ahead[k] || k == load) continue;
        const ptx::Instruction& i = body_[k];
        const bool fresh = opcodes_[k].Has(kAtomic) || i.call.has_value() ||
                           (opcodes_[k].Has(kLoads) && !HasSpace(i, "local") && !HasSpace(i, "param"));
        const bool step = (writers.size() > 1 || ReadsItself(k, reg)) && !PassesOn(k, reg, 8) && !BeginsAnew(k, ahead);
        changing[k] = changing[k] || (!i.guard && (fresh || step));
        if (!fresh) ForReads(k, add);
      }
    }
    return changing;
  }
  // Same address operand, or registers computed in the same way: a load that is inlined twice uses two registers.
  bool AtOneAddress(size_t a, size_t b) const {
    if (SameAddress(body_[a], body_[b])) return true;
    const ptx::AddressRef *x = AddressOf(body_[a]), *y = AddressOf(body_[b]);
    if (x == nullptr || y == nullptr || x->base_symbol != y->base_symbol || x->offset != y->offset) return false;
    const int left = RegisterIn(a, x->base_register), right = RegisterIn(b, y->base_register);
    return left >= 0 && right >= 0 && AreAlike(left, right, 8);
  }
  int RegisterIn(size_t k, const std::string& name) const {
    int found = -1;
    ForReads(k, [&](int reg) {
      if (uses_.registers.name[Index(reg)] == name) found = reg;
    });
    return found;
  }
  bool AreAlike(int a, int b, int depth) const {
    if (a == b) return true;
    const std::vector<size_t>&of_a = writers_[Index(a)], &of_b = writers_[Index(b)];
    if (depth == 0 || of_a.size() != 1 || of_b.size() != 1) return false;
    AnalysisWork::Spend(1);
    const ptx::Instruction &x = body_[of_a[0]], &y = body_[of_b[0]];
    if (!opcodes_[of_a[0]].pure() || x.guard || y.guard || x.opcode != y.opcode || x.modifiers != y.modifiers)
      return false;
    for (size_t k = 1; k < x.operands.size() && k < y.operands.size(); ++k) {
      const auto *left = std::get_if<ptx::IntegerImmediate>(&x.operands[k].value),
                 *right = std::get_if<ptx::IntegerImmediate>(&y.operands[k].value);
      if (left != nullptr && right != nullptr && left->value == right->value) continue;
      const auto *from = std::get_if<ptx::RegisterRef>(&x.operands[k].value),
                 *other = std::get_if<ptx::RegisterRef>(&y.operands[k].value);
      if (from == nullptr || other == nullptr || from->negated != other->negated) return false;
      if (!AreAlike(RegisterIn(of_a[0], from->name), RegisterIn(of_b[0], other->name), depth - 1)) return false;
    }
    return x.operands.size() == y.operands.size();
  }
  bool ReadsItself(size_t k, int reg) const {
    bool itself = false;
    ForReads(k, [&](int r) { itself |= r == reg; });
    return itself;
  }
  // Whether instruction k is a move of a value from outside the load's loops. It only resets its register, as when an
  // inner loop over several words starts again at the first.
  bool BeginsAnew(size_t k, const std::vector<bool>& ahead) const {
    bool same = opcodes_[k].Is(Meaning::kMove);
    ForReads(k, [&](int reg) {
      const std::vector<size_t>& writers = writers_[Index(reg)];
      AnalysisWork::Spend(writers.size());
      same &= std::none_of(writers.begin(), writers.end(), [&](size_t writer) { return ahead[writer]; });
    });
    return same;
  }
  // Whether the instruction may write the value that `reg` already held.
  bool PassesOn(size_t k, int reg, int depth) const {
    if (!(opcodes_[k].Is(Meaning::kMove) || opcodes_[k].Is(Meaning::kSelect)) || depth == 0) return false;
    AnalysisWork::Spend(1);
    bool same = false;
    ForReads(k, [&](int source) {
      same |= source == reg;
      if (source == reg) return;
      for (const size_t writer : writers_[Index(source)]) same |= PassesOn(writer, reg, depth - 1);
    });
    return same;
  }

  const FunctionOpcodes& opcodes_;
  const std::vector<ptx::Instruction>& body_;
  const ControlFlowGraph& graph_;
  const bool entry_;
  const RegisterUses uses_;
  std::vector<std::vector<size_t>> writers_;     // by register
  std::vector<std::vector<size_t>> successors_;  // by block
  // The branches that depend on the value followed last.
  std::vector<size_t> branches_;
  bool used_otherwise_ = false, leaves_ = false;
};

}  // namespace

bool SameAddress(const ptx::Instruction& a, const ptx::Instruction& b) {
  const ptx::AddressRef *x = AddressOf(a), *y = AddressOf(b);
  return x != nullptr && y != nullptr && x->base_register == y->base_register && x->base_symbol == y->base_symbol &&
         x->offset == y->offset;
}

std::vector<bool> FindSpinReads(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, bool entry) {
  std::vector<bool> waiting(opcodes.size());
  std::vector<size_t> loads;
  for (size_t k = 0; k < opcodes.size(); ++k) {
    if (IsVolatileLoad(opcodes, k) || IsReadingAtomic(opcodes, k)) loads.push_back(k);
  }
  if (loads.empty()) return {};
  const bool large = loads.size() > kMostWork / opcodes.size();
  if (large) {
    for (const size_t load : loads) waiting[load] = true;
    return waiting;
  }
  WaitFinder finder(opcodes, graph, entry);
  for (const size_t load : loads) waiting[load] = finder.Waits(load);
  return waiting;
}

}  // namespace lockstep::vgpu
