#include "judge/run/call.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>

#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/run/failure.h"
#include "judge/session/signal_text.h"
#include "vgpu/cudart/report/crash_report.h"

namespace lockstep::judge {
namespace {

using worker::Outcome;
using worker::SignalText;

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g seconds", seconds);
  return text;
}

// On a real GPU a fault is known by the error that it leaves alone.
Verdict VerdictOfError(const CallReport& report) {
  if (report.observed) return Verdict::kApi;
  const std::string& name = report.cuda_error;
  if (name == "cudaErrorIllegalAddress" || name == "cudaErrorMisalignedAddress" ||
      name == "cudaErrorInvalidAddressSpace") {
    return Verdict::kBounds;
  }
  if (name == "cudaErrorLaunchTimeout") return Verdict::kTimeout;
  if (name == "cudaErrorAssert" || name == "cudaErrorLaunchFailure" || name == "cudaErrorIllegalInstruction") {
    return Verdict::kCrash;
  }
  return Verdict::kApi;
}

// What the worker says of its end: the line, and what kind of address it could not access.
struct Stop {
  vgpu::MessageLine line = "";  // "at      copy.cu:17", or ""
  std::string about;            // "null", "device", "stack" or ""
  std::string exception;        // of Python: "ZeroDivisionError: division by zero", or ""
};

Stop StopOf(const CallReport& report) {
  Stop stop;
  const size_t exception = report.stopped_at.find(vgpu::cudart::kStoppedByException);
  if (const std::string site = report.stopped_at.substr(0, exception);
      exception != std::string::npos && (site.empty() || site.find(".py:") != std::string::npos)) {
    if (!site.empty()) stop.line = LineAt("at", site);
    stop.exception = report.stopped_at.substr(exception + std::strlen(vgpu::cudart::kStoppedByException));
    return stop;
  }
  const size_t space = std::min(report.stopped_at.find_last_of(' '), report.stopped_at.size());
  // A path may have spaces.
  const std::string last = report.stopped_at.substr(std::min(space + 1, report.stopped_at.size()));
  std::string site = report.stopped_at;
  if (last == "null" || last == "device" || last == "stack") {
    stop.about = last;
    site.resize(space);
  }
  if (!site.empty()) stop.line = LineAt("at", site);
  return stop;
}

const char* SignalHint(int signal, const std::string& about) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      if (about == "null") return "a null pointer was dereferenced: was it ever set, and did its allocation succeed?";
      if (about == "device") {
        return "the host code dereferenced a device pointer, which only kernels may: use cudaMemcpy or cudaMemset, or "
               "do this in a kernel";
      }
      if (about == "stack") {
        return "the stack is full: a recursion never ends, or a function has a large array, which belongs in a "
               "std::vector";
      }
      return "the host code dereferenced a null, freed or device pointer, or went past the end of an array; only "
             "kernels may dereference device pointers";
    case SIGILL:
      return "a function that must return a value ends without a return";
    case SIGFPE:
      return "integer division or remainder by zero: which divisor is 0 for this input?";
    case SIGABRT:
      return "a failed assert(), an uncaught exception or a double free: the output says which";
    default:
      return "";
  }
}

// What came to the host, and by which call the most of it.
std::string ToHostText(const CallReport& report) {
  std::string text = Counted(report.api.bytes_to_host, "byte") + " went from the device to the host; at most " +
                     Grouped(kMaxBytesToHost) + " are allowed";
  const worker::ApiCall* most = nullptr;
  for (const worker::ApiCall& call : report.trace) {
    if (call.kind != worker::ApiKind::kDeviceToHost || (most != nullptr && most->bytes >= call.bytes)) continue;
    most = &call;
  }
  if (most == nullptr) return text;
  const bool copied = most->function.starts_with("cudaMemcpy") || most->function.starts_with("cudaGraph");
  return text + (copied ? " (" + most->function + ")" : " (stored by a kernel in mapped memory)");
}

constexpr const char* kCopyAtOnce =
    "each CUDA call takes microseconds, however little it does: copy a whole array with one call, not each element with "
    "its own";

// Where a launcher that does not come back goes on asking.
vgpu::MessageLine LastCall(const CallReport& report) {
  if (report.trace.empty() || report.trace.back().call_site.empty()) return "";
  return LineAt("at", report.trace.back().call_site, report.trace.back().function);
}

// Kernels took too long, in all: many of them, or few that do too much, of which printing is the slowest.
Problem DeviceTimeout(const CallReport& report, const CallContext& context) {
  constexpr size_t kMany = 100;  // launches: no launcher of the assignments needs so many
  const size_t launches = report.launches.size();
  if (launches >= kMany) {
    return MakeProblem(Verdict::kTimeout, context,
                       {"the launcher launched " + Grouped(launches) + " kernels and did not finish", LastCall(report)},
                       "this loop never ends: a loop over passes must stop once one result is left");
  }
  if (report.endless) {
    const bool copies = !report.trace.empty() && report.trace.back().bytes > 0;
    return MakeProblem(
        Verdict::kTimeout, context,
        {"the launcher made " + Grouped(report.trace.size()) + " CUDA calls and did not finish", LastCall(report)},
        copies ? kCopyAtOnce : "this loop never ends: what it tests must change in every pass");
  }
  return MakeProblem(
      Verdict::kTimeout, context,
      {"its " + (launches <= 1 ? std::string("kernel") : Grouped(launches) + " kernels") +
       " took too long on the virtual GPU"},
      report.output.empty()
          ? "does each thread do far more than its share of the work?"
          : "printf in a kernel runs in every thread: remove it, or print from one thread and only for small inputs");
}

// CUDA calls: no launcher of the assignments needs so many.
constexpr size_t kManyCalls = 1000;

Problem ProblemOfOutcome(const CallReport& report, const CallContext& context) {
  if (!report.over_budget.empty()) {
    return MakeProblem(Verdict::kTimeout, context, {report.over_budget},
                       "each call alone was fast enough, but all together are not: do the launchers wait, or do more "
                       "work than they need to?");
  }
  const bool fell = report.outcome == Outcome::kExited || report.outcome == Outcome::kCrashed ||
                    report.outcome == Outcome::kClosedSocket || report.outcome == Outcome::kFlooded;
  if (report.at_start && !report.loaded && (fell || report.outcome == Outcome::kTimeout)) {
    return MakeProblem(report.outcome == Outcome::kTimeout ? Verdict::kTimeout : Verdict::kCrash, context,
                       {"the program could not be loaded; without this source it loads", Printable(report.detail)},
                       "look for huge global arrays, and for code that runs while the program is loaded (ifunc)");
  }
  if (report.at_start && fell && report.outcome != Outcome::kFlooded) {
    return MakeProblem(
        Verdict::kCrash, context,
        {"the program exited before any test began, in the constructor of a global object", Printable(report.detail)},
        "do no work in the initialisers of global variables");
  }
  const Stop stop = StopOf(report);
  switch (report.outcome) {
    case Outcome::kReturned:
      break;
    case Outcome::kExited:
      if (!stop.exception.empty()) {
        return MakeProblem(Verdict::kCrash, context, {"the launcher raised " + Printable(stop.exception), stop.line},
                           "the output has the traceback: which value on this line is not what the line expects?");
      }
      return MakeProblem(
          Verdict::kCrash, context,
          {"the program exited with status " + std::to_string(report.code) + " during the call", stop.line},
          "a launcher must return: do not call exit() or quick_exit()");
    case Outcome::kCrashed:
      return MakeProblem(Verdict::kCrash, context,
                         {"the host code was killed by " + SignalText(report.code), stop.line},
                         SignalHint(report.code, stop.about));
    case Outcome::kTimeout:
      if (!report.observed) {
        return MakeProblem(
            Verdict::kTimeout, context,
            {"the call, its kernels included, did not end within " + Seconds(report.limit_seconds)},
            "a loop in a kernel or in the launcher never ends; run make test without DEVICE=cuda to see which");
      }
      if (report.trace.size() >= kManyCalls) {
        return MakeProblem(Verdict::kTimeout, context,
                           {"the host code made " + Grouped(report.trace.size()) +
                                " CUDA calls and did not return within " + Seconds(report.limit_seconds),
                            LastCall(report)},
                           kCopyAtOnce);
      }
      return MakeProblem(
          Verdict::kTimeout, context,
          {"the host code did not return within " + Seconds(report.limit_seconds) + ", not counting its kernels",
           stop.line},
          "this loop or recursion in host code never ends: does what it tests change in every pass, for this input "
          "too?");
    case Outcome::kClosedSocket:
      return MakeProblem(Verdict::kCrash, context, {"the program closed its connection to the judge during the call"},
                         "close only file descriptors that you opened");
    case Outcome::kFlooded:
      return MakeProblem(Verdict::kCrash, context, {"the program printed too much and was stopped"},
                         "print only for small inputs, and remove all output before you submit");
    case Outcome::kDeviceTimeout:
      return DeviceTimeout(report, context);
    case Outcome::kProtocolError:
      return MakeProblem(Verdict::kRejected, context,
                         {"the program wrote to its own connection to the judge", Printable(report.detail)},
                         "use only file descriptors that you opened");
    case Outcome::kNoSuchLauncher:
    case Outcome::kBadSignature:
    case Outcome::kCouldNotStart:
      break;
  }
  return MakeProblem(Verdict::kHarness, context, {"the worker could not be run", Printable(report.detail)});
}

// Launchers that have done something in a call.
std::set<std::string>& Begun() {
  static std::set<std::string> launchers;
  return launchers;
}

// A copy within device memory whose ends overlap: what arrives is undefined, as with memcpy.
const worker::ApiCall* OverlappingCopy(const CallReport& report) {
  for (const worker::ApiCall& call : report.trace) {
    const bool overlaps = call.address < call.from + call.bytes && call.from < call.address + call.bytes;
    if (call.kind == worker::ApiKind::kDeviceToDevice && !call.failed && overlaps) return &call;
  }
  return nullptr;
}

bool SamePlace(const vgpu::ThreadPlace& a, const vgpu::ThreadPlace& b) {
  return a.file == b.file && a.line == b.line && a.ptx_line == b.ptx_line;
}

// A thread that reads what another has not written yet, for want of a barrier, reads uninitialised memory too: the race
// is the mistake.
bool IsExplainedByRace(const vgpu::Finding& finding, const std::vector<vgpu::Finding>& findings) {
  if (finding.kind != vgpu::FindingKind::kUninitialized) return false;
  return std::any_of(findings.begin(), findings.end(), [&](const vgpu::Finding& race) {
    return race.kind == vgpu::FindingKind::kRace && race.kernel == finding.kernel &&
           (SamePlace(race.first, finding.first) || (race.second && SamePlace(*race.second, finding.first)));
  });
}

}  // namespace

Problem MakeProblem(Verdict verdict, const CallContext& context, std::vector<vgpu::MessageLine> evidence,
                    std::string hint) {
  Problem problem;
  problem.verdict = verdict;
  problem.place = context.launcher;
  problem.evidence = std::move(evidence);
  std::erase_if(problem.evidence, [](const vgpu::MessageLine& line) { return line.text.empty(); });
  if (!context.input.empty()) problem.evidence.emplace_back("input", context.input);
  problem.hint = std::move(hint);
  problem.file = context.source;
  return problem;
}

void NoteBegun(const std::string& launcher) { Begun().insert(launcher); }

Problem UnfinishedProblem(const CallContext& context, const std::string& lack) {
  if (Begun().contains(context.launcher)) {
    return MakeProblem(Verdict::kWrong, context,
                       {context.launcher + " " + lack + " for this input, unlike for other inputs"},
                       "does some path through the launcher return before it has done any work?");
  }
  Problem problem;
  problem.verdict = Verdict::kWrong;
  problem.unfinished = true;
  problem.file = context.source;
  const std::string part = context.launcher.substr(0, context.launcher.find('_'));
  problem.evidence = {context.launcher + " " + lack + (context.input.empty() ? "" : " (" + context.input + ")") +
                      ": fill in TODO(" + part + ") in " + context.source};
  return problem;
}

std::vector<Problem> ProblemsOf(const CallReport& report, const CallContext& context) {
  std::vector<Problem> problems;
  for (const vgpu::Finding& finding : report.findings) {
    if (IsExplainedByRace(finding, report.findings)) continue;
    Problem problem = ProblemOf(finding);
    if (!context.input.empty()) problem.evidence.emplace_back("input", context.input);
    if (problem.file.empty()) problem.file = context.source;
    problems.push_back(std::move(problem));
  }
  for (const std::string& refusal : report.refusals) {
    problems.push_back(MakeProblem(Verdict::kRejected, context, {Printable(refusal)},
                                   "a launcher may use only the buffers it is given and those it allocates"));
  }
  if (!report.before_main.empty()) {
    problems.push_back(MakeProblem(
        Verdict::kRejected, context, {"before any launcher was called, the program " + Printable(report.before_main)},
        "do the work in the launchers: launch no kernel and copy nothing in the initialisers of global variables"));
  }
  const auto foreign = std::ranges::find_if(report.trace, &worker::ApiCall::foreign);
  if (foreign != report.trace.end()) {
    problems.push_back(MakeProblem(
        Verdict::kRejected, context,
        {"it launched " + Printable(foreign->kernel_name) +
         ", of device code that was not compiled from the assignment's "
         "kernels or from " +
         context.source},
        "launch the kernels that the assignment or its libraries have: code that a program brings along is none of them"));
  }
  const bool faulted = std::any_of(report.findings.begin(), report.findings.end(),
                                   [](const vgpu::Finding& finding) { return finding.fatal; });
  const bool left_early = report.outcome == Outcome::kExited || report.outcome == Outcome::kCrashed;
  if (report.outcome != Outcome::kReturned && !(faulted && left_early && !report.at_start)) {
    problems.push_back(ProblemOfOutcome(report, context));
  }
  if (!report.cuda_error.empty() && !faulted) {
    const Verdict verdict = VerdictOfError(report);
    const Failure failure = FirstFailure(report, context);
    std::string hint = verdict == Verdict::kApi
                           ? "check cudaGetLastError() after each launch"
                           : "run make test without DEVICE=cuda to see which thread did it, and where";
    if (!failure.hint.empty()) hint = failure.hint;
    problems.push_back(MakeProblem(
        verdict, context,
        {"a CUDA call or launch failed: " + Printable(report.cuda_error), failure.evidence, Printable(report.detail)},
        std::move(hint)));
  }
  if (const worker::ApiCall* copy = OverlappingCopy(report)) {
    const uint64_t apart = std::max(copy->address, copy->from) - std::min(copy->address, copy->from);
    problems.push_back(MakeProblem(Verdict::kApi, context,
                                   {copy->function + " copies " + Counted(copy->bytes, "byte") + " to a place " +
                                    Counted(apart, "byte") + " away: source and destination overlap"},
                                   "a copy between overlapping ranges is undefined: copy through another buffer"));
  }
  if (report.api.bytes_to_host > context.host_bytes) {
    problems.push_back(MakeProblem(Verdict::kRejected, context, {ToHostText(report)},
                                   "the kernels must do the work, and what they compute must stay in device memory"));
  }
  return problems;
}

}  // namespace lockstep::judge
