// What each instruction of a function does to register values, for the analyses that follow values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/analysis/liveness.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::value_use {

enum class Kind : uint8_t {
  kUse,
  kPure,
  kSelect,   // selp, slct: operand 1 or 2, chosen by operand 3
  kBitwise,  // and, or: operands 1 and 2
  kCompare,  // setp, set that combine with a predicate operand 3
  kLoad,     // uses only its address
  kEnd,      // ends every thread
};

inline bool Has(const ptx::Instruction& i, std::string_view word) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end();
}

inline bool IsShift(const Opcode& opcode) { return opcode.Is(Meaning::kShiftLeft) || opcode.Is(Meaning::kShiftRight); }

inline bool MayBeUnused(const Opcode& opcode, const ptx::Instruction& i) {
  if (!opcode.Has(kLoads) || opcode.Has(kWholeWarp | kByHandle)) return false;
  return std::none_of(i.modifiers.begin(), i.modifiers.end(), [](const std::string& word) {
    return word == "volatile" || word == "relaxed" || word == "acquire" || word == "mmio" || word.starts_with("param");
  });
}

inline bool AnyMayBeUnused(const FunctionOpcodes& opcodes) {
  for (size_t k = 0; k < opcodes.size(); ++k) {
    if (MayBeUnused(opcodes[k], opcodes.body()[k])) return true;
  }
  return false;
}

inline Kind KindOf(const Opcode& opcode, const ptx::Instruction& i) {
  if (i.call) {
    const auto* target = std::get_if<ptx::SymbolRef>(&i.call->target.value);
    return target != nullptr && target->name == "__assertfail" && !i.guard ? Kind::kEnd : Kind::kUse;
  }
  if (MayBeUnused(opcode, i)) return Kind::kLoad;
  if (!opcode.pure()) return Kind::kUse;
  const size_t operands = i.operands.size();
  switch (opcode.meaning) {
    case Meaning::kSelect:
    case Meaning::kSelectBySign:
      return operands == 4 ? Kind::kSelect : Kind::kPure;
    case Meaning::kAnd:
    case Meaning::kOr:
      return operands == 3 ? Kind::kBitwise : Kind::kPure;
    case Meaning::kCompare:
    case Meaning::kCompareValue:
      return operands == 4 ? Kind::kCompare : Kind::kPure;
    default:
      return Kind::kPure;
  }
}

// The registers of a function, plus its condition code (written by add.cc, read by addc) as one more register, and what
// each instruction reads and writes.
class Uses {
 public:
  explicit Uses(const FunctionOpcodes& opcodes) : opcodes_(opcodes), uses_(FindRegisterUses(opcodes)) {
    const size_t n = opcodes.size();
    for (size_t r = 0; r < uses_.registers.name.size(); ++r) number_[uses_.registers.name[r]] = static_cast<int>(r);
    kind_.reserve(n);
    for (size_t k = 0; k < n; ++k) {
      Kind kind = KindOf(opcodes[k], instruction(k));
      // Results visible to the caller count as used when written, and operands of unknown role count as used.
      ForUses(k, [&](const RegisterUse& use) {
        if (use.writes && (use.reads || uses_.registers.of_interface[static_cast<size_t>(use.reg)])) kind = Kind::kUse;
      });
      kind_.push_back(kind);
    }
  }

  int registers() const { return static_cast<int>(uses_.registers.name.size()) + 1; }
  int condition_code() const { return static_cast<int>(uses_.registers.name.size()); }
  Kind kind(size_t k) const { return kind_[k]; }
  bool pure(size_t k) const { return kind_[k] != Kind::kUse && kind_[k] != Kind::kLoad && kind_[k] != Kind::kEnd; }
  const ptx::Instruction& instruction(size_t k) const { return opcodes_.body()[k]; }
  const Opcode& opcode(size_t k) const { return opcodes_[k]; }
  bool MayBeUnused(size_t k) const { return value_use::MayBeUnused(opcode(k), instruction(k)); }

  ptx::Type type(int reg) const {
    return reg == condition_code() ? ptx::Type::kPred : uses_.registers.type[static_cast<size_t>(reg)];
  }
  int guard(size_t k) const {
    const auto& guard = instruction(k).guard;
    return guard ? number_.at(guard->name) : -1;
  }
  int Register(const std::string& name) const { return number_.at(name); }
  // The register of an operand; -1 if it is none.
  int Operand(const ptx::Operand& operand) const {
    const auto* r = std::get_if<ptx::RegisterRef>(&operand.value);
    return r == nullptr ? -1 : number_.at(r->name);
  }
  int Operand(size_t k, size_t operand) const { return Operand(instruction(k).operands[operand]); }
  // Calls f(register) for each register read other than the guard.
  template <typename F>
  void ForReads(size_t k, const F& f) const {
    for (size_t u = uses_.first[k] + (instruction(k).guard ? 1 : 0); u < uses_.first[k + 1]; ++u) {
      if (uses_.uses[u].reads) f(uses_.uses[u].reg);
    }
    if (opcode(k).Has(kCarryIn)) f(condition_code());
  }
  template <typename F>
  void ForWrites(size_t k, const F& f) const {
    for (size_t u = uses_.first[k]; u < uses_.first[k + 1]; ++u) {
      if (uses_.uses[u].writes) f(uses_.uses[u].reg);
    }
    if (kind_[k] != Kind::kUse && Has(instruction(k), "cc")) f(condition_code());
  }

 private:
  template <typename F>
  void ForUses(size_t k, const F& f) const {
    for (size_t u = uses_.first[k]; u < uses_.first[k + 1]; ++u) f(uses_.uses[u]);
  }

  const FunctionOpcodes& opcodes_;
  const RegisterUses uses_;
  std::unordered_map<std::string_view, int> number_;
  std::vector<Kind> kind_;
};

// The first or the last type among an instruction's modifiers.
inline ptx::Type TypeOf(const ptx::Instruction& i, bool last) {
  std::optional<ptx::Type> found;
  for (const std::string& word : i.modifiers) {
    if (const auto type = ptx::TypeFromName(word); type && (last || !found)) found = type;
  }
  return found.value_or(ptx::Type::kB32);
}

// Calls f(register, shows, row, bytes, decider, own) for each operand read other than the guard, with the fields of
// UsePlan::Source. register and decider are -1 if there is no such register.
template <typename F>
void ForSources(const Uses& uses, size_t k, const F& f) {
  using Shows = UsePlan::Shows;
  const ptx::Instruction& i = uses.instruction(k);
  const auto always = [&](int reg) { f(reg, Shows::kAlways, 0, 0, -1, 0); };
  switch (uses.kind(k)) {
    case Kind::kSelect: {
      const bool predicate = uses.opcode(k).Is(Meaning::kSelect);
      const bool is_float = TypeOf(i, true) == ptx::Type::kF32;
      const Shows first = predicate ? Shows::kIfTrue : is_float ? Shows::kIfPositiveFloat : Shows::kIfPositive;
      const Shows second = predicate ? Shows::kIfFalse : is_float ? Shows::kIfNegativeFloat : Shows::kIfNegative;
      f(uses.Operand(k, 1), first, 3, 4, -1, 0);
      f(uses.Operand(k, 2), second, 3, 4, -1, 0);
      always(uses.Operand(k, 3));
      break;
    }
    case Kind::kBitwise: {
      const bool conjunction = uses.opcode(k).Is(Meaning::kAnd), predicate = Has(i, "pred");
      const Shows shows = predicate ? (conjunction ? Shows::kIfTrue : Shows::kIfFalse)
                                    : (conjunction ? Shows::kIfBits : Shows::kIfZeros);
      const int bytes = ptx::SizeOf(TypeOf(i, false));
      f(uses.Operand(k, 1), shows, 2, bytes, uses.Operand(k, 2), 1);
      f(uses.Operand(k, 2), shows, 1, bytes, uses.Operand(k, 1), 2);
      break;
    }
    case Kind::kCompare: {
      const Shows shows = Has(i, "and") ? Shows::kIfTrue : Has(i, "or") ? Shows::kIfFalse : Shows::kAlways;
      const int row = uses.opcode(k).Is(Meaning::kCompare) ? 4 : 3;
      for (const size_t operand : {size_t{1}, size_t{2}}) {
        f(uses.Operand(k, operand), shows, row, 4, uses.Operand(k, 3), 0);
      }
      always(uses.Operand(k, 3));
      break;
    }
    default:
      uses.ForReads(k, always);
      break;
  }
}

// Live registers at the start of each block and, computed from there, after each instruction. One bit for each register
// that has an index.
class LiveRegisters {
 public:
  using Bits = std::vector<uint64_t>;
  static constexpr uint32_t kNoIndex = 0xffffffffu;

  // index: by register.
  LiveRegisters(const Uses& uses, const ControlFlowGraph& graph, const Adjacency& successors,
                std::vector<uint32_t> index, size_t count)
      : uses_(uses), graph_(graph), successors_(successors), index_(std::move(index)), words_((count + 63) / 64) {
    const size_t nodes = static_cast<size_t>(graph.nodes);
    exact_ = nodes * words_ <= kMostLiveWords;
    AnalysisWork::Spend(nodes * words_);
    live_in_.assign(nodes, Bits(words_, exact_ ? 0 : ~uint64_t{0}));
    for (bool changed = exact_; changed;) {
      changed = false;
      for (size_t node = nodes; node-- > 0;) {
        AnalysisWork::Spend(words_ * (2 + successors_[static_cast<int>(node)].size()));
        Bits live = Out(node);
        if (node < graph_.blocks.size()) {
          AnalysisWork::Spend(graph_.blocks[node].last + 1 - graph_.blocks[node].first);
          for (size_t k = graph_.blocks[node].last + 1; k-- > graph_.blocks[node].first;) StepBack(k, live);
        }
        if (live == live_in_[node]) continue;
        live_in_[node] = std::move(live);
        changed = true;
      }
    }
  }

  // False: there are too many, so all count as always live.
  bool exact() const { return exact_; }
  static bool Get(const Bits& bits, size_t index) { return (bits[index / 64] >> (index % 64) & 1) != 0; }
  bool In(size_t node, int reg) const { return Get(live_in_[node], index_[static_cast<size_t>(reg)]); }
  Bits Out(size_t node) const {
    Bits live(words_);
    for (const int next : successors_[static_cast<int>(node)]) {
      for (size_t w = 0; w < words_; ++w) live[w] |= live_in_[static_cast<size_t>(next)][w];
    }
    return live;
  }
  void StepBack(size_t k, Bits& live) const {
    if (uses_.guard(k) < 0) uses_.ForWrites(k, [&](int reg) { Set(live, reg, false); });
    uses_.ForReads(k, [&](int reg) { Set(live, reg, true); });
    if (uses_.guard(k) >= 0) Set(live, uses_.guard(k), true);
  }

 private:
  static constexpr size_t kMostLiveWords = size_t{1} << 24;

  void Set(Bits& bits, int reg, bool value) const {
    const uint32_t index = index_[static_cast<size_t>(reg)];
    if (index == kNoIndex) return;
    const uint64_t bit = uint64_t{1} << (index % 64);
    bits[index / 64] = value ? bits[index / 64] | bit : bits[index / 64] & ~bit;
  }

  const Uses& uses_;
  const ControlFlowGraph& graph_;
  const Adjacency& successors_;
  const std::vector<uint32_t> index_;
  const size_t words_;
  bool exact_ = true;
  std::vector<Bits> live_in_;  // by node
};

}  // namespace lockstep::vgpu::value_use
