// vgpu-run --debug: stops a program on the virtual GPU, shows the positions and values of its warps, and steps.
//
// exec/debug_channel.h carries commands and answers. A debugged launch runs on one CPU thread, and instructions are
// numbered over the whole program. Runs are deterministic, so stepping back means running the program again up to an
// earlier number, with its output suppressed: the process replaces itself.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/listing.h"
#include "vgpu/core/source_place.h"
#include "vgpu/exec/debug_expression.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/instruction_hook.h"

namespace lockstep::vgpu {

// A breakpoint or watchpoint. Unset conditions match every instruction.
struct StopPoint {
  std::string text;    // the command that set it
  std::string file;    // the end of the file's path
  int line = 0;        // 0: none; a line without code means the next line that has code
  std::string kernel;  // at the first instruction of each launch of it
  std::optional<Dim3> block, thread;
  uint64_t address = 0, bytes = 0;  // stores to this address in global or, with `shared`, shared memory; bytes 0: none
  bool shared = false;
  std::string value;  // the user's name for that memory
  bool reached = false;
};

class Debugger {
 public:
  // passed: how many launches run before it first stops.
  explicit Debugger(uint64_t passed = 0);
  // The process's debugger, for all devices; made at the first call. It prints a last message when the process ends.
  static std::shared_ptr<Debugger> OfProcess(uint64_t passed = 0);
  // A launch is about to run. False: it runs without the debugger.
  bool BeginLaunch(const LaunchInfo& launch, Listing listing);
  // The hook that a launch's engine calls.
  std::unique_ptr<InstructionHook> Follow(Engine& engine, std::vector<Insn>& code);

 private:
  class Hook;
  void End() const;  // the program has ended: says so, and which points it never reached
  struct WarpKey {
    uint64_t launch;
    uint32_t block, warp;
    auto operator<=>(const WarpKey&) const = default;
  };
  struct Seen {
    ptx::SourceLocation place;
    uint32_t pc = 0;
  };
  struct Launch {
    LaunchInfo info;
    Listing listing;
    SourcePlaces places;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Seen>> seen;  // by block and warp, then by depth of calls
    uint64_t executed = 0;                                            // number of instructions
    std::optional<std::string> source;                                // text of the kernel's file, loaded on demand
  };
  // A warp's instruction that is about to run.
  struct At {
    Launch* launch = nullptr;
    Engine* engine = nullptr;
    Warp* warp = nullptr;
    uint32_t pc = 0;
    LaneMask mask = 0;  // lanes that execute it
  };
  enum class Going : uint8_t { kOn, kLine, kOver, kInstruction, kOut };
  // Why the program is running again: to stop at `goal`, or to find the last stop or line of the warp before it.
  enum class Replay : uint8_t { kNo, kToGoal, kFindStop, kFindLine };

  // Called before each counted instruction: stops if a condition holds.
  void Look(const At& at);
  // The instruction at `at` has run, and a check of --check found something new.
  void LookAtFinding(const At& at, const std::string& why);
  // reason: a stop reason of the Debug Adapter Protocol.
  void Stop(const At& at, const std::string& reason, const std::string& why);
  bool ReplayReached(const At& at);
  [[noreturn]] void RunAgain(Replay replay, uint64_t goal);
  void EndReplay();
  static bool BeginsLine(const At& at);
  // The number of the first matching point; 0: none.
  size_t PointAt(const At& at, bool begins_line);
  static bool IsChosen(const At& at, const StopPoint& point);
  // The store about to hit the point's watched memory, if any.
  static std::optional<std::string> StoredTo(const At& at, const StopPoint& point);
  static const Frame* FrameOf(const At& at);  // of the call that runs; null: there is none
  static ptx::SourceLocation PlaceOf(const At& at);
  static int Depth(const At& at);

  // Executes a command. True: the program continues.
  bool Obey(const std::string& line, const At& at);
  void Break(const std::vector<std::string>& words, const std::string& text, const At& at);
  // The first line from `line` on that the kernel has code for; `line` itself where it is outside of the kernel.
  static int LineWithCode(const At& at, int line, const std::string& file);
  void Watch(const std::string& value, const std::string& text, const At& at);
  static void Print(bool is_hex, const std::string& expression, const At& at);
  static void ListSource(const At& at);
  struct CallFrame {
    std::string name, file;
    int line;
    bool of_toolkit;
  };
  static std::vector<CallFrame> Frames(const At& at);  // innermost first
  static void Backtrace(const At& at);
  // {"reason", "place", "who", "frames": [{"name", "file", "line", "of_toolkit"}], "variables": [{"name", "value"}]}
  std::string State(const At& at) const;
  static void Registers(const At& at);
  static void Warps(const At& at);
  void Points() const;
  // The warp of another thread, "block (1,0,0) thread (3,0,0)", for commands that show values.
  static std::optional<At> Elsewhere(const std::vector<std::string>& words, const At& at);
  static bool IsNumber(std::string_view text);
  static std::string PlaceText(const At& at);
  static std::string WhoText(const At& at);
  // Shared memory, by its offset, or global memory.
  struct Range {
    uint64_t address = 0, bytes = 0;
    bool shared = false;
  };
  struct NamedText {
    std::string name, text;
  };
  struct ShownAs {
    bool is_hex = false;
    uint64_t most = 8, depth = 0;  // elements of an array; levels of nesting
  };
  static LaneMask LanesOf(const At& at);  // whose values are shown
  static std::optional<LaneValue> Evaluated(const std::string& expression, const At& at, std::string* why);
  static std::optional<LaneValue> Find(const std::string& name, const At& at, std::string* why);
  static std::optional<LaneValue> FindBuiltIn(const std::string& name, const At& at);
  // The source's variables, by the debug information of nvcc -G (exec/debug_variables.cc).
  static const SourceVariable* FindVariable(const std::string& name, const At& at);
  static std::optional<LaneValue> LaneValueOf(const SourceVariable& variable, const At& at);
  static std::optional<Range> RangeOf(const LaneValue& value, uint64_t bytes, const At& at);
  static void AddValues(const std::string& path, const LaneValue& value, const At& at, const ShownAs& as,
                        std::vector<NamedText>& lines);
  // Empty if there are none; then *why has the reason.
  static std::vector<NamedText> ValuesOf(const std::string& path, const At& at, std::string* why);
  static std::vector<NamedText> Locals(const At& at);
  static SourceType DeclaredType(const std::string& source, const std::string& name);
  static const std::string& SourceOf(const At& at);
  static std::vector<std::string> NamesHere(const At& at);
  static std::optional<ListedRegister> FindRegister(const std::string& name, const At& at);
  static std::optional<KernelParameter> FindParameter(const std::string& name, const At& at);

  std::shared_ptr<Launch> next_;       // the launch of the next engine
  std::vector<StopPoint> points_;      // by number - 1; deleted ones have no text
  uint64_t passed_;                    // launches to skip before the first stop
  uint64_t count_ = 0;                 // instructions so far, in all launches
  Going going_ = Going::kInstruction;  // stops at the first instruction and reads commands
  WarpKey stepping_{};
  int depth_ = 0;
  Replay replay_ = Replay::kNo;
  uint64_t goal_ = 0, best_ = 0;
  int output_ = -1;     // the real standard output, while output is suppressed
  std::string last_;    // command
  std::string reason_;  // of the last stop
};

}  // namespace lockstep::vgpu
