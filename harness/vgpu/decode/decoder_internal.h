// Internals of the decoder: the state shared by a program's functions, and the decoder of one function.
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/analysis/liveness.h"
#include "vgpu/analysis/operand_form.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/core/program.h"
#include "vgpu/decode/decoder.h"
#include "vgpu/decode/flow.h"
#include "vgpu/isa/memory/memory.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Rounds a value up to a multiple of a unit.
inline uint64_t AlignUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// An instruction or kernel that cannot be decoded; the text goes into the finding.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Rows of 32 equal elements; each distinct value is stored once.
class ConstantPool {
 public:
  RowRef Row(int element_bytes, uint64_t value);  // 2, 4 or 8
  RowRef Predicate(bool value);
  AlignedBytes Take(size_t* bytes) const;

 private:
  RowRef Place(int element_bytes, uint64_t value, int elements);
  std::map<std::pair<int, uint64_t>, RowRef> rows_;
  std::vector<uint8_t> bytes_;
};

// State shared by the functions of one program.
struct ProgramBuilder {
  const ModuleImage& image;
  Program& program;
  ConstantPool pool;
  std::unordered_map<const ptx::Function*, uint32_t> function_index;
  std::vector<const ptx::Function*> functions;              // by index
  std::unordered_map<std::string, uint32_t> shared_offset;  // by VariableKey
  std::unordered_map<std::string, uint32_t> text_index;
  // By function; the last one represents all functions whose addresses are taken, which an indirect call may reach.
  std::vector<std::vector<uint32_t>> callees;
  std::set<uint32_t> called_in_loops;  // functions
  bool indirect_calls = false;
  bool allocas = false;
  std::string global_reduction;  // the one kind of red on global memory seen so far

  uint32_t Text(const ptx::Instruction& instruction);
};

// The functions that the runtime provides to kernels, such as vprintf.
Builtin FindBuiltin(std::string_view name);

// A float literal's bits in an operand of 4 or 8 bytes.
uint64_t FloatBits(const ptx::FloatImmediate& immediate, int bytes);

// Bytes of one element in a register's row; 4 for predicates, whose row has one element.
int RowElementBytes(ptx::Type type);

class FunctionDecoder {
 public:
  FunctionDecoder(ProgramBuilder& builder, const FunctionOpcodes& opcodes, uint32_t index);
  void Decode();  // throws Unsupported or ptx::PtxError if the whole function cannot be decoded

 private:
  struct ParameterSymbol {
    ParameterPlace place = ParameterPlace::kArea;
    uint32_t offset = 0, bytes = 0;
  };

  // decoder_function.cc
  void PlaceVariables();
  void CollectRegisters();
  void DecodeInstruction(size_t index);
  void DecodeByTable(const ptx::Instruction& instruction, Insn& insn, InsnInfo& info);
  void BindGuard(const ptx::Instruction& instruction, Insn& insn);
  void DecodeMoveSpecial(const ptx::Instruction& instruction, Insn& insn);
  void EmitPause(const ptx::Instruction& instruction);
  void DecodeBranch(size_t index, Insn& insn);
  void DecodeReturn(size_t index, Insn& insn);
  void DecodeCall(const ptx::Instruction& instruction, bool in_loop, Insn& insn);
  int ArgumentBytes(const ptx::Instruction& instruction, size_t k) const;
  void NoteMemory(const ptx::Instruction& instruction, InsnInfo& info);
  bool IsUnread(const ptx::Instruction& i);
  void NoteOrder(const ptx::Instruction& instruction);
  void PatchBranches();
  void MarkWait(const std::vector<uint32_t>& pauses, const RegisterUses& uses, size_t first, size_t last,
                uint32_t branch);
  bool StartsAnew(const RegisterUses& uses, size_t first, size_t last) const;
  void Emit(const Insn& insn, const InsnInfo& info) {
    builder_.program.code.push_back(insn);
    builder_.program.info.push_back(info);
    builder_.program.synchronous.emplace_back();
  }
  void EmitPseudo(const Insn& insn, const ptx::Instruction* near);
  bool InEntry() const { return index_ == 0; }

  // decoder_operands.cc
  void BindOperands(const ptx::Instruction& instruction, const std::vector<OperandForm>& form,
                    const Modifiers& modifiers, Insn& insn);
  void BindPart(const ptx::Instruction& instruction, const OperandPart& part, const Modifiers& modifiers,
                const ptx::Operand& operand, Insn& insn);
  void BindCoordinates(const ptx::Instruction& instruction, const ptx::Operand& operand, Insn& insn);
  void BindInTable(const ptx::Instruction& instruction, const Selection& selection,
                   const std::vector<OperandForm>& form, const Modifiers& modifiers, Insn& insn);
  RowRef BindSource(const ptx::Instruction& instruction, ptx::Type type, const ptx::Operand& operand, bool* negated);
  RowRef BindDestination(ptx::Type type, const ptx::Operand& operand);
  RowRef BindAddress(const ptx::Instruction& instruction, const ptx::Operand& operand, uint64_t* offset);
  RowRef RegisterRow(const std::string& name, ptx::Type type, bool may_be_wider);
  RowRef SymbolRow(const ptx::Instruction& instruction, const ptx::SymbolRef& symbol, int element_bytes);
  RowRef SpecialRow(const ptx::Instruction& instruction, const std::string& name, int element_bytes);
  ValuePlace BindValue(const ptx::Operand& operand);
  std::vector<int> OperandBytes(const ptx::Instruction& instruction) const;
  int RegisterBytes(const std::string& name) const;  // 0: no such register
  RowRef TemporaryRow();
  void AddRow(Insn& insn, RowRef row, bool negated, ptx::Type type);
  bool FindAddress(const std::string& symbol, uint64_t* address, bool* is_local) const;

  ProgramBuilder& builder_;
  const FunctionOpcodes& opcodes_;
  const ptx::Function& function_;
  const uint32_t index_;
  Flow flow_;
  RegisterLayout layout_;
  std::unordered_map<std::string, ptx::Type> register_type_;
  std::unordered_map<std::string, int> occurrences_;  // of each register in the text
  std::unordered_map<std::string, ParameterSymbol> parameters_;
  std::unordered_map<std::string, uint32_t> local_offset_;
  std::unordered_map<std::string, size_t> label_;  // the instruction after the label
  uint32_t temporary_base_ = 0, sink_row_ = 0;
  ptx::SourceLocation location_;                       // of the last instruction with a location
  int inline_site_ = -1;                               // of the same instruction, in Program::inline_sites
  int first_inline_site_ = 0;                          // start of this function's inline sites
  const Opcode* opcode_ = nullptr;                     // of the current instruction
  bool has_address_ = false;                           // the current instruction has already had an address operand
  int temporaries_ = 0;                                // of the current instruction
  ptx::Type row_type_[8] = {};                         // of the current instruction
  RowRef ninth_row_ = kNoRow;                          // of the current instruction
  bool rows_in_table_ = false;                         // the current instruction's rows go to Program::operand_rows
  int rows_ = 0;                                       // of the current instruction
  std::vector<uint32_t> pc_of_;                        // by instruction: pc of it or of its first pseudo-instruction
  std::vector<uint32_t> own_pc_;                       // by instruction: pc of the instruction itself
  std::vector<std::pair<uint32_t, size_t>> branches_;  // pc, index in the body
  std::vector<bool> spin_reads_;                       // by instruction; may be empty
  std::vector<bool> speculative_loads_;                // by instruction; may be empty
  std::vector<bool> polls_;                            // by pc from the function's start
};

}  // namespace lockstep::vgpu
