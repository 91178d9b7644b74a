// The table of opcodes: one row an opcode. A row says how its operands are laid out and which function
// picks the handler from the modifiers; the decoder does the rest.
//
// A family's file (isa/integer.cc, isa/float.cc, isa/convert.cc, isa/warp_ops.cc, isa/memory/memory.cc …) defines
// its handlers and ends with its rows:
//
//   LOCKSTEP_OPCODES(integer, {
//     {"add", "d0 s0 s0", SelectAdd, InsnClass::kInteger},
//     …
//   });
//
// The operand form is a list of words, one an operand in PTX order:
//   d/s      destination or source
//   0 1 2    typed by the first, second, third type modifier; w: twice the width of type 0;
//            or a type's name: su32, sb64, dpred, spred
//   |        "d0|dpred": the second part of d|p; row kNoRow when the text has none
//   a        address operand [base+offset]: base → one row (kNoRow when absent), offset → Insn::immediate
//   v        "dv0"/"sv0": scalar or {vector}, flattened; Insn::count gets the number of elements
//   ?        suffix: the operand may be missing (row kNoRow)
// An address after the first takes two rows: its base, and its offset as a constant of 64 bits.
//
// A row's name may hold the first modifiers, as in "mbarrier.init": the longest name that the instruction begins with
// is its row. A row with a refusal in place of a selector is an opcode that is known and not supported; the refusal
// says why.
//
// Nothing else in the virtual GPU knows opcodes by their names. What others have to know of one stands in its row: its
// class (core/insn.h), its traits and its meaning (core/opcode_traits.h).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/insn.h"
#include "vgpu/core/insn_class.h"
#include "vgpu/core/opcode_traits.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// The modifiers of one instruction while a row's selector looks at them. A selector takes each word that
// it honours; the decoder refuses the instruction when a word is left over, so that no modifier is ever
// ignored by accident.
class Modifiers {
 public:
  // The words of a row's name count as taken.
  explicit Modifiers(const ptx::Instruction& instruction, std::string_view row_name = {});

  // The type words, in order ("cvt.rn.f32.s32": f32, s32). Types are taken by reading them.
  ptx::Type type(int k) const {
    types_read_ = std::max(types_read_, static_cast<size_t>(k) + 1);
    return k < static_cast<int>(types_.size()) ? types_[k] : ptx::Type::kNone;
  }
  int type_count() const { return static_cast<int>(types_.size()); }

  bool Take(std::string_view word);                                    // true and gone when it is there
  std::string TakeAny(std::initializer_list<std::string_view> words);  // the one that was there, or ""
  bool empty() const { return words_.empty() && types_read_ >= types_.size(); }
  std::string Left() const;  // ".foo.bar", for the message

  // Width in bytes of operand k's register as declared (0 for immediates and sinks): ld, st and cvt allow a
  // register wider than the type. Operands count as in the text, elements of vectors and second parts
  // (d|p) one by one; what the text leaves out does not count.
  int operand_bytes(int k) const { return k < static_cast<int>(operand_bytes_.size()) ? operand_bytes_[k] : 0; }
  int operand_count() const { return static_cast<int>(operand_bytes_.size()); }
  void set_operand_bytes(std::vector<int> bytes) { operand_bytes_ = std::move(bytes); }

  // From now on the words that a selector asks for are noted, in order: how the reference page finds what a row takes.
  void NoteAsked(std::vector<std::string>* asked) { asked_ = asked; }

 private:
  std::vector<std::string> words_;
  std::vector<ptx::Type> types_;
  std::vector<int> operand_bytes_;
  std::vector<std::string>* asked_ = nullptr;
  mutable size_t types_read_ = 0;  // up to the last one that was looked at
};

// What a selector decides beside the handler.
struct Selection {
  Handler handler = nullptr;                 // nullptr: not supported with these modifiers
  InsnClass insn_class = InsnClass::kOther;  // kOther: the row's
  uint8_t flags = 0;
  uint64_t extra = 0;
  // Not empty: these modifiers type the operands thus, instead of by the row's form (mul.wide's destination,
  // the elements of a packing mov), or take fewer of the optional operands. Reads, writes and order stay those of
  // the row's form.
  std::string_view form = {};
};

struct Opcode {
  std::string_view name;
  std::string_view form;
  Selection (*select)(Modifiers& modifiers);  // null: the decoder's own (branches, calls), or refused
  InsnClass insn_class = InsnClass::kOther;
  Traits traits = {};
  Meaning meaning = Meaning::kOther;
  std::string_view refusal = {};  // "tensor cores are not supported"

  bool Has(Traits some) const { return traits.Any(some); }  // any of them
  bool Is(Meaning what) const { return meaning == what; }
  // It makes registers of registers, and does nothing else.
  bool pure() const { return IsPure(insn_class); }
  bool accesses_memory() const { return Has(kLoads | kStores | kAtomic); }
  bool has_result() const { return form.starts_with('d'); }
};

// A family's rows register themselves; FindOpcode looks over all families. Null when there is none.
const Opcode* FindOpcode(const ptx::Instruction& instruction);

// A function with the row of each of its instructions, looked up once. An opcode without a row has an empty one, of
// which nothing is known; it stops the launch where it is executed.
class FunctionOpcodes {
 public:
  FunctionOpcodes(const ptx::Function& function);  // NOLINT: a function is as good where rows are looked up once

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
