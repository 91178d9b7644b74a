// The debugger's commands.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
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

constexpr int kListed = 3;  // lines of source before and behind the current one
constexpr uint64_t kMostShown = 64, kFirstElements = 8;

constexpr char kHelp[] = R"(  break 41 | copy.cu:41 | KERNEL [block (1,0,0)] [thread (3,0,0)]
                          stop there; info breakpoints lists these, delete 1 removes one, delete all
  watch tile[3]           stop where an element of shared memory or of a buffer is about to be written
  continue, step, next, stepi, finish
                          go on: to a stop; to this warp's next line; over calls; one instruction; out of this call
  reverse-continue, reverse-step
                          back to the stop, or to this warp's line, before this one
  print tile[3]  print d_in[0]@16  print %r5  print threadIdx  print/f d_in[3]
                          values; of registers those of all threads. /d /u /x /f (float) /g (double) /l (64 bits) /b
  info locals             the variables of the source here, and print i, print p.x, print row[3]: built with nvcc -G
  info registers          what the instructions of this line make
  info warps              where each warp of the running blocks stands
  backtrace, list         the calls that led here; the source around
  … block (1,0,0) thread (3,0,0)
                          behind print, list, info registers, backtrace: of that thread's warp
  quit                    end the program
An empty line repeats the command before. Words may be cut short: b, w, c, s, n, si, fin, rc, rs, p, i, bt, l, q.)";

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

// Removes "block P" and "thread P" from the end of the command. False: an index is invalid.
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

// The format letter for the type with which the source declares this name; 'd' if unknown.
char DeclaredFormat(const std::string& source, const std::string& name) {
  static constexpr std::pair<const char*, char> kTypes[] = {
      {"float", 'f'}, {"double", 'g'},    {"unsigned char", 'b'}, {"uint8_t", 'b'}, {"char", 'b'},
      {"bool", 'b'},  {"long long", 'l'}, {"size_t", 'l'},        {"int64_t", 'l'}, {"uint64_t", 'l'},
      {"long", 'l'},  {"unsigned", 'u'},  {"uint32_t", 'u'},      {"int", 'd'}};
  for (const auto& [type, letter] : kTypes) {
    const std::string marks = R"((?:[\s*&]|const\b|int\b|__restrict__\b|__restrict\b)*)";
    if (std::regex_search(source, std::regex(std::string("\\b") + type + "\\b" + marks + "\\b" + name + "\\b")))
      return letter;
  }
  return 'd';
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

Type TypeOf(char format) {
  switch (format) {
    case 'f':
      return Type::kF32;
    case 'g':
      return Type::kF64;
    case 'l':
      return Type::kS64;
    case 'b':
      return Type::kU8;
    case 'u':
    case 'x':
      return Type::kU32;
    default:
      return Type::kS32;
  }
}

std::string ElementText(char format, const uint8_t* bytes) {
  int32_t word = 0;
  std::memcpy(&word, bytes, format == 'b' ? 1 : 4);
  float single;
  std::memcpy(&single, &word, 4);
  char text[64];
  if (format == 'f') return std::snprintf(text, sizeof text, "%g", static_cast<double>(single)), text;
  if (format == 'x') return "0x" + Hex(static_cast<uint32_t>(word));
  if (format == 'u' || format == 'b') return std::to_string(static_cast<uint32_t>(word));
  if (format == 'd') return std::to_string(word);
  double wide;
  int64_t number;
  std::memcpy(&wide, bytes, 8);
  std::memcpy(&number, bytes, 8);
  if (format == 'g') return std::snprintf(text, sizeof text, "%g", wide), text;
  return std::to_string(number);
}

}  // namespace

bool Debugger::IsNumber(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The words that a command may be cut short to are those of gdb.
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
  if (is("print", "p")) return Print(format + " " + what, *there), false;
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
  int before = 0, from = 0;  // the nearest ones
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
  std::string why;
  const std::optional<Range> range = FindMemory(value, 4, at, &why);
  if (!range) return Show(value.empty() ? "watch what? watch tile[3]" : why);
  StopPoint point;
  point.value = value;
  point.address = range->address;
  point.bytes = range->count * 4;
  point.shared = range->shared;
  point.text = "watch " + value + " " + Hex(point.address) + " " + std::to_string(point.bytes) +
               (point.shared ? " shared" : " global");
  if (text.find(" block ") != std::string::npos) Show("a watch holds for all blocks; print says whose memory is whose");
  points_.push_back(point);
  Show("watchpoint " + std::to_string(points_.size()) + ": " + value +
       (value.find('[') == std::string::npos ? "[0]" : ""));
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
  const ptx::SourceLocation place = at.launch->places.Shown(at.pc);
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
                        std::string(program.FileName(places[k])), places[k].line});
    }
  };
  const WarpState& state = *at.warp->state;
  const Frame* frame = state.current >= 0 ? state.groups[static_cast<size_t>(state.current)].frame : nullptr;
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

// {"reason": "step", "place": "copy.cu:41", "who": "block …", "frames": [{"name", "file", "line"}], "variables": [{"name", "value"}]}
std::string Debugger::State(const At& at) const {
  std::string frames, variables;
  for (const CallFrame& frame : Frames(at)) {
    frames += (frames.empty() ? "" : ", ") + ("{\"name\": " + JsonText(frame.name)) +
              ", \"file\": " + JsonText(frame.file) + ", \"line\": " + std::to_string(frame.line) + "}";
  }
  const auto variable = [&](const std::string& name, const std::string& value) {
    variables +=
        (variables.empty() ? "" : ", ") + ("{\"name\": " + JsonText(name)) + ", \"value\": " + JsonText(value) + "}";
  };
  variable("blockIdx", PointText(at.warp->block->id));
  const auto row = [&](const std::string& name, const uint32_t* values) {
    if (at.mask != 0) variable(name, RowText(Type::kU32, reinterpret_cast<const uint8_t*>(values), at.mask));
  };
  row("threadIdx.x", at.warp->state->thread_x);
  if (at.launch->info.block.y > 1) row("threadIdx.y", at.warp->state->thread_y);
  if (at.launch->info.block.z > 1) row("threadIdx.z", at.warp->state->thread_z);
  for (const std::string& name : NamesHere(at)) {
    const std::string value = ValueText(name, '\0', at);
    if (!value.empty()) variable(name, value);
  }
  for (const auto& [name, text] : Locals(at)) variable(name, text);
  return "{\"reason\": " + JsonText(reason_) + ", \"place\": " + JsonText(PlaceText(at)) +
         ", \"who\": " + JsonText(WhoText(at)) + ", \"frames\": [" + frames + "], \"variables\": [" + variables + "]}";
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

std::optional<Debugger::Range> Debugger::FindMemory(const std::string& value, uint64_t width, const At& at,
                                                    std::string* why) {
  const size_t bracket = std::min(value.find('['), value.size());
  const std::string name = value.substr(0, bracket);
  uint64_t index = 0, count = 1;
  if (bracket < value.size()) {
    const size_t close = value.find(']', bracket);
    const std::string number = value.substr(bracket + 1, close == std::string::npos ? 0 : close - bracket - 1);
    if (!IsNumber(number))
      return *why = "an index is a number, and nothing is computed: print its value first, then " + name + "[3]",
             std::nullopt;
    index = std::stoul(number);
    if (close + 1 < value.size() && value[close + 1] == '@' && IsNumber(value.substr(close + 2))) {
      count = std::stoul(value.substr(close + 2));
    }
  }
  const auto within = [&](uint64_t bytes) {
    if (count != 0 && count <= bytes / width && index <= bytes / width - count) return true;
    *why = name + " has " + std::to_string(bytes / width) + " elements of " + std::to_string(width) + " bytes";
    return false;
  };
  const Program& program = at.engine->program();
  for (const NamedRange& range : program.shared_variables) {
    if (VariableName(range.name) != name) continue;
    const uint64_t bytes = range.bytes != 0 ? range.bytes : at.warp->block->shared_bytes - range.offset;
    if (!within(bytes)) return std::nullopt;
    const uint64_t offset = range.offset + index * width;
    return Range{at.warp->block->shared + offset, offset, count, true};
  }
  if (const std::optional<KernelParameter> parameter = FindParameter(name, at); parameter && parameter->bytes == 8) {
    uint64_t base;
    std::memcpy(&base, at.engine->launch().parameters + parameter->offset, sizeof base);
    const Allocation* allocation = at.engine->launch().memory->Find(base);
    if (allocation == nullptr) return *why = name + " points to no memory of the device", std::nullopt;
    if (!within(allocation->base + allocation->bytes - base)) return std::nullopt;
    const uint64_t address = base + index * width;
    return Range{reinterpret_cast<const uint8_t*>(address), address, count, false};
  }
  for (const Allocation& allocation : at.engine->launch().memory->allocations()) {
    if (VariableName(allocation.label) != name) continue;
    if (!within(allocation.bytes)) return std::nullopt;
    const uint64_t address = allocation.base + index * width;
    return Range{reinterpret_cast<const uint8_t*>(address), address, count, false};
  }
  std::vector<std::string> names = NamesHere(at);
  for (const Allocation& allocation : at.engine->launch().memory->allocations()) {
    const std::string label = VariableName(allocation.label);
    if (!allocation.hidden && std::ranges::find(names, label) == names.end()) names.push_back(label);
  }
  std::string known;
  for (const std::string& here : names) known += " " + here;
  *why = "no array " + name + " here; there are:" + (known.empty() ? " none" : known) +
         ". info registers shows what this line computes";
  return std::nullopt;
}

void Debugger::Print(std::string value, const At& at) {
  const char format = value[0] == '/' && value.size() > 1 ? value[1] : '\0';
  value.erase(0, value.find(' ') + 1);
  const LaunchInfo& info = at.launch->info;
  if (value == "blockIdx") return Show(value + " = " + PointText(at.warp->block->id));
  if (value == "blockDim") return Show(value + " = " + PointText(info.block));
  if (value == "gridDim") return Show(value + " = " + PointText(info.grid));
  if (value == "threadIdx" && at.mask != 0) {
    const WarpState& state = *at.warp->state;
    const auto row = [&](const uint32_t* values) {
      return RowText(Type::kU32, reinterpret_cast<const uint8_t*>(values), at.mask);
    };
    return Show("threadIdx.x = " + row(state.thread_x) + "\nthreadIdx.y = " + row(state.thread_y) +
                "\nthreadIdx.z = " + row(state.thread_z));
  }
  if (value[0] == '%') {
    const std::optional<ListedRegister> found = FindRegister(value, at);
    if (!found) return Show("no register " + value + " in this function; info registers shows those of this line");
    if (at.mask == 0) return Show("no thread runs it now");
    return Show(value + " = " + RowText(found->type, at.warp->base[0] + found->row, at.mask));
  }
  std::string why;
  if (format == '\0' && value.find('@') == std::string::npos) {
    const std::vector<NamedText> values = ValuesOf(value, at, &why);
    for (const auto& [name, text] : values) Show(name + " = " + text);
    if (!values.empty() || !why.empty()) return why.empty() ? void() : Show(why);
  }
  const std::string text = ValueText(value, format, at, &why);
  Show(value.empty() ? "print what? print tile[3]" : text.empty() ? why : value + " = " + text);
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

// The value of a parameter, an array or an element; for an array without an index, its first elements. Empty: *why has
// the reason.
std::string Debugger::ValueText(const std::string& value, char format, const At& at, std::string* why) {
  std::string unused;
  if (why == nullptr) why = &unused;
  const size_t bracket = std::min(value.find('['), value.size());
  const std::string name = value.substr(0, bracket);
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (format == '\0' && !name.empty() && std::all_of(name.begin(), name.end(), is_part)) {
    format = DeclaredFormat(SourceOf(at), name);
  }
  const uint64_t width = ptx::SizeOf(TypeOf(format));
  if (const auto parameter = FindParameter(value, at); parameter && parameter->bytes <= 8) {
    uint8_t bytes[8] = {};
    std::memcpy(bytes, at.engine->launch().parameters + parameter->offset, parameter->bytes);
    uint64_t address;
    std::memcpy(&address, bytes, sizeof address);
    const bool is_address = parameter->bytes == 8 && at.engine->launch().memory->Find(address) != nullptr;
    return is_address ? "0x" + Hex(address) : ElementText(format, bytes);
  }
  std::optional<Range> range = FindMemory(value, width, at, why);
  if (!range) return "";
  const bool is_whole = bracket == value.size();
  for (uint64_t most = kFirstElements; is_whole && most > 1 && range->count == 1; --most) {
    const auto longer = FindMemory(name + "[0]@" + std::to_string(most), width, at, why);
    if (longer) range = longer;
  }
  std::string text;
  for (uint64_t k = 0; k < std::min(range->count, kMostShown); ++k) {
    text += (k == 0 ? "" : ", ") + ElementText(format, range->bytes + k * width);
  }
  return text + (is_whole || range->count > kMostShown ? ", …" : "");
}

}  // namespace lockstep::vgpu
