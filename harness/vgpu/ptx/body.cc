#include "vgpu/ptx/body.h"

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vgpu/ptx/constant.h"
#include "vgpu/ptx/declaration.h"
#include "vgpu/ptx/scope.h"
#include "vgpu/ptx/vector_registers.h"

namespace lockstep::vgpu::ptx {
namespace {

constexpr int64_t kMostLines = INT32_MAX;
constexpr uint64_t kMostTargets = 4096;  // of one list

// Tracks .loc directives, which give the location of the instructions after them.
class LocationTracker {
 public:
  explicit LocationTracker(Function* function) : sites_(function->inline_sites) {}

  // "1 30 8" or "1 30 8, function_name $L__info_string0 + 4, inlined_at 1 31 30".
  void Parse(Cursor& cursor) {
    const Place place = ParsePlace(cursor);
    int site = -1;
    while (cursor.Take(',')) {
      const std::string_view word = cursor.Name();
      if (word == "function_name") {
        cursor.Name();
        if (cursor.Take('+')) ParseConstantInteger(cursor, 0, INT64_MAX);
      } else if (word == "inlined_at") {
        // Locations chain: an earlier .loc says where the caller was itself inlined.
        const Place caller = ParsePlace(cursor);
        const auto found = inlined_.find(caller.key);
        site = AddSite(caller, found == inlined_.end() ? -1 : found->second);
      } else {
        cursor.Fail("unknown word " + Quoted(word) + " in .loc");
      }
    }
    location = place.location;
    inline_site = site;
    inlined_at = site < 0 ? SourceLocation() : outermost_[static_cast<size_t>(site)];
    if (site >= 0) {
      inlined_[place.key] = site;
    } else if (!inlined_.empty()) {
      inlined_.erase(place.key);
    }
  }

  SourceLocation location, inlined_at;
  int inline_site = -1;

 private:
  struct Place {
    SourceLocation location;
    uint64_t key;
  };

  int AddSite(const Place& place, int caller) {
    const auto [known, is_new] = site_of_.emplace(std::pair(place.key, caller), static_cast<int>(sites_.size()));
    if (is_new) {
      sites_.push_back({place.location, caller});
      outermost_.push_back(caller < 0 ? place.location : outermost_[static_cast<size_t>(caller)]);
    }
    return known->second;
  }

  Place ParsePlace(Cursor& cursor) {
    const auto file = static_cast<int>(ParseConstantInteger(cursor, 0, kMostFiles));
    const auto line = static_cast<int>(ParseConstantInteger(cursor, 0, kMostLines));
    const int64_t column = ParseConstantInteger(cursor, 0, kMostLines);
    // Columns beyond 16 bits may share a key: then an inlined location is attributed to another one on the same line.
    const uint64_t key = static_cast<uint64_t>(file) << 47 | static_cast<uint64_t>(line) << 16 |
                         (static_cast<uint64_t>(column) & 0xffff);
    return {{file, line}, key};
  }

  std::vector<InlineSite>& sites_;
  std::vector<SourceLocation> outermost_;            // by index in sites_: the outermost call site
  std::map<std::pair<uint64_t, int>, int> site_of_;  // place and caller → site
  std::unordered_map<uint64_t, int> inlined_;        // place → the site that it is inlined into
};

class BodyParser {
 public:
  BodyParser(Cursor& cursor, const std::vector<Variable>& module_variables, Function* function)
      : cursor_(cursor),
        module_variables_(module_variables),
        function_(*function),
        locations_(function),
        vectors_(&function->registers) {}

  void Parse() {
    for (auto* list : {&function_.returns, &function_.parameters}) {
      for (const Variable& parameter : *list) {
        const bool is_register = parameter.space == Space::kReg;
        const std::string name = is_register
                                     ? scopes_.DeclareRegister(Kept(parameter.name), vectors_.ShapeOf(parameter))
                                     : scopes_.DeclareVariable(Kept(parameter.name));
        if (name.empty()) FailTwice(parameter.name);
      }
      *list = VectorRegisters::Flattened(*list);
    }
    for (;;) {
      const char c = cursor_.Peek();
      if (c == '}') {
        cursor_.Expect('}');
        if (scopes_.depth() == 1) break;
        scopes_.Close();
      } else if (c == '{') {
        cursor_.Expect('{');
        if (!scopes_.Open()) cursor_.Fail("scopes are nested too deeply");
      } else if (c == '.') {
        Directive();
      } else {
        LabelOrInstruction();
      }
    }
    ResolveLabels();
  }

 private:
  // A location that may refer to a label, or table, declared later.
  struct Pending {
    size_t index;  // index of the instruction or table
    bool in_table;
    int scope;
    int line;
  };

  [[noreturn]] void FailTwice(std::string_view name) { cursor_.Fail(Quoted(name) + " is declared twice"); }

  void Directive() {
    const std::string_view word = cursor_.DotWord();
    if (word == "loc") {
      locations_.Parse(cursor_);
    } else if (word == "pragma") {
      do {
        cursor_.String();
      } while (cursor_.Take(','));
      cursor_.Expect(';');
    } else if (const auto space = SpaceFromName(word)) {
      Variable start;
      start.space = *space;
      Declare(start);
    } else {
      cursor_.Fail("the directive ." + std::string(word) + " is not supported here");
    }
  }

  void Declare(const Variable& start) {
    std::vector<Variable> declared = ParseVariables(cursor_, start, [this](std::string_view name, Variable* variable) {
      if (variable->space != Space::kReg) {
        variable->name = scopes_.DeclareVariable(name);
      } else if (variable->count == 0) {
        variable->name = scopes_.DeclareRegister(name, vectors_.ShapeOf(*variable));
      } else {
        variable->name = scopes_.DeclareRegisterRange(name, variable->count, vectors_.ShapeOf(*variable));
      }
      if (variable->name.empty()) FailTwice(name);
    });
    std::vector<Variable>& list = start.space == Space::kReg ? function_.registers : function_.variables;
    for (Variable& variable : declared) {
      if (variable.space != Space::kReg || variable.vector_width == 1) list.push_back(std::move(variable));
    }
  }

  void LabelOrInstruction() {
    if (cursor_.Peek() == '@') {
      ParseInstruction();
      return;
    }
    const std::string_view name = cursor_.PeekName();
    if (name.empty()) cursor_.FailExpected("a statement");
    // Compilers never use opcode names as labels, but people may: the colon decides.
    Cursor ahead = cursor_;
    ahead.Name();
    if (!ahead.Take(':')) {
      ParseInstruction();
      return;
    }
    cursor_ = ahead;
    std::string unique = scopes_.DeclareLabel(name);
    if (unique.empty() || scopes_.Find(name).kind != Scopes::Kind::kNone) FailTwice(name);
    if (cursor_.PeekDotWord() == "branchtargets" || cursor_.PeekDotWord() == "calltargets") {
      cursor_.DotWord();
      ParseTable(std::move(unique));
    } else if (cursor_.PeekDotWord() == "callprototype") {
      cursor_.DotWord();
      ParsePrototype(std::move(unique));
    } else {
      function_.labels.push_back({std::move(unique), function_.body.size()});
    }
  }

  void ParseTable(std::string name) {
    BranchTable table{std::move(name), {}};
    do {
      const std::string_view name_or_base = cursor_.Name();
      if (!cursor_.Take('<')) {
        table.targets.emplace_back(name_or_base);
        continue;
      }
      const auto count = cursor_.Literal();  // A<3>: A0, A1, A2
      if (count.is_float || count.bits > kMostTargets) cursor_.Fail("a bad number of labels");
      for (uint64_t k = 0; k < count.bits; ++k) {
        table.targets.push_back(std::string(name_or_base) + std::to_string(k));
      }
      cursor_.Expect('>');
    } while (cursor_.Take(','));
    cursor_.Expect(';');
    pending_.push_back({function_.tables.size(), true, scopes_.current(), cursor_.line()});
    function_.tables.push_back(std::move(table));
  }

  void ParsePrototype(std::string name) {
    CallPrototype prototype{std::move(name), {}, {}};
    if (cursor_.Peek() == '(') prototype.returns = ParseParameters(cursor_);
    if (cursor_.Name() != "_") cursor_.Fail("a prototype's function is written _");
    if (cursor_.Peek() == '(') prototype.parameters = ParseParameters(cursor_);
    while (cursor_.Peek() == '.') {
      const std::string_view word = cursor_.DotWord();
      if (word == "abi_preserve" || word == "abi_preserve_control") {
        ParseConstantInteger(cursor_, 0, INT32_MAX);
      } else if (word != "noreturn") {
        cursor_.Fail("." + std::string(word) + " is not supported on a prototype");
      }
    }
    prototype.returns = VectorRegisters::Flattened(prototype.returns);
    prototype.parameters = VectorRegisters::Flattened(prototype.parameters);
    cursor_.Expect(';');
    function_.prototypes.push_back(std::move(prototype));
  }

  void ParseInstruction() {
    Instruction& instruction = function_.body.emplace_back();
    has_symbol_ = false;
    if (cursor_.Take('@')) {
      RegisterRef guard;
      guard.negated = cursor_.Take('!');
      guard.name = RegisterName();
      instruction.guard = std::move(guard);
    }
    const std::string_view opcode = cursor_.Name();
    if (!IsLetter(opcode[0])) cursor_.Fail("expected an opcode, not " + Quoted(opcode));
    instruction.opcode = opcode;
    instruction_is_move_ = opcode == "mov";
    instruction.location = locations_.location;
    instruction.inlined_at = locations_.inlined_at;
    instruction.inline_site = locations_.inline_site;
    instruction.ptx_line = cursor_.line();
    while (cursor_.Peek() == '.') instruction.modifiers.emplace_back(cursor_.DotWord());
    if (opcode == "call") {
      ParseCall(&instruction);
    } else if (cursor_.Peek() != ';') {
      do {
        part_.clear();
        takes_part_ = true;
        instruction.operands.push_back(ParseOperand());
        takes_part_ = false;
        if (part_.empty()) continue;
        instruction.parts.resize(instruction.operands.size());
        instruction.parts.back() = part_;
      } while (cursor_.Take(','));
    }
    cursor_.Expect(';');
    if (has_symbol_) {
      pending_.push_back({function_.body.size() - 1, false, scopes_.current(), instruction.ptx_line});
    }
  }

  // (returns), target, (arguments), prototype: all except the target are optional.
  void ParseCall(Instruction* instruction) {
    Instruction::CallInfo& call = instruction->call.emplace();
    if (cursor_.Peek() == '(') {
      call.returns = Flattened(ParseOperandList());
      cursor_.Expect(',');
    }
    call.target = NamedOperand(cursor_.Name());
    if (!cursor_.Take(',')) return;
    if (cursor_.Peek() == '(') {
      call.arguments = Flattened(ParseOperandList());
      if (!cursor_.Take(',')) return;
    }
    call.prototype_or_table = cursor_.Name();
    has_symbol_ = true;
  }

  std::vector<Operand> ParseOperandList() {
    std::vector<Operand> operands;
    cursor_.Expect('(');
    if (cursor_.Take(')')) return operands;
    do {
      operands.push_back(ParseOperand());
    } while (cursor_.Take(','));
    cursor_.Expect(')');
    return operands;
  }

  Operand ParseOperand() {
    const bool takes_part = std::exchange(takes_part_, false);  // names inside an operand have no parts
    const char c = cursor_.Peek();
    if (c == '[') return ParseAddress();
    if (c == '{') return {ParseVector(), {}};
    if (IsNameStart(c) && cursor_.PeekName() != "WARP_SZ") {
      const std::string_view name = cursor_.Name();
      takes_part_ = takes_part;
      Operand operand = NamedOperand(name);
      takes_part_ = false;
      if (auto* symbol = std::get_if<SymbolRef>(&operand.value)) {
        if (cursor_.Peek() == '[') {
          AddressRef element{"", symbol->name, ElementOffset(symbol->name)};
          if (instruction_is_move_) return {SymbolRef{std::move(element.base_symbol), element.offset}, {}};
          return {std::move(element), {}};
        }
        ParseOffset(&symbol->offset);
      }
      if (cursor_.Take('|')) operand.second.push_back(NamedOperand(cursor_.Name()));
      return operand;
    }
    if (c == '!') {
      Cursor ahead = cursor_;
      ahead.Expect('!');
      if (IsNameStart(ahead.Peek()) && ahead.PeekName() != "WARP_SZ") {
        cursor_ = ahead;
        return {RegisterRef{RegisterName(), true}, {}};
      }
    }
    if (c == '-' && takes_part) {
      Cursor ahead = cursor_;
      ahead.Expect('-');
      if (IsNameStart(ahead.Peek()) && ahead.PeekName() != "WARP_SZ") {
        cursor_ = ahead;
        takes_part_ = true;
        Operand operand = NamedOperand(cursor_.Name());
        takes_part_ = false;
        if (!std::holds_alternative<RegisterRef>(operand.value)) cursor_.Fail("only a register can be negated");
        part_.insert(0, "-");
        return operand;
      }
    }
    if (!AtConstant(cursor_)) cursor_.FailExpected("an operand");
    const Number number = ParseConstant(cursor_);
    if (number.is_float) return {FloatImmediate{number.bits, number.is_double}, {}};
    return {IntegerImmediate{static_cast<int64_t>(number.bits), number.is_unsigned}, {}};
  }

  VectorRef ParseVector() {
    VectorRef vector;
    cursor_.Expect('{');
    if (cursor_.Take('}')) return vector;
    do {
      if (cursor_.Peek() == '{' || cursor_.Peek() == '[') cursor_.FailExpected("a vector's element");
      vector.elements.push_back(ParseOperand());
    } while (cursor_.Take(','));
    cursor_.Expect('}');
    return vector;
  }

  // [base + offset], [tensor, {x, y}].
  Operand ParseAddress() {
    Operand operand;
    AddressRef address;
    cursor_.Expect('[');
    bool minus = false;
    do {
      if (IsNameStart(cursor_.Peek()) && cursor_.PeekName() != "WARP_SZ") {
        if (minus) cursor_.Fail("an address can't subtract a name");
        Operand named = NamedOperand(cursor_.Name());
        if (auto* reg = std::get_if<RegisterRef>(&named.value)) {
          if (!address.base_register.empty()) cursor_.Fail("an address has one register at most");
          address.base_register = std::move(reg->name);
        } else if (auto* symbol = std::get_if<SymbolRef>(&named.value)) {
          if (!address.base_symbol.empty()) cursor_.Fail("an address has one variable at most");
          address.base_symbol = std::move(symbol->name);
        } else {
          cursor_.Fail("an address needs a register, a variable or a constant");
        }
      } else {
        AddOffset(ParseConstantTerm(cursor_), minus, &address.offset);
      }
    } while (TakeSign(&minus));
    while (cursor_.Take(',')) {
      if (cursor_.Peek() == '[') cursor_.FailExpected("a coordinate");
      operand.second.push_back(ParseOperand());
    }
    cursor_.Expect(']');
    operand.value = std::move(address);
    return operand;
  }

  bool TakeSign(bool* minus) {
    *minus = cursor_.Peek() == '-';
    return *minus ? cursor_.Take('-') : cursor_.Take('+');
  }

  void ParseOffset(int64_t* offset) {
    bool minus = false;
    while (TakeSign(&minus)) AddOffset(ParseConstantTerm(cursor_), minus, offset);
  }

  void AddOffset(const Number& number, bool minus, int64_t* offset) {
    if (number.is_float) cursor_.Fail("an address plus a float");
    *offset = static_cast<int64_t>(static_cast<uint64_t>(*offset) + (minus ? -number.bits : number.bits));
  }

  // What a name refers to; a special register includes its component.
  Operand NamedOperand(std::string_view name) {
    if (name == "_") return {SinkRef{}, {}};
    Scopes::Found found = scopes_.Find(name);
    if (found.shape != 0) {
      if (!cursor_.Touches('.')) return {vectors_.Whole(found.shape, found.name), {}};
      Operand element;
      const std::string_view component = cursor_.DotWord();
      if (!vectors_.Element(found.shape, found.name, component, &element)) {
        cursor_.Fail(Quoted(name) + " has no element ." + std::string(component));
      }
      return element;
    }
    if (found.kind != Scopes::Kind::kNone && cursor_.Touches('.')) {
      const std::string_view part = cursor_.PeekDotWord();
      constexpr size_t kLongestPart = 5;  // b7654
      if (found.kind != Scopes::Kind::kRegister || !takes_part_ || part.empty() || part.size() > kLongestPart) {
        cursor_.Fail("a part of " + Quoted(name) + " as an operand is not supported");
      }
      part_ = cursor_.DotWord();
    }
    if (found.kind == Scopes::Kind::kRegister) return {RegisterRef{std::move(found.name), false}, {}};
    if (found.kind == Scopes::Kind::kVariable) return {SymbolRef{std::move(found.name), 0}, {}};
    if (name[0] != '%') {
      has_symbol_ = true;
      return {SymbolRef{std::string(name), 0}, {}};
    }
    SpecialRef special{std::string(name)};
    if (cursor_.Touches('.')) {
      const std::string_view component = cursor_.DotWord();
      if (component.size() != 1) cursor_.Fail("unknown component ." + std::string(component));
      special.name.append(".").append(component);
    }
    return {std::move(special), {}};
  }

  // [2] after a variable's name: the offset of that element.
  int64_t ElementOffset(const std::string& name) {
    const Variable* variable = nullptr;
    const std::vector<Variable>* const lists[] = {&module_variables_, &function_.parameters, &function_.variables};
    for (const auto* list : lists) {
      for (const Variable& declared : *list) {
        if (declared.name == name) variable = &declared;
      }
    }
    if (variable == nullptr || variable->dimensions.size() != 1)
      cursor_.Fail(Quoted(name) + " is no array of one dimension");
    cursor_.Expect('[');
    if (!AtConstant(cursor_))
      cursor_.Fail("an element is chosen by a constant; " + Quoted(cursor_.PeekName()) + " is none");
    const int64_t index = ParseConstantInteger(cursor_, 0, INT32_MAX);
    cursor_.Expect(']');
    return index * static_cast<int64_t>(variable->ElementBytes());
  }

  // Names of parameters are in the syntax tree, which changes; Scopes keeps views of names.
  std::string_view Kept(const std::string& name) { return *kept_.insert(name).first; }

  std::string RegisterName() {
    const std::string_view name = cursor_.Name();
    Scopes::Found found = scopes_.Find(name);
    if (found.kind != Scopes::Kind::kRegister || found.shape != 0)
      cursor_.Fail(Quoted(name) + " is no declared register");
    return std::move(found.name);
  }

  void ResolveLabels() {
    for (const Pending& place : pending_) {
      if (place.in_table) {
        for (std::string& target : function_.tables[place.index].targets) Resolve(place, &target);
        continue;
      }
      Instruction& instruction = function_.body[place.index];
      for (Operand& operand : instruction.operands) Resolve(place, &operand);
      if (!instruction.call) continue;
      Resolve(place, &instruction.call->target);
      for (Operand& operand : instruction.call->arguments) Resolve(place, &operand);
      if (!instruction.call->prototype_or_table.empty()) Resolve(place, &instruction.call->prototype_or_table);
    }
  }

  void Resolve(const Pending& place, Operand* operand) {
    if (auto* symbol = std::get_if<SymbolRef>(&operand->value)) Resolve(place, &symbol->name);
  }

  void Resolve(const Pending& place, std::string* name) {
    const std::string text = *name;
    if (scopes_.FindLabel(text, place.scope, name) == Scopes::LabelSearch::kNotVisible) {
      throw PtxError(place.line, "the label " + Quoted(text) + " is not visible here");
    }
  }

  Cursor& cursor_;
  const std::vector<Variable>& module_variables_;
  Function& function_;
  std::unordered_set<std::string> kept_;
  Scopes scopes_;
  LocationTracker locations_;
  VectorRegisters vectors_;
  std::vector<Pending> pending_;
  std::string part_;                  // of the operand just read: see Instruction::parts
  bool takes_part_ = false;           // whether the next name may have a part
  bool instruction_is_move_ = false;  // of the current instruction
  bool has_symbol_ = false;           // the current instruction names something that may be a label
};

}  // namespace

void ParseBody(Cursor& cursor, const std::vector<Variable>& module_variables, Function* function) {
  BodyParser(cursor, module_variables, function).Parse();
}

}  // namespace lockstep::vgpu::ptx
