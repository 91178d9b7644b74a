#include "dev/cosim/cuda/declarations.h"

#include <algorithm>

namespace lockstep::cosim::cuda {

void Declarations::DeclareAll() {
  VectorTypes();
  for (int k = 2 + random_.Pick(2); k > 0; --k) RecordType();
  for (int k = 2 + random_.Pick(3); k > 0; --k) Table();
  for (int k = 1 + random_.Pick(2); k > 0; --k) TemplateFunction();
  for (int k = 4 + random_.Pick(6); k > 0; --k) {
    switch (random_.Pick(7)) {
      case 0:
        Family();
        break;
      case 1:
        Classes();
        break;
      case 2:
        Recursion();
        break;
      default:
        PlainFunction();
        break;
    }
  }
}

std::string Declarations::Qualifiers() {
  switch (random_.Pick(4)) {
    case 0:
      return "__noinline__ ";
    case 1:
      return "__forceinline__ ";
    default:
      return "inline ";
  }
}

void Declarations::Table() {
  const Type type = AnyType();
  const int count = 3 + random_.Pick(14);
  const std::string name = New("T");
  std::string values;
  if (Floating(type))
    for (int k = 0; k < count; ++k)
      values += (k > 0 ? ", " : "") + Format(type == F32 ? "%.3ff" : "%.3f", random_.Pick(20000) / 7.0 - 1000);
  else
    for (int k = 0; k < count; ++k) values += (k > 0 ? ", " : "") + Constant(type);
  Line(Join({"COSIM_TABLE(", random_.OneIn(2) ? "__constant__" : "__device__", ", ", Name(type), ", ", name, ", ",
             std::to_string(count), ", ", values, ")"}));
  tables_[type].push_back(name);
}

std::string Declarations::GenericValue(int depth) {
  static constexpr const char* leaves[] = {"a", "b", "r", "T(N + 1)", "r"};
  if (depth == 0) return random_.OneIn(6) ? "T(" + std::to_string(random_.Pick(100)) + ")" : leaves[random_.Pick(5)];
  static constexpr const char* operations[] = {"Add", "Sub", "Mul", "Div", "Rem", "Add"};
  switch (random_.Pick(6)) {
    case 0:
      return Join({"Shl(", GenericValue(depth - 1), ", N)"});
    case 1:
      return Join({"Rotate(", GenericValue(depth - 1), ", u32(", GenericValue(depth - 1), "))"});
    case 2:
      return Join({"(", GenericValue(depth - 1), " < ", GenericValue(depth - 1), " ? ", GenericValue(depth - 1), " : ",
                   GenericValue(depth - 1), ")"});
    case 3:
      return Join({"T(", GenericValue(depth - 1), " ^ ", GenericValue(depth - 1), ")"});
    default:
      return Join({operations[random_.Pick(6)], "(", GenericValue(depth - 1), ", ", GenericValue(depth - 1), ")"});
  }
}

void Declarations::TemplateFunction() {
  const std::string name = New("G");
  Line("template <typename T, int N>");
  Line("HD " + std::string(random_.OneIn(3) ? "__noinline__ " : "") + "T " + name + "(T a, T b) {");
  Line("  T r = a;");
  Line("  if constexpr (N > 2) r = " + GenericValue(2) + ";");
  Line("  for (int k = 0; k < N; ++k) r = " + GenericValue(2) + ";");
  Line("  if constexpr (sizeof(T) < 4) return " + GenericValue(1) + "; else return " + GenericValue(2) + ";");
  Line("}");
  templates_.push_back(name);
}

void Declarations::OpenInput(const std::string& name) {
  scope_.input = name;
  const std::string at = name + "->";
  static const Array fields[] = {{"words", U64, 128},  {"longs", I64, 64}, {"ints", U32, 128},   {"signeds", I32, 128},
                                 {"shorts", I16, 128}, {"bytes", U8, 256}, {"floats", F32, 128}, {"doubles", F64, 64}};
  for (const auto& [field, type, size, writable, suffix] : fields)
    scope_.arrays.push_back({at + field, type, size, false});
  static constexpr const char* parts[] = {".x", ".y", ".z", ".w"};
  const int part = random_.Pick(4);
  scope_.arrays.push_back({at + "quads", U32, 32, false, parts[part]});
  scope_.arrays.push_back({at + "vectors", F32, 32, false, parts[part]});
  scope_.arrays.push_back({at + "colours", U8, 64, false, parts[part]});
  scope_.arrays.push_back({at + "pairs", I32, 64, false, parts[part % 2]});
  scope_.arrays.push_back({at + "halves", I16, 64, false, parts[part % 2]});
}

const std::vector<Array>& Declarations::OwnArrays() {
  static const std::vector<Array> arrays = {{"own->words", U64, 4}, {"own->ints", I32, 8},   {"own->shorts", I16, 8},
                                            {"own->bytes", U8, 16}, {"own->floats", F32, 4}, {"own->doubles", F64, 2},
                                            {"row->longs", U64, 2}, {"row->ints", U32, 8},   {"row->bytes", U8, 16},
                                            {"row->floats", F32, 4}};
  return arrays;
}

void Declarations::OpenEnv(const std::string& name) {
  scope_.env = name;
  OpenInput(name + ".in");
  for (const char* const field : {"thread", "block", "lane"}) Declare({name + "." + field, U32, false});
  for (const Array& array : OwnArrays()) scope_.arrays.push_back({name + "." + array.text, array.type, array.size});
}

std::string Declarations::Head(Function* function) {
  scope_ = Scope();
  cost_ = 0, factor_ = 1, loops_ = 0;
  std::string parameters;
  const auto add = [&](const Parameter& parameter, const std::string& text) {
    function->parameters.push_back(parameter);
    parameters += (parameters.empty() ? "" : ", ") + text;
  };
  for (int k = 1 + random_.Pick(4); k > 0; --k) {
    Parameter parameter;
    const std::string name = New("x");
    const int kind = random_.Pick(9);
    if (kind == 0) {
      parameter.kind = Parameter::kRecord;
      parameter.record = random_.Pick(static_cast<int>(records_.size()));
      add(parameter, records_[static_cast<size_t>(parameter.record)].name + " " + name);
      Open({name, parameter.record});
    } else if (kind == 1) {
      parameter.kind = Parameter::kPointer;
      parameter.writable = !random_.OneIn(3);
      const char* const constant = parameter.writable ? "" : "const ";
      if (random_.OneIn(2)) {
        parameter.record = random_.Pick(static_cast<int>(records_.size()));
        add(parameter, constant + records_[static_cast<size_t>(parameter.record)].name + "* " + name);
        Open({"(*" + name + ")", parameter.record, parameter.writable});
      } else {
        parameter.type = AnyType();
        add(parameter, Join({constant, Name(parameter.type), "* ", name}));
        Declare({"(*" + name + ")", parameter.type, parameter.writable});
      }
    } else if (kind == 2) {
      parameter.kind = Parameter::kArray;
      parameter.type = AnyType();
      parameter.count = 2 << random_.Pick(3);
      parameter.writable = !random_.OneIn(3);
      add(parameter, Join({parameter.writable ? "" : "const ", Name(parameter.type), "* ", name}));
      scope_.arrays.push_back({name, parameter.type, parameter.count, parameter.writable});
    } else {
      parameter.type = AnyType();
      add(parameter, Join({Name(parameter.type), " ", name}));
      Declare({name, parameter.type});
    }
    function->effects |= parameter.kind == Parameter::kPointer || parameter.kind == Parameter::kArray;
  }
  Parameter last;
  if (random_.OneIn(5)) {
    last.kind = Parameter::kEnv;
    add(last, "const Env& env");
    OpenEnv("env");
    function->effects = true;
  } else if (random_.OneIn(4)) {
    last.kind = Parameter::kInput;
    add(last, "const Input* in");
    OpenInput("in");
  }
  return parameters;
}

void Declarations::Body(const Function& function, int statements) {
  self_ = &function;
  may_return_ = true;
  ++indent_;
  BeginFold();
  const size_t before = scope_.variables.size();
  Block(statements, 3);
  Fold(before);
  if (function.record >= 0) {
    Line(Join({"return ", RecordValue(function.record, 2), ";"}));
  } else {
    Line(Join({"return Add(", Expression(function.result, 3), ", ", Name(function.result), "(fold));"}));
  }
  --indent_;
  folds_ = false;
  self_ = nullptr;
  may_return_ = false;
}

void Declarations::BeginFold() {
  Line("u64 fold = 0;");
  folds_ = true;
}

void Declarations::PlainFunction() {
  Function function;
  function.name = New("fn");
  function.result = AnyType();
  if (random_.OneIn(5)) function.record = random_.Pick(static_cast<int>(records_.size()));
  const std::string parameters = Head(&function);
  const std::string result =
      function.record >= 0 ? records_[static_cast<size_t>(function.record)].name : Name(function.result);
  Line(Join({"HD ", Qualifiers(), result, " ", function.name, "(", parameters, ") {"}));
  Body(function, 2 + random_.Pick(6));
  Line("}");
  function.cost = cost_;
  functions_.push_back(function);
}

// Calls itself, or by way of a second function, up to four times deep.
void Declarations::Recursion() {
  Function function;
  function.name = New("fn");
  function.result = AnyType();
  const std::string parameters = Head(&function), result = Name(function.result);
  function.parameters.push_back({Parameter::kDepth});
  const double before = limit_;
  limit_ = 60;
  const bool twice = random_.OneIn(2), by_other = random_.OneIn(3);
  const std::string other = by_other ? New("fn") : function.name;
  if (by_other) Line(Join({"HD ", result, " ", other, "(", parameters, ", i32 depth);"}));
  Line(Join({"HD __noinline__ ", result, " ", function.name, "(", parameters, ", i32 depth) {"}));
  ++indent_;
  may_return_ = true;
  self_ = &function;
  Declare({"depth", I32, false});
  BeginFold();
  const size_t first = scope_.variables.size();
  Block(1 + random_.Pick(3), 2);
  Fold(first);
  Line(Join({result, " sum = ", Expression(function.result, 2), ";"}));
  // A recursive call with new values but the same pointers.
  const auto call = [&] {
    std::string text = "sum = Add(sum, " + other + "(", rest = parameters + ",";
    for (const Parameter& parameter : function.parameters) {
      const std::string one = rest.substr(0, rest.find(','));
      rest.erase(0, rest.find(',') + 1);
      if (parameter.kind == Parameter::kDepth)
        text += "depth - 1));";
      else if (parameter.kind == Parameter::kValue)
        text += Expression(parameter.type, 2) + ", ";
      else
        text += one.substr(one.find_last_of(" *&") + 1) + ", ";
    }
    return text;
  };
  Nested("if (depth > 0)", 1, [&] {
    Line(call());
    if (twice) Line("if (" + Condition(1) + ") " + call());
  });
  Line("}");
  Line(Join({"return Add(sum, ", result, "(fold));"}));
  folds_ = false;
  --indent_;
  Line("}");
  self_ = nullptr;
  may_return_ = false;
  if (by_other) {
    std::string names, rest = parameters + ",";
    for (size_t at; (at = rest.find(',')) != std::string::npos; rest.erase(0, at + 1))
      names += rest.substr(0, at).substr(rest.substr(0, at).find_last_of(" *&") + 1) + ", ";
    Line(Join({"HD ", Qualifiers(), result, " ", other, "(", parameters, ", i32 depth) { return Sub(", function.name,
               "(", names, "depth), ", result, "(depth)); }"}));
  }
  limit_ = before;
  function.cost = cost_ * (twice ? 16 : 4);
  functions_.push_back(function);
}

void Declarations::Family() {
  const Type result = AnyType(), first = AnyType(), second = AnyType();
  const int count = 2 + random_.Pick(3);
  const std::string name = New("Family");
  double cost = 0;
  std::string members;
  for (int k = 0; k < count; ++k) {
    Function function;
    function.name = name + "_" + std::to_string(k);
    function.result = result;
    scope_ = Scope();
    cost_ = 0, factor_ = 1, loops_ = 0;
    Declare({"x", first});
    Declare({"y", second});
    Line(Join({"HD ", random_.OneIn(2) ? "__noinline__ " : "", Name(result), " ", function.name, "(", Name(first),
               " x, ", Name(second), " y) {"}));
    limit_ = 100;
    Body(function, random_.Pick(3));
    limit_ = 600;
    Line("}");
    cost = std::max(cost, cost_);
    members += (k > 0 ? ", " : "") + function.name;
  }
  Line(Join({"using ", name, "_type = ", Name(result), " (*)(", Name(first), ", ", Name(second), ");"}));
  Line(Join({"HD ", Qualifiers(), name, "_type ", name, "(u32 which) {"}));
  Line(Join({"  const ", name, "_type members[", std::to_string(count), "] = {", members, "};"}));
  Line(Join({"  return members[which % ", std::to_string(count), "u];"}));
  Line("}");
  Function by_pointer;
  by_pointer.name = name + "_call";
  by_pointer.result = result;
  by_pointer.parameters = {{Parameter::kValue, U32}, {Parameter::kValue, first}, {Parameter::kValue, second}};
  by_pointer.cost = cost + 6;
  Line(Join({"HD ", Qualifiers(), Name(result), " ", by_pointer.name, "(u32 which, ", Name(first), " x, ", Name(second),
             " y) { return ", name, "(which)(x, y); }"}));
  functions_.push_back(by_pointer);
}

void Declarations::Classes() {
  const Type result = AnyType(), argument = AnyType(), held = AnyType();
  const std::string base = New("B");
  const int count = 2 + random_.Pick(2);
  double cost = 0;
  Line(Join({"struct ", base, " {"}));
  Line(Join({"  ", Name(held), " held;"}));
  Line(Join({"  HD explicit ", base, "(", Name(held), " value) : held(value) {}"}));
  Line(Join({"  HD virtual ", Name(result), " Of(", Name(argument), " x) const = 0;"}));
  Line("};");
  for (int k = 0; k < count; ++k) {
    const std::string name = base + "_" + std::to_string(k);
    const Type more = AnyType();
    scope_ = Scope();
    cost_ = 0, factor_ = 1, loops_ = 0;
    Declare({"held", held, false});
    Declare({"more", more, false});
    Declare({"x", argument});
    Function function;
    function.result = result;
    Line(Join({"struct ", name, " : ", base, " {"}));
    Line(Join({"  ", Name(more), " more;"}));
    Line(Join({"  HD ", name, "(", Name(held), " value, ", Name(more), " other) : ", base, "(value), more(other) {}"}));
    Line(Join({"  HD ", Name(result), " Of(", Name(argument), " x) const override {"}));
    limit_ = 100;
    ++indent_;
    Body(function, random_.Pick(3));
    --indent_;
    limit_ = 600;
    Line("  }");
    Line("};");
    cost = std::max(cost, cost_);
  }
  Function by_base;
  by_base.name = base + "_call";
  by_base.result = result;
  by_base.parameters = {{Parameter::kValue, U32}, {Parameter::kValue, held}, {Parameter::kValue, argument}};
  by_base.cost = cost + 10;
  Line(Join({"HD ", random_.OneIn(2) ? "__noinline__ " : "", Name(result), " ", base, "_of(const ", base, "& object, ",
             Name(argument), " x) { return object.Of(x); }"}));
  Line(Join({"HD ", Qualifiers(), Name(result), " ", by_base.name, "(u32 which, ", Name(held), " value, ",
             Name(argument), " x) {"}));
  std::string chosen;
  for (int k = 0; k < count; ++k) {
    Line(Join({"  const ", base, "_", std::to_string(k), " object", std::to_string(k), "(value, 3);"}));
    chosen += k + 1 < count ? Join({"which % ", std::to_string(count), "u == ", std::to_string(k), " ? (const ", base,
                                    "*)&object", std::to_string(k), " : "})
                            : Join({"(const ", base, "*)&object", std::to_string(k)});
  }
  Line(Join({"  return ", base, "_of(*(", chosen, "), x);"}));
  Line("}");
  functions_.push_back(by_base);
}

}  // namespace lockstep::cosim::cuda
