// The opcode table. Each row gives one opcode's operand layout and the function that selects a handler from the
// modifiers; the decoder does the rest.
//
// A family's file (isa/integer.cc, isa/float.cc, isa/convert.cc, isa/warp_ops.cc, isa/memory/memory.cc …) defines
// its handlers and ends with its rows:
//
//   LOCKSTEP_OPCODES(integer, {
//     {"add", "d0 s0 s0", SelectAdd, InsnClass::kInteger},
//     …
//   });
//
// The operand form is a list of words, one per operand in PTX order:
//   d/s      destination or source
//   0 1 2    typed by the first, second, third type modifier; w: twice the width of type 0;
//            or a type's name: su32, sb64, dpred, spred
//   |        "d0|dpred": the second part of d|p; row kNoRow when the text has none
//   a        address operand [base+offset]: base → one row (kNoRow when absent), offset → Insn::immediate.
//   ac       an address with coordinates after it, [tensor, {x, y}]: five more rows, kNoRow after the last of them;
//            with the trait kByHandle, [texture, {x, y}]: one more for each coordinate, and no offset
//   v        "dv0"/"sv0": scalar or {vector}, flattened; Insn::count gets the number of elements
//   ?        suffix: the operand may be missing (row kNoRow)
// An address after the first takes two rows: its base, and its offset as a 64-bit constant.
//
// A row's name may include leading modifiers, as in "mbarrier.init"; the longest matching name wins. A row with a
// refusal instead of a selector is a known but unsupported opcode; the refusal says why.
//
// No other code compares opcode names. Everything that other code needs to know about an opcode is in its row: its
// class (core/insn_class.h), its traits and its meaning (core/opcode_traits.h).
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/core/insn.h"
#include "vgpu/core/insn_class.h"
#include "vgpu/core/opcode_traits.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// The modifiers of one instruction, as seen by its row's selector. The selector takes each word that it supports. The
// decoder refuses the instruction if any word is left, so no modifier is ever ignored by accident.
class Modifiers {
 public:
  // The words in the row's name count as taken.
  explicit Modifiers(const ptx::Instruction& instruction, std::string_view row_name = {});

  // The k-th type word ("cvt.rn.f32.s32": f32, s32). Reading a type takes it.
  ptx::Type type(int k) const {
    types_read_ = std::max(types_read_, static_cast<size_t>(k) + 1);
    return k < static_cast<int>(types_.size()) ? types_[k] : ptx::Type::kNone;
  }
  int type_count() const { return static_cast<int>(types_.size()); }

  bool Take(std::string_view word);  // true if it was present; takes it
  std::string TakeAny(
      std::initializer_list<std::string_view> words);  // takes and returns the one that was present, or ""
  // ".m16n8k16.row.col": all words and types in the order of the text; takes them.
  std::string TakeAll();
  bool empty() const {
    return words_.empty() && types_read_ >= types_.size() &&
           std::all_of(parts_.begin(), parts_.end(), [](const std::string& part) { return part.empty(); });
  }
  std::string Left() const;  // ".foo.bar", for the message

  // Declared width in bytes of operand k's register (0 for immediates and sinks): ld, st and cvt allow a register wider
  // than the type. Operands are counted as in the text; vector elements and second parts (d|p) count separately,
  // omitted operands do not count.
  int operand_bytes(int k) const { return k < static_cast<int>(operand_bytes_.size()) ? operand_bytes_[k] : 0; }
  int operand_count() const { return static_cast<int>(operand_bytes_.size()); }
  void set_operand_bytes(std::vector<int> bytes) { operand_bytes_ = std::move(bytes); }

  // The suffix or sign written at operand k (ptx::Instruction::parts); takes it.
  std::string TakePart(int k) {
    return k < static_cast<int>(parts_.size()) ? std::exchange(parts_[static_cast<size_t>(k)], "") : "";
  }
  void set_parts(std::vector<std::string> parts) { parts_ = std::move(parts); }

  // Records the words that a selector asks for, in order; the reference page lists them as the modifiers of the row.
  void LogQueries(std::vector<std::string>* asked) { asked_ = asked; }

 private:
  std::vector<std::string> words_;
  std::string text_;  // as TakeAll() returns it
  std::vector<ptx::Type> types_;
  std::vector<int> operand_bytes_;
  std::vector<std::string> parts_;
  std::vector<std::string>* asked_ = nullptr;
  mutable size_t types_read_ = 0;  // up to the last type read
};

// What a selector decides besides the handler.
struct Selection {
  Handler handler = nullptr;                 // nullptr: these modifiers are not supported
  InsnClass insn_class = InsnClass::kOther;  // kOther: use the row's class
  uint8_t flags = 0;
  uint64_t extra = 0;
  // If not empty: overrides the operand types of the row's form (for mul.wide's destination or the elements of a
  // packing mov), or omits optional operands. Reads, writes and order are still those of the row's form.
  std::string_view form = {};
  std::array<uint8_t, 4> elements = {};  // with kRowsInTable: number of elements of each vector operand
  TensorWork tensor = {};
  uint8_t steps = 1;
};

struct Opcode {
  std::string_view name;
  std::string_view form;
  Selection (*select)(Modifiers& modifiers);  // null: handled by the decoder (branches, calls), or refused
  InsnClass insn_class = InsnClass::kOther;
  Traits traits = {};
  Meaning meaning = Meaning::kOther;
  std::string_view refusal = {};  // "sparse matrices are not supported"
  // All modifiers that may follow the name, if they are a list of fixed combinations: ".m16n8k16.row.col…".
  std::vector<std::string> (*variants)() = nullptr;

  bool Has(Traits some) const { return traits.Any(some); }  // any of them
  bool Is(Meaning what) const { return meaning == what; }
  // Computes registers from registers, with no other effect.
  bool pure() const { return IsPure(insn_class); }
  bool accesses_memory() const { return Has(kLoads | kStores | kAtomic); }
  bool has_result() const { return form.starts_with('d'); }
};

// Families register their rows; FindOpcode searches all families. Null if there is no row.
const Opcode* FindOpcode(const ptx::Instruction& instruction);

// A function with the opcode row of each instruction, looked up once. An opcode without a row gets an empty row; it
// stops the launch when executed.
class FunctionOpcodes {
 public:
  FunctionOpcodes(const ptx::Function& function);  // NOLINT: implicit conversion from a function is intended

  const ptx::Function& function() const { return function_; }
  const std::vector<ptx::Instruction>& body() const { return function_.body; }
  size_t size() const { return rows_.size(); }
  const Opcode& operator[](size_t instruction) const { return *rows_[instruction]; }

 private:
  const ptx::Function& function_;
  std::vector<const Opcode*> rows_;
};
const std::vector<const Opcode*>& AllOpcodes();  // sorted by name

struct OpcodeFamily {
  OpcodeFamily(const Opcode* rows, size_t count);
};

#define LOCKSTEP_OPCODES(family, ...)                                      \
  static const ::lockstep::vgpu::Opcode k_##family##_rows[] = __VA_ARGS__; \
  static const ::lockstep::vgpu::OpcodeFamily k_##family##_family(         \
      k_##family##_rows, sizeof k_##family##_rows / sizeof k_##family##_rows[0])

}  // namespace lockstep::vgpu
