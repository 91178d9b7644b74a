// The syntax tree of one PTX module: the parser's output and the decoder's input.
//
// Nothing here knows what an instruction does: an opcode is a name, its modifiers are the words between the dots, in
// order. Source: PTX ISA 9.0, chapters 4 to 6 and 11.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lockstep::vgpu::ptx {

// Fundamental and packed types (PTX ISA 5.2), by width within each group.
enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF32,
  kF64,
  kF16x2,
  kBF16,
  kBF16x2,
  kTF32,
  kU16x2,
  kS16x2,
  kU8x4,
  kS8x4,
  kE4M3x2,
  kE5M2x2,
  kF32x2,
};

// Size in bytes; kPred counts as 4 (a lane mask), kNone as 0.
int SizeOf(Type type);
std::string_view NameOf(Type type);                       // "u32", without the dot
std::optional<Type> TypeFromName(std::string_view name);  // from "u32"; nullopt if it is no type

enum class Space : uint8_t { kGeneric, kReg, kGlobal, kShared, kLocal, kParam, kConst };
std::string_view NameOf(Space space);

// A position in the student's source, from .loc/.file. file indexes Module::files; line 0 = unknown.
struct SourceLocation {
  int file = -1;
  int line = 0;
};

struct Operand;

// %r1, !%p1
struct RegisterRef {
  std::string name;
  bool negated = false;
};
// %tid.x, %laneid, %envreg1; WARP_SZ is the integer 32
struct SpecialRef {
  std::string name;
};
struct IntegerImmediate {
  int64_t value = 0;
  bool is_unsigned = false;
};
// 0f… keeps 32 bits, 0d… and decimal 64
struct FloatImmediate {
  uint64_t bits = 0;
  bool is_double = true;
};
// The name of a variable, function or label, plus a constant
struct SymbolRef {
  std::string name;
  int64_t offset = 0;
};
// [base + offset]; base is a register, a symbol, or neither
struct AddressRef {
  std::string base_register;
  std::string base_symbol;
  int64_t offset = 0;
};
// {%r1, %r2, _}
struct VectorRef {
  std::vector<Operand> elements;
};
// _
struct SinkRef {};

struct Operand {
  std::variant<SinkRef, RegisterRef, SpecialRef, IntegerImmediate, FloatImmediate, SymbolRef, AddressRef, VectorRef>
      value;
  // d|p of setp, shfl, …: the part after the bar, empty or one element. For an address: the other contents of the
  // brackets, as in [tensor, {%r1, %r2}].
  std::vector<Operand> second;
};

struct Instruction {
  std::string opcode;                  // "ld"
  std::vector<std::string> modifiers;  // {"global", "nc", "v4", "f32"}; "shared::cta" stays one word
  std::vector<Operand> operands;       // for call: see CallInfo instead
  // What video instructions write at an operand: "b0" of %r1.b0, "-" of -%r1, "-h1" of -%r1.h1. By operand; empty if
  // none has anything.
  std::vector<std::string> parts;
  std::optional<RegisterRef> guard;  // @%p, @!%p
  SourceLocation location;
  // For inlined code: the line in the text of this function into which the outermost call was inlined, from .loc …,
  // inlined_at …; file -1 if not inlined. location.file/line is the innermost location.
  SourceLocation inlined_at;
  int inline_site = -1;  // index into Function::inline_sites: the call site that the code was inlined at
  int ptx_line = 0;      // 1-based line in the PTX text

  struct CallInfo {
    std::vector<Operand> returns;  // names of .param or registers
    Operand target;                // SymbolRef (direct) or RegisterRef (indirect)
    std::vector<Operand> arguments;
    std::string prototype_or_table;  // label of .callprototype or .calltargets, for indirect calls
  };
  std::optional<CallInfo> call;
};

struct Variable {
  std::string name;
  Space space = Space::kGeneric;
  Type type = Type::kNone;
  int vector_width = 1;              // .v2, .v4
  uint64_t alignment = 0;            // bytes; 0 = natural alignment of the type
  std::vector<uint64_t> dimensions;  // {} for a scalar; 0 for [] (extern shared)
  bool is_extern = false, is_visible = false, is_weak = false, is_common = false, is_managed = false,
       is_texture = false;
  int count = 1;  // .reg .b32 %r<24>: name "%r", count 24 (0 for a single register)

  // Initialiser: raw bytes, zero beyond their end, and relocations. If mask is not all ones, the relocation inserts the
  // address's bits under the mask, shifted down by the mask's lowest set bit.
  std::vector<uint8_t> bytes;  // never longer than TotalBytes()
  struct Relocation {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
    int size;
    bool generic;
    uint64_t mask;
  };
  std::vector<Relocation> relocations;

  uint64_t ElementBytes() const;  // SizeOf(type) * vector_width
  uint64_t TotalBytes() const;    // 0 for []
};

// A source location at which the compiler inlined a function.
struct InlineSite {
  SourceLocation location;
  int caller = -1;  // index of the enclosing inline site; always smaller than its own; -1: none
};

// A label before Function::body[instruction].
struct Label {
  std::string name;
  size_t instruction;
};

// .branchtargets / .calltargets
struct BranchTable {
  std::string name;
  std::vector<std::string> targets;
};
struct CallPrototype {
  std::string name;
  std::vector<Variable> returns, parameters;
};

// The texts of a module's sections with debug information (DWARF), by name: "debug_info".
using DebugSections = std::map<std::string, std::string, std::less<>>;

struct Function {
  std::string name;
  bool is_entry = false, is_extern = false, is_visible = false, is_weak = false, noreturn = false;
  std::vector<Variable> returns, parameters;  // in space kParam (or kReg for old ABI-less .func)
  std::vector<Variable> variables;  // .local/.shared/.param/… in the body, with names made unique across scopes
  std::vector<Variable> registers;  // .reg declarations, made unique across scopes
  std::vector<Instruction> body;
  std::vector<Label> labels;
  std::vector<BranchTable> tables;
  std::vector<CallPrototype> prototypes;
  std::vector<InlineSite> inline_sites;
  bool has_body = false;

  // Performance directives; 0 = absent.
  int maxntid[3] = {0, 0, 0}, reqntid[3] = {0, 0, 0};
  int minnctapersm = 0, maxnreg = 0;
  int reqnctapercluster[3] = {0, 0, 0}, max_cluster_rank = 0;
  bool explicit_cluster = false, blocks_are_clusters = false;
  int ptx_line = 0;
  // The module's, if it was compiled for a debugger (nvcc -G): then registers keep their values. Otherwise null.
  std::shared_ptr<const DebugSections> debug;
};

struct Module {
  int version_major = 0, version_minor = 0;
  int target_sm = 0;   // 80 for sm_80 / compute_80; `target` keeps a letter suffix
  std::string target;  // "sm_90a"
  int address_size = 64;
  std::vector<std::string> files;   // .file table, index = SourceLocation::file (holes are empty)
  std::vector<Variable> variables;  // module scope
  std::vector<Function> functions;  // a declaration without a body only if no definition follows
  // .alias: name → function. Uses within the module are already resolved; the linker needs the names.
  std::map<std::string, std::string> aliases;
};

// An invalid PTX text: where and why, in one sentence.
class PtxError : public std::runtime_error {
 public:
  PtxError(int line, const std::string& message)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + message), line_(line) {}
  int line() const { return line_; }

 private:
  int line_;
};

}  // namespace lockstep::vgpu::ptx
