#include "vgpu/ptx/constant.h"

#include <array>
#include <bit>

namespace lockstep::vgpu::ptx {
namespace {

constexpr int kDeepest = 100;  // nested parentheses and signs
constexpr int kLoosest = 1;    // ||
constexpr int kMultiplicative = 10;
constexpr uint64_t kWarpSize = 32;

// Longer symbols come before their prefixes.
constexpr std::array kOperators = {
    Operator{"||", 1},
    Operator{"&&", 2},
    Operator{"==", 6},
    Operator{"!=", 6},
    Operator{"<<", 8},
    Operator{">>", 8},
    Operator{"<=", 7},
    Operator{">=", 7},
    Operator{"|", 3},
    Operator{"^", 4},
    Operator{"&", 5},
    Operator{"<", 7},
    Operator{">", 7},
    Operator{"+", 9},
    Operator{"-", 9},
    Operator{"*", kMultiplicative},
    Operator{"/", kMultiplicative},
    Operator{"%", kMultiplicative},
};

Number Integer(uint64_t bits, bool is_unsigned) { return {bits, false, true, is_unsigned}; }

void RequireInteger(const Cursor& cursor, const Number& number) {
  if (number.is_float) cursor.Fail("this operator is not supported on float constants");
}

// An operation on two decimal floats, in double precision.
Number ApplyToFloats(const Cursor& cursor, std::string_view op, const Number& left, const Number& right) {
  if (!left.is_double || !right.is_double) RequireInteger(cursor, left);
  const double a = std::bit_cast<double>(left.bits), b = std::bit_cast<double>(right.bits);
  const auto number = [](double value) { return Number{std::bit_cast<uint64_t>(value), true, true, false}; };
  if (op == "+") return number(a + b);
  if (op == "-") return number(a - b);
  if (op == "*") return number(a * b);
  if (op == "/") return number(a / b);
  if (op == "==") return Integer(a == b, false);
  if (op == "!=") return Integer(a != b, false);
  if (op == "<") return Integer(a < b, false);
  if (op == "<=") return Integer(a <= b, false);
  if (op == ">") return Integer(a > b, false);
  if (op == ">=") return Integer(a >= b, false);
  RequireInteger(cursor, left);
  return left;
}

class ConstantParser {
 public:
  explicit ConstantParser(Cursor& cursor) : cursor_(cursor) {}

  Number Conditional() {
    Enter();
    Number value = Binary(kLoosest);
    if (cursor_.Take('?')) {
      const Number yes = Conditional();
      cursor_.Expect(':');
      const Number no = Conditional();
      value = Truth(value) ? yes : no;
    }
    --depth_;
    return value;
  }

  Number Binary(int loosest) {
    Number left = Unary();
    while (const Operator* op = NextOperator(cursor_, loosest)) {
      cursor_.Take(op->symbol);
      const Number right = Binary(op->precedence + 1);
      left = Apply(cursor_, op->symbol, left, right);
    }
    return left;
  }

 private:
  void Enter() {
    if (++depth_ > kDeepest) cursor_.Fail("the constant expression is nested too deeply");
  }

  bool Truth(const Number& number) const {
    RequireInteger(cursor_, number);
    return number.bits != 0;
  }

  Number Unary() {
    Enter();
    Number value;
    if (cursor_.Take('-')) {
      value = Unary();
      if (value.is_float) {
        value.bits ^= value.is_double ? uint64_t{1} << 63 : uint64_t{1} << 31;
      } else {
        value.bits = -value.bits;
      }
    } else if (cursor_.Take('+')) {
      value = Unary();
    } else if (cursor_.Take('~')) {
      value = Unary();
      RequireInteger(cursor_, value);
      value.bits = ~value.bits;
    } else if (cursor_.Take('!')) {
      value = Integer(Truth(Unary()) ? 0 : 1, false);
    } else if (cursor_.Take('(')) {
      if (cursor_.Peek() == '.' && !cursor_.AtNumber()) {
        value = Cast();
      } else {
        value = Conditional();
        cursor_.Expect(')');
      }
    } else if (cursor_.PeekName() == "WARP_SZ") {
      cursor_.Name();
      value = Integer(kWarpSize, false);
    } else {
      value = cursor_.Literal();
    }
    --depth_;
    return value;
  }

  // (.s64) or (.u64), after its parenthesis, and the operand.
  Number Cast() {
    const std::string_view type = cursor_.DotWord();
    if (type != "s64" && type != "u64") cursor_.Fail("a constant can be cast to .s64 or .u64 only");
    cursor_.Expect(')');
    Number value = Unary();
    RequireInteger(cursor_, value);
    value.is_unsigned = type == "u64";
    return value;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

const Operator* NextOperator(Cursor& cursor, int loosest) {
  // An operator's first character distinguishes it from anything else that may follow a constant.
  if (std::string_view("|&=!<>^+-*/%").find(cursor.Peek()) == std::string_view::npos) return nullptr;
  for (const Operator& op : kOperators) {
    if (cursor.Next(op.symbol)) return op.precedence >= loosest ? &op : nullptr;
  }
  return nullptr;
}

Number Apply(const Cursor& cursor, std::string_view op, const Number& left, const Number& right) {
  if (left.is_float && right.is_float) return ApplyToFloats(cursor, op, left, right);
  RequireInteger(cursor, left);
  RequireInteger(cursor, right);
  const uint64_t a = left.bits, b = right.bits;
  const bool is_unsigned = left.is_unsigned || right.is_unsigned;
  const auto signed_a = static_cast<int64_t>(a), signed_b = static_cast<int64_t>(b);
  if (op == "+") return Integer(a + b, is_unsigned);
  if (op == "-") return Integer(a - b, is_unsigned);
  if (op == "*") return Integer(a * b, is_unsigned);
  if (op == "/" || op == "%") {
    if (b == 0) cursor.Fail("division by zero in a constant expression");
    if (!is_unsigned && signed_b == -1) return Integer(op == "/" ? -a : 0, false);  // INT64_MIN / -1 wraps
    if (op == "/") return Integer(is_unsigned ? a / b : static_cast<uint64_t>(signed_a / signed_b), is_unsigned);
    return Integer(is_unsigned ? a % b : static_cast<uint64_t>(signed_a % signed_b), is_unsigned);
  }
  const uint64_t places = b & 63;  // as ptxas treats a shift count, even a negative one
  if (op == "<<") return Integer(a << places, left.is_unsigned);
  if (op == ">>") {
    if (left.is_unsigned) return Integer(a >> places, true);
    return Integer(signed_a < 0 ? ~(~a >> places) : a >> places, false);
  }
  if (op == "|") return Integer(a | b, is_unsigned);
  if (op == "^") return Integer(a ^ b, is_unsigned);
  if (op == "&") return Integer(a & b, is_unsigned);
  if (op == "||") return Integer(a != 0 || b != 0, false);
  if (op == "&&") return Integer(a != 0 && b != 0, false);
  if (op == "==") return Integer(a == b, false);
  if (op == "!=") return Integer(a != b, false);
  const bool less = is_unsigned ? a < b : signed_a < signed_b;
  if (op == "<") return Integer(less, false);
  if (op == ">=") return Integer(!less, false);
  return Integer(op == "<=" ? less || a == b : !less && a != b, false);
}

bool AtConstant(Cursor& cursor) {
  const char c = cursor.Peek();
  return c == '-' || c == '+' || c == '~' || c == '!' || c == '(' || cursor.AtNumber() ||
         cursor.PeekName() == "WARP_SZ";
}

Number ParseConstant(Cursor& cursor) { return ConstantParser(cursor).Conditional(); }

Number ParseConstantTerm(Cursor& cursor) { return ConstantParser(cursor).Binary(kMultiplicative); }

int64_t ParseConstantInteger(Cursor& cursor, int64_t minimum, int64_t maximum) {
  const Number number = ParseConstant(cursor);
  const auto value = static_cast<int64_t>(number.bits);
  if (number.is_float) cursor.Fail("expected an integer");
  if (value < minimum || value > maximum || (number.is_unsigned && value < 0)) {
    cursor.Fail("a number here must be from " + std::to_string(minimum) + " to " + std::to_string(maximum));
  }
  return value;
}

}  // namespace lockstep::vgpu::ptx
