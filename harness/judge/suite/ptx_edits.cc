#include "judge/suite/ptx_edits.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <tuple>

namespace lockstep::judge {
namespace {

struct Line {
  std::string text, op;               // "setp.lt.u32"; "": no instruction
  std::vector<std::string> operands;  // "%r5", "[%rd1+4]", "3"
  int line = 0, column = 0;           // in the student's file; 0: elsewhere
};

bool IsNumber(const std::string& operand) { return std::isdigit(operand[0]) != 0 || operand[0] == '-'; }

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string WithOperand(const Line& line, size_t k, const std::string& operand) {
  std::string row = line.text.substr(0, line.text.find(line.op) + line.op.size()) + " ";
  for (size_t i = 0; i < line.operands.size(); ++i) row += (i > 0 ? ", " : "") + (i == k ? operand : line.operands[i]);
  return row + ";";
}

constexpr size_t kLongest = 1000;  // characters per line; no instruction of nvcc's is longer

struct Text {
  std::vector<Line> lines;
  size_t head = 0, begin = 0, end = 0;  // the kernel's .entry; its body
};

Text Read(const std::string& ptx, const std::string& kernel, const std::string& file) {
  // "1 58 5, function_name $L__info_string0, inlined_at 1 70 3": the first position in the student's file counts.
  static const std::regex instruction(R"(^\s*(?:@\S+\s+)?([a-z][\w.:]*)\s+(.*);$)"),
      operand(R"(\[[^\]]*\]|\{[^}]*\}|[^,\s]+)"), place(R"((\d+) (\d+) (\d+))"),
      name(R"re(\.file\s+(\d+) "(?:[^"]*/)?([^"/]*)".*)re");
  using Matches = std::sregex_iterator;
  std::string own;
  for (size_t at = 0; (at = ptx.find(".file\t", at)) != std::string::npos; ++at) {
    const std::string row = ptx.substr(at, std::min(ptx.find('\n', at) - at, kLongest));
    if (std::smatch match; std::regex_match(row, match, name) && match[2] == file) own = match[1];
  }
  Text text;
  Line line;
  for (size_t from = 0; from < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', from), ptx.size());
    line.text = ptx.substr(from, end - from);
    line.op.clear();
    line.operands.clear();
    from = end + 1;
    std::smatch match;
    const size_t k = text.lines.size();
    if (line.text.find(".entry " + kernel + "(") != std::string::npos) text.head = k;
    if (text.head > 0 && text.begin == 0 && line.text == "{") text.begin = k + 1;
    if (text.begin > 0 && text.end == 0) {
      if (line.text == "}") text.end = k;
      if (line.text.find(".loc") < 2) {
        line.line = 0;
        for (Matches at(line.text.begin(), line.text.end(), place), last; at != last && line.line == 0; ++at) {
          if ((*at)[1] != own) continue;
          line.line = std::atoi((*at)[2].str().c_str());
          line.column = std::atoi((*at)[3].str().c_str());
        }
      } else if (line.text.size() < kLongest && std::regex_match(line.text, match, instruction)) {
        line.op = match[1];
        const std::string rest = match[2];
        for (Matches at(rest.begin(), rest.end(), operand), last; at != last; ++at) line.operands.push_back(at->str());
      }
    }
    text.lines.push_back(line);
  }
  return text;
}

// Values that a student may have confused, such as a thread's index or a kernel argument.
struct Named {
  std::string load, name;
  int kind = 0;  // values of one kind are interchangeable
};

class Editor {
 public:
  Editor(Text text, std::string file) : text_(std::move(text)), file_(std::move(file)) {}

  std::vector<PtxEdit> All() {
    OfNames();
    const std::string add = "add.s32 @, @, ", half = "shr.u32 @, @, 1;", twice = "shl.b32 @, @, 1;";
    Rule(0, "setp", "setp", "this comparison is off by one: the case where both sides are equal goes the wrong way",
         Equal);
    Rule(1, "setp", "", "this comparison is off by one: the case where both sides are equal goes the wrong way", Equal);
    for (const int by : {1, -1}) {
      const auto off = [&](const char* what) {
        return std::string(what) + (by > 0 ? " is too small by 1" : " is too large by 1");
      };
      Rule(3, "sh[lr]", "", "a factor of 2 is missing here, or is one too many",
           Number([by](int64_t v) { return std::max<int64_t>(v + by, 0); }));
      Rule(4, "setp|mov.[us]32|add.s32", "", off("a number here"), Number([by](int64_t v) { return v + by; }));
      Rule(4, kArithmetic, "", off("what is computed here"), Then(add + std::to_string(by) + ";"));
    }
    Rule(3, "(and|or)\\.pred", "", "&& is used here where || would be right, or || where && would be",
         [](const Line& l) { return Replaced(l.text, l.op, l.op == "or.pred" ? "and.pred" : "or.pred"); });
    Rule(5, kArithmetic, "", "what is computed here is half of what it has to be", Then(twice));
    Rule(5, kArithmetic, "", "what is computed here is twice what it has to be", Then(half));
    Rule(5, "setp|mov.[us]32|add.s32", "", "a factor of 2 is missing here", Number([](int64_t v) { return 2 * v; }));
    Rule(5, "mov.[us]32", "", "this should begin with 0", Number([](int64_t) { return 0; }));
    for (const size_t k : {1, 2}) {
      for (const std::string& by : {twice, half}) {
        Rule(6, "mad.lo.s32|(add|sub).s32|setp.*32|(rem|div).*32", "",
             by == half ? "there is a factor of 2 too much here" : "a factor of 2 is missing here", [&](const Line& l) {
               if (k >= l.operands.size() || l.operands[k][0] != '%') return l.text;
               return "mov.b32 %lockstep, " + l.operands[k] + ";\n" + Replaced(by, "@", "%lockstep") + "\n" +
                      WithOperand(l, k, "%lockstep");
             });
      }
    }
    for (const auto& [number, name] : {std::pair("0", "0"), {"2147483647", "INT_MAX"}, {"-2147483648", "INT_MIN"}}) {
      Rule(4, "(mov|selp)\\.[usb]32", "",
           std::string("an initial value, or a value used when there is no element, has to be ") + name + " here",
           [number](const Line& l) {
             for (size_t k = 1; k < l.operands.size(); ++k) {
               if (l.operands[k] == "0" || l.operands[k] == "2147483647" || l.operands[k] == "-2147483648")
                 return WithOperand(l, k, number);
             }
             return l.text;
           });
    }
    std::ranges::stable_sort(edits_, {}, &PtxEdit::rank);
    return std::move(edits_);
  }

 private:
  using Change = std::function<std::string(const Line&)>;
  static constexpr const char* kArithmetic = "(add|sub|div|rem|shl|shr|not|and|min|max|mul.lo|mad.lo).*[usb]32";

  static std::string Equal(const Line& line) {
    for (const char* strict : {".lt.", ".gt.", ".le.", ".ge."}) {
      if (line.op.find(strict) == std::string::npos) continue;
      return Replaced(line.text, strict, std::string{strict[0], strict[1], strict[2] == 't' ? 'e' : 't', '.'});
    }
    return line.text;
  }
  // Replaces its number, if it has one.
  static Change Number(std::function<int64_t(int64_t)> to) {
    return [to = std::move(to)](const Line& line) {
      const std::string& last = line.operands.back();
      return IsNumber(last) ? WithOperand(line, line.operands.size() - 1, std::to_string(to(std::atoll(last.c_str()))))
                            : line.text;
    };
  }
  static Change Then(const std::string& instruction) {
    return [=](const Line& line) { return line.text + "\n" + Replaced(instruction, "@", line.operands[0]); };
  }

  // Changes the instructions at a position whose opcode matches: those with the same opcode, or all, if `key` is given.
  void Rule(int rank, const std::string& ops, const std::string& key, const std::string& sentence,
            const Change& change) {
    const std::regex like("(" + ops + ").*");
    std::map<std::tuple<int, int, std::string>, std::vector<size_t>> groups;
    for (size_t k = text_.begin; k < text_.end; ++k) {
      const Line& line = text_.lines[k];
      if (line.line == 0 || line.op.empty() || line.operands.empty() || !std::regex_match(line.op, like)) continue;
      const std::string number = IsNumber(line.operands.back()) ? line.operands.back() : "";
      groups[{line.line, line.column, key.empty() ? line.op + number : key}].push_back(k);
    }
    for (const auto& [group, lines] : groups) {
      Add(rank, lines, sentence, change);
      if (lines.size() > 1 && lines.size() < 4) {
        for (const size_t k : lines) Add(rank + 1, {k}, sentence, change);
      }
    }
  }

  void Add(int rank, const std::vector<size_t>& changed, const std::string& sentence, const Change& change,
           const std::string& before = "") {
    PtxEdit edit{"", file_ + ":" + std::to_string(text_.lines[changed[0]].line), sentence, rank};
    bool other = false, differs = false;  // other: the line is in another kernel, which is left out
    for (size_t k = 0; k < text_.lines.size(); ++k) {
      const Line& line = text_.lines[k];
      if (line.text.find(".entry ") != std::string::npos) other = k != text_.head;
      const std::string row = std::ranges::find(changed, k) == changed.end() ? line.text : change(line);
      differs = differs || row != line.text;
      if (!other) edit.text += row + "\n";
      if (k + 1 == text_.begin) edit.text += "\t.reg .b32 %lockstep;\n" + before;
      if (line.text == "}") other = false;
    }
    if (differs && seen_.insert(edit.text).second) edits_.push_back(std::move(edit));
  }

  // Replaces one name by another of its kind: threadIdx.x by threadIdx.y, width by height.
  void OfNames() {
    std::vector<Named> all;
    for (const auto& [name, special, kind] :
         {std::tuple("threadIdx", "%tid", 1), std::tuple("blockIdx", "%ctaid", 2), std::tuple("blockDim", "%ntid", 3),
          std::tuple("gridDim", "%nctaid", 4)}) {
      for (const char* axis : {".x", ".y"})
        all.push_back({std::string("mov.u32 ") + special + axis, std::string(name) + axis, kind});
    }
    std::map<std::string, size_t> held;  // by register: the index in `all` of its value
    std::map<std::tuple<int, int, std::string>, std::map<std::string, std::vector<size_t>>> uses;
    for (size_t k = text_.begin; k < text_.end; ++k) {
      const Line& line = text_.lines[k];
      const bool argument = line.op.starts_with("ld.param") && line.op.ends_with("32");
      if (line.operands.size() == 2 && (argument || line.op == "mov.u32")) {
        const std::string load = line.op + " " + line.operands[1];
        auto known = std::ranges::find(all, load, &Named::load);
        if (known == all.end() && argument) {
          const int number = std::atoi(load.c_str() + load.rfind('_') + 1) + 1;
          all.push_back({load, "argument " + std::to_string(number) + " of the kernel", 5});
          known = all.end() - 1;
        }
        if (known != all.end()) held[line.operands[0]] = static_cast<size_t>(known - all.begin());
        continue;
      }
      // Not in a guard like `threadIdx.x < 128`: with another name it would let all threads through.
      const bool order =
          line.op.starts_with("setp.") && !line.op.starts_with("setp.eq") && !line.op.starts_with("setp.ne");
      if (order && std::ranges::any_of(line.operands, IsNumber)) continue;
      const bool index =
          (line.op.starts_with("m") || line.op == "add.s32") && std::ranges::none_of(line.operands, IsNumber);
      for (size_t i = 1; i < line.operands.size() && line.line > 0; ++i) {
        if (held.contains(line.operands[i]))
          uses[{line.line, line.column, line.operands[i]}][index ? "index" : line.op].push_back(k);
      }
    }
    for (const auto& [place, by_op] : uses) {
      const std::string& old = std::get<2>(place);
      const Named& was = all[held[old]];
      std::vector<size_t> lines;
      for (const auto& [op, some] : by_op) lines.insert(lines.end(), some.begin(), some.end());
      for (const Named& instead : all) {
        if (instead.name == was.name || (instead.kind == 5) != (was.kind == 5)) continue;
        const auto with = [&](const Line& line) {
          return WithOperand(line,
                             static_cast<size_t>(std::find(line.operands.begin() + 1, line.operands.end(), old) -
                                                 line.operands.begin()),
                             "%lockstepn");
        };
        const int rank = instead.kind == was.kind ? 2 : 5;
        const std::string load = "\t.reg .b32 %lockstepn;\n\t" + Replaced(instead.load, " ", " %lockstepn, ") + ";\n";
        const std::string sentence = was.name + " is used here where " + instead.name + " would be right";
        Add(rank, lines, sentence, with, load);
        for (const auto& [op, some] : by_op) Add(rank + 1, some, sentence, with, load);
      }
    }
  }

  const Text text_;
  const std::string file_;
  std::set<std::string> seen_;
  std::vector<PtxEdit> edits_;
};

}  // namespace

std::vector<PtxEdit> EditsOf(const std::string& ptx, const std::string& kernel, const std::string& file) {
  Text text = Read(ptx, kernel, file);
  if (text.begin == 0 || text.end == 0) return {};
  return Editor(std::move(text), file).All();
}

}  // namespace lockstep::judge
