#include "dev/cosim/cuda/statements.h"

#include <algorithm>

namespace lockstep::cosim::cuda {

void Statements::Nested(const std::string& head, double times, const std::function<void()>& body) {
  const Scope outside = scope_;
  const double factor = factor_;
  Line(head + " {");
  ++indent_;
  factor_ *= times;
  body();
  if (folds_) Fold(outside.variables.size());
  factor_ = factor;
  --indent_;
  scope_ = outside;
}

void Statements::Fold(size_t first) {
  for (size_t k = first; k < scope_.variables.size(); ++k) {
    const Variable& variable = scope_.variables[k];
    if (random_.OneIn(3)) continue;
    cost_ += factor_;
    Line(Join({"fold = Rotate(fold, 5) ^ Low(", Name(variable.type), "(", variable.text, "));"}));
  }
}

void Statements::Block(int count, int depth) {
  for (int k = 0; k < count && cost_ < limit_; ++k) Statement(depth);
}

void Statements::Statement(int depth) {
  cost_ += factor_;
  switch (random_.Pick(depth > 0 ? 24 : 15)) {
    case 0:
    case 1:
      return DeclareValue();
    case 2:
      return DeclareArray();
    case 3:
      return DeclareRecord();
    case 4:
      return DeclarePointer();
    case 5:
    case 6:
    case 7:
      return Assign();
    case 8:
    case 9:
      return StoreElement();
    case 10:
      return Lambda();
    case 11:
      return Pun();
    case 12:
    case 13:
      return CallWithEffects();
    case 14:
      return Leave();
    case 15:
    case 16:
    case 17:
      return If(depth - 1);
    case 18:
    case 19:
      return For(depth - 1);
    case 20:
      return While(depth - 1);
    case 21:
      return Walk();
    default:
      return Switch(depth - 1);
  }
}

const Variable* Statements::Writable(bool addressable) {
  std::vector<const Variable*> fit;
  for (const Variable& variable : scope_.variables)
    if (variable.writable && !(addressable && variable.bit_field)) fit.push_back(&variable);
  return fit.empty() ? nullptr : One(fit);
}

void Statements::DeclareValue() {
  const Type type = AnyType();
  const std::string name = New("v"), value = Expression(type, 3);
  const bool writable = !random_.OneIn(4);
  Line(Join({writable ? "" : "const ", Name(type), " ", name, " = ", value, ";"}));
  Declare({name, type, writable});
}

void Statements::DeclareArray() {
  const Type type = AnyType();
  const int size = 2 << random_.Pick(4);
  const std::string name = New("a");
  if (size <= 8 && random_.OneIn(2)) {
    std::string values;
    for (int k = 0; k < size; ++k) values += (k > 0 ? ", " : "") + Expression(type, 1);
    Line(Join({Name(type), " ", name, "[", std::to_string(size), "] = {", values, "};"}));
  } else {
    Line(Join({Name(type), " ", name, "[", std::to_string(size), "];"}));
    cost_ += factor_ * size;
    const std::string first = Expression(type, 1);
    Line(Join({"for (int k = 0; k < ", std::to_string(size), "; ++k) ", name, "[k] = Add(", first, ", ", Name(type),
               "(k * ", std::to_string(random_.Pick(90)), "));"}));
  }
  scope_.arrays.push_back({name, type, size});
}

void Statements::DeclareRecord() {
  const int record = random_.Pick(static_cast<int>(records_.size()));
  const std::string name = New("r"), value = RecordValue(record, 2);
  Line(Join({records_[static_cast<size_t>(record)].name, " ", name, " = ", value, ";"}));
  Open({name, record});
}

void Statements::DeclarePointer() {
  const std::string name = New("p");
  if (!scope_.arrays.empty() && random_.OneIn(2)) {
    const Array array = One(scope_.arrays);
    if (array.suffix.empty()) {
      const std::string constant = array.writable ? "" : "const ", index = Index(array.size, 1);
      // Half of the array from a random position; or one element.
      if (array.size >= 4 && random_.OneIn(2)) {
        const int half = array.size / 2;
        Line(Join({constant, Name(array.type), "* const ", name, " = ", array.text, " + ((", index, ") & ",
                   std::to_string(half - 1), "u);"}));
        scope_.arrays.push_back({name, array.type, half, array.writable});
      } else {
        Line(Join({constant, Name(array.type), "* const ", name, " = &", array.text, "[", index, "];"}));
        Declare({"(*" + name + ")", array.type, array.writable});
      }
      return;
    }
  }
  // One of two variables, depending on the data.
  std::vector<const Variable*> fit;
  if (const Variable* const one = Writable(true)) {
    for (const Variable& variable : scope_.variables)
      if (variable.writable && !variable.bit_field && variable.type == one->type) fit.push_back(&variable);
    const Type type = one->type;
    const std::string a = One(fit)->text, b = One(fit)->text;
    Line(Join({Name(type), "* const ", name, " = ", Condition(1), " ? &", a, " : &", b, ";"}));
    Declare({"(*" + name + ")", type});
  }
}

void Statements::Assign() {
  if (!scope_.instances.empty() && random_.OneIn(6)) {
    const Instance instance = One(scope_.instances);
    if (instance.writable) return Line(Join({instance.text, " = ", RecordValue(instance.record, 2), ";"}));
  }
  const Variable* const chosen = Writable(false);
  if (chosen == nullptr) return DeclareValue();
  const Variable variable = *chosen;
  const bool plain =
      !variable.bit_field && (Floating(variable.type) || (!Signed(variable.type) && Width(variable.type) >= 32));
  if (plain && random_.OneIn(2)) {
    static constexpr const char* operators[] = {" += ", " -= ", " *= ", " ^= ", " |= ", " &= "};
    const char* const op = operators[random_.Pick(Floating(variable.type) ? 3 : 6)];
    return Line(Join({variable.text, op, Expression(variable.type, 3), ";"}));
  }
  if (plain && random_.OneIn(4)) return Line(variable.text + (random_.OneIn(2) ? "++;" : "--;"));
  Line(Join({variable.text, " = ", Expression(variable.type, 3), ";"}));
}

void Statements::StoreElement() {
  std::vector<const Array*> fit;
  for (const Array& array : scope_.arrays)
    if (array.writable) fit.push_back(&array);
  if (fit.empty()) return DeclareArray();
  const Array array = *One(fit);
  Line(Join({array.text, "[", Index(array.size, 1), "]", array.suffix, " = ", Expression(array.type, 3), ";"}));
}

void Statements::If(int depth) {
  Nested("if (" + Condition(2) + ")", 1, [&] { Block(1 + random_.Pick(3), depth); });
  if (random_.OneIn(2)) {
    if (random_.OneIn(3)) Nested("} else if (" + Condition(1) + ")", 1, [&] { Block(1 + random_.Pick(2), depth); });
    Nested("} else", 1, [&] { Block(1 + random_.Pick(3), depth); });
  }
  Line("}");
}

void Statements::For(int depth) {
  const std::string name = New("it");
  const int times = 1 << (1 + random_.Pick(3));
  const std::string count = random_.OneIn(3) ? std::to_string(times) + "u"
                                             : Join({"(", Expression(U32, 1), " & ", std::to_string(times - 1), "u)"});
  if (random_.OneIn(4)) Line("#pragma unroll " + std::to_string(1 << random_.Pick(3)));
  ++loops_;
  Nested(Join({"for (u32 ", name, " = 0, n = ", count, "; ", name, " < n; ++", name, ")"}), times, [&] {
    Declare({name, U32, false});
    Block(1 + random_.Pick(3), depth);
  });
  --loops_;
  Line("}");
}

void Statements::While(int depth) {
  const std::string name = New("w");
  const int times = 2 + random_.Pick(6);
  const bool at_end = random_.OneIn(2);
  Line("u32 " + name + " = 0;");
  Declare({name, U32, false});
  const std::string fuel = "++" + name + " < " + std::to_string(times) + "u";
  ++loops_;
  // The condition is always evaluated in the outer scope.
  const std::string condition = Condition(2);
  Nested(at_end ? "do" : Join({"while (", fuel, " && ", condition, ")"}), times,
         [&] { Block(1 + random_.Pick(3), depth); });
  --loops_;
  Line(at_end ? Join({"} while (", fuel, " && ", condition, ");"}) : "}");
}

// A pointer walks through an array.
void Statements::Walk() {
  const Variable* const chosen = Writable(false);
  std::vector<const Array*> fit;
  for (const Array& array : scope_.arrays)
    if (array.suffix.empty() && array.size <= 16) fit.push_back(&array);
  if (chosen == nullptr || fit.empty()) return DeclareArray();
  const Variable variable = *chosen;
  const Array array = *One(fit);
  const std::string name = New("q");
  ++loops_;
  Nested(Join({"for (const ", Name(array.type), "* ", name, " = ", array.text, "; ", name, " != ", array.text, " + ",
               std::to_string(array.size), "; ++", name, ")"}),
         array.size, [&] {
           Declare({"(*" + name + ")", array.type, false});
           if (random_.OneIn(3)) Leave();
           Line(Join({variable.text, " = ", Expression(variable.type, 2), ";"}));
         });
  --loops_;
  Line("}");
}

void Statements::Switch(int depth) {
  const int cases = 2 + random_.Pick(7);
  const bool dense = random_.OneIn(2);
  const Type type = dense ? U32 : One(std::vector<Type>{I32, U32, U64, I16});
  const uint64_t bits = 0x1111111111111111u * static_cast<uint64_t>(1 + random_.Pick(15));  // of sparse labels
  std::vector<uint64_t> labels;
  for (int k = 0; k < cases; ++k)
    labels.push_back(dense ? static_cast<uint64_t>(k)
                           : random_.Bits() & bits &
                                 (type == I16   ? 0x7fff
                                  : type == I32 ? 0x7fffffff
                                  : type == U32 ? 0xffffffff
                                                : ~uint64_t{0}));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  std::string selector = Expression(type, 2);
  if (dense) {
    // If it starts with a type, g++ may parse it as a declaration.
    selector = "0u + " + selector + " % " + std::to_string(cases + 1) + "u";
  } else {  // often one of the labels
    selector = Join({Condition(1), " ? ", Name(type), "(", std::to_string(One(labels)), "u) : ", Condition(1), " ? ",
                     Name(type), "(", std::to_string(One(labels)), "u) : ", selector});
  }
  Line("switch (" + selector + ") {");
  ++indent_;
  for (size_t k = 0; k < labels.size(); ++k) {
    Nested(Join({"case ", std::to_string(labels[k]), "u:"}), 1, [&] { Block(1 + random_.Pick(2), depth); });
    if (!random_.OneIn(4)) Line("  break;");
    Line("}");
  }
  if (random_.OneIn(2)) {
    Nested("default:", 1, [&] { Block(1, depth); });
    Line("}");
  }
  --indent_;
  Line("}");
}

void Statements::Lambda() {
  Function function;
  function.name = New("l");
  function.result = AnyType();
  const Scope outside = scope_;
  const double before = cost_, factor = factor_;
  std::string parameters;
  for (int k = random_.Pick(3); k >= 0; --k) {
    const Type type = AnyType();
    const std::string name = New("x");
    parameters += Join({parameters.empty() ? "" : ", ", Name(type), " ", name});
    function.parameters.push_back({Parameter::kValue, type});
    Declare({name, type, false});
  }
  factor_ = 1;
  const std::string value = Expression(function.result, 3);
  factor_ = factor;
  function.cost = cost_ - before + 1;
  cost_ = before;
  scope_ = outside;
  Line(Join({"const auto ", function.name, " = [&](", parameters, ") -> ", Name(function.result), " { return ", value,
             "; };"}));
  scope_.functions.push_back(function);
}

// Reinterprets the bytes of one type as another.
void Statements::Pun() {
  static constexpr Type wholes[] = {U32, I32, U64, I64, U16, I16};
  const Type type = wholes[random_.Pick(6)];
  const int count = Width(type) / 8;
  const std::string name = New("bits");
  if (random_.OneIn(2)) {
    const std::string bytes = New("b");
    Line(Join({"u8 ", bytes, "[", std::to_string(count), "];"}));
    Line(Join(
        {"{ const ", Name(type), " whole = ", Expression(type, 2), "; memcpy(", bytes, ", &whole, sizeof whole); }"}));
    scope_.arrays.push_back({bytes, U8, count});
    return;
  }
  std::vector<const Array*> fit;
  for (const Array& array : scope_.arrays)
    if (array.suffix.empty() && !Floating(array.type) && array.size * Width(array.type) / 8 >= 2 * count)
      fit.push_back(&array);
  if (fit.empty()) return DeclareArray();
  const Array array = *One(fit);
  const int places = array.size * Width(array.type) / 8 / count;
  const bool aligned = random_.OneIn(2);
  const std::string index =
      aligned ? "(" + Index(places / 2, 1) + ") * " + std::to_string(count) : Index(places / 2 * count, 1);
  Line(Join({Name(type), " ", name, ";"}));
  Line(
      Join({"memcpy(&", name, ", reinterpret_cast<const u8*>(", array.text, ") + (", index, "), sizeof ", name, ");"}));
  Declare({name, type});
}

void Statements::Leave() {
  if (loops_ > 0 && random_.OneIn(2))
    return Line(Join({"if (", Condition(2), random_.OneIn(2) ? ") break;" : ") continue;"}));
  if (may_return_ && self_ != nullptr) {
    const std::string condition = Condition(2);
    return Line(Join({"if (", condition, ") return ",
                      self_->record >= 0 ? RecordValue(self_->record, 1) : Expression(self_->result, 2), ";"}));
  }
  Assign();
}

std::string Statements::PointerTo(const Parameter& parameter) {
  if (parameter.record >= 0) {
    std::vector<std::string> fit;
    for (const Instance& instance : scope_.instances)
      if (instance.record == parameter.record && (instance.writable || !parameter.writable))
        fit.push_back(instance.text);
    if (!fit.empty()) return "&" + One(fit);
    const std::string name = New("r");
    Line(Join({records_[static_cast<size_t>(parameter.record)].name, " ", name, " = ", RecordValue(parameter.record, 1),
               ";"}));
    Open({name, parameter.record});
    return "&" + name;
  }
  std::vector<std::string> fit;
  for (const Variable& variable : scope_.variables)
    if (variable.type == parameter.type && variable.writable && !variable.bit_field) fit.push_back(variable.text);
  if (!fit.empty()) return "&" + One(fit);
  const std::string name = New("v");
  Line(Join({Name(parameter.type), " ", name, " = ", Expression(parameter.type, 1), ";"}));
  Declare({name, parameter.type});
  return "&" + name;
}

std::string Statements::ArrayOf(const Parameter& parameter) {
  std::vector<std::string> fit;
  for (const Array& array : scope_.arrays)
    if (array.type == parameter.type && array.suffix.empty() && array.size >= parameter.count &&
        (array.writable || !parameter.writable))
      fit.push_back(array.text);
  if (!fit.empty()) return One(fit);
  const std::string name = New("a"), first = Expression(parameter.type, 1);
  Line(Join({Name(parameter.type), " ", name, "[", std::to_string(parameter.count), "];"}));
  Line(Join({"for (int k = 0; k < ", std::to_string(parameter.count), "; ++k) ", name, "[k] = Add(", first, ", ",
             Name(parameter.type), "(k));"}));
  scope_.arrays.push_back({name, parameter.type, parameter.count});
  return name;
}

void Statements::CallStatement(const Function& function) {
  const std::string text = Call(function, 2, [&](const Parameter& parameter) -> std::string {
    switch (parameter.kind) {
      case Parameter::kPointer:
        return PointerTo(parameter);
      case Parameter::kArray:
        return ArrayOf(parameter);
      case Parameter::kEnv:
        return scope_.env;
      default:
        return std::to_string(random_.Pick(4));  // kDepth
    }
  });
  const std::string name = New("c");
  if (function.record >= 0) {
    Line(Join({records_[static_cast<size_t>(function.record)].name, " ", name, " = ", text, ";"}));
    Open({name, function.record});
  } else {
    Line(Join({Name(function.result), " ", name, " = ", text, ";"}));
    Declare({name, function.result});
  }
}

void Statements::CallWithEffects() {
  std::vector<const Function*> fit;
  for (const Function& function : functions_) {
    bool usable = Affordable(function);
    for (const Parameter& parameter : function.parameters)
      usable &= (parameter.kind != Parameter::kInput || !scope_.input.empty()) &&
                (parameter.kind != Parameter::kEnv || !scope_.env.empty());
    if (usable && (function.effects || random_.OneIn(3))) fit.push_back(&function);
  }
  if (fit.empty()) return DeclareValue();
  CallStatement(Function(*One(fit)));
}

}  // namespace lockstep::cosim::cuda
