// One function: instructions → Program::code.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "vgpu/analysis/guessing_loads.h"
#include "vgpu/analysis/plans.h"
#include "vgpu/analysis/value_flow.h"
#include "vgpu/analysis/waiting_loads.h"
#include "vgpu/core/finding.h"
#include "vgpu/decode/cost_class.h"
#include "vgpu/decode/decoder_internal.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/frame_values.h"
#include "vgpu/exec/warp_state.h"
#include "vgpu/isa/memory/memory.h"
#include "vgpu/isa/memory/memory_access.h"
#include "vgpu/isa/special_registers.h"
#include "vgpu/ptx/cursor.h"

namespace lockstep::vgpu {
namespace {

using ptx::Space;
using ptx::Type;

constexpr uint64_t kMaxFrameBytes = 4 << 20;
constexpr uint64_t kMaxLocalBytes = 512 << 10;  // per thread, as on the hardware

using value_use::Has;

bool HasPrefix(const ptx::Instruction& instruction, std::string_view prefix) {
  return std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                     [&](const std::string& word) { return word.starts_with(prefix); });
}

bool IsStrongAccess(const ptx::Instruction& i) {
  return Has(i, "volatile") || Has(i, "relaxed") || Has(i, "acquire") || Has(i, "release") || Has(i, "mmio");
}

// Words in the text may be megabytes long.
std::string Sentence(std::string text) {
  constexpr size_t kLongest = 400;
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}

// Whether it may access memory that other blocks see.
bool MayBeGlobal(const ptx::Instruction& i) {
  return !HasPrefix(i, "shared") && !Has(i, "local") && !HasPrefix(i, "param") && !Has(i, "const");
}

// Names used as operands by themselves, not within an address or a call: the instruction takes their address. A
// function parameter of that name is on the stack, and its address is in local memory (PTX ISA, 5.1.6.2).
std::unordered_set<std::string_view> NamesInOperands(const ptx::Function& function) {
  std::unordered_set<std::string_view> names;
  for (const ptx::Instruction& i : function.body) {
    if (i.call) continue;
    for (const ptx::Operand& operand : i.operands) {
      if (const auto* s = std::get_if<ptx::SymbolRef>(&operand.value)) names.insert(s->name);
    }
  }
  return names;
}

// %tid as a source of mov.v4 is {%tid.x, %tid.y, %tid.z, 0}.
ptx::Instruction WithElements(ptx::Instruction i) {
  const auto* special = std::get_if<ptx::SpecialRef>(&i.operands[1].value);
  if (special == nullptr) return i;
  ptx::VectorRef vector;
  for (const char* element : {".x", ".y", ".z"})
    vector.elements.push_back({ptx::SpecialRef{special->name + element}, {}});
  vector.elements.push_back({ptx::IntegerImmediate{0, false}, {}});
  if (Has(i, "v2")) vector.elements.resize(2);
  i.operands[1].value = std::move(vector);
  return i;
}

}  // namespace

FunctionDecoder::FunctionDecoder(ProgramBuilder& builder, const FunctionOpcodes& opcodes, uint32_t index)
    : builder_(builder), opcodes_(opcodes), function_(opcodes.function()), index_(index) {}

void FunctionDecoder::CollectRegisters() {
  std::unordered_map<std::string_view, const ptx::Variable*> ranges;
  for (const ptx::Variable& v : function_.registers) {
    if (v.count == 0 || v.vector_width != 1) {
      register_type_[v.name] = v.type;
    } else {
      ranges.emplace(v.name, &v);
    }
  }
  // A range may be long; only names that the text uses matter.
  for (const auto& [name, row] : layout_.row) {
    const std::string_view text = name;
    if (const auto whole = ranges.find(text); whole != ranges.end()) register_type_[name] = whole->second->type;
    for (size_t digits = 1; digits < std::min<size_t>(text.size(), 10) && ptx::IsDigit(text[text.size() - digits]);
         ++digits) {
      const std::string_view index = text.substr(text.size() - digits);
      const auto range = ranges.find(text.substr(0, text.size() - digits));
      if (range == ranges.end() || (digits > 1 && index[0] == '0')) continue;
      if (std::stoi(std::string(index)) < range->second->count) register_type_[name] = range->second->type;
    }
  }
  const RegisterUses uses = FindRegisterUses(opcodes_);
  for (const RegisterUse& use : uses.uses) ++occurrences_[uses.registers.name[static_cast<size_t>(use.reg)]];
}

void FunctionDecoder::PlaceVariables() {
  FunctionInfo& info = builder_.program.functions[index_];
  uint64_t area = 0, local = 0;
  const auto place = [](uint64_t& end, const ptx::Variable& v, uint64_t limit) {
    const uint64_t alignment = std::clamp<uint64_t>(v.alignment != 0 ? v.alignment : v.ElementBytes(), 1, 256);
    const uint64_t bytes = v.TotalBytes();
    const uint64_t at = AlignUp(end, alignment);
    if ((bytes > limit || at + bytes > limit) && v.space == Space::kLocal) {
      throw Unsupported("a thread's variables take " + std::to_string(at + bytes) + std::string(kTooMuchLocal));
    }
    if (bytes > limit || at + bytes > limit) throw Unsupported("variable " + v.name + " is too large");
    end = at + bytes;
    return static_cast<uint32_t>(at);
  };
  const auto place_parameters = [&](const std::vector<ptx::Variable>& variables,
                                    const std::unordered_set<std::string_view>& addressed,
                                    std::vector<ValuePlace>& places) {
    for (const ptx::Variable& v : variables) {
      if (v.space == Space::kReg) {  // liveness gives such a register a row of its own
        if (v.vector_width != 1) {
          throw Unsupported("function " + function_.name + " has a parameter in a register of an unusual type");
        }
        register_type_[v.name] = v.type;
        const bool is_predicate = v.type == Type::kPred;
        places.push_back(
            {layout_.row.at(v.name), 0, is_predicate ? kPredicateBytes : static_cast<uint32_t>(ptx::SizeOf(v.type))});
        continue;
      }
      const bool on_stack = addressed.contains(v.name);
      const uint32_t at = place(on_stack ? local : area, v, kMaxLocalBytes);
      const uint32_t bytes = static_cast<uint32_t>(v.TotalBytes());
      parameters_[v.name] = {on_stack ? ParameterPlace::kLocal : ParameterPlace::kArea, at, bytes};
      if (on_stack) local_offset_[v.name] = at;
      places.push_back({kNoRow, at, bytes, on_stack});
    }
  };
  if (InEntry()) {
    const KernelInfo& kernel = builder_.program.kernel;
    for (size_t k = 0; k < function_.parameters.size(); ++k) {
      parameters_[function_.parameters[k].name] = {ParameterPlace::kKernel, kernel.parameters[k].offset,
                                                   kernel.parameters[k].bytes};
    }
  } else {
    place_parameters(function_.parameters, NamesInOperands(function_), info.parameters);
    place_parameters(function_.returns, {}, info.returns);
  }
  for (const ptx::Variable& v : function_.variables) {
    if (v.space == Space::kParam) {
      const uint32_t at = place(area, v, kMaxLocalBytes);
      parameters_[v.name] = {ParameterPlace::kArea, at, static_cast<uint32_t>(v.TotalBytes())};
    } else if (v.space == Space::kLocal) {
      const uint32_t at = place(local, v, kMaxLocalBytes);
      local_offset_[v.name] = at;
      info.local_variables.push_back({v.name, at, static_cast<uint32_t>(v.TotalBytes())});
    }
  }
  info.area_bytes = static_cast<uint32_t>(AlignUp(area, 16));
  info.local_bytes = static_cast<uint32_t>(AlignUp(local, 16));
}

void FunctionDecoder::Decode() {
  Program& program = builder_.program;
  FunctionInfo& info = program.functions[index_];
  info.name = function_.name;
  first_inline_site_ = static_cast<int>(program.inline_sites.size());
  for (ptx::InlineSite site : function_.inline_sites) {
    if (site.caller >= 0) site.caller += first_inline_site_;
    program.inline_sites.push_back(site);
  }
  flow_ = AnalyzeFlow(opcodes_);
  layout_ = AllocateRegisters(opcodes_, flow_);
  spin_reads_ = FindSpinReads(opcodes_, *flow_.graph, InEntry());
  speculative_loads_ = FindSpeculativeLoads(opcodes_);
  CollectRegisters();
  PlaceVariables();
  temporary_base_ = static_cast<uint32_t>(AlignUp(layout_.frame_bytes, 64));
  sink_row_ = temporary_base_ + 8 * 256;
  if (sink_row_ > kMaxFrameBytes) throw Unsupported("function " + function_.name + " has too many registers");
  info.register_bytes = temporary_base_;
  info.reads_unwritten = layout_.live_at_entry || !layout_.shares_rows;  // a debugger may read any
  info.frame_bytes = sink_row_ + 512;
  program.kernel.registers = std::max(program.kernel.registers, layout_.registers);
  for (const ptx::Label& label : function_.labels) label_[label.name] = label.instruction;

  info.entry_pc = static_cast<uint32_t>(program.code.size());
  const size_t n = function_.body.size();
  pc_of_.resize(n + 1);
  for (size_t k = 0; k <= n; ++k) {
    pc_of_[k] = static_cast<uint32_t>(program.code.size());
    const bool last = k == n;
    const ptx::Instruction* near = n == 0 ? nullptr : &function_.body[last ? n - 1 : k];
    if ((k < flow_.is_reconvergence_point.size() && flow_.is_reconvergence_point[k]) || (last && !InEntry())) {
      Insn insn;
      insn.handler = Converge;
      EmitPseudo(insn, near);
    }
    if (last) {
      Insn insn;
      insn.handler = InEntry() ? Exit : Return;
      EmitPseudo(insn, near);
    } else {
      DecodeInstruction(k);
    }
  }
  info.end_pc = static_cast<uint32_t>(program.code.size());
  PatchBranches();
  PlanUses(opcodes_, *flow_.graph, own_pc_, program.uses);
  PlanCopies(opcodes_, own_pc_, program.copies);
  FindAccessOrigins(
      opcodes_, own_pc_,
      [&](const std::string& symbol) -> std::optional<uint32_t> {
        const auto it = parameters_.find(symbol);
        if (!InEntry() || it == parameters_.end()) return std::nullopt;
        return static_cast<uint32_t>(it->second.offset);
      },
      program.origins);
  if (program.definedness != nullptr) PlanDefinedness(opcodes_, own_pc_, *program.definedness);
}

void FunctionDecoder::EmitPseudo(const Insn& insn, const ptx::Instruction* near) {
  InsnInfo info;
  info.counted = false;
  if (near != nullptr) {
    const bool own = near->location.line != 0;
    info.location = own ? near->location : location_;
    info.inline_site = !own ? inline_site_ : near->inline_site < 0 ? -1 : first_inline_site_ + near->inline_site;
    info.ptx_line = near->ptx_line;
    info.text = builder_.Text(*near);
  }
  Emit(insn, info);
}

// NOLINTNEXTLINE(readability-function-size): the steps of decoding, each of which needs the last one's operands
void FunctionDecoder::DecodeInstruction(size_t index) {
  const ptx::Instruction& i = function_.body[index];
  const Opcode& opcode = opcodes_[index];
  opcode_ = &opcode;
  InsnInfo info;
  // Line 0 is compiler-generated code; it belongs to the preceding line.
  if (i.location.line != 0) {
    location_ = i.location;
    inline_site_ = i.inline_site < 0 ? -1 : first_inline_site_ + i.inline_site;
  }
  info.location = location_;
  info.inline_site = inline_site_;
  info.ptx_line = i.ptx_line;
  info.traits = opcode.traits;
  info.text = builder_.Text(i);
  info.in_loop = flow_.in_loop[index];
  Insn insn;
  SynchronousInfo synchronous;
  temporaries_ = 0;
  rows_ = 0;
  ninth_row_ = kNoRow;
  rows_in_table_ = false;
  try {
    if (!i.parts.empty() && opcode.select == nullptr) throw Unsupported("a part of an operand is not supported");
    if (opcode.Is(Meaning::kBranch) || opcode.Is(Meaning::kBranchTable)) {
      DecodeBranch(index, insn);
      info.conditional_branch = i.guard.has_value() || opcode.Is(Meaning::kBranchTable);
    } else if (opcode.Is(Meaning::kReturn) || opcode.Is(Meaning::kExit)) {
      DecodeReturn(index, insn);
    } else if (i.call) {
      DecodeCall(i, info.in_loop, insn);
    } else if (opcode.Is(Meaning::kMove) && i.operands.size() == 2 && i.parts.empty() &&
               std::holds_alternative<ptx::SpecialRef>(i.operands[1].value)) {
      DecodeMoveSpecial(i, insn);
    } else {
      DecodeByTable(i.operands.size() == 2 && opcode.Is(Meaning::kMoveVector) ? WithElements(i) : i, insn, info);
      if (!spin_reads_.empty() && spin_reads_[index]) insn.extra |= MemoryFlags::kWaits;
      if (!speculative_loads_.empty() && speculative_loads_[index]) {
        insn.extra |= MemoryFlags{MemoryOrder::kRelaxed}.Pack() | MemoryFlags::kWaits;
      }
      if (opcode.Has(kAtomic) && Has(i, "exch") && IsUnread(i)) insn.extra |= MemoryFlags::kOverwrites;
      if (opcode.accesses_memory()) NoteMemory(i, info);
      NoteOrder(i);
    }
    if ((insn.flags & kWarpSynchronous) != 0) {
      synchronous.handler = insn.handler;
      synchronous.members = (insn.flags & kRowsInTable) != 0 ? builder_.pool.Row(4, kFullMask) : insn.row[rows_ - 1];
      synchronous.is_barrier = insn.handler == WarpBarrier;
      for (int k = 0; k < rows_; ++k) {
        synchronous.element_bytes[k] =
            row_type_[k] == Type::kPred ? 0 : static_cast<uint8_t>(RowElementBytes(row_type_[k]));
      }
      insn.handler = GatherAndRun;
    }
    builder_.allocas |= opcode.Has(kGrowsStack);
    builder_.program.lanes_exchange |= opcode.Has(kExchangesLanes);
    builder_.program.copies_async |= opcode.Has(kAsynchronous) && opcode.insn_class == InsnClass::kLoad;
    builder_.program.memory_barriers |= opcode.Has(kArrives);
    BindGuard(i, insn);
  } catch (const Unsupported& error) {
    insn = Insn();
    try {
      BindGuard(i, insn);  // it is no error where its guard is false
    } catch (const Unsupported&) {
      insn = Insn();
    }
    insn.handler = RaiseUnsupported;
    insn.immediate = builder_.program.unsupported.size();
    builder_.program.unsupported.push_back(Sentence(builder_.program.texts[info.text] + ": " + error.what()));
    synchronous = {};
  }
  polls_.resize(builder_.program.code.size() - builder_.program.functions[index_].entry_pc);
  polls_.push_back(i.call.has_value() || (opcode.Has(kPolls) && (!opcode.Has(kLoads) || IsStrongAccess(i))));
  own_pc_.push_back(static_cast<uint32_t>(builder_.program.code.size()));
  Emit(insn, info);
  builder_.program.synchronous.back() = synchronous;
  if (insn.handler == Call && (i.guard || builder_.program.calls[insn.immediate].target != kNoRow)) {
    // Lanes that diverge by guard or target reconverge right after the call.
    builder_.program.code.back().extra = builder_.program.code.size();
    Insn meet;
    meet.handler = Converge;
    EmitPseudo(meet, &i);
  }
}

void FunctionDecoder::BindGuard(const ptx::Instruction& i, Insn& insn) {
  if (!i.guard) return;
  insn.guard = RegisterRow(i.guard->name, Type::kPred, false);
  if (i.guard->negated) insn.flags |= kGuardNegated;
}

void FunctionDecoder::DecodeByTable(const ptx::Instruction& i, Insn& insn, InsnInfo& info) {
  const Opcode& opcode = *opcode_;
  if (opcode.name.empty()) throw Unsupported("opcode " + i.opcode + " is not supported");
  if (opcode.select == nullptr) throw Unsupported(std::string(opcode.refusal));
  Modifiers modifiers(i, opcode.name);
  modifiers.set_operand_bytes(OperandBytes(i));
  modifiers.set_parts(i.parts);
  Selection selection;
  const ptx::AddressRef* address = nullptr;
  for (const ptx::Operand& operand : i.operands) {
    if (const auto* a = std::get_if<ptx::AddressRef>(&operand.value)) address = a;
  }
  const bool stores = opcode.Has(kStores);
  if ((stores || opcode.Has(kLoads)) && HasPrefix(i, "param")) {
    ParameterPlace place = InEntry() ? ParameterPlace::kKernel : ParameterPlace::kArea;
    if (address != nullptr && !address->base_symbol.empty()) {
      const auto it = parameters_.find(address->base_symbol);
      if (it == parameters_.end()) throw Unsupported("unknown parameter " + address->base_symbol);
      place = it->second.place;
    }
    selection = SelectParameterAccess(modifiers, place, stores);
  } else {
    selection = opcode.select(modifiers);
  }
  if (!modifiers.empty()) throw Unsupported("modifier " + modifiers.Left() + " is not supported");
  if (selection.handler == nullptr) throw Unsupported("it is not supported with these modifiers");
  const std::vector<OperandForm>& form = ParseForm(selection.form.empty() ? opcode.form : selection.form);
  insn.flags |= selection.flags;
  insn.extra = selection.extra;
  if ((selection.flags & kRowsInTable) != 0) {
    BindInTable(i, selection, form, modifiers, insn);
  } else {
    BindOperands(i, form, modifiers, insn);
  }
  // Handlers find their rows by the number of elements in the modifier.
  const int elements = Has(i, "v2") ? 2 : Has(i, "v4") ? 4 : Has(i, "v8") ? 8 : 1;
  const bool counted = (selection.flags & kRowsInTable) == 0;  // else BindInTable has compared them
  if (opcode.accesses_memory() && counted && std::max<int>(insn.count, 1) != elements) {
    throw Unsupported("its vector does not have as many elements as its modifier says");
  }
  insn.handler = selection.handler;
  info.tensor = selection.tensor;
  info.steps = selection.steps;
  if (ninth_row_ != kNoRow) {
    if (selection.extra >> 32 != 0) throw Unsupported("too many operands");
    insn.extra |= uint64_t{ninth_row_} << 32;
  }
  insn.insn_class = CostClassOf(i, opcode.meaning,
                                selection.insn_class == InsnClass::kOther ? opcode.insn_class : selection.insn_class);
  if ((insn.flags & (kWarpSynchronous | kRowsInTable)) == kWarpSynchronous && rows_ == 0)
    throw Unsupported("a member mask is missing");
}

void FunctionDecoder::DecodeMoveSpecial(const ptx::Instruction& i, Insn& insn) {
  Modifiers modifiers(i);
  const int bytes = RowElementBytes(modifiers.type(0));
  if (!modifiers.empty() || modifiers.type_count() != 1) throw Unsupported("its modifiers are not supported");
  const std::string& name = std::get<ptx::SpecialRef>(i.operands[1].value).name;
  insn.insn_class = InsnClass::kMove;
  AddRow(insn, BindDestination(modifiers.type(0), i.operands[0]), false, modifiers.type(0));
  if (name == "WARP_SZ") throw Unsupported("WARP_SZ is a constant");
  insn.handler = modifiers.type(0) == Type::kPred ? FindSpecialPredicate(name) : FindSpecialRegister(name, bytes);
  if (insn.handler == nullptr) throw Unsupported("special register " + name + " is not supported");
  if (ReadsClock(name)) EmitPause(i);
  builder_.program.uses_reserved_shared |= ReadsReservedShared(name);
}

void FunctionDecoder::EmitPause(const ptx::Instruction& i) {
  Insn insn;
  insn.handler = PauseForClock;
  EmitPseudo(insn, &i);
}

void FunctionDecoder::NoteMemory(const ptx::Instruction& i, InsnInfo& info) {
  if (HasPrefix(i, "shared")) info.space = MemorySpace::kShared;
  if (Has(i, "local")) info.space = MemorySpace::kLocal;
  if (HasPrefix(i, "param")) info.space = MemorySpace::kParam;
  if (Has(i, "const")) info.space = MemorySpace::kConst;
}

// Whether it has no result, or one that nothing else mentions.
bool FunctionDecoder::IsUnread(const ptx::Instruction& i) {
  if (!opcode_->has_result()) return true;
  if (i.operands.empty()) return false;
  const auto* r = std::get_if<ptx::RegisterRef>(&i.operands[0].value);
  return r == nullptr || occurrences_[r->name] == 1;
}

// Sets order_sensitive if the order in which blocks execute the instruction matters.
void FunctionDecoder::NoteOrder(const ptx::Instruction& i) {
  Program& program = builder_.program;
  if (opcode_->Has(kAnyOrder) || opcode_->pure()) return;
  if (opcode_->Has(kOrderUnlessOfBlock)) {
    program.order_sensitive |= !Has(i, "cta");
    return;
  }
  if (opcode_->Has(kOrderIfStrong)) {
    program.order_sensitive |= MayBeGlobal(i) && IsStrongAccess(i);
    return;
  }
  if (!opcode_->Has(kOrderUnlessCommutes)) {  // the opcode's row has no order trait
    program.order_sensitive = true;
    return;
  }
  if (!MayBeGlobal(i)) return;
  // An unread integer reduction gives the same sum in any order, as long as all are of one kind.
  const bool unread = IsUnread(i);
  std::string kind;
  for (const char* word : {"add", "min", "max", "and", "or", "xor"}) {
    if (Has(i, word)) kind = word;
  }
  const bool integer = !std::any_of(i.modifiers.begin(), i.modifiers.end(), [](const std::string& word) {
    return word.starts_with("f16") || word.starts_with("bf16") || word == "f32" || word == "f64";
  });
  if (!unread || kind.empty() || !integer || !Has(i, "global") || HasPrefix(i, "v")) {
    program.order_sensitive = true;
    return;
  }
  for (const std::string& word : i.modifiers) {  // signed and unsigned minima differ, and so do widths
    if ((kind == "min" || kind == "max") && ptx::TypeFromName(word)) kind += word;
    if (kind == "add" && ptx::TypeFromName(word)) kind += word.substr(1);
  }
  if (!builder_.global_reduction.empty() && builder_.global_reduction != kind) program.order_sensitive = true;
  builder_.global_reduction = kind;
}

}  // namespace lockstep::vgpu
