#include "vgpu/ptx/declaration.h"

#include <bit>

#include "vgpu/ptx/constant.h"

namespace lockstep::vgpu::ptx {
namespace {

constexpr int64_t kLargestAlignment = 1 << 20;
constexpr int64_t kLargestVariable = int64_t{1} << 47;
constexpr uint64_t kLargestInitialiser = uint64_t{64} << 20;
constexpr size_t kMostDimensions = 8;
constexpr uint64_t kMostRegisters = 1 << 22;

uint64_t ParseAlignment(Cursor& cursor) {
  const auto alignment = static_cast<uint64_t>(ParseConstantInteger(cursor, 1, kLargestAlignment));
  if (!std::has_single_bit(alignment)) cursor.Fail("an alignment must be a power of two");
  return alignment;
}

// Skips .ptr .global .align 4: what a kernel's pointer parameter points to; unused here.
void SkipPointerAttribute(Cursor& cursor) {
  while (cursor.Peek() == '.') {
    const std::string_view word = cursor.PeekDotWord();
    if (word == "align") {
      cursor.DotWord();
      ParseAlignment(cursor);
      return;
    }
    if (!SpaceFromName(word)) return;
    cursor.DotWord();
  }
}

void ParseAttribute(Cursor& cursor, Variable* variable) {
  cursor.Expect('(');
  do {
    const std::string_view word = cursor.DotWord();
    if (word == "managed") {
      variable->is_managed = true;
    } else if (word == "unified") {
      cursor.Expect('(');  // linker identifiers
      cursor.SkipPast(')');
    } else {
      cursor.Fail("unknown variable attribute ." + std::string(word));
    }
  } while (cursor.Take(','));
  cursor.Expect(')');
}

// The words between the state space and the name.
void ParseQualifiers(Cursor& cursor, Variable* variable) {
  while (cursor.Peek() == '.') {
    const std::string_view word = cursor.DotWord();
    if (word == "align") {
      variable->alignment = ParseAlignment(cursor);
    } else if (word == "v2" || word == "v4" || word == "v8") {
      variable->vector_width = word[1] - '0';
    } else if (word == "ptr") {
      SkipPointerAttribute(cursor);
    } else if (word == "attribute") {
      ParseAttribute(cursor, variable);
    } else if (word == "texref" || word == "surfref" || word == "samplerref") {
      variable->type = Type::kB64;
      variable->is_texture = word == "texref";
    } else if (const auto type = TypeFromName(word)) {
      if (variable->type != Type::kNone) cursor.Fail("two types in one declaration");
      variable->type = *type;
    } else {
      cursor.Fail("variables with ." + std::string(word) + " are not supported");
    }
  }
  if (variable->type == Type::kNone) cursor.FailExpected("a type");
}

void CheckVectorRegister(Cursor& cursor, const Variable& variable) {
  constexpr int kMostBytes = 16;
  if (variable.space != Space::kReg || variable.vector_width == 1) return;
  if (variable.type == Type::kPred) cursor.Fail("a vector of predicates");
  if (variable.vector_width > 4 || variable.vector_width * SizeOf(variable.type) > kMostBytes) {
    cursor.Fail("a vector register has at most 4 elements and 16 bytes");
  }
}

void ParseDimensions(Cursor& cursor, Variable* variable) {
  uint64_t bytes = variable->ElementBytes();
  while (cursor.Take('[')) {
    if (variable->dimensions.size() == kMostDimensions) cursor.Fail("too many dimensions");
    uint64_t extent = 0;
    if (cursor.Peek() == ']') {
      if (!variable->dimensions.empty()) cursor.Fail("only the first dimension may be left open");
    } else {
      extent = static_cast<uint64_t>(ParseConstantInteger(cursor, 0, kLargestVariable));
      if (extent != 0 && bytes > kLargestVariable / extent) cursor.Fail("the variable is too large");
      bytes *= extent;
    }
    cursor.Expect(']');
    variable->dimensions.push_back(extent);
  }
}

class InitialiserParser {
 public:
  InitialiserParser(Cursor& cursor, Variable* variable)
      : cursor_(cursor), variable_(variable), extents_(variable->dimensions) {
    if (variable->vector_width > 1) extents_.push_back(static_cast<uint64_t>(variable->vector_width));
    stride_.resize(extents_.size() + 1);
    stride_.back() = static_cast<uint64_t>(SizeOf(variable->type));
    for (size_t level = extents_.size(); level-- > 0;) {
      // [] can only be the first dimension, whose stride is not needed.
      stride_[level] = stride_[level + 1] * extents_[level];
    }
  }

  void Parse() {
    if (cursor_.Peek() == '{') {
      if (extents_.empty()) cursor_.Fail("a scalar's initial value has no braces");
      const uint64_t count = List(0, 0);
      if (extents_[0] == 0 && !variable_->dimensions.empty()) variable_->dimensions[0] = count;
    } else {
      if (!extents_.empty()) cursor_.FailExpected("'{'");
      Scalar(0);
    }
  }

 private:
  // Parses a braced list at one level of the dimensions; returns the number of its elements.
  uint64_t List(size_t level, uint64_t offset) {
    cursor_.Expect('{');
    uint64_t count = 0;
    if (cursor_.Take('}')) return count;
    const bool open = extents_[level] == 0;
    do {
      if (!open && count == extents_[level]) cursor_.Fail("more initial values than elements");
      const uint64_t place = offset + count * stride_[level + 1];
      if (level + 1 < extents_.size()) {
        List(level + 1, place);
      } else {
        Scalar(place);
      }
      ++count;
    } while (cursor_.Take(','));
    cursor_.Expect('}');
    return count;
  }

  void Scalar(uint64_t offset) {
    const int size = SizeOf(variable_->type);
    if (offset + size > kLargestInitialiser) cursor_.Fail("the initial value is too large");
    if (variable_->bytes.size() < offset + size) variable_->bytes.resize(offset + size);
    uint64_t mask = ~uint64_t{0};
    if (!AtConstant(cursor_)) {
      Address(offset, mask);
      return;
    }
    const Number number = ParseConstant(cursor_);
    if (!cursor_.Take('(')) {
      const uint64_t bits = Convert(number);
      for (int k = 0; k < size; ++k) {
        variable_->bytes[offset + k] = k < 8 ? static_cast<uint8_t>(bits >> (8 * k)) : 0;
      }
      return;
    }
    // 0xFF00(symbol): some bits of an address, shifted down.
    mask = number.bits;
    if (number.is_float || mask == 0) cursor_.Fail("malformed mask of an address");
    Address(offset, mask);
    cursor_.Expect(')');
  }

  // symbol or generic(symbol), optionally plus or minus a constant.
  void Address(uint64_t offset, uint64_t mask) {
    Variable::Relocation relocation{offset, "", 0, SizeOf(variable_->type), false, mask};
    std::string_view name = cursor_.Name();
    if (name == "generic" && cursor_.Take('(')) {
      relocation.generic = true;
      name = cursor_.Name();
      cursor_.Expect(')');
    }
    relocation.symbol = name;
    while (cursor_.Peek() == '+' || cursor_.Peek() == '-') {
      const bool minus = cursor_.Take('-');
      if (!minus) cursor_.Expect('+');
      const Number addend = ParseConstantTerm(cursor_);
      if (addend.is_float) cursor_.Fail("an address plus a float");
      const uint64_t signed_addend = minus ? -addend.bits : addend.bits;
      relocation.addend = static_cast<int64_t>(static_cast<uint64_t>(relocation.addend) + signed_addend);
    }
    if (mask == ~uint64_t{0} && relocation.size < 4) cursor_.Fail("an address needs 4 or 8 bytes");
    variable_->relocations.push_back(std::move(relocation));
  }

  // A constant's bits as an element. 0f… in a .f64 is the low word, as in an instruction.
  uint64_t Convert(const Number& number) const {
    const Type type = variable_->type;
    if (type == Type::kF64 || type == Type::kF32) {
      if (number.is_float && (type == Type::kF64 || !number.is_double)) return number.bits;
      double value = std::bit_cast<double>(number.bits);
      if (!number.is_float) {
        value = number.is_unsigned ? static_cast<double>(number.bits)
                                   : static_cast<double>(static_cast<int64_t>(number.bits));
      }
      if (type == Type::kF64) return std::bit_cast<uint64_t>(value);
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    }
    if (number.is_float && SizeOf(type) != (number.is_double ? 8 : 4)) {
      cursor_.Fail("a float constant can't initialise ." + std::string(NameOf(type)));
    }
    return number.bits;
  }

  Cursor& cursor_;
  Variable* variable_;
  std::vector<uint64_t> extents_;  // of the dimensions, and of the vector
  std::vector<uint64_t> stride_;   // [k + 1]: bytes of an element of a list at level k
};

}  // namespace

std::optional<Space> SpaceFromName(std::string_view word) {
  for (const Space space : {Space::kReg, Space::kGlobal, Space::kShared, Space::kLocal, Space::kParam, Space::kConst}) {
    if (word == NameOf(space)) return space;
  }
  return std::nullopt;
}

std::vector<Variable> ParseVariables(Cursor& cursor, const Variable& start, const NameGiver& give_name) {
  Variable qualified = start;
  ParseQualifiers(cursor, &qualified);
  CheckVectorRegister(cursor, qualified);
  std::vector<Variable> variables;
  do {
    Variable variable = qualified;
    const std::string_view name = cursor.Name();
    if (variable.space == Space::kReg) {
      variable.count = 0;
      if (cursor.Take('<')) {
        const Number count = ParseConstantTerm(cursor);  // a whole expression would take the > for an operator
        if (count.is_float || count.bits < 1 || count.bits > kMostRegisters) cursor.Fail("a bad number of registers");
        variable.count = static_cast<int>(count.bits);
        cursor.Expect('>');
      }
    } else {
      ParseDimensions(cursor, &variable);
      if (cursor.Take('=')) {
        if (variable.space != Space::kGlobal && variable.space != Space::kConst) {
          cursor.Fail("only .global and .const variables can have an initial value");
        }
        InitialiserParser(cursor, &variable).Parse();
      }
    }
    give_name(name, &variable);
    variables.push_back(std::move(variable));
  } while (cursor.Take(','));
  cursor.Expect(';');
  return variables;
}

std::vector<Variable> ParseParameters(Cursor& cursor) {
  std::vector<Variable> parameters;
  cursor.Expect('(');
  if (cursor.Take(')')) return parameters;
  do {
    Variable parameter;
    const std::string_view word = cursor.DotWord();
    if (word == "param") {
      parameter.space = Space::kParam;
    } else if (word == "reg") {
      parameter.space = Space::kReg;
      parameter.count = 0;
    } else {
      cursor.Fail("a parameter is .param or .reg, not ." + std::string(word));
    }
    ParseQualifiers(cursor, &parameter);
    CheckVectorRegister(cursor, parameter);
    parameter.name = cursor.Name();
    ParseDimensions(cursor, &parameter);
    parameters.push_back(std::move(parameter));
  } while (cursor.Take(','));
  cursor.Expect(')');
  return parameters;
}

}  // namespace lockstep::vgpu::ptx
