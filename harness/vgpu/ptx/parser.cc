#include "vgpu/ptx/parser.h"

#include <algorithm>
#include <unordered_map>

#include "vgpu/ptx/body.h"
#include "vgpu/ptx/constant.h"
#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/declaration.h"
#include "vgpu/ptx/vector_registers.h"

// Theory of operation. The text is read once, by recursive descent over a Cursor, without a token stream. At module
// scope every statement begins with a dot; in a body (body.cc) the first character distinguishes a scope, a directive,
// a guard and a name. Names are resolved while reading (scope.h), labels when their function ends. Parts that no kernel
// needs (pragmas, pointer attributes) are skipped; anything else that is not understood is an error with its line.
// Recursion depth is bounded, and no count in the text sizes an allocation unchecked.
namespace lockstep::vgpu::ptx {
namespace {

constexpr int64_t kLargestLimit = INT32_MAX;
constexpr int kNewestMajor = 9;
// Every architecture that PTX ISA 9.0 names, and older ones that it no longer names.
constexpr int kTargets[] = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37,  50,  52,  53,  60,  61, 62,
                            70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

struct Linkage {
  bool is_extern = false, is_visible = false, is_weak = false, is_common = false;
};

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : cursor_(text) {}

  Module Parse() {
    ParseVersion();
    while (!cursor_.AtEnd()) Statement();
    if (module_.target.empty()) cursor_.Fail("the text has no .target");
    ApplyAliases();
    module_.aliases.insert(aliases_.begin(), aliases_.end());
    if (sections_.contains("debug_info")) {
      const auto debug = std::make_shared<const DebugSections>(std::move(sections_));
      for (Function& function : module_.functions) function.debug = debug;
    }
    return std::move(module_);
  }

 private:
  void ParseVersion() {
    if (cursor_.PeekDotWord() != "version") cursor_.FailExpected(".version");
    cursor_.DotWord();
    // "9.0" is two integers here, not a float.
    const std::string_view version = cursor_.DottedDigits();
    const size_t dot = version.find('.');
    if (dot == std::string_view::npos || dot == 0 || dot > 3 || version.size() - dot > 4) {
      cursor_.Fail("malformed .version");
    }
    module_.version_major = std::stoi(std::string(version.substr(0, dot)));
    module_.version_minor = std::stoi("0" + std::string(version.substr(dot + 1)));
    // A driver refuses every version after its own; here later minor versions are accepted, because they add
    // instructions and change none.
    if (module_.version_major > kNewestMajor) {
      throw PtxVersionError(cursor_.line(), Quoted(version) + " is a newer PTX than 9.x");
    }
  }

  void Statement() {
    const int line = cursor_.line();
    Linkage linkage;
    std::string_view word = cursor_.DotWord();
    for (;; word = cursor_.DotWord()) {
      if (word == "extern") {
        linkage.is_extern = true;
      } else if (word == "visible") {
        linkage.is_visible = true;
      } else if (word == "weak") {
        linkage.is_weak = true;
      } else if (word == "common") {
        linkage.is_common = true;
      } else {
        break;
      }
    }
    if (word == "entry" || word == "func") {
      ParseFunction(word == "entry", linkage, line);
    } else if (const auto space = SpaceFromName(word)) {
      ParseModuleVariables(*space, linkage);
    } else if (word == "target") {
      ParseTarget();
    } else if (word == "address_size") {
      if (ParseConstantInteger(cursor_, 32, 64) != 64) cursor_.Fail("only 64-bit addresses are supported");
    } else if (word == "file") {
      ParseFile();
    } else if (word == "section") {
      ParseSection();
    } else if (word == "pragma") {
      do {
        cursor_.String();
      } while (cursor_.Take(','));
      cursor_.Expect(';');
    } else if (word == "alias") {
      ParseAlias();
    } else {
      cursor_.Fail("the directive ." + std::string(word) + " is not supported here");
    }
  }

  void ParseTarget() {
    module_.target = cursor_.Name();
    const std::string_view target = module_.target;
    const size_t first = target.find('_');
    if (first == std::string_view::npos || (target.substr(0, first) != "sm" && target.substr(0, first) != "compute")) {
      cursor_.Fail("unknown target " + Quoted(target));
    }
    int sm = 0;
    size_t k = first + 1;
    for (; k < target.size() && IsDigit(target[k]) && sm < 1000; ++k) sm = sm * 10 + (target[k] - '0');
    // The letter of an architecture-specific (a) or family-specific (f) target may follow.
    if (k == first + 1 || target.size() > k + 1) cursor_.Fail("unknown target " + Quoted(target));
    if (std::find(std::begin(kTargets), std::end(kTargets), sm) == std::end(kTargets)) {
      cursor_.Fail("unknown target " + Quoted(target));
    }
    module_.target_sm = sm;
    while (cursor_.Take(',')) {
      const std::string_view option = cursor_.Name();
      // Texture modes say whether samplers are declared apart from textures; they are ignored.
      if (option.starts_with("sm_")) continue;  // a text for several targets, as the driver's assembler takes it
      if (option != "debug" && option != "texmode_unified" && option != "texmode_independent") {
        cursor_.Fail("the target option " + Quoted(option) + " is not supported");
      }
    }
  }

  // 1 "path", optionally with a time stamp and size.
  void ParseFile() {
    const auto index = static_cast<size_t>(ParseConstantInteger(cursor_, 0, kMostFiles));
    const std::string_view path = cursor_.String();
    while (cursor_.Take(',')) ParseConstantInteger(cursor_, 0, INT64_MAX);
    if (module_.files.size() <= index) module_.files.resize(index + 1);
    module_.files[index] = path;
  }

  // Debug information: nested braces do not occur. The section of -lineinfo, which has only names, is not needed.
  void ParseSection() {
    const std::string_view name = cursor_.DotWord();
    cursor_.Expect('{');
    const std::string_view text = cursor_.SkipPast('}');
    if (name.starts_with("debug_")) sections_.emplace(name, text);
  }

  void ParseAlias() {
    const std::string_view name = cursor_.Name();
    cursor_.Expect(',');
    const std::string_view target = cursor_.Name();
    cursor_.Expect(';');
    if (!aliases_.emplace(name, target).second) cursor_.Fail(Quoted(name) + " is declared twice");
  }

  void ParseModuleVariables(Space space, const Linkage& linkage) {
    if (space == Space::kReg || space == Space::kParam) {
      cursor_.Fail("." + std::string(NameOf(space)) + " is not allowed outside a function");
    }
    Variable start;
    start.space = space;
    start.is_extern = linkage.is_extern;
    start.is_visible = linkage.is_visible;
    start.is_weak = linkage.is_weak;
    start.is_common = linkage.is_common;
    std::vector<Variable> declared =
        ParseVariables(cursor_, start, [](std::string_view name, Variable* variable) { variable->name = name; });
    for (Variable& variable : declared) AddVariable(std::move(variable));
  }

  // A definition replaces an extern declaration.
  void AddVariable(Variable variable) {
    const auto [place, is_new] = variable_index_.emplace(variable.name, module_.variables.size());
    if (is_new) {
      module_.variables.push_back(std::move(variable));
      return;
    }
    Variable& earlier = module_.variables[place->second];
    if (earlier.is_extern) {
      earlier = std::move(variable);
    } else if (!variable.is_extern) {
      cursor_.Fail(Quoted(variable.name) + " is declared twice");
    }
  }

  void ParseFunction(bool is_entry, const Linkage& linkage, int line) {
    Function function;
    function.is_entry = is_entry;
    function.is_extern = linkage.is_extern;
    function.is_visible = linkage.is_visible;
    function.is_weak = linkage.is_weak;
    function.ptx_line = line;
    if (!is_entry) {
      ParseFunctionAttributes(&function);
      if (cursor_.Peek() == '(') function.returns = ParseParameters(cursor_);
    }
    function.name = cursor_.Name();
    if (cursor_.Peek() == '(') function.parameters = ParseParameters(cursor_);
    ParseFunctionAttributes(&function);
    if (cursor_.Take(';')) {
      function.returns = VectorRegisters::Flattened(function.returns);
      function.parameters = VectorRegisters::Flattened(function.parameters);
    } else {
      cursor_.Expect('{');
      function.has_body = true;
      ParseBody(cursor_, module_.variables, &function);
    }
    AddFunction(std::move(function));
  }

  void ParseFunctionAttributes(Function* function) {
    while (cursor_.Peek() == '.') {
      const std::string_view word = cursor_.DotWord();
      if (word == "maxntid") {
        ParseExtents(function->maxntid);
      } else if (word == "reqntid") {
        ParseExtents(function->reqntid);
      } else if (word == "minnctapersm") {
        function->minnctapersm = ParseLimit();
      } else if (word == "maxnreg") {
        function->maxnreg = ParseLimit();
      } else if (word == "maxnctapersm" || word == "abi_preserve" || word == "abi_preserve_control") {
        ParseLimit();  // a hint superseded by minnctapersm; registers preserved by calls, as all are here
      } else if (word == "noreturn") {
        function->noreturn = true;
      } else if (word == "reqnctapercluster") {
        ParseExtents(function->reqnctapercluster);
      } else if (word == "explicitcluster") {
        function->explicit_cluster = true;
      } else if (word == "maxclusterrank") {
        function->max_cluster_rank = ParseLimit();
      } else if (word == "blocksareclusters") {
        function->blocks_are_clusters = true;
      } else if (word == "pragma") {
        cursor_.String();
        cursor_.Expect(';');
      } else {
        cursor_.Fail("the directive ." + std::string(word) + " is not supported on a function");
      }
    }
  }

  int ParseLimit() { return static_cast<int>(ParseConstantInteger(cursor_, 0, kLargestLimit)); }

  void ParseExtents(int (&extents)[3]) {
    int k = 0;
    do {
      if (k == 3) cursor_.Fail("more than three dimensions");
      extents[k++] = ParseLimit();
    } while (cursor_.Take(','));
    while (k < 3) extents[k++] = 1;
  }

  // A definition replaces a declaration.
  void AddFunction(Function function) {
    const auto [place, is_new] = function_index_.emplace(function.name, module_.functions.size());
    if (is_new) {
      module_.functions.push_back(std::move(function));
      return;
    }
    Function& earlier = module_.functions[place->second];
    if (earlier.has_body && function.has_body)
      throw PtxError(function.ptx_line, Quoted(function.name) + " is defined twice");
    if (earlier.is_entry != function.is_entry) {
      throw PtxError(function.ptx_line, Quoted(function.name) + " is declared as a kernel and as a function");
    }
    if (function.has_body) earlier = std::move(function);
  }

  // Every use of an alias becomes a use of the function that it refers to.
  void ApplyAliases() {
    if (aliases_.empty()) return;
    for (const auto& [name, target] : aliases_) {
      if (aliases_.contains(target)) cursor_.Fail("the alias " + Quoted(name) + " refers to another alias");
    }
    std::erase_if(module_.functions, [this](const Function& function) { return aliases_.contains(function.name); });
    for (Function& function : module_.functions) {
      for (BranchTable& table : function.tables) {
        for (std::string& target : table.targets) ApplyAlias(&target);
      }
      for (Instruction& instruction : function.body) {
        for (Operand& operand : instruction.operands) ApplyAlias(&operand);
        if (instruction.call) ApplyAlias(&instruction.call->target);
      }
    }
    for (Variable& variable : module_.variables) {
      for (Variable::Relocation& relocation : variable.relocations) ApplyAlias(&relocation.symbol);
    }
  }

  void ApplyAlias(Operand* operand) {
    if (auto* symbol = std::get_if<SymbolRef>(&operand->value)) ApplyAlias(&symbol->name);
  }

  void ApplyAlias(std::string* name) {
    const auto found = aliases_.find(*name);
    if (found != aliases_.end()) *name = found->second;
  }

  Cursor cursor_;
  Module module_;
  std::unordered_map<std::string, size_t> variable_index_, function_index_;
  std::unordered_map<std::string, std::string> aliases_;  // name → function
  DebugSections sections_;
};

}  // namespace

Module Parse(std::string_view text) {
  // Containers end the text with one or more NULs.
  while (text.ends_with('\0')) text.remove_suffix(1);
  return ModuleParser(text).Parse();
}

}  // namespace lockstep::vgpu::ptx
