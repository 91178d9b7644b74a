#include "vgpu/exec/debugger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "vgpu/core/dim3.h"
#include "vgpu/core/grouped.h"
#include "vgpu/core/symbol_name.h"
#include "vgpu/core/trace_request.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/debug_channel.h"
#include "vgpu/exec/launch.h"
#include "vgpu/exec/row_text.h"
#include "vgpu/observers/finding_table.h"

namespace lockstep::vgpu {
namespace {

constexpr char kReplayVariable[] = "LOCKSTEP_DEBUG_REPLAY", kPointsVariable[] = "LOCKSTEP_DEBUG_POINTS";

}  // namespace

class Debugger::Hook : public InstructionHook {
 public:
  Hook(Debugger& debugger, std::shared_ptr<Launch> launch, Engine& engine, std::vector<Insn>& code)
      : InstructionHook(engine.program(), code), debugger_(debugger), launch_(std::move(launch)), engine_(engine) {
    for (Observer* observer : engine.observers()) {
      if (const auto* checker = dynamic_cast<const Checker*>(observer)) checked_.push_back({&checker->findings(), 0});
    }
  }

  void Run(Warp& warp, LaneMask mask) override {
    const uint32_t pc = warp.pc - 1;
    const At at{launch_.get(), &engine_, &warp, pc, mask};
    if (program().info[pc].counted) debugger_.Look(at);
    Execute(warp, pc, mask);
    for (Checked& one : checked_) {
      if (one.table->size() == one.known) continue;
      one.known = one.table->size();
      const Finding finding = FromChecker(engine_.launch(), *one.table->newest());
      if (!IsOnePlace(finding)) debugger_.LookAtFinding(at, "a check has found:" + LinesOf(finding));
    }
  }

  void AtFault(Warp& warp, const Finding& finding) override {
    const uint32_t pc = warp.pc - (warp.pc > 0 ? 1 : 0);
    debugger_.Stop({launch_.get(), &engine_, &warp, pc, warp.active}, "exception",
                   "the kernel ends here:" + LinesOf(finding));
  }

 private:
  struct Checked {
    const FindingTable* table;
    size_t known;  // findings that were shown
  };
  static std::string LinesOf(const Finding& finding) {
    const FindingText text = Describe(finding);
    std::string lines = "\n  " + std::string(text.heading) + "  " + text.launch;
    for (const MessageLine& line : text.lines) lines += "\n  " + line.Rendered();
    return lines;
  }

  std::vector<Checked> checked_;
  Debugger& debugger_;
  std::shared_ptr<Launch> launch_;
  Engine& engine_;
};

Debugger::Debugger(uint64_t passed) : passed_(passed) {
  DebugChannel::Get();  // created first, so that it outlives the debugger
  if (const char* points = std::getenv(kPointsVariable)) {
    std::istringstream lines(points);
    for (std::string line; std::getline(lines, line);) {
      if (line == "-") {
        points_.emplace_back();
      } else {
        Obey(line, {});
      }
    }
  }
  const char* replay = std::getenv(kReplayVariable);
  if (replay == nullptr) return;
  int kind = 0;
  unsigned long long goal = 0, launch = 0;
  if (std::sscanf(replay, "%d %llu %llu %u %u", &kind, &goal, &launch, &stepping_.block, &stepping_.warp) != 5) return;
  replay_ = static_cast<Replay>(kind);
  goal_ = goal;
  stepping_.launch = launch;
  going_ = Going::kOn;
  std::fflush(stdout);
  output_ = ::dup(STDOUT_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
}

std::shared_ptr<Debugger> Debugger::OfProcess(uint64_t passed) {
  static const auto debugger = std::make_shared<Debugger>(passed);
  static const int registered = std::atexit([] { OfProcess()->End(); });
  static_cast<void>(registered);
  return debugger;
}

void Debugger::End() const {
  if (count_ == 0 && replay_ == Replay::kNo) return Show("the program has ended, and no kernel was stepped into");
  if (going_ != Going::kOn || replay_ != Replay::kNo) return;
  Show("the program has ended");
  // After a reverse command the points that were reached before are not known.
  if (std::getenv(kReplayVariable) != nullptr) return;
  for (size_t k = 0; k < points_.size(); ++k) {
    const StopPoint& point = points_[k];
    if (point.text.empty() || point.reached) continue;
    const std::string number = std::to_string(k + 1);
    Show(point.bytes != 0 ? "watchpoint " + number + ": nothing wrote " + point.value
                          : "breakpoint " + number + " was never reached: " + point.text);
  }
}

void Debugger::EndReplay() {
  replay_ = Replay::kNo;
  if (output_ < 0) return;
  std::fflush(stdout);
  ::dup2(output_, STDOUT_FILENO);
  ::close(output_);
  output_ = -1;
}

void Debugger::RunAgain(Replay replay, uint64_t goal) {
  std::string points;
  for (const StopPoint& point : points_) points += (point.text.empty() ? "-" : point.text) + "\n";
  ::setenv(kPointsVariable, points.c_str(), 1);
  const std::string state = std::to_string(static_cast<int>(replay)) + " " + std::to_string(goal) + " " +
                            std::to_string(stepping_.launch) + " " + std::to_string(stepping_.block) + " " +
                            std::to_string(stepping_.warp);
  ::setenv(kReplayVariable, state.c_str(), 1);
  std::fflush(stdout);
  if (output_ >= 0) ::dup2(output_, STDOUT_FILENO);
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<char*> words;
  for (size_t at = 0; at < text.size(); at += std::strlen(&text[at]) + 1) words.push_back(&text[at]);
  words.push_back(nullptr);
  ::execv("/proc/self/exe", words.data());
  Show("the program can't be started again: " + std::string(std::strerror(errno)));
  std::_Exit(126);
}

bool Debugger::BeginLaunch(const LaunchInfo& launch, Listing listing) {
  if (passed_ > 0) return --passed_, false;
  next_ = std::make_shared<Launch>(Launch{launch, std::move(listing), SourcePlaces(*launch.program), {}, 0, {}});
  if (replay_ != Replay::kNo) return true;
  Show("launch " + std::to_string(launch.ordinal + 1) + ", " + launch.kernel + "<<<" + ShapeText(launch.grid) + "," +
       ShapeText(launch.block) + ">>>");
  return true;
}

std::unique_ptr<InstructionHook> Debugger::Follow(Engine& engine, std::vector<Insn>& code) {
  return std::make_unique<Hook>(*this, next_, engine, code);
}

const Frame* Debugger::FrameOf(const At& at) {
  const WarpState& state = *at.warp->state;
  return state.current >= 0 ? state.groups[static_cast<size_t>(state.current)].frame : nullptr;
}

// The place to show: for code in the toolkit's headers, such as atomicAdd() built with -G, the line that calls it.
ptx::SourceLocation Debugger::PlaceOf(const At& at) {
  const SourcePlaces& places = at.launch->places;
  const ptx::SourceLocation here = places.Shown(at.pc);
  const auto is_own = [&](const ptx::SourceLocation& one) { return one.line != 0 && !places.IsToolkitHeader(one); };
  ptx::SourceLocation place = here;
  for (const Frame* frame = FrameOf(at); !is_own(place) && frame != nullptr; frame = frame->parent) {
    if (frame->parent != nullptr && frame->return_pc > 0) place = places.Shown(frame->return_pc - 1);
  }
  return is_own(place) && places.KernelIsOwn() ? place : here;
}

int Debugger::Depth(const At& at) {
  const Frame* const frame = FrameOf(at);
  int depth = frame != nullptr ? static_cast<int>(frame->depth) : 0;
  const Program& program = at.engine->program();
  for (int site = program.info[at.pc].inline_site; site >= 0; site = program.inline_sites[site].caller) ++depth;
  return depth;
}

// Returning from a call, or from inlined code, does not begin a line: each call depth keeps its own last line. Lines of
// the toolkit's headers don't count.
bool Debugger::BeginsLine(const At& at) {
  const ptx::SourceLocation place = at.launch->places.Shown(at.pc);
  std::vector<Seen>& calls = at.launch->seen[{at.warp->block->index, at.warp->index}];
  calls.resize(static_cast<size_t>(Depth(at)) + 1);
  Seen& seen = calls.back();
  const SourcePlaces& places = at.launch->places;
  const bool shown = place.line != 0 && !(places.IsToolkitHeader(place) && places.KernelIsOwn());
  const bool begins = shown && (place.line != seen.place.line || place.file != seen.place.file || at.pc < seen.pc);
  seen = {place, at.pc};
  return begins;
}

bool Debugger::IsChosen(const At& at, const StopPoint& point) {
  const Block& block = *at.warp->block;
  if (point.block && !(*point.block == block.id)) return false;
  if (!point.thread) return true;
  const Dim3& shape = at.launch->info.block;
  const uint64_t index = point.thread->x + uint64_t{shape.x} * (point.thread->y + uint64_t{shape.y} * point.thread->z);
  return index / kWarpSize == at.warp->index && (at.mask >> (index % kWarpSize) & 1) != 0;
}

std::optional<std::string> Debugger::StoredTo(const At& at, const StopPoint& point) {
  const ListedInsn& listed = at.launch->listing.insns[at.pc];
  const InsnClass kind = at.engine->program().code[at.pc].insn_class;
  if (!listed.has_address || (kind != InsnClass::kStore && kind != InsnClass::kAtomic)) return std::nullopt;
  uint64_t bytes = 0;
  for (const ListedRegister& stored : listed.stores) bytes += ptx::SizeOf(stored.type);
  if (bytes == 0) bytes = sizeof(uint32_t);  // an atomic's operand is not listed
  for (const int lane : EachLane(at.mask)) {
    const auto [space, address] = AccessOf(*at.warp, at.engine->program(), listed, at.pc, lane);
    if ((space == MemorySpace::kShared) != point.shared) continue;
    if (address + bytes <= point.address || address >= point.address + point.bytes) continue;
    const uint64_t thread = uint64_t{at.warp->index} * kWarpSize + static_cast<uint64_t>(lane);
    return "thread " + PointText(Unflatten(thread, at.launch->info.block)) + " of block " +
           PointText(at.warp->block->id) + " is about to write " + point.value;
  }
  return std::nullopt;
}

size_t Debugger::PointAt(const At& at, bool begins_line) {
  for (size_t number = 1; number <= points_.size(); ++number) {
    const StopPoint& point = points_[number - 1];
    if (point.text.empty() || at.mask == 0 || !IsChosen(at, point)) continue;
    if (point.bytes != 0) {
      if (StoredTo(at, point)) return number;
    } else if (!point.kernel.empty()) {
      if (at.launch->executed == 1 &&
          IsNameOf(point.kernel, at.launch->info.program->kernel.mangled, at.launch->info.kernel))
        return number;
    } else if (begins_line) {
      const ptx::SourceLocation place = at.launch->places.Shown(at.pc);
      const std::string_view file = at.launch->info.program->FileName(place);
      if (place.line == point.line && file.ends_with(point.file)) return number;
    }
  }
  return 0;
}

// During a replay. True: the target position has been reached.
bool Debugger::ReplayReached(const At& at) {
  const bool begins = BeginsLine(at);
  if (replay_ == Replay::kToGoal) return count_ == goal_;
  if (count_ >= goal_) RunAgain(Replay::kToGoal, best_ != 0 ? best_ : 1);
  const WarpKey key{at.launch->info.ordinal, at.warp->block->index, at.warp->index};
  if (replay_ == Replay::kFindLine ? begins && key == stepping_ : PointAt(at, begins) != 0) best_ = count_;
  return false;
}

void Debugger::Look(const At& at) {
  ++count_;
  ++at.launch->executed;
  if (replay_ != Replay::kNo) {
    if (!ReplayReached(at)) return;
    EndReplay();
    Stop(at, "step", count_ == 1 ? "the first instruction of all: there is nothing before it" : "");
    return;
  }
  const bool begins = BeginsLine(at);
  const WarpKey key{at.launch->info.ordinal, at.warp->block->index, at.warp->index};
  if (const size_t number = PointAt(at, begins)) {
    StopPoint& point = points_[number - 1];
    point.reached = true;
    const bool watches = point.bytes != 0;
    Stop(at, watches ? "data breakpoint" : "breakpoint",
         watches ? *StoredTo(at, point) : "breakpoint " + std::to_string(number));
    return;
  }
  if (going_ == Going::kOn) return;
  if (count_ != 1 && !(key == stepping_)) {
    // If the warp, or its whole launch, has ended: stop in the warp that runs now.
    const std::vector<std::unique_ptr<Block>>& blocks = at.engine->blocks();
    const bool lives = at.launch->info.ordinal == stepping_.launch &&
                       std::any_of(blocks.begin(), blocks.end(), [&](const std::unique_ptr<Block>& block) {
                         return block->index == stepping_.block && (block->live_warps >> stepping_.warp & 1) != 0;
                       });
    if (!lives) Stop(at, "step", "the warp that was stepped has ended");
    return;
  }
  const bool stops = going_ == Going::kInstruction || (going_ == Going::kLine && begins) ||
                     (going_ == Going::kOver && begins && Depth(at) <= depth_) ||
                     (going_ == Going::kOut && Depth(at) < depth_);
  if (stops) Stop(at, count_ == 1 ? "entry" : "step", "");
}

void Debugger::LookAtFinding(const At& at, const std::string& why) {
  if (replay_ == Replay::kFindStop) best_ = count_;
  if (replay_ == Replay::kNo) Stop(at, "exception", why);
}

std::string Debugger::PlaceText(const At& at) {
  const ptx::SourceLocation place = PlaceOf(at);
  const std::string_view file = at.engine->program().FileName(place);
  if (file.empty() || place.line == 0) return "PTX line " + std::to_string(at.engine->program().info[at.pc].ptx_line);
  const std::string line = std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(place.line);
  const ptx::SourceLocation inside = at.launch->places.Shown(at.pc);
  const bool is_inside = inside.file != place.file || inside.line != place.line;
  return is_inside ? line + " (in the toolkit's headers)" : line;
}

std::string Debugger::WhoText(const At& at) {
  const uint64_t first = uint64_t{at.warp->index} * kWarpSize;
  const uint64_t last = std::min(first + kWarpSize, at.launch->info.block.Count()) - 1;
  std::string text = "block " + PointText(at.warp->block->id) + ", warp " + std::to_string(at.warp->index) +
                     " (threads " + PointText(Unflatten(first, at.launch->info.block)) + " to " +
                     PointText(Unflatten(last, at.launch->info.block)) + ")";
  if (at.mask != at.warp->alive) {
    text += ", " + std::to_string(std::popcount(at.mask)) + " of " + std::to_string(std::popcount(at.warp->alive)) +
            " threads: lanes " + Hex(at.mask, 8);
  }
  return text;
}

void Debugger::Stop(const At& at, const std::string& reason, const std::string& why) {
  if (replay_ != Replay::kNo) {  // a fault during a replay
    if (replay_ != Replay::kToGoal) RunAgain(Replay::kToGoal, best_ != 0 ? best_ : 1);
    EndReplay();
  }
  std::fflush(stdout);
  going_ = Going::kOn;
  stepping_ = {at.launch->info.ordinal, at.warp->block->index, at.warp->index};
  reason_ = reason;
  if (!why.empty()) Show(why);
  Show(PlaceText(at) + "   " + at.launch->info.kernel + "   " + WhoText(at));
  ListSource(at);
  for (bool stopped = true;; stopped = false) {
    const std::optional<std::string> command = DebugChannel::Get().Next(stopped);
    if (!command) {
      Show("no more commands: the program ends");
      std::_Exit(0);
    }
    std::string line = *command;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      line = last_;  // an empty line repeats the last command, as in gdb
    } else {
      last_ = line;
    }
    if (Obey(line, at)) return;
  }
}

}  // namespace lockstep::vgpu
