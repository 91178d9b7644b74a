#include "dev/cosim/cuda/expressions.h"

#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace lockstep::cosim::cuda {

std::string Format(const char* format, ...) {
  std::array<char, 512> text;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return text.data();
}

std::string Join(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

Type Expressions::AnyType() {
  static constexpr Type common[] = {I32, U32, U32, I64, U64, F32, F64, I32, U8, I16};
  return random_.OneIn(3) ? static_cast<Type>(random_.Pick(kTypes)) : common[random_.Pick(10)];
}

Type Expressions::AnyWhole() {
  static constexpr Type common[] = {I32, U32, U32, I64, U64, U8, I16};
  return random_.OneIn(3) ? static_cast<Type>(random_.Pick(F32)) : common[random_.Pick(7)];
}

std::string Expressions::Converted(Type to, const std::string& text, Type from) {
  if (to == from) return text;
  return (Floating(from) && !Floating(to) ? "To<" + std::string(Name(to)) + ">(" : std::string(Name(to)) + "(") + text +
         ")";
}

std::string Expressions::Constant(Type type) {
  const uint64_t bits = random_.Bits();
  if (Floating(type)) {
    if (random_.OneIn(8)) {
      static constexpr uint64_t edges[] = {0x7f800000, 0xff800000, 0x7fffffff, 1, 0x80000000, 0x7f7fffff, 0x00800000};
      static constexpr uint64_t wide[] = {0x7ff0000000000000, 0xfff0000000000000, 0x7fffffffffffffff, 1,
                                          0x8000000000000000, 0x7fefffffffffffff, 0x0010000000000000};
      const int k = random_.Pick(7);
      return type == F32 ? Format("F32(0x%08" PRIx64 "u)", edges[k]) : Format("F64(0x%016" PRIx64 "ull)", wide[k]);
    }
    const double value = static_cast<double>(bits % 4001) / 16 - 125;
    return Format(type == F32 ? "(%.4ff)" : "(%.4f)", value);
  }
  const int width = Width(type) > 64 ? 64 : Width(type);
  uint64_t value = bits >> (64 - width);
  switch (random_.Pick(6)) {
    case 0:
      value = static_cast<uint64_t>(random_.Pick(10));
      break;
    case 1:
      value = uint64_t{1} << random_.Pick(width);
      break;
    case 2:
      value = ~uint64_t{0} >> (64 - width) >> random_.Pick(width);
      break;
    case 3:
      value &= 0xffff;
      break;
    default:
      break;
  }
  if (Width(type) == 128) {
    const int by = random_.Pick(65);
    return Format("%s(u128(0x%" PRIx64 "ull) << %d | 0x%" PRIx64 "ull)", Name(type), value, by, random_.Bits() >> 40);
  }
  if (type == U32) return Format("0x%" PRIx64 "u", value);
  if (type == U64) return Format("0x%" PRIx64 "ull", value);
  return Format("%s(0x%" PRIx64 "%s)", Name(type), value, type == I64 ? "ull" : "u");
}

// No parentheses around an expression that may begin with a type: (u32(x)) & 1 is a cast.
std::string Expressions::Index(int size, int depth) {
  const std::string from = Expression(U32, depth);
  return random_.OneIn(4) ? from + " % " + std::to_string(size) + "u" : from + " & " + std::to_string(size - 1) + "u";
}

std::string Expressions::Leaf(Type type) {
  cost_ += factor_;
  const auto read = [](const Variable& variable) {
    return variable.bit_field ? std::string(Name(variable.type)) + "(" + variable.text + ")" : variable.text;
  };
  if (!scope_.variables.empty() && !random_.OneIn(4)) {
    for (int tries = 0; tries < 6; ++tries)
      if (const Variable& variable = One(scope_.variables); variable.type == type) return read(variable);
    const Variable& variable = One(scope_.variables);
    return Converted(type, read(variable), variable.type);
  }
  if (!scope_.arrays.empty() && !random_.OneIn(3)) {
    const Array array = One(scope_.arrays);
    const std::string index =
        scope_.variables.empty() || random_.OneIn(3) ? std::to_string(random_.Pick(array.size)) : [&] {
          const Variable& variable = One(scope_.variables);
          return Converted(U32, read(variable), variable.type) + " & " + std::to_string(array.size - 1) + "u";
        }();
    return Converted(type, array.text + "[" + index + "]" + array.suffix, array.type);
  }
  return Constant(type);
}

std::string Expressions::Call(const Function& function, int depth, const Argument& other) {
  cost_ += factor_ * function.cost;
  std::string text = function.name + "(";
  for (const Parameter& parameter : function.parameters) {
    if (text.back() != '(') text += ", ";
    switch (parameter.kind) {
      case Parameter::kValue:
        text += Expression(parameter.type, depth);
        break;
      case Parameter::kRecord:
        text += RecordValue(parameter.record, depth);
        break;
      case Parameter::kInput:
        text += scope_.input;
        break;
      default:
        text += other(parameter);
        break;
    }
  }
  return text + ")";
}

std::string Expressions::Call(const Function& function, int depth) {
  return Call(function, depth, [&](const Parameter& parameter) -> std::string {
    if (parameter.kind != Parameter::kDepth) return "missing";  // only a function with effects has such a parameter
    return random_.OneIn(2) ? std::to_string(random_.Pick(4)) : "i32(" + Expression(U32, 0) + " & 3)";
  });
}

std::string Expressions::CallOf(Type type, int depth) {
  std::vector<const Function*> fit;
  for (const std::vector<Function>* functions : {&functions_, &functions_, &scope_.functions})
    for (const Function& function : *functions) {
      if (function.effects || !Affordable(function)) continue;
      bool has_input = true;
      for (const Parameter& parameter : function.parameters)
        has_input &= parameter.kind != Parameter::kInput || !scope_.input.empty();
      if (has_input && function.record < 0) fit.push_back(&function);
    }
  if (fit.empty()) return Leaf(type);
  const Function function = *One(fit);
  return Converted(type, Call(function, depth - 1), function.result);
}

std::string Expressions::RecordValue(int record, int depth) {
  std::vector<std::string> instances;
  for (const Instance& instance : scope_.instances)
    if (instance.record == record) instances.push_back(instance.text);
  if (!instances.empty() && !random_.OneIn(3)) return One(instances);
  if (depth > 1 && random_.OneIn(4))
    return Join(
        {"(", Condition(depth - 1), " ? ", RecordValue(record, depth - 2), " : ", RecordValue(record, depth - 2), ")"});
  std::vector<const Function*> fit;
  for (const Function& function : functions_) {
    bool usable = function.record == record && !function.effects && Affordable(function);
    for (const Parameter& parameter : function.parameters)
      usable &= parameter.kind != Parameter::kInput || !scope_.input.empty();
    if (usable) fit.push_back(&function);
  }
  if (depth > 1 && !fit.empty() && random_.OneIn(2)) return Call(Function(*One(fit)), depth - 2);
  const Record& of = records_[static_cast<size_t>(record)];
  std::string text = of.make;
  const char close = text.back() == '{' ? '}' : ')';
  for (const Field& field : of.fields) {
    if (field.count > 0) continue;
    if (text.back() != '(' && text.back() != '{') text += ", ";
    text += field.record >= 0 ? RecordValue(field.record, 0) : Expression(field.type, depth > 1 ? 1 : 0);
  }
  return text + close;
}

void Expressions::Open(const Instance& instance) {
  scope_.instances.push_back(instance);
  for (const Field& field : records_[static_cast<size_t>(instance.record)].fields) {
    const std::string text = instance.text + "." + field.name;
    if (field.record >= 0) {
      Open({text, field.record, instance.writable});
    } else if (field.count > 0) {
      scope_.arrays.push_back({text, field.type, field.count, instance.writable});
    } else {
      Declare({text, field.type, instance.writable, field.bits > 0});
    }
  }
}

std::string Expressions::Condition(int depth) {
  if (depth <= 0) {
    const Type type = AnyType();
    return Join({"(", Leaf(type), random_.OneIn(2) ? " < " : " != ", Leaf(type), ")"});
  }
  switch (random_.Pick(8)) {
    case 0:
      return Join({"(", Condition(depth - 1), " && ", Condition(depth - 1), ")"});
    case 1:
      return Join({"(", Condition(depth - 1), " || ", Condition(depth - 1), ")"});
    case 2:
      return "!" + Condition(depth - 1);
    case 3:
      return Join({"((", Expression(U32, depth - 1), " & ", std::to_string(1 + random_.Pick(7)), "u) == 0)"});
    default: {
      static constexpr const char* relations[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
      const Type type = AnyType();
      return Join({"(", Expression(type, depth - 1), relations[random_.Pick(6)], Expression(type, depth - 1), ")"});
    }
  }
}

std::string Expressions::Expression(Type type, int depth) {
  if (depth <= 0) return Leaf(type);
  cost_ += factor_;
  switch (random_.Pick(16)) {
    case 0:
      return Leaf(type);
    case 1: {
      const Type from = AnyType();
      return Converted(type, Expression(from, depth - 1), from);
    }
    case 2:
      return Join(
          {"(", Condition(depth - 1), " ? ", Expression(type, depth - 1), " : ", Expression(type, depth - 1), ")"});
    case 3:
    case 4:
      return CallOf(type, depth);
    case 5:
      if (!tables_[type].empty()) return Join({One(tables_[type]), "(", Expression(U32, depth - 1), ")"});
      return std::string(Name(type)) + "(" + Condition(depth - 1) + ")";
    default:
      return Floating(type) ? Real(type, depth) : Whole(type, depth);
  }
}

std::string Expressions::Whole(Type type, int depth) {
  const std::string name = Name(type);
  const bool plain = !Signed(type) && Width(type) >= 32;  // C++'s own operators are defined
  const bool promoted = Width(type) < 32;                 // and here for + and -, in int
  const auto operand = [&] { return Expression(type, depth - 1); };
  switch (random_.Pick(16)) {
    case 0:
    case 1:
    case 2: {
      const int which = random_.Pick(3);
      static constexpr const char* operators[] = {" + ", " - ", " * "};
      static constexpr const char* helpers[] = {"Add", "Sub", "Mul"};
      if (plain) return Join({"(", operand(), operators[which], operand(), ")"});
      if (promoted && which < 2) return Join({name, "(", operand(), operators[which], operand(), ")"});
      return Join({helpers[which], "(", operand(), ", ", operand(), ")"});
    }
    case 3:
    case 4: {
      static constexpr const char* operators[] = {" & ", " | ", " ^ "};
      return Join({name, "(", operand(), operators[random_.Pick(3)], operand(), ")"});
    }
    case 5:
      return Join({"Shl(", operand(), ", ", Expression(U32, depth - 1), ")"});
    case 6:
      return Join({"Shr(", operand(), ", ",
                   random_.OneIn(2) ? std::to_string(random_.Pick(Width(type))) + "u" : Expression(U32, depth - 1),
                   ")"});
    case 7:
      return Join({"Rotate(", operand(), ", ", Expression(U32, depth - 1), ")"});
    case 8:
      cost_ += 8 * factor_;
      return Join({random_.OneIn(2) ? "Div(" : "Rem(", operand(), ", ", operand(), ")"});
    case 9: {  // by a constant other than 0 and -1: the compiler multiplies
      const int by = 2 + random_.Pick(120);
      const char* const sign = Signed(type) && random_.OneIn(2) ? "-" : "";
      return Join({name, "(", operand(), random_.OneIn(2) ? " / " : " % ", name, "(", sign, std::to_string(by), "))"});
    }
    case 10:
      return name + "(~" + operand() + ")";
    case 11:
      return "Neg(" + operand() + ")";
    case 12:
      if (templates_.empty()) return "Neg(" + operand() + ")";
      cost_ += 12 * factor_;
      return Join(
          {One(templates_), "<", name, ", ", std::to_string(random_.Pick(5)), ">(", operand(), ", ", operand(), ")"});
    default:
      return Intrinsic(type, depth - 1);
  }
}

std::string Expressions::Intrinsic(Type type, int depth) {
  struct Twin {
    const char* name;
    Type result;
    Type operands[3];
    int count;
  };
  static constexpr Type u = U32, s = I32;
  static const std::vector<Twin> twins = {{"Popc", s, {u}, 1},
                                          {"Popcll", s, {U64}, 1},
                                          {"Clz", s, {u}, 1},
                                          {"Clzll", s, {U64}, 1},
                                          {"Ffs", s, {u}, 1},
                                          {"Ffsll", s, {U64}, 1},
                                          {"Brev", u, {u}, 1},
                                          {"Brevll", U64, {U64}, 1},
                                          {"BytePerm", u, {u, u, u}, 3},
                                          {"BytePerm", u, {u, u, u}, 3},
                                          {"FunnelL", u, {u, u, u}, 3},
                                          {"FunnelR", u, {u, u, u}, 3},
                                          {"FunnelLc", u, {u, u, u}, 3},
                                          {"FunnelRc", u, {u, u, u}, 3},
                                          {"Mulhi", s, {s, s}, 2},
                                          {"Umulhi", u, {u, u}, 2},
                                          {"Mul64hi", I64, {I64, I64}, 2},
                                          {"Umul64hi", U64, {U64, U64}, 2},
                                          {"Umul24", u, {u, u}, 2},
                                          {"Mul24", s, {s, s}, 2},
                                          {"Usad", u, {u, u, u}, 3},
                                          {"Uhadd", u, {u, u}, 2},
                                          {"Hadd", s, {s, s}, 2},
                                          {"Urhadd", u, {u, u}, 2},
                                          {"Rhadd", s, {s, s}, 2},
                                          {"Smaller", s, {s, s}, 2},
                                          {"Larger", u, {u, u}, 2},
                                          {"Smaller", I64, {I64, I64}, 2},
                                          {"Larger", U64, {U64, U64}, 2},
                                          {"Distance", u, {s, s}, 2},
                                          {"Vadd4", u, {u, u}, 2},
                                          {"Vsub4", u, {u, u}, 2},
                                          {"Vaddus4", u, {u, u}, 2},
                                          {"Vaddss4", u, {u, u}, 2},
                                          {"Vsubus4", u, {u, u}, 2},
                                          {"Vsubss4", u, {u, u}, 2},
                                          {"Vabsdiffu4", u, {u, u}, 2},
                                          {"Vabsdiffs4", u, {u, u}, 2},
                                          {"Vmaxu4", u, {u, u}, 2},
                                          {"Vmins4", u, {u, u}, 2},
                                          {"Vavgu4", u, {u, u}, 2},
                                          {"Vhaddu4", u, {u, u}, 2},
                                          {"Vcmpeq4", u, {u, u}, 2},
                                          {"Vcmpgts4", u, {u, u}, 2},
                                          {"Vsetleu4", u, {u, u}, 2},
                                          {"Vadd2", u, {u, u}, 2},
                                          {"Vsub2", u, {u, u}, 2},
                                          {"Vaddss2", u, {u, u}, 2},
                                          {"Vsubus2", u, {u, u}, 2},
                                          {"Vmaxs2", u, {u, u}, 2},
                                          {"Vminu2", u, {u, u}, 2},
                                          {"Vabsdiffs2", u, {u, u}, 2},
                                          {"Vcmplts2", u, {u, u}, 2},
                                          {"Vsetgeu2", u, {u, u}, 2},
                                          {"Dp4a", s, {s, s, s}, 3},
                                          {"Udp4a", u, {u, u, u}, 3},
                                          {"Dp2aLo", s, {s, s, s}, 3},
                                          {"Sad4", u, {u, u}, 2},
                                          {"Bits", u, {F32}, 1},
                                          {"Bits", U64, {F64}, 1}};
  cost_ += 2 * factor_;
  const Twin& twin = One(twins);
  std::string text = std::string(twin.name) + "(";
  for (int k = 0; k < twin.count; ++k) text += (k > 0 ? ", " : "") + Expression(twin.operands[k], depth);
  return Converted(type, text + ")", twin.result);
}

std::string Expressions::Real(Type type, int depth) {
  const auto operand = [&] { return Expression(type, depth - 1); };
  switch (random_.Pick(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: {
      static constexpr const char* operators[] = {" + ", " - ", " * ", " * ", " + "};
      return Join({"(", operand(), operators[random_.Pick(5)], operand(), ")"});
    }
    case 5:
      cost_ += 6 * factor_;
      return Join({"(", operand(), " / ", operand(), ")"});
    case 6:
      return "(-" + operand() + ")";
    case 7:
      cost_ += 6 * factor_;
      return "Root(Magnitude(" + operand() + "))";
    case 8:
    case 9:
      return Join({"Fused(", operand(), ", ", operand(), ", ", operand(), ")"});
    case 10: {
      static constexpr const char* roundings[] = {"Floor", "Ceiling", "Truncated", "Nearest", "Magnitude"};
      return Join({roundings[random_.Pick(5)], "(", operand(), ")"});
    }
    case 11:
      return Join({"Signed(", operand(), ", ", operand(), ")"});
    case 12:
      cost_ += 8 * factor_;
      return Join({"Scaled(", operand(), ", ", Expression(I32, depth - 1), ")"});
    case 13:
      cost_ += 60 * factor_;
      if (random_.OneIn(3)) return Join({"Remainder(", operand(), ", ", operand(), ")"});
      return type == F32 ? "F32(" + Expression(U32, depth - 1) + ")" : "F64(" + Expression(U64, depth - 1) + ")";
    case 14: {
      if (type == F64) return "f64(" + Expression(F32, depth - 1) + ")";
      const char* const which = random_.OneIn(2) ? "Down" : "Up";
      if (random_.OneIn(2)) return Join({"Mul", which, "(", operand(), ", ", operand(), ")"});
      return "Narrow" + std::string(which) + "(" + Expression(F64, depth - 1) + ")";
    }
    default: {
      const Type from = AnyWhole();
      return Converted(type, Expression(from, depth - 1), from);
    }
  }
}

}  // namespace lockstep::cosim::cuda
