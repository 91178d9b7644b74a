#include <algorithm>
#include <string_view>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/plans.h"
#include "vgpu/analysis/value_flow.h"

namespace lockstep::vgpu {
namespace {

using namespace value_use;
using Effect = DefinednessPlan::Effect;
using Shows = UsePlan::Shows;
using PlanSpace = DefinednessPlan::Space;

constexpr uint8_t kAll = 0, kLow = 1, kHigh = 2, kMoved = kLow, kNothing = 3;  // parts
constexpr int kHalfBits = 32;

Effect EffectOf(const Uses& uses, size_t k) {
  const ptx::Instruction& i = uses.instruction(k);
  if (i.call) return Effect::kCall;
  const Opcode& opcode = uses.opcode(k);
  switch (opcode.meaning) {
    case Meaning::kBranch:
    case Meaning::kBranchTable:
      return Effect::kBranch;
    case Meaning::kReturn:
    case Meaning::kExit:
      return Effect::kLeave;
    case Meaning::kShuffle:
      return Effect::kShuffle;
    default:
      break;
  }
  if (opcode.Has(kWholeWarp | kByHandle)) return Effect::kOther;
  if (opcode.Has(kLoads)) return Effect::kLoad;
  if (opcode.Has(kAsynchronous)) return Effect::kAsynchronous;
  if (opcode.Has(kStores)) return Effect::kStore;
  if (opcode.Has(kAtomic)) return Effect::kAtomic;
  if (opcode.Has(kBarrier)) return Effect::kBarrier;
  return uses.pure(k) ? Effect::kPure : Effect::kOther;
}

bool IsProduct(const Opcode& opcode) { return opcode.Is(Meaning::kMultiply) || opcode.Is(Meaning::kMultiplyAdd); }
bool WorksOnHalves(const Opcode& opcode) {
  switch (opcode.meaning) {
    case Meaning::kMove:
    case Meaning::kSelect:
    case Meaning::kAnd:
    case Meaning::kOr:
    case Meaning::kXor:
    case Meaning::kNot:
      return true;
    default:
      return false;
  }
}

// An instruction with too few operands raises an error when it is executed.
bool HasOperands(Effect effect, const Opcode& opcode, const ptx::Instruction& i) {
  const size_t n = i.operands.size();
  switch (effect) {
    case Effect::kPure:
      return n >= (IsShift(opcode) || IsProduct(opcode) ? 3 : 2);
    case Effect::kLoad:
    case Effect::kStore:
      return n >= 2;
    case Effect::kAtomic:
      return n >= (opcode.has_result() ? 3 : 2);
    case Effect::kShuffle:
      return n >= 4;
    default:
      return true;
  }
}

class DefinednessPlanner {
 public:
  DefinednessPlanner(const FunctionOpcodes& opcodes, DefinednessPlan& plan)
      : function_(opcodes.function()), plan_(plan), uses_(opcodes), slot_(static_cast<size_t>(uses_.registers())) {
    for (size_t reg = 0; reg < slot_.size(); ++reg) {
      slot_[reg] = slots_;
      slots_ += IsWide(static_cast<int>(reg)) ? 2 : 1;
    }
  }

  void Plan(const std::vector<uint32_t>& pc) {
    plan_.slots.push_back(slots_);
    if (!plan_.steps.empty()) plan_.steps.pop_back();
    for (size_t k = 0; k < function_.body.size(); ++k) {
      AddStep(k);
      plan_.step_of.resize(std::max<size_t>(plan_.step_of.size(), pc[k] + 1));
      plan_.step_of[pc[k]] = static_cast<uint32_t>(plan_.steps.size());
    }
    Begin();
  }

 private:
  bool IsWide(int reg) const { return reg >= 0 && ptx::SizeOf(uses_.type(reg)) == 8; }
  uint32_t SlotOf(int reg) const { return reg < 0 ? DefinednessPlan::kNoSlot : slot_[static_cast<size_t>(reg)]; }

  DefinednessPlan::Step& Begin() {
    DefinednessPlan::Step& step = plan_.steps.emplace_back();
    step.first_source = static_cast<uint32_t>(plan_.sources.size());
    step.first_address = static_cast<uint32_t>(plan_.addresses.size());
    step.first_result = static_cast<uint32_t>(plan_.results.size());
    return step;
  }
  // One half of a register, if it has that half.
  void AddSource(int reg, uint8_t half, DefinednessPlan::Source source) {
    if (reg < 0 || (half == kHigh && !IsWide(reg))) return;
    source.slot = SlotOf(reg) + (half == kHigh ? 1 : 0);
    plan_.sources.push_back(source);
  }
  void AddWhole(int reg, const DefinednessPlan::Source& source) {
    AddSource(reg, kLow, source);
    AddSource(reg, kHigh, source);
  }
  void AddResult(int reg, uint8_t low, uint8_t high) {
    if (reg < 0) return;
    plan_.results.push_back({SlotOf(reg), low});
    if (IsWide(reg)) plan_.results.push_back({SlotOf(reg) + 1, high});
  }
  std::vector<int> Elements(const ptx::Operand& operand) const {
    const auto* vector = std::get_if<ptx::VectorRef>(&operand.value);
    if (vector == nullptr) return {uses_.Operand(operand)};
    std::vector<int> elements;
    for (const ptx::Operand& element : vector->elements) elements.push_back(uses_.Operand(element));
    return elements;
  }

  void AddStep(size_t k) {
    const ptx::Instruction& i = uses_.instruction(k);
    DefinednessPlan::Step& step = Begin();
    step.effect = EffectOf(uses_, k);
    if (!HasOperands(step.effect, uses_.opcode(k), i)) step.effect = Effect::kOther;
    step.guard = SlotOf(uses_.guard(k));
    switch (step.effect) {
      case Effect::kPure:
        AddPure(k);
        return;
      case Effect::kLoad:
        AddLoad(i, step);
        return;
      case Effect::kStore:
        AddStore(i, step);
        return;
      case Effect::kAtomic:
        AddAtomic(k, i, step);
        return;
      case Effect::kShuffle:
        for (uint8_t operand = 1; operand <= 3; ++operand) {
          DefinednessPlan::Source source;
          source.slot = SlotOf(uses_.Operand(k, operand));
          plan_.sources.push_back(source);
        }
        plan_.results.push_back({SlotOf(uses_.Operand(k, 0))});
        if (!i.operands[0].second.empty()) plan_.results.push_back({SlotOf(uses_.Operand(i.operands[0].second[0]))});
        return;
      case Effect::kBranch:
        uses_.ForReads(k, [&](int reg) { AddWhole(reg, {}); });
        return;
      default:
        uses_.ForWrites(k, [&](int reg) { AddResult(reg, kNothing, kNothing); });
        return;
    }
  }

  void AddPure(size_t k) {
    const ptx::Instruction& i = uses_.instruction(k);
    const Opcode& opcode = uses_.opcode(k);
    if (opcode.Is(Meaning::kMove) && AddMove(i)) return;
    if (IsShift(opcode) && AddShift(k, i)) return;
    if (IsProduct(opcode) && !IsFloat(i)) return AddProduct(k, i);
    if (opcode.Is(Meaning::kInsert) && AddInsertion(k, i)) return;
    if (opcode.Is(Meaning::kConvert) && i.operands.size() == 2) return AddConversion(k);
    const bool by_halves = WorksOnHalves(opcode) && IsWide(uses_.Operand(k, 0));
    ForSources(uses_, k, [&](int reg, Shows shows, int decider_row, int bytes, int decider, int) {
      DefinednessPlan::Source source;
      source.shows = shows;
      source.row = static_cast<uint8_t>(decider_row);
      source.bytes = static_cast<uint8_t>(bytes);
      source.decider = SlotOf(decider);
      source.deciders = decider < 0 ? 0 : IsWide(decider) ? 2 : 1;
      if (!by_halves || !IsWide(reg)) return AddWhole(reg, source);
      for (const uint8_t half : {kLow, kHigh}) {
        source.part = half;
        if (source.deciders == 2 || half == kHigh) {
          source.decider = source.deciders == 0 ? DefinednessPlan::kNoSlot : SlotOf(decider) + (half == kHigh ? 1 : 0);
          source.deciders = source.deciders == 0 ? 0 : 1;
        }
        AddSource(reg, half, source);
      }
    });
    uses_.ForWrites(k, [&](int reg) { AddResult(reg, by_halves ? kLow : kAll, by_halves ? kHigh : kAll); });
  }

  static bool IsFloat(const ptx::Instruction& i) {
    const ptx::Type type = TypeOf(i, false);
    return std::any_of(i.modifiers.begin(), i.modifiers.end(),
                       [](std::string_view word) { return word.starts_with("f16") || word.starts_with("bf16"); }) ||
           type == ptx::Type::kF32 || type == ptx::Type::kF64;
  }

  // Packs two words into a 64-bit register, or unpacks them.
  bool AddMove(const ptx::Instruction& i) {
    const std::vector<int> to = Elements(i.operands[0]), from = Elements(i.operands[1]);
    if (to.size() == 1 && from.size() == 2 && IsWide(to[0])) {
      for (const uint8_t half : {kLow, kHigh}) {
        DefinednessPlan::Source source;
        source.part = half;
        AddWhole(from[half - 1u], source);
      }
      AddResult(to[0], kLow, kHigh);
      return true;
    }
    if (to.size() == 2 && from.size() == 1 && IsWide(from[0])) {
      for (const uint8_t half : {kLow, kHigh}) {
        DefinednessPlan::Source source;
        source.part = half;
        AddSource(from[0], half, source);
        AddResult(to[half - 1u], half, half);
      }
      return true;
    }
    return false;
  }

  // Shift by 32 bits or more: one half moves to the other.
  bool AddShift(size_t k, const ptx::Instruction& i) {
    const int to = uses_.Operand(k, 0), from = uses_.Operand(k, 1);
    const auto* by = std::get_if<ptx::IntegerImmediate>(&i.operands[2].value);
    if (!IsWide(to) || by == nullptr || by->value < kHalfBits) return false;
    const bool left = uses_.opcode(k).Is(Meaning::kShiftLeft);
    DefinednessPlan::Source source;
    source.part = kMoved;
    AddSource(from, left ? kLow : kHigh, source);
    const uint8_t filled = TypeOf(i, false) == ptx::Type::kS64 ? kMoved : kNothing;
    AddResult(to, left ? kNothing : kMoved, left ? kMoved : filled);
    return true;
  }

  // Inserts one word as the high half of another.
  bool AddInsertion(size_t k, const ptx::Instruction& i) {
    const auto is_half = [&](size_t operand) {
      const auto* value = std::get_if<ptx::IntegerImmediate>(&i.operands[operand].value);
      return value != nullptr && value->value == kHalfBits;
    };
    const int to = uses_.Operand(k, 0);
    if (!IsWide(to) || i.operands.size() != 5 || !is_half(3) || !is_half(4)) return false;
    DefinednessPlan::Source source;
    source.part = kHigh;
    AddSource(uses_.Operand(k, 1), kLow, source);
    source.part = kLow;
    AddSource(uses_.Operand(k, 2), kLow, source);
    AddResult(to, kLow, kHigh);
    return true;
  }

  void AddConversion(size_t k) {
    const ptx::Instruction& i = uses_.instruction(k);
    const int to = uses_.Operand(k, 0), from = uses_.Operand(k, 1);
    const ptx::Type type = TypeOf(i, true);
    DefinednessPlan::Source source;
    source.part = kMoved;
    if (ptx::SizeOf(type) == 8) {
      // A narrower integer is the low half.
      const ptx::Type result = TypeOf(i, false);
      const bool cuts = ptx::SizeOf(result) < 8 && result != ptx::Type::kF32 && result != ptx::Type::kF16 &&
                        type != ptx::Type::kF64 && !Has(i, "sat");
      AddSource(from, kLow, source);
      if (!cuts) AddSource(from, kHigh, source);
    } else {
      AddSource(from, kLow, source);
    }
    const bool zeros = type == ptx::Type::kU32 || type == ptx::Type::kU16 || type == ptx::Type::kU8;
    AddResult(to, kMoved, zeros && TypeOf(i, false) != ptx::Type::kF64 ? kNothing : kMoved);
  }

  // A factor of 0 masks the other factor.
  void AddProduct(size_t k, const ptx::Instruction& i) {
    const uint8_t bytes = static_cast<uint8_t>(ptx::SizeOf(TypeOf(i, false)));
    for (const size_t operand : {size_t{1}, size_t{2}}) {
      const int other = uses_.Operand(k, 3 - operand);
      DefinednessPlan::Source source;
      source.shows = Shows::kIfBits;
      source.row = static_cast<uint8_t>(3 - operand);
      source.bytes = bytes;
      source.decider = SlotOf(other);
      source.deciders = other < 0 ? 0 : IsWide(other) ? 2 : 1;
      AddWhole(uses_.Operand(k, operand), source);
    }
    if (i.operands.size() > 3) AddWhole(uses_.Operand(k, 3), {});
    uses_.ForWrites(k, [&](int reg) { AddResult(reg, kAll, kAll); });
  }

  PlanSpace SpaceOf(const ptx::Instruction& i, const ptx::AddressRef& address) const {
    for (const std::string& word : i.modifiers) {
      if (word == "global") return PlanSpace::kGlobal;
      if (word == "const") return PlanSpace::kReadOnly;
      if (word == "local") return PlanSpace::kLocal;
      if (word.starts_with("shared")) return PlanSpace::kShared;
      if (!word.starts_with("param")) continue;
      const auto named = [&](const ptx::Variable& v) { return v.name == address.base_symbol; };
      // A function's parameter is in the parameter area or, if its address is taken, in local memory.
      const auto is_local = [&](const ptx::Instruction& other) {
        return !other.call && std::any_of(other.operands.begin(), other.operands.end(), [&](const ptx::Operand& o) {
          const auto* symbol = std::get_if<ptx::SymbolRef>(&o.value);
          return symbol != nullptr && symbol->name == address.base_symbol;
        });
      };
      if (address.base_symbol.empty()) return function_.is_entry ? PlanSpace::kReadOnly : PlanSpace::kArea;
      AnalysisWork::Spend(function_.parameters.size());
      const bool parameter = std::any_of(function_.parameters.begin(), function_.parameters.end(), named);
      if (parameter && function_.is_entry) return PlanSpace::kReadOnly;
      AnalysisWork::Spend(parameter ? kStepsAnInstruction * function_.body.size() : 0);
      if (parameter && std::any_of(function_.body.begin(), function_.body.end(), is_local)) return PlanSpace::kReadOnly;
      return PlanSpace::kArea;
    }
    return PlanSpace::kGeneric;
  }
  void AddAddress(const ptx::Instruction& i, const ptx::Operand& operand, size_t row, DefinednessPlan::Step& step) {
    const auto* address = std::get_if<ptx::AddressRef>(&operand.value);
    step.address_row = static_cast<uint8_t>(row);
    step.space = address == nullptr ? PlanSpace::kReadOnly : SpaceOf(i, *address);
    if (address == nullptr || address->base_register.empty()) return;
    const int reg = uses_.Register(address->base_register);
    step.narrow = !IsWide(reg);
    plan_.addresses.push_back(SlotOf(reg));
    if (IsWide(reg)) plan_.addresses.push_back(SlotOf(reg) + 1);
  }

  void AddLoad(const ptx::Instruction& i, DefinednessPlan::Step& step) {
    const std::vector<int> elements = Elements(i.operands[0]);
    const uint8_t bytes = static_cast<uint8_t>(ptx::SizeOf(TypeOf(i, true)));
    step.bytes = static_cast<uint8_t>(bytes * elements.size());
    AddAddress(i, i.operands[1], elements.size(), step);
    for (size_t e = 0; e < elements.size(); ++e) {
      if (elements[e] < 0) continue;
      const auto at = static_cast<uint8_t>(e * bytes);
      const bool halves = IsWide(elements[e]) && bytes == 8;
      plan_.results.push_back({SlotOf(elements[e]), kAll, at, halves ? uint8_t{4} : bytes});
      if (!IsWide(elements[e])) continue;
      plan_.results.push_back(
          {SlotOf(elements[e]) + 1, kAll, static_cast<uint8_t>(at + (halves ? 4 : 0)), halves ? uint8_t{4} : bytes});
    }
  }

  void AddStore(const ptx::Instruction& i, DefinednessPlan::Step& step) {
    const std::vector<int> elements = Elements(i.operands[1]);
    const uint8_t bytes = static_cast<uint8_t>(ptx::SizeOf(TypeOf(i, true)));
    step.bytes = static_cast<uint8_t>(bytes * elements.size());
    AddAddress(i, i.operands[0], 0, step);
    for (size_t e = 0; e < elements.size(); ++e) {
      DefinednessPlan::Source source;
      source.at = static_cast<uint8_t>(e * bytes);
      const bool halves = IsWide(elements[e]) && bytes == 8;
      source.bytes = halves ? 4 : bytes;
      AddSource(elements[e], kLow, source);
      if (!halves) continue;
      source.at = static_cast<uint8_t>(source.at + 4);
      AddSource(elements[e], kHigh, source);
    }
  }

  void AddAtomic(size_t k, const ptx::Instruction& i, DefinednessPlan::Step& step) {
    const size_t at = uses_.opcode(k).has_result() ? 1 : 0;
    const size_t results = at == 0 ? 0 : Elements(i.operands[0]).size();
    const auto bytes = static_cast<uint8_t>(ptx::SizeOf(TypeOf(i, true)));
    const size_t elements = Elements(i.operands[at + 1]).size();
    step.bytes = static_cast<uint8_t>(bytes * elements);
    step.replaces = Has(i, "exch");
    AddAddress(i, i.operands[at], results, step);
    for (size_t operand = at + 1; operand < i.operands.size(); ++operand) {
      for (const int reg : Elements(i.operands[operand])) {
        DefinednessPlan::Source source;
        source.bytes = step.bytes;
        AddWhole(reg, source);
      }
    }
    uses_.ForWrites(k, [&](int reg) {
      for (uint32_t half = 0; half < (IsWide(reg) ? 2u : 1u); ++half) {
        plan_.results.push_back({SlotOf(reg) + half, kAll, 0, step.bytes});
      }
    });
  }

  const ptx::Function& function_;
  DefinednessPlan& plan_;
  const Uses uses_;
  std::vector<uint32_t> slot_;  // by register
  uint32_t slots_ = 0;
};

}  // namespace

bool HasShuffles(const FunctionOpcodes& opcodes) {
  for (size_t k = 0; k < opcodes.size(); ++k) {
    if (opcodes[k].Is(Meaning::kShuffle)) return true;
  }
  return false;
}

void PlanDefinedness(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, DefinednessPlan& plan) {
  DefinednessPlanner(opcodes, plan).Plan(pc);
}

}  // namespace lockstep::vgpu
