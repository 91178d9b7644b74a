// The debugger's commands.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <utility>

#include "vgpu/core/symbol_name.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/debug_channel.h"
#include "vgpu/exec/debugger.h"
#include "vgpu/exec/row_text.h"
#include "vgpu/exec/standing.h"
#include "vgpu/memory/memory.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr int kListed = 3;  // lines of source before and after the current one
constexpr uint64_t kMostShown = 64;

constexpr char kHelp[] = R"(  break 41 | copy.cu:41 | KERNEL [block (1,0,0)] [thread (3,0,0)]
                          stop there; info breakpoints lists these, delete 1 removes one, delete all
  watch tile[3]           stop where an element of shared memory or of a buffer is about to be written
  continue, step, next, stepi, finish
                          run to a stop; to the warp's next line; to that, over calls; one instruction; out of the call
  reverse-continue, reverse-step
                          back to the stop, or to this warp's line, before this one
  print tile[3]  print d_in[0]@16  print %r5  print threadIdx.x % 2 == 0 && i < n  print ((float*)tile)[3]
                          a C expression's value in each thread; print/x in hexadecimal digits
  info locals             the variables of the source here, and print i, print p.x, print row[3]: built with nvcc -G
  info registers          the values that the instructions of this line compute
  info warps              where each warp of the running blocks is
  backtrace, list         the calls that led here; the source around
  … block (1,0,0) thread (3,0,0)
                          after print, list, backtrace, info locals or registers: of that thread's warp
  quit                    end the program
A fault stops the program too, and with --check whatever a check finds.
An empty line repeats the last command. Words may be cut short: b, w, c, s, n, si, fin, rc, rs, p, i, bt, l, q.)";

std::vector<std::string> WordsOf(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// "(1,2,0)", "1,2" or "1".
std::optional<Dim3> PointOf(const std::string& text) {
  Dim3 point{0, 0, 0};
  uint32_t* const parts[] = {&point.x, &point.y, &point.z};
  size_t part = 0;
  bool digits = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      if (part > 2 || *parts[part] > 100'000'000) return std::nullopt;
      *parts[part] = *parts[part] * 10 + static_cast<uint32_t>(c - '0');
      digits = true;
    } else if (c == ',') {
      ++part;
    } else if (c != '(' && c != ')') {
      return std::nullopt;
    }
  }
  return digits ? std::optional(point) : std::nullopt;
}

// Removes "block P" and "thread P" from the command. False: an index is invalid.
bool TakeWho(std::vector<std::string>& words, std::optional<Dim3>* block, std::optional<Dim3>* thread) {
  for (size_t k = 0; k + 1 < words.size();) {
    std::optional<Dim3>* const part = words[k] == "block" ? block : words[k] == "thread" ? thread : nullptr;
    if (part == nullptr) {
      ++k;
      continue;
    }
    *part = PointOf(words[k + 1]);
    if (!*part) return false;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(k), words.begin() + static_cast<std::ptrdiff_t>(k) + 2);
  }
  return true;
}

std::string FileText(std::string_view path) {
  std::ifstream file{std::string(path)};
  return {std::istreambuf_iterator<char>(file), {}};
}

// The kernel's parameter names from its definition in the source: PTX has none.
std::vector<std::string> ParameterNames(const std::string& source, const std::string& kernel) {
  const std::string plain = kernel.substr(0, kernel.find('<'));
  const std::string name = plain.substr(plain.rfind(':') == std::string::npos ? 0 : plain.rfind(':') + 1);
  std::smatch found;
  if (!std::regex_search(source, found,
                         std::regex("__global__[^;{}()]*(?:\\([^()]*\\)[^;{}()]*)?\\b" + name + "\\s*\\(")))
    return {};
  std::vector<std::string> names(1);
  int depth = 0;
  for (size_t at = static_cast<size_t>(found.position() + found.length()); at < source.size(); ++at) {
    const char c = source[at];
    if (c == ')' && depth == 0) break;
    depth += c == '(' || c == '<' || c == '[' ? 1 : c == ')' || c == '>' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      names.emplace_back();
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      const char before = source[at - 1];
      if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_') names.back().clear();
      names.back() += c;
    }
  }
  return names;
}

}  // namespace

bool Debugger::IsNumber(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The abbreviations are gdb's.
bool Debugger::Obey(const std::string& line, const At& at) {
  std::vector<std::string> words = WordsOf(line);
  if (words.empty()) return false;
  std::string command = words.front();
  const std::string format = command.substr(std::min(command.find('/'), command.size()));
  command.resize(command.size() - format.size());
  const auto is = [&](std::string_view name, std::string_view shortest) {
    return command == shortest || (name.starts_with(command) && command.size() >= shortest.size());
  };
  words.erase(words.begin());
  if (is("break", "b")) return Break(words, line, at), false;
  if (at.engine == nullptr) {  // points of the process that this one replaces
    if (is("watch", "w") && words.size() == 4) {
      StopPoint& point = points_.emplace_back();
      point.text = line;
      point.value = words[0];
      point.address = std::strtoull(words[1].c_str(), nullptr, 16);
      point.bytes = std::strtoull(words[2].c_str(), nullptr, 10);
      point.shared = words[3] == "shared";
    }
    return false;
  }
  if (is("watch", "w")) return Watch(words.empty() ? "" : words[0], line, at), false;
  if (is("continue", "c")) return going_ = Going::kOn, true;
  if (is("step", "s")) return going_ = Going::kLine, true;
  if (is("next", "n")) return going_ = Going::kOver, depth_ = Depth(at), true;
  if (command == "stepi" || command == "si") return going_ = Going::kInstruction, true;
  if (is("finish", "fin")) return going_ = Going::kOut, depth_ = Depth(at), true;
  if (command == "reverse-continue" || command == "rc") RunAgain(Replay::kFindStop, count_);
  if (command == "reverse-step" || command == "rs") RunAgain(Replay::kFindLine, count_);
  if (is("delete", "d") && words.empty()) return points_.clear(), false;
  if (is("delete", "d")) {
    const size_t number = words.size() == 1 && IsNumber(words[0]) ? std::stoul(words[0]) : 0;
    if (number == 0 || number > points_.size() || points_[number - 1].text.empty()) {
      return Show("which? info breakpoints lists them: delete 1"), false;
    }
    points_[number - 1] = {};
    return false;
  }
  if (is("quit", "q")) {
    std::fflush(stdout);
    std::_Exit(0);
  }
  if (command == "state") return DebugChannel::Get().Answer(State(at)), false;
  if (is("help", "h")) return Show(kHelp), false;
  const std::optional<At> there = Elsewhere(words, at);
  if (!there) return false;
  std::optional<Dim3> block, thread;
  TakeWho(words, &block, &thread);
  const std::string what = words.empty() ? "" : words[0];
  if (is("print", "p")) {
    std::string expression;
    for (const std::string& word : words) expression += (expression.empty() ? "" : " ") + word;
    return Print(format == "/x", expression, *there), false;
  }
  if (is("list", "l")) return ListSource(*there), false;
  if (is("backtrace", "bt") || command == "where") return Backtrace(*there), false;
  if (is("info", "i")) {
    if (!what.empty() && std::string_view("registers").starts_with(what)) return Registers(*there), false;
    if (!what.empty() && std::string_view("warps").starts_with(what)) return Warps(at), false;
    if (!what.empty() && std::string_view("breakpoints").starts_with(what)) return Points(), false;
    if (!what.empty() && std::string_view("locals").starts_with(what)) {
      const std::vector<NamedText> values = Locals(*there);
      for (const auto& [name, text] : values) Show(name + " = " + text);
      const bool known = !there->launch->listing.source.variables.empty();
      if (values.empty()) Show(known ? "none is set here" : "build with nvcc -G to see the variables of the source");
      return false;
    }
    return Show("info locals, info registers, info warps or info breakpoints?"), false;
  }
  Show("no command " + command + "; type help");
  return false;
}

int Debugger::LineWithCode(const At& at, int line, const std::string& file) {
  int before = 0, from = 0;  // the nearest lines with code
  for (uint32_t pc = 0; pc < at.launch->info.program->code.size(); ++pc) {
    const ptx::SourceLocation place = at.launch->places.Shown(pc);
    if (place.line == 0 || !at.launch->info.program->FileName(place).ends_with(file)) continue;
    if (place.line < line) before = std::max(before, place.line);
    if (place.line >= line && (from == 0 || place.line < from)) from = place.line;
  }
  return before != 0 && from != 0 ? from : line;
}

void Debugger::Break(const std::vector<std::string>& asked, const std::string& text, const At& at) {
  std::vector<std::string> words = asked;
  StopPoint point;
  point.text = text;
  if (!TakeWho(words, &point.block, &point.thread) || words.size() != 1) {
    return Show("break at what? break 41, break copy.cu:41 or break KERNEL, and then  block (1,0,0) thread (3,0,0)");
  }
  const size_t colon = words[0].rfind(':');
  const std::string line = colon == std::string::npos ? words[0] : words[0].substr(colon + 1);
  if (IsNumber(line)) {
    point.line = std::stoi(line);
    if (colon != std::string::npos) point.file = words[0].substr(0, colon);
  } else {
    point.kernel = words[0];
  }
  std::string remark;
  if (const int next = at.launch != nullptr && point.line != 0 ? LineWithCode(at, point.line, point.file) : point.line;
      next != point.line) {
    remark = ", as line " + line + " has no code";
    const std::string place = words[0].substr(0, words[0].size() - line.size()) + std::to_string(next);
    point.text.replace(point.text.find(words[0]), words[0].size(), place);
    point.line = next;
  }
  points_.push_back(point);
  if (replay_ == Replay::kNo && count_ != 0) {
    Show("breakpoint " + std::to_string(points_.size()) + ": " +
         (point.kernel.empty() ? "line " + std::to_string(point.line) + remark : "launches of " + point.kernel));
  }
}

void Debugger::Watch(const std::string& value, const std::string& text, const At& at) {
  std::string why = "watch what? watch tile[3]";
  std::optional<LaneValue> watched = value.empty() ? std::nullopt : Evaluated(value, at, &why);
  if (!watched) return Show(why);
  const bool points = at.launch->listing.source.types[watched->type].kind == SourceType::Kind::kPointer;
  if (points) watched = Evaluated("*(" + value + ")", at, &why);
  const std::optional<Range> range = RangeOf(*watched, at.launch->listing.source.types[watched->type].bytes, at);
  if (!range)
    return Show("watch takes an element of shared memory or of a buffer, the same for all threads: watch tile[3]");
  StopPoint point;
  point.value = value + (points ? "[0]" : "");
  point.address = range->address;
  point.bytes = range->bytes;
  point.shared = range->shared;
  point.text = "watch " + value + " " + Hex(point.address) + " " + std::to_string(point.bytes) +
               (point.shared ? " shared" : " global");
  if (text.find(" block ") != std::string::npos) Show("a watch holds for all blocks: `block` is ignored here");
  points_.push_back(point);
  Show("watchpoint " + std::to_string(points_.size()) + ": " + point.value);
}

void Debugger::Points() const {
  bool any = false;
  for (size_t k = 0; k < points_.size(); ++k) {
    const StopPoint& point = points_[k];
    if (point.text.empty()) continue;
    any = true;
    Show(std::to_string(k + 1) + "  " + (point.bytes != 0 ? "watch " + point.value : point.text));
  }
  if (!any) Show("none; break LINE makes one");
}

std::optional<Debugger::At> Debugger::Elsewhere(const std::vector<std::string>& asked, const At& at) {
  std::vector<std::string> words = asked;
  std::optional<Dim3> id, thread;
  if (!TakeWho(words, &id, &thread)) return Show("a block or thread is three numbers: block (1,0,0)"), std::nullopt;
  if (!id && !thread) return at;
  const Dim3 wanted = id ? *id : at.warp->block->id;
  for (const std::unique_ptr<Block>& block : at.engine->blocks()) {
    if (!(block->id == wanted) || block->live_warps == 0) continue;
    const Dim3& shape = at.launch->info.block;
    const Dim3 chosen = thread ? *thread : Dim3{0, 0, 0};
    const uint64_t index = chosen.x + uint64_t{shape.x} * (chosen.y + uint64_t{shape.y} * chosen.z);
    if (index / kWarpSize >= block->warps.size()) break;
    Warp& warp = block->warps[index / kWarpSize];
    const LaneMask lane = LaneMask{1} << (index % kWarpSize);
    At there{at.launch, at.engine, &warp, warp.pc > 0 ? warp.pc - 1 : 0, thread ? lane : warp.alive};
    for (const Group& group : warp.state->groups) {
      if ((group.mask & lane) != 0 && &warp != at.warp) there.pc = group.pc;
    }
    return there;
  }
  Show("no such thread runs now; info warps shows which do");
  return std::nullopt;
}

void Debugger::ListSource(const At& at) {
  const ptx::SourceLocation place = PlaceOf(at);
  std::ifstream file{std::string(at.launch->info.program->FileName(place))};
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (number < place.line - kListed) continue;
    if (number > place.line + kListed) break;
    char label[16];
    std::snprintf(label, sizeof label, "%s%5d  ", number == place.line ? "=>" : "  ", number);
    Show(label + line);
  }
}

std::vector<Debugger::CallFrame> Debugger::Frames(const At& at) {
  const Program& program = at.engine->program();
  std::vector<CallFrame> frames;
  const auto add = [&](uint32_t pc, const std::string& name) {
    const std::vector<ptx::SourceLocation> places = program.InlineChain(pc);
    for (size_t k = 0; k < places.size(); ++k) {
      frames.push_back({k + 1 < places.size() ? "a function inlined there" : name,
                        std::string(program.FileName(places[k])), places[k].line,
                        at.launch->places.IsToolkitHeader(places[k])});
    }
  };
  const Frame* frame = FrameOf(at);
  uint32_t pc = at.pc;
  for (; frame != nullptr && frame->parent != nullptr; frame = frame->parent) {
    add(pc,
        frame->function != nullptr ? Demangled(frame->function->name).value_or(frame->function->name) : "a function");
    pc = frame->return_pc > 0 ? frame->return_pc - 1 : 0;
  }
  add(pc, at.launch->info.kernel);
  return frames;
}

void Debugger::Backtrace(const At& at) {
  for (const CallFrame& frame : Frames(at)) {
    Show("  " + frame.file.substr(frame.file.rfind('/') + 1) + ":" + std::to_string(frame.line) + "  " + frame.name);
  }
}

std::string Debugger::State(const At& at) const {
  using Json = nlohmann::ordered_json;
  Json state = {{"reason", reason_}, {"place", PlaceText(at)}, {"who", WhoText(at)}};
  for (const CallFrame& frame : Frames(at)) {
    state["frames"].push_back(
        {{"name", frame.name}, {"file", frame.file}, {"line", frame.line}, {"of_toolkit", frame.of_toolkit}});
  }
  std::vector<NamedText> values;
  std::vector<std::string> names = NamesHere(at);
  names.insert(names.begin(), {"blockIdx", "threadIdx"});
  std::string why;
  for (const std::string& name : names) std::ranges::move(ValuesOf(name, at, &why), std::back_inserter(values));
  std::ranges::move(Locals(at), std::back_inserter(values));
  for (const auto& [name, text] : values) state["variables"].push_back({{"name", name}, {"value", text}});
  return state.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Debugger::Registers(const At& at) {
  const Program& program = at.engine->program();
  const ptx::SourceLocation here = at.launch->places.Shown(at.pc);
  for (uint32_t pc = 0; pc < program.code.size(); ++pc) {
    const ptx::SourceLocation place = at.launch->places.Shown(pc);
    const ListedInsn& listed = at.launch->listing.insns[pc];
    if (!program.info[pc].counted || place.line != here.line || place.file != here.file) continue;
    std::string values;
    for (const std::vector<ListedRegister>* list : {&listed.writes, &listed.stores}) {
      for (const ListedRegister& r : *list)
        values += "  " + r.name + " = " + RowText(r.type, at.warp->base[0] + r.row, at.mask);
    }
    // Later code has not run yet, except in a loop, where values would be from the previous iteration.
    Show((pc == at.pc ? "=> " : "   ") + Padded(listed.text, 44) + (at.mask == 0 || pc >= at.pc ? "" : values));
  }
}

void Debugger::Warps(const At& at) {
  for (const std::unique_ptr<Block>& block : at.engine->blocks()) {
    for (const Standing& s : StandingsOf(*block)) {
      const std::string what[] = {"waits at barrier " + std::to_string(s.barrier),
                                  "waits for lanes " + Hex(s.members, 8), "wait for the warp's other lanes",
                                  s.spun ? "polls" : "runs"};
      const bool here = s.warp == at.warp;
      At there = at;
      there.warp = s.warp;
      if (!here || s.doing != Standing::Doing::kRuns || s.pc != s.warp->pc) there.pc = s.pc;
      Show((here ? "=> block " : "   block ") + PointText(block->id) + " warp " + std::to_string(s.warp->index) +
           "  lanes " + Hex(s.lanes, 8) + "  " + Padded(PlaceText(there), 20) + what[static_cast<size_t>(s.doing)]);
    }
  }
}

std::optional<KernelParameter> Debugger::FindParameter(const std::string& name, const At& at) {
  const Program& program = at.engine->program();
  const std::vector<std::string> names = ParameterNames(SourceOf(at), at.launch->info.kernel);
  const auto found = std::find(names.begin(), names.end(), name);
  const auto index = static_cast<size_t>(found - names.begin());
  if (found == names.end() || index >= program.kernel.parameters.size()) return std::nullopt;
  return program.kernel.parameters[index];
}

// "tile[t] + 1", "d_in[4]@16".
void Debugger::Print(bool is_hex, const std::string& expression, const At& at) {
  const LaunchInfo& info = at.launch->info;
  if (expression == "blockIdx") return Show(expression + " = " + PointText(at.warp->block->id));
  if (expression == "blockDim") return Show(expression + " = " + PointText(info.block));
  if (expression == "gridDim") return Show(expression + " = " + PointText(info.grid));
  std::vector<SourceType>& types = at.launch->listing.source.types;
  const size_t mark = expression.rfind('@');
  std::string why = "print what? print tile[3]";
  std::optional<LaneValue> value = expression.empty() ? std::nullopt : Evaluated(expression.substr(0, mark), at, &why);
  if (!value) return Show(why);
  ShownAs as{is_hex};
  if (mark != std::string::npos) {
    const std::string count = expression.substr(mark + 1);
    const uint64_t bytes = IsNumber(count) ? std::stoull(count) * types[value->type].bytes : 0;
    if (bytes == 0 || !RangeOf(*value, bytes, at)) return Show("there are not that many elements: print d_in[0]@16");
    value->type = IndexOf(types, {SourceType::Kind::kArray, bytes, value->type, std::stoull(count), {}});
    as.most = kMostShown;
  }
  std::vector<NamedText> lines;
  AddValues(expression, *value, at, as, lines);
  for (const auto& [name, text] : lines) Show(name + " = " + text);
}

// The type with which the source declares this name; int if it is not known.
SourceType Debugger::DeclaredType(const std::string& source, const std::string& name) {
  for (const char* type : {"float", "double", "unsigned char", "uint8_t", "char", "bool", "long long", "size_t",
                           "int64_t", "uint64_t", "long", "unsigned", "uint32_t"}) {
    const std::string marks = R"((?:[\s*&]|const\b|int\b|__restrict__\b|__restrict\b)*)";
    if (std::regex_search(source, std::regex(std::string("\\b") + type + "\\b" + marks + "\\b" + name + "\\b")))
      return BasicType(std::string_view(type) == "bool" ? "uint8_t" : type);
  }
  return BasicType("int");
}

// A name may have a different row in each function.
std::optional<ListedRegister> Debugger::FindRegister(const std::string& name, const At& at) {
  const Program& program = at.engine->program();
  for (const FunctionInfo& function : program.functions) {
    if (at.pc < function.entry_pc || at.pc >= function.end_pc) continue;
    for (uint32_t pc = function.entry_pc; pc < function.end_pc; ++pc) {
      const ListedInsn& listed = at.launch->listing.insns[pc];
      for (const std::vector<ListedRegister>* list : {&listed.writes, &listed.stores}) {
        for (const ListedRegister& r : *list) {
          if (r.name == name) return r;
        }
      }
    }
  }
  return std::nullopt;
}

// The text of the file with the kernel's definition; functions it calls may be in others.
const std::string& Debugger::SourceOf(const At& at) {
  std::optional<std::string>& source = at.launch->source;
  const Program& program = at.engine->program();
  if (!source) source = FileText(program.FileName(at.launch->places.Shown(program.functions[0].entry_pc)));
  return *source;
}

// The kernel's parameters and its arrays in shared memory.
std::vector<std::string> Debugger::NamesHere(const At& at) {
  std::vector<std::string> names = ParameterNames(SourceOf(at), at.launch->info.kernel);
  for (const NamedRange& range : at.engine->program().shared_variables) names.push_back(VariableName(range.name));
  return names;
}

}  // namespace lockstep::vgpu
