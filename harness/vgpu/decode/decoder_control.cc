// Branches, returns and calls → instructions.
#include <algorithm>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/decode/decoder_internal.h"
#include "vgpu/decode/device_runtime.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::vgpu {

using ptx::Type;

constexpr uint64_t kStepsATarget = 32;  // a target is looked up by name and stored

// Rows without a selector: the decoder handles these itself, because they need labels, call frames or convergence
// points.
LOCKSTEP_OPCODES(decoder_control,
                 {
                     {"bra", "", nullptr, InsnClass::kBranch, kAnyOrder, Meaning::kBranch},
                     {"brx.idx", "su32", nullptr, InsnClass::kBranch, kAnyOrder, Meaning::kBranchTable},
                     {"call", "", nullptr, InsnClass::kCall, kAnyOrder},
                     {"ret", "", nullptr, InsnClass::kBranch, kAnyOrder, Meaning::kReturn},
                     {"exit", "", nullptr, InsnClass::kBranch, kAnyOrder, Meaning::kExit},
                 });

void FunctionDecoder::DecodeBranch(size_t index, Insn& insn) {
  const ptx::Instruction& i = function_.body[index];
  Modifiers modifiers(i);
  modifiers.Take("uni");
  insn.insn_class = InsnClass::kBranch;
  if (opcodes_[index].Is(Meaning::kBranch)) {
    if (!modifiers.empty()) throw Unsupported("modifier " + modifiers.Left() + " is not supported");
    const auto* target = i.operands.size() == 1 ? std::get_if<ptx::SymbolRef>(&i.operands[0].value) : nullptr;
    if (target == nullptr || !label_.contains(target->name)) throw Unsupported("its target is no label");
    insn.handler = Branch;
    insn.immediate = label_.at(target->name);  // PatchBranches converts it to a pc
    if (i.guard) insn.flags |= kAlwaysCall;
  } else {
    if (!modifiers.Take("idx") || !modifiers.empty()) throw Unsupported("its modifiers are not supported");
    const auto* name = i.operands.size() == 2 ? std::get_if<ptx::SymbolRef>(&i.operands[1].value) : nullptr;
    const ptx::BranchTable* table = nullptr;
    AnalysisWork::Spend(function_.tables.size());
    for (const ptx::BranchTable& t : function_.tables) {
      if (name != nullptr && t.name == name->name) table = &t;
    }
    if (table == nullptr) throw Unsupported("its list of targets is missing");
    bool negated = false;
    AddRow(insn, BindSource(i, Type::kU32, i.operands[0], &negated), false, Type::kU32);
    std::vector<uint32_t> targets;
    AnalysisWork::Spend(kStepsATarget * table->targets.size());
    for (const std::string& target : table->targets) {
      if (!label_.contains(target)) throw Unsupported("unknown label " + target);
      targets.push_back(static_cast<uint32_t>(label_.at(target)));
    }
    insn.handler = IndexedBranch;
    insn.immediate = builder_.program.branch_tables.size();
    builder_.program.branch_tables.push_back(std::move(targets));
  }
  branches_.emplace_back(builder_.program.code.size(), index);
}

void FunctionDecoder::DecodeReturn(size_t index, Insn& insn) {
  const ptx::Instruction& i = function_.body[index];
  Modifiers modifiers(i);
  modifiers.Take("uni");
  if (!modifiers.empty() || !i.operands.empty()) throw Unsupported("its form is not supported");
  insn.insn_class = InsnClass::kBranch;
  if (opcodes_[index].Is(Meaning::kExit) || InEntry()) {
    insn.handler = Exit;
    return;
  }
  insn.handler = Branch;
  insn.immediate = function_.body.size();
  branches_.emplace_back(builder_.program.code.size(), index);
}

// The size of a call's k-th argument, a float literal, as the callee declares it.
int FunctionDecoder::ArgumentBytes(const ptx::Instruction& i, size_t k) const {
  const auto* target = std::get_if<ptx::SymbolRef>(&i.call->target.value);
  const auto callee = target == nullptr ? builder_.image.functions.end() : builder_.image.functions.find(target->name);
  if (callee == builder_.image.functions.end() || k >= callee->second->parameters.size()) {
    throw Unsupported("a float literal as an argument of an indirect call");
  }
  const int bytes = ptx::SizeOf(callee->second->parameters[k].type);
  if (bytes != 4 && bytes != 8)
    throw Unsupported("a float literal where " + std::to_string(8 * bytes) + " bits belong");
  return bytes;
}

void FunctionDecoder::DecodeCall(const ptx::Instruction& i, bool in_loop, Insn& insn) {
  Modifiers modifiers(i);
  modifiers.Take("uni");
  if (!modifiers.empty()) throw Unsupported("modifier " + modifiers.Left() + " is not supported");
  CallSite site;
  for (const ptx::Operand& operand : i.call->arguments) {
    if (const auto* literal = std::get_if<ptx::FloatImmediate>(&operand.value)) {
      const int bytes = ArgumentBytes(i, site.arguments.size());
      site.arguments.push_back({builder_.pool.Row(bytes, FloatBits(*literal, bytes)), 0, static_cast<uint32_t>(bytes)});
      continue;
    }
    if (!std::holds_alternative<ptx::IntegerImmediate>(operand.value)) {
      site.arguments.push_back(BindValue(operand));
      continue;
    }
    const int64_t value = std::get<ptx::IntegerImmediate>(operand.value).value;
    site.arguments.push_back({builder_.pool.Row(8, static_cast<uint64_t>(value)), 0, 8});
  }
  for (const ptx::Operand& operand : i.call->returns) {
    if (!std::holds_alternative<ptx::SinkRef>(operand.value)) site.returns.push_back(BindValue(operand));
  }
  insn.insn_class = InsnClass::kCall;
  insn.handler = Call;
  insn.extra = kNoPc;
  if (!std::holds_alternative<ptx::SymbolRef>(i.call->target.value)) {
    const auto any = static_cast<uint32_t>(builder_.functions.size());
    builder_.callees[index_].push_back(any);
    if (in_loop) builder_.called_in_loops.insert(any);
  }
  if (const auto* target = std::get_if<ptx::SymbolRef>(&i.call->target.value)) {
    site.builtin = FindBuiltin(target->name);
    const auto callee = builder_.image.functions.find(target->name);
    if (callee != builder_.image.functions.end() && callee->second->is_entry) {
      throw Unsupported("a call of a kernel, " + target->name);
    }
    if (callee != builder_.image.functions.end() && callee->second->has_body) {
      site.builtin = Builtin::kNone;
      site.callee = builder_.function_index.at(callee->second);
      if (site.arguments.size() != callee->second->parameters.size() ||
          site.returns.size() > callee->second->returns.size()) {
        throw Unsupported("its arguments do not fit function " + target->name);
      }
      builder_.callees[index_].push_back(site.callee);
      if (in_loop) builder_.called_in_loops.insert(site.callee);
    } else if (site.builtin == Builtin::kNone) {
      const std::string function = RuntimeFunctionName(target->name);
      throw Unsupported(function.empty() ? "function " + target->name + " is not in the module"
                                         : function + " in a kernel is not supported");
    } else {
      insn.handler = CallBuiltin;
      builder_.program.calls_printf |= site.builtin == Builtin::kVprintf;
      builder_.program.calls_malloc |= site.builtin == Builtin::kMalloc || site.builtin == Builtin::kFree;
      if (site.builtin == Builtin::kDeviceRuntime) {
        site.runtime_function = static_cast<uint8_t>(FindRuntimeFunction(target->name));
        builder_.program.calls_runtime = true;
      }
      builder_.program.order_sensitive |=
          site.builtin == Builtin::kMalloc || site.builtin == Builtin::kFree || site.builtin == Builtin::kDeviceRuntime;
    }
  } else {
    bool negated = false;
    site.target = BindSource(i, Type::kU64, i.call->target, &negated);
  }
  insn.immediate = builder_.program.calls.size();
  builder_.program.calls.push_back(std::move(site));
}

// Whether the loop from `first` to `last`, its branch back, only computes and uses no result of its previous iteration.
bool FunctionDecoder::StartsAnew(const RegisterUses& uses, size_t first, size_t last) const {
  std::set<int> has, reads_before;
  for (size_t k = first; k <= last; ++k) {
    if (k < last && (!opcodes_[k].pure() || function_.body[k].guard || function_.body[k].call)) return false;
    for (const bool writes : {false, true}) {
      for (size_t u = uses.first[k]; u < uses.first[k + 1]; ++u) {
        const RegisterUse& use = uses.uses[u];
        if (!writes && use.reads && !has.contains(use.reg)) reads_before.insert(use.reg);
        if (writes && use.writes) has.insert(use.reg);
      }
    }
  }
  return std::ranges::none_of(has, [&](int reg) { return reads_before.contains(reg); });
}

// If a loop waits for a clock, stores its bounds in its first PauseForClock. pauses: the pcs of all PauseForClock.
void FunctionDecoder::MarkWait(const std::vector<uint32_t>& pauses, const RegisterUses& uses, size_t first, size_t last,
                               uint32_t branch) {
  const auto begin = static_cast<uint32_t>(pc_of_[first]);
  const auto pause = std::lower_bound(pauses.begin(), pauses.end(), begin);
  if (pause == pauses.end() || *pause >= branch || !StartsAnew(uses, first, last)) return;
  Insn& insn = builder_.program.code[*pause];
  insn.immediate = begin;
  insn.extra = branch;
}

void FunctionDecoder::PatchBranches() {
  Program& program = builder_.program;
  const uint32_t start = program.functions[index_].entry_pc;
  polls_.resize(program.code.size() - start);
  std::vector<uint32_t> polls_before(polls_.size() + 1);
  for (size_t k = 0; k < polls_.size(); ++k) polls_before[k + 1] = polls_before[k] + (polls_[k] ? 1 : 0);
  std::vector<uint32_t> pauses;
  for (uint32_t pc = start; pc < program.code.size(); ++pc) {
    if (program.code[pc].handler == PauseForClock) pauses.push_back(pc);
  }
  const RegisterUses uses = pauses.empty() ? RegisterUses() : FindRegisterUses(opcodes_);
  for (const auto& [pc, index] : branches_) {
    Insn& insn = program.code[pc];
    if (insn.handler == RaiseUnsupported) continue;
    const size_t meet = index < flow_.reconvergence.size() ? flow_.reconvergence[index] : kNoInstruction;
    if (insn.handler == IndexedBranch) {
      for (uint32_t& target : program.branch_tables[insn.immediate]) target = pc_of_[target];
    } else {
      const size_t first = insn.immediate;
      insn.immediate = pc_of_[first];
      const uint32_t target = static_cast<uint32_t>(insn.immediate);
      if (target < pc) MarkWait(pauses, uses, first, index, pc);
      if (target <= pc && polls_before[pc - start + 1] != polls_before[target - start]) {
        insn.handler = SpinBranch;
        program.may_wait = true;
      }
    }
    // Paths of a function that meet only at its end reconverge there, at its return.
    const uint32_t end = InEntry() ? kNoPc : pc_of_[function_.body.size()];
    const uint32_t where = meet < pc_of_.size() ? pc_of_[meet] : end;
    // If paths meet only to leave the kernel, lanes need not wait for each other, since other lanes may wait for them
    // at a barrier.
    const bool meets = where != kNoPc && program.code[where].handler == Converge;
    const bool leaves = meets && program.code[where + 1].handler == Exit && program.code[where + 1].guard == kNoRow;
    insn.extra = meets && !leaves ? where : kNoPc;
  }
}

}  // namespace lockstep::vgpu
