#include "vgpu/exec/debug_expression.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "vgpu/exec/warp_state.h"
#include "vgpu/ptx/constant.h"

namespace lockstep::vgpu {
namespace {

using Kind = SourceType::Kind;
using ptx::Number;

struct NoValue : std::runtime_error {  // in this lane; other errors are PtxErrors
  using std::runtime_error::runtime_error;
};

// A lane's value: bytes somewhere, or computed ones.
struct Value {
  size_t type = 0;
  const uint8_t* at = nullptr;
  uint64_t own = 0;
  bool is_local = false;
  const uint8_t* bytes() const { return at != nullptr ? at : reinterpret_cast<const uint8_t*>(&own); }
};

// The type in which C computes with values of these two types.
SourceType Common(const SourceType& a, const SourceType& b) {
  const bool reals[] = {a.kind == Kind::kFloat, b.kind == Kind::kFloat};
  if (reals[0] || reals[1]) return !reals[1] || (reals[0] && a.bytes > b.bytes) ? a : b;
  SourceType type{Kind::kSigned, std::max<uint64_t>({4, a.bytes, b.bytes}), 0, 0, {}};
  for (const SourceType* one : {&a, &b}) {
    if (one->kind != Kind::kSigned && one->bytes == type.bytes) type.kind = Kind::kUnsigned;
  }
  return type;
}

// A recursive-descent parser, which evaluates the expression for one lane as it reads it.
class Reader {
 public:
  Reader(std::string_view text, const ExpressionScope& scope, std::map<std::string, LaneValue>& found, uint32_t lane)
      : text_(text), cursor_(text), scope_(scope), found_(found), lane_(lane) {}

  Value Whole() {
    Value value = Binary(1);
    if (cursor_.Peek() == '=') cursor_.Fail("nothing can be changed here: == compares");
    if (!cursor_.AtEnd()) cursor_.FailExpected("an operator");
    return value;
  }

 private:
  const SourceType& TypeIn(const Value& value) const { return scope_.types[value.type]; }
  Value Made(uint64_t bits, const SourceType& type = BasicType("int")) {
    return {IndexOf(scope_.types, type), nullptr, bits};
  }
  Value MadeReal(double real, uint64_t bytes) {
    const SourceType type{Kind::kFloat, bytes, 0, 0, {}};
    return Made(bytes == 4 ? std::bit_cast<uint32_t>(static_cast<float>(real)) : std::bit_cast<uint64_t>(real), type);
  }
  // Once the left side of && or || has decided, the right one is only parsed, and may have no value.
  Value Missing(size_t type, const std::string& why) const { return skips_ > 0 ? Value{type} : throw NoValue(why); }

  uint64_t Integer(const Value& value) const {
    const SourceType& type = TypeIn(value);
    if (type.kind == Kind::kArray) cursor_.Fail("an array is no number: give an index");
    const bool fits = type.kind == Kind::kFloat ? type.bytes == 4 || type.bytes == 8 : type.bytes <= 8;
    if (type.kind == Kind::kOther || type.kind == Kind::kStruct || !fits) cursor_.Fail("this is no number");
    const bool is_set = !value.is_local || value.at == nullptr || !AreAll(value.at, type.bytes, kUnwritten);
    if (!is_set && skips_ == 0) throw NoValue("a value in it is not set yet");
    return NumberAt(value.bytes(), type.bytes, type.kind == Kind::kSigned);
  }
  double Real(const Value& value) const {
    const SourceType& type = TypeIn(value);
    const uint64_t bits = Integer(value);
    if (type.kind == Kind::kSigned) return static_cast<double>(static_cast<int64_t>(bits));
    if (type.kind != Kind::kFloat) return static_cast<double>(bits);
    return type.bytes == 4 ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  }
  // The value for ptx::Apply, which takes 64-bit integers and doubles; results are cut to the type's size later.
  Number In(const SourceType& type, const Value& value) const {
    if (type.kind == Kind::kFloat) return {std::bit_cast<uint64_t>(Real(value)), true, true, false};
    const uint64_t bits = Integer(value);
    return {type.kind == Kind::kUnsigned && type.bytes == 4 ? static_cast<uint32_t>(bits) : bits, false, true,
            type.kind == Kind::kUnsigned};
  }

  Value Binary(int loosest) {
    Value left = Unary();
    while (const ptx::Operator* const op = ptx::NextOperator(cursor_, loosest)) {
      cursor_.Take(op->symbol);
      const bool is_or = op->symbol == "||", is_logical = is_or || op->symbol == "&&";
      const bool decides = is_logical && (Real(left) != 0) == is_or;
      skips_ += decides ? 1 : 0;
      const Value right = Binary(op->precedence + 1);
      const bool other = is_logical && Real(right) != 0;
      skips_ -= decides ? 1 : 0;
      left = is_logical ? Made(decides ? is_or : other) : Applied(op->symbol, left, right);
    }
    return left;
  }
  Value Applied(std::string_view op, const Value& left, const Value& right) {
    const bool compares = op.find_first_of("=!") != std::string_view::npos || op == "<" || op == ">";
    const Kind kinds[] = {TypeIn(left).kind, TypeIn(right).kind};
    if (!compares && (kinds[0] == Kind::kPointer || kinds[1] == Kind::kPointer)) {  // p - q, p + i, p - i
      const auto each = static_cast<int64_t>(std::max<uint64_t>(scope_.types[TypeIn(left).element].bytes, 1));
      const auto a = static_cast<int64_t>(Integer(left)), b = static_cast<int64_t>(Integer(right));
      if (op == "-" && kinds[0] == kinds[1]) return Made(static_cast<uint64_t>((a - b) / each), BasicType("long"));
      const bool counts = kinds[1] == Kind::kSigned || kinds[1] == Kind::kUnsigned;
      if (!counts || (op != "+" && op != "-")) cursor_.Fail("a pointer takes + and - with an integer after them");
      return Made(static_cast<uint64_t>(op == "+" ? a + b * each : a - b * each), SourceType(TypeIn(left)));
    }
    const SourceType type = Common(TypeIn(left), TypeIn(op == "<<" || op == ">>" ? left : right));
    const Number x = In(type, left), y = In(type, right);
    if ((op == "/" || op == "%") && !y.is_float && y.bits == 0) {
      return Missing(IndexOf(scope_.types, type), "this divides by 0");
    }
    const Number result = ptx::Apply(cursor_, op, x, y);
    if (result.is_float) return MadeReal(std::bit_cast<double>(result.bits), type.bytes);
    return Made(result.bits, compares ? BasicType("int") : type);
  }

  Value Unary() {
    constexpr int kTightest = 100;
    if (++depth_ > kDeepest) cursor_.Fail("this is nested too deeply");
    Value value;
    if (cursor_.Take('-')) {
      value = Applied("*", Made(~uint64_t{0}), Binary(kTightest));
    } else if (cursor_.Take('!')) {
      value = Made(Real(Binary(kTightest)) == 0);
    } else if (cursor_.Take('~')) {
      value = Applied("^", Binary(kTightest), Made(~uint64_t{0}));
    } else if (cursor_.Take('*')) {
      value = Element(Binary(kTightest), Made(0), "it");
    } else if (cursor_.Take('(')) {
      const SourceType type = TakeType();
      value = type.kind == Kind::kOther ? Binary(1) : Value();
      cursor_.Expect(')');
      value = type.kind == Kind::kOther ? Postfix(value) : Converted(Binary(kTightest), type);
    } else {
      value = Postfix(Primary());
    }
    --depth_;
    return value;
  }

  // "unsigned long long", "float*", of a cast; kOther: there is none here.
  SourceType TakeType() {
    std::string name;
    for (ptx::Cursor ahead = cursor_; !ahead.PeekName().empty();) {
      if (!name.empty()) name += ' ';
      name += ahead.Name();
      if (BasicType(name).kind != Kind::kOther || name == "const") cursor_ = ahead;
    }
    SourceType type = BasicType(name);
    while (type.kind != Kind::kOther && cursor_.Take('*')) {
      type = {Kind::kPointer, 8, IndexOf(scope_.types, type), 0, {}};
    }
    return type;
  }
  Value Converted(const Value& value, const SourceType& to) {
    if (const SourceType& from = TypeIn(value); from.kind == Kind::kArray && to.kind == Kind::kPointer) {
      const uint64_t count = from.bytes / std::max<uint64_t>(scope_.types[to.element].bytes, 1);
      return {IndexOf(scope_.types, {Kind::kArray, from.bytes, to.element, count, {}}), value.at, 0, value.is_local};
    }
    if (to.kind == Kind::kFloat) return MadeReal(Real(value), to.bytes);
    if (TypeIn(value).kind != Kind::kFloat) return Made(Integer(value), to);
    const double real = Real(value), limit = static_cast<double>(uint64_t{1} << (8 * to.bytes - 1));
    const bool fits = to.kind == Kind::kSigned ? real > -limit - 1 && real < limit : real > -1 && real < 2 * limit;
    if (!fits) return Missing(IndexOf(scope_.types, to), "a value does not fit in what it is cast to");
    return Made(real < 0 ? static_cast<uint64_t>(static_cast<int64_t>(real)) : static_cast<uint64_t>(real), to);
  }

  Value Postfix(Value value) {
    for (std::string path = name_;; path = "it") {
      if (cursor_.Take('[')) {
        const Value index = Binary(1);
        cursor_.Expect(']');
        value = Element(value, index, path);
      } else if (cursor_.Take("->")) {
        value = Member(Element(value, Made(0), path));
      } else if (cursor_.Take('.')) {
        value = Member(value);
      } else {
        return value;
      }
    }
  }
  Value Member(const Value& value) {
    const std::string name(cursor_.Name());
    for (const SourceType::Member& member : TypeIn(value).members) {
      if (member.name != name) continue;
      if (value.at == nullptr) return Missing(member.type, name + " has no value");
      return {member.type, value.at + member.offset, 0, value.is_local};
    }
    cursor_.Fail("there is no member " + name + " in " + std::string(text_));
  }
  // An element of an array, or of what a pointer points to.
  Value Element(const Value& value, const Value& index, const std::string& name) {
    const SourceType& type = TypeIn(value);
    const Kind of_index = TypeIn(index).kind;
    if (of_index != Kind::kSigned && of_index != Kind::kUnsigned) cursor_.Fail("an index is an integer");
    const uint64_t each = scope_.types[type.element].bytes, k = Integer(index);
    if (type.kind == Kind::kArray) {
      if (k < type.count && value.at != nullptr) return {type.element, value.at + k * each, 0, value.is_local};
      return Missing(type.element, name + " has " + std::to_string(type.count) + " elements");
    }
    if (type.kind != Kind::kPointer) cursor_.Fail(name + " is no array and no pointer");
    const uint8_t* const bytes = scope_.memory_at(lane_, Integer(value) + k * each, std::max<uint64_t>(each, 1));
    return bytes == nullptr ? Missing(type.element, "no memory there") : Value{type.element, bytes};
  }

  Value Primary() {
    if (cursor_.AtNumber()) {
      const Number number = cursor_.Literal();
      if (number.is_float) return Made(number.bits, BasicType(number.is_double ? "double" : "float"));
      const bool is_long = number.bits >> (number.is_unsigned ? 32 : 31) != 0;
      return Made(number.bits, {number.is_unsigned ? Kind::kUnsigned : Kind::kSigned, is_long ? 8U : 4U, 0, 0, {}});
    }
    name_ = cursor_.Name();
    if (cursor_.Peek() == '(') cursor_.Fail("no function can be called here: " + name_);
    auto found = found_.find(name_);
    if (found == found_.end()) {
      std::string why;
      const std::optional<LaneValue> value = scope_.find(name_, &why);
      if (!value) cursor_.Fail(why);
      found = found_.emplace(name_, *value).first;
    }
    const LaneValue& all = found->second;
    if (all.at[lane_] == nullptr) return Missing(all.type, name_ + " is not set yet");
    return {all.type, all.at[lane_], 0, all.is_local};
  }

  static constexpr int kDeepest = 50;
  const std::string_view text_;
  ptx::Cursor cursor_;
  const ExpressionScope& scope_;
  std::map<std::string, LaneValue>& found_;
  const uint32_t lane_;
  std::string name_;  // the name read last
  int depth_ = 0, skips_ = 0;
};

}  // namespace

bool AreAll(const uint8_t* bytes, uint64_t count, uint8_t value) {
  return count >= 2 && std::all_of(bytes, bytes + count, [&](uint8_t byte) { return byte == value; });
}

uint64_t NumberAt(const uint8_t* bytes, uint64_t width, bool is_signed) {
  uint64_t value = 0;
  std::memcpy(&value, bytes, std::min<uint64_t>(width, sizeof value));
  const int spare = 64 - 8 * static_cast<int>(std::clamp<uint64_t>(width, 1, 8));
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << spare) >> spare) : value;
}

SourceType BasicType(std::string_view name) {
  static const std::map<std::string_view, std::pair<Kind, uint64_t>> kTypes = {
      {"float", {Kind::kFloat, 4}},
      {"double", {Kind::kFloat, 8}},
      {"char", {Kind::kSigned, 1}},
      {"unsigned char", {Kind::kUnsigned, 1}},
      {"uint8_t", {Kind::kUnsigned, 1}},
      {"short", {Kind::kSigned, 2}},
      {"unsigned short", {Kind::kUnsigned, 2}},
      {"int", {Kind::kSigned, 4}},
      {"unsigned", {Kind::kUnsigned, 4}},
      {"unsigned int", {Kind::kUnsigned, 4}},
      {"uint32_t", {Kind::kUnsigned, 4}},
      {"long", {Kind::kSigned, 8}},
      {"unsigned long", {Kind::kUnsigned, 8}},
      {"long long", {Kind::kSigned, 8}},
      {"unsigned long long", {Kind::kUnsigned, 8}},
      {"int64_t", {Kind::kSigned, 8}},
      {"uint64_t", {Kind::kUnsigned, 8}},
      {"size_t", {Kind::kUnsigned, 8}}};
  if (name.starts_with("const ")) name.remove_prefix(6);
  const auto known = kTypes.find(name);
  return known == kTypes.end() ? SourceType{} : SourceType{known->second.first, known->second.second, 0, 0, {}};
}

size_t IndexOf(std::vector<SourceType>& types, const SourceType& wanted) {
  const auto key = [](const SourceType& type) { return std::tie(type.kind, type.bytes, type.element, type.count); };
  const auto member = [](const SourceType::Member& one) { return std::tie(one.name, one.offset, one.type); };
  const auto is_it = [&](const SourceType& type) {
    return key(type) == key(wanted) && std::ranges::equal(type.members, wanted.members, {}, member, member);
  };
  const auto known = std::ranges::find_if(types, is_it);
  if (known != types.end()) return static_cast<size_t>(known - types.begin());
  types.push_back(wanted);
  return types.size() - 1;
}

std::optional<LaneValue> Evaluate(std::string_view expression, const ExpressionScope& scope, std::string* why) {
  LaneValue all;
  std::map<std::string, LaneValue> found;
  bool any = false;
  *why = "no thread runs it now";
  for (const uint32_t lane : EachLane(scope.mask)) {
    try {
      const Value value = Reader(expression, scope, found, lane).Whole();
      any = true;
      all.type = value.type;
      all.is_local = value.is_local;
      all.at[lane] = value.at;
      if (value.at != nullptr) continue;
      if (all.own == nullptr) all.own = std::make_shared<std::array<uint64_t, kWarpSize>>();
      (*all.own)[lane] = value.own;
      all.at[lane] = reinterpret_cast<const uint8_t*>(&(*all.own)[lane]);
    } catch (const NoValue& missing) {
      *why = missing.what();
    } catch (const ptx::PtxError& error) {
      *why = error.what();
      why->erase(0, why->find(": ") + 2);  // "PTX line 1"
      return std::nullopt;
    }
  }
  return any ? std::optional(all) : std::nullopt;
}

}  // namespace lockstep::vgpu
