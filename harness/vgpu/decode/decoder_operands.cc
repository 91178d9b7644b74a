// Operands → rows.
#include <algorithm>
#include <cstring>
#include <utility>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/decode/decoder_internal.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/frame_values.h"
#include "vgpu/isa/special_registers.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {
using ptx::Type;

// An f32 literal (0f…) in an 8-byte operand gives the low word's bits: ptxas doesn't widen the number.
uint64_t FloatBits(const ptx::FloatImmediate& immediate, int bytes) {
  if (bytes == 8 || !immediate.is_double) return immediate.bits;
  double value;
  std::memcpy(&value, &immediate.bits, sizeof value);
  const float narrow = static_cast<float>(value);
  uint32_t result;
  std::memcpy(&result, &narrow, sizeof result);
  return result;
}

namespace {

// The coordinates after the address of a tensor or the handle of a texture: the elements of a vector, or one value.
std::vector<const ptx::Operand*> Coordinates(const ptx::Operand& address) {
  std::vector<const ptx::Operand*> coordinates;
  for (const ptx::Operand& second : address.second) {
    if (const auto* vector = std::get_if<ptx::VectorRef>(&second.value)) {
      for (const ptx::Operand& element : vector->elements) coordinates.push_back(&element);
    } else {
      coordinates.push_back(&second);
    }
  }
  return coordinates;
}

}  // namespace

int RowElementBytes(Type type) {
  if (type == Type::kPred) return 4;
  const int bytes = ptx::SizeOf(type);
  return bytes == 1 ? 2 : bytes;
}

int FunctionDecoder::RegisterBytes(const std::string& name) const {
  const auto found = register_type_.find(name);
  return found == register_type_.end() ? 0 : ptx::SizeOf(found->second);
}

RowRef FunctionDecoder::TemporaryRow() {
  if (temporaries_ >= 8) throw Unsupported("too many operands");
  return temporary_base_ + 256u * static_cast<uint32_t>(temporaries_++);  // at most eight, the number of an Insn's rows
}

void FunctionDecoder::AddRow(Insn& insn, RowRef row, bool negated, Type type) {
  if (rows_in_table_) {
    builder_.program.operand_rows.push_back(row);
    return;
  }
  if (rows_ == 8 && !negated && ninth_row_ == kNoRow && row != kNoRow) {
    ninth_row_ = row;
    return;
  }
  if (rows_ >= 8) throw Unsupported("too many operands");
  if (negated) insn.negated_predicates |= static_cast<uint8_t>(1 << rows_);
  row_type_[rows_] = type;
  insn.row[rows_++] = row;
}

RowRef FunctionDecoder::RegisterRow(const std::string& name, Type type, bool may_be_wider) {
  const auto row = layout_.row.find(name);
  const auto declared = register_type_.find(name);
  if (row == layout_.row.end() || declared == register_type_.end()) throw Unsupported("unknown register " + name);
  const bool predicate = declared->second == Type::kPred;
  if (predicate != (type == Type::kPred)) throw Unsupported("register " + name + " has the wrong type");
  const int have = RowElementBytes(declared->second);
  const int want = RowElementBytes(type);
  if (have != want && !(may_be_wider && have > want && opcode_->Has(kWiderRegisters))) {
    throw Unsupported("register " + name + " has the wrong width");
  }
  return row->second;
}

bool FunctionDecoder::FindAddress(const std::string& symbol, uint64_t* address, bool* is_local) const {
  *is_local = false;
  if (const auto it = local_offset_.find(symbol); it != local_offset_.end()) {
    *address = it->second;
    *is_local = true;
    return true;
  }
  if (const auto it = parameters_.find(symbol); it != parameters_.end()) {
    *address = it->second.offset;
    return true;
  }
  for (const ptx::Function* scope : {&function_, static_cast<const ptx::Function*>(nullptr)}) {
    AnalysisWork::Spend(scope == nullptr ? 0 : scope->name.size());  // copies the name
    const std::string key = VariableKey(scope, symbol);
    if (const auto it = builder_.shared_offset.find(key); it != builder_.shared_offset.end()) {
      *address = it->second;
      return true;
    }
    if (const auto it = builder_.image.addresses.find(key); it != builder_.image.addresses.end()) {
      *address = it->second;
      return true;
    }
  }
  if (const auto it = builder_.image.function_addresses.find(symbol); it != builder_.image.function_addresses.end()) {
    *address = it->second;
    return true;
  }
  return false;
}

RowRef FunctionDecoder::SymbolRow(const ptx::Instruction& instruction, const ptx::SymbolRef& symbol,
                                  int element_bytes) {
  uint64_t address = 0;
  bool is_local = false;
  if (!FindAddress(symbol.name, &address, &is_local)) throw Unsupported("unknown name " + symbol.name);
  address += static_cast<uint64_t>(symbol.offset);
  if (is_local && !InEntry()) {
    const RowRef row = TemporaryRow();
    Insn insn;
    insn.handler = LocalAddress;
    insn.row[0] = row;
    insn.immediate = address;
    insn.count = static_cast<uint8_t>(element_bytes);
    EmitPseudo(insn, &instruction);
    return row;
  }
  return builder_.pool.Row(element_bytes, address);
}

RowRef FunctionDecoder::SpecialRow(const ptx::Instruction& instruction, const std::string& name, int element_bytes) {
  if (name == "WARP_SZ") return builder_.pool.Row(element_bytes, kWarpSize);
  const Handler handler = FindSpecialRegister(name, element_bytes);
  if (handler == nullptr) throw Unsupported("special register " + name + " is not supported");
  if (ReadsClock(name)) EmitPause(instruction);
  builder_.program.uses_reserved_shared |= ReadsReservedShared(name);
  Insn insn;
  insn.handler = handler;
  insn.row[0] = TemporaryRow();
  EmitPseudo(insn, &instruction);
  return insn.row[0];
}

RowRef FunctionDecoder::BindSource(const ptx::Instruction& instruction, Type type, const ptx::Operand& operand,
                                   bool* negated) {
  if (type == Type::kNone) throw Unsupported("a type is missing");
  const int bytes = RowElementBytes(type);
  if (const auto* r = std::get_if<ptx::RegisterRef>(&operand.value)) {
    if (r->negated && type != Type::kPred) throw Unsupported("! before a register that is no predicate");
    *negated = r->negated;
    return RegisterRow(r->name, type, true);
  }
  if (bytes > 8) throw Unsupported("a 128-bit operand must be a register");
  if (const auto* i = std::get_if<ptx::IntegerImmediate>(&operand.value)) {
    if (type == Type::kPred) return builder_.pool.Predicate(i->value != 0);
    if (type == Type::kF32 || type == Type::kF64) throw Unsupported("an integer where a float belongs");
    return builder_.pool.Row(bytes, static_cast<uint64_t>(i->value));
  }
  if (type == Type::kPred) throw Unsupported("an operand must be a predicate");
  if (const auto* f = std::get_if<ptx::FloatImmediate>(&operand.value)) {
    if (bytes < 4) throw Unsupported("a float where 16 bits belong");
    return builder_.pool.Row(bytes, FloatBits(*f, bytes));
  }
  if (const auto* s = std::get_if<ptx::SpecialRef>(&operand.value)) return SpecialRow(instruction, s->name, bytes);
  if (const auto* s = std::get_if<ptx::SymbolRef>(&operand.value)) return SymbolRow(instruction, *s, bytes);
  throw Unsupported("an operand has the wrong shape");
}

RowRef FunctionDecoder::BindDestination(Type type, const ptx::Operand& operand) {
  if (type == Type::kNone) throw Unsupported("a type is missing");
  if (std::holds_alternative<ptx::SinkRef>(operand.value)) return type == Type::kPred ? kNoRow : sink_row_;
  const auto* r = std::get_if<ptx::RegisterRef>(&operand.value);
  if (r == nullptr || r->negated) throw Unsupported("a destination must be a register");
  return RegisterRow(r->name, type, true);
}

namespace {

// A load, a store or an atomic operation of a generic address.
bool NamesNoSpace(const ptx::Instruction& i) {
  if (i.opcode != "ld" && i.opcode != "st" && i.opcode != "atom" && i.opcode != "red") return false;
  return std::none_of(i.modifiers.begin(), i.modifiers.end(), [](const std::string& word) {
    return word == "global" || word == "local" || word == "const" || word.starts_with("shared") ||
           word.starts_with("param");
  });
}

}  // namespace

RowRef FunctionDecoder::BindAddress(const ptx::Instruction& instruction, const ptx::Operand& operand,
                                    uint64_t* offset) {
  const auto* a = std::get_if<ptx::AddressRef>(&operand.value);
  if (a == nullptr) throw Unsupported("an operand must be an address");
  *offset = static_cast<uint64_t>(a->offset);
  if (!a->base_register.empty()) {
    const int bytes = RegisterBytes(a->base_register);
    return RegisterRow(a->base_register, bytes == 4 ? Type::kU32 : Type::kU64, false);
  }
  const RowRef zero = builder_.pool.Row(8, 0);
  if (a->base_symbol.empty()) return zero;
  uint64_t address = 0;
  bool is_local = false;
  if (!FindAddress(a->base_symbol, &address, &is_local)) throw Unsupported("unknown name " + a->base_symbol);
  if (is_local && !InEntry()) return SymbolRow(instruction, {a->base_symbol, 0}, 8);
  *offset += address;
  // An access that names no state space uses a generic address, so a shared variable is in the shared window.
  const bool is_shared = builder_.shared_offset.contains(VariableKey(&function_, a->base_symbol)) ||
                         builder_.shared_offset.contains(VariableKey(nullptr, a->base_symbol));
  if (is_shared && !is_local && NamesNoSpace(instruction)) *offset += kSharedWindow;
  return zero;
}

// A texture gets one row for each coordinate (BindInTable has checked their number), a tensor always five, kNoRow for
// missing ones.
void FunctionDecoder::BindCoordinates(const ptx::Instruction& instruction, const ptx::Operand& operand, Insn& insn) {
  constexpr size_t kMost = 5;
  const std::vector<const ptx::Operand*> coordinates = Coordinates(operand);
  const bool by_handle = opcode_->Has(kByHandle);
  if (!by_handle) {
    if (coordinates.empty() || coordinates.size() > kMost) throw Unsupported("a tensor has one to five coordinates");
    const std::string& dimensions = std::to_string(coordinates.size()) + "d";
    if (std::find(instruction.modifiers.begin(), instruction.modifiers.end(), dimensions) ==
        instruction.modifiers.end()) {
      throw Unsupported("it does not have as many coordinates as its modifier says");
    }
  }
  for (size_t k = 0; k < (by_handle ? coordinates.size() : kMost); ++k) {
    bool negated = false;
    AddRow(insn, k < coordinates.size() ? BindSource(instruction, Type::kB32, *coordinates[k], &negated) : kNoRow,
           false, Type::kB32);
  }
}

void FunctionDecoder::BindPart(const ptx::Instruction& instruction, const OperandPart& part, const Modifiers& modifiers,
                               const ptx::Operand& operand, Insn& insn) {
  if (part.address()) {
    if (!operand.second.empty() && !part.coordinates) throw Unsupported("an address has coordinates");
    uint64_t offset = 0;
    RowRef row = BindAddress(instruction, operand, &offset);
    if (opcode_->Has(kByHandle) && builder_.image.textures.contains(offset)) {
      Insn handle;
      handle.handler = TextureOfReference;
      handle.row[0] = row = TemporaryRow();
      handle.immediate = std::exchange(offset, 0);
      EmitPseudo(handle, &instruction);
    }
    AddRow(insn, row, false, Type::kNone);
    if (!has_address_) {
      has_address_ = true;
      insn.immediate = offset;
    } else {
      AddRow(insn, builder_.pool.Row(8, offset), false, Type::kNone);
    }
    if (opcode_->Has(kByHandle) && offset != 0) throw Unsupported("a handle plus an offset");
    if (part.coordinates) BindCoordinates(instruction, operand, insn);
    return;
  }
  const Type type = ResolveType(part, modifiers);
  const auto bind = [&](const ptx::Operand& element) {
    bool negated = false;
    const RowRef row =
        part.destination() ? BindDestination(type, element) : BindSource(instruction, type, element, &negated);
    AddRow(insn, row, negated, type);
  };
  const auto* vector = std::get_if<ptx::VectorRef>(&operand.value);
  if (!part.vector) {
    if (vector != nullptr) throw Unsupported("a vector where a scalar belongs");
    bind(operand);
    return;
  }
  if (vector == nullptr) {
    if (insn.count > 1) throw Unsupported("a scalar where a vector belongs");
    insn.count = 1;
    bind(operand);
    return;
  }
  if (!rows_in_table_ && insn.count != 0 && insn.count != vector->elements.size()) {
    throw Unsupported("its vectors differ in length");
  }
  insn.count = static_cast<uint8_t>(vector->elements.size());
  for (const ptx::Operand& element : vector->elements) bind(element);
}

void FunctionDecoder::BindOperands(const ptx::Instruction& instruction, const std::vector<OperandForm>& form,
                                   const Modifiers& modifiers, Insn& insn) {
  const std::vector<ptx::Operand>& operands = instruction.operands;
  has_address_ = false;
  if (operands.size() > form.size()) throw Unsupported("it has too many operands");
  for (size_t k = 0; k < form.size(); ++k) {
    if (k >= operands.size()) {
      if (!form[k].optional) throw Unsupported("an operand is missing");
      AddRow(insn, kNoRow, false, Type::kNone);
      if (form[k].has_second) AddRow(insn, kNoRow, false, Type::kNone);
      continue;
    }
    BindPart(instruction, form[k].part, modifiers, operands[k], insn);
    if (form[k].has_second && !operands[k].second.empty()) {
      BindPart(instruction, form[k].second, modifiers, operands[k].second.front(), insn);
    } else if (form[k].has_second) {
      AddRow(insn, kNoRow, false, Type::kNone);
    } else if (!operands[k].second.empty() && !form[k].part.address()) {
      throw Unsupported("an operand has a part after a bar");
    }
  }
}

void FunctionDecoder::BindInTable(const ptx::Instruction& instruction, const Selection& selection,
                                  const std::vector<OperandForm>& form, const Modifiers& modifiers, Insn& insn) {
  for (size_t k = 0; k < std::min(form.size(), instruction.operands.size()); ++k) {
    if (form[k].part.coordinates && opcode_->Has(kByHandle)) {
      if (Coordinates(instruction.operands[k]).size() != selection.elements[k]) {
        throw Unsupported("its handle does not have as many coordinates as its modifiers say");
      }
      continue;
    }
    if (!form[k].part.vector) continue;
    const auto* vector = std::get_if<ptx::VectorRef>(&instruction.operands[k].value);
    if ((vector == nullptr ? 1 : vector->elements.size()) != selection.elements[k]) {
      throw Unsupported("its vectors do not have as many elements as its modifiers say");
    }
  }
  insn.extra = selection.extra | uint64_t{builder_.program.operand_rows.size()} << 32;
  rows_in_table_ = true;
  BindOperands(instruction, form, modifiers, insn);
  rows_in_table_ = false;
  insn.count = 0;
}

ValuePlace FunctionDecoder::BindValue(const ptx::Operand& operand) {
  if (const auto* s = std::get_if<ptx::SymbolRef>(&operand.value)) {
    const auto it = parameters_.find(s->name);
    if (it == parameters_.end() || it->second.place != ParameterPlace::kArea) {
      throw Unsupported("argument " + s->name + " is no .param");
    }
    return {kNoRow, it->second.offset, it->second.bytes};
  }
  if (const auto* r = std::get_if<ptx::RegisterRef>(&operand.value)) {
    const int bytes = RegisterBytes(r->name);
    const auto type = register_type_.find(r->name);
    if (type != register_type_.end() && type->second == Type::kPred) {
      return {RegisterRow(r->name, Type::kPred, false), 0, kPredicateBytes};
    }
    if (bytes == 0 || bytes > 8) throw Unsupported("argument " + r->name);
    return {RegisterRow(r->name, type->second, false), 0, static_cast<uint32_t>(bytes)};
  }
  throw Unsupported("an argument of a call is neither .param nor register");
}

std::vector<int> FunctionDecoder::OperandBytes(const ptx::Instruction& instruction) const {
  std::vector<int> bytes;
  const auto add = [&](const ptx::Operand& operand, const auto& self) -> void {
    if (const auto* vector = std::get_if<ptx::VectorRef>(&operand.value)) {
      for (const ptx::Operand& element : vector->elements) self(element, self);
    } else if (const auto* r = std::get_if<ptx::RegisterRef>(&operand.value)) {
      bytes.push_back(RegisterBytes(r->name));
    } else if (const auto* a = std::get_if<ptx::AddressRef>(&operand.value)) {
      bytes.push_back(a->base_register.empty() ? 0 : RegisterBytes(a->base_register));
    } else {
      bytes.push_back(0);
    }
    for (const ptx::Operand& second : operand.second) self(second, self);
  };
  for (const ptx::Operand& operand : instruction.operands) add(operand, add);
  return bytes;
}

}  // namespace lockstep::vgpu
