#include "judge/run/call.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>

#include "judge/model/text.h"
#include "worker/signal_text.h"

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

const char* SignalHint(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      return "the host code used a null or freed pointer, or a device pointer, which only kernels may dereference";
    case SIGFPE:
      return "an integer was divided by zero, or the remainder taken: which divisor is 0 for this input?";
    case SIGABRT:
      return "a failed assert(), an exception that nobody caught, or memory freed twice: what was printed says which";
    default:
      return "";
  }
}

// What failed, and what to mend, where the first failed request to the device is known.
struct Failure {
  std::string evidence, hint;
};

const char* LaunchHint(const worker::ApiCall& launch) {
  const vgpu::Dim3 &grid = launch.grid, &block = launch.block;
  if (grid.Count() == 0) return "a grid of no blocks can't be launched: with nothing to do, launch nothing";
  if (block.Count() == 0) return "a block has at least one thread";
  if (block.Count() > 1024) return "a block has at most 1,024 threads; cudaGetLastError() after the launch says so";
  if (grid.y > 65535 || grid.z > 65535) return "gridDim.y and gridDim.z end at 65,535, gridDim.x at 2,147,483,647";
  if (launch.error == static_cast<int>(vgpu::LaunchError::kCooperativeTooLarge)) {
    return "the blocks of a cooperative launch have to be on the GPU all at once: take no more than "
           "cudaOccupancyMaxActiveBlocksPerMultiprocessor times the number of multiprocessors, and let each do more";
  }
  if (launch.error == static_cast<int>(vgpu::LaunchError::kTooManyResources)) {
    return "the block's threads need more registers than there are: fewer threads a block, or __launch_bounds__";
  }
  return "the launch asks for more than a block may have: look at its third argument, the bytes of shared memory";
}

Failure FirstFailure(const CallReport& report) {
  for (const worker::ApiCall& call : report.trace) {
    if (!call.failed) continue;
    if (call.kind == worker::ApiKind::kLaunch) {
      return {"failed  " + LaunchText(Printable(call.kernel_name), call.grid, call.block), LaunchHint(call)};
    }
    std::string text = "failed  " + call.function;
    if (call.bytes > 0) text += " of " + Grouped(call.bytes) + " bytes";
    if (!call.call_site.empty()) text += ", called in " + Printable(call.call_site);
    const bool allocates = call.kind == worker::ApiKind::kAllocate;
    return {text, allocates ? "there is no room for so many bytes: is their number right, and is all freed?" : ""};
  }
  return {};
}

// What came to the host, and by which call the most of it.
std::string ToHostText(const CallReport& report) {
  std::string text = Grouped(report.api.bytes_to_host) + " bytes came from the device to the host; at most " +
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

// Kernels took too long, in all: many of them, or few that do too much, of which printing is the slowest.
Problem DeviceTimeout(const CallReport& report, const CallContext& context) {
  constexpr size_t kMany = 100;  // launches: no launcher of the assignments needs so many
  const size_t launches = report.launches.size();
  if (launches >= kMany) {
    return MakeProblem(Verdict::kTimeout, context,
                       {"the launcher launched " + Grouped(launches) + " kernels, and did not come to an end"},
                       "a loop over passes has to stop once one result is left");
  }
  return MakeProblem(Verdict::kTimeout, context,
                     {"its " + (launches <= 1 ? std::string("kernel") : Grouped(launches) + " kernels") +
                      " took too long on the virtual GPU"},
                     report.output.empty() ? "does each thread do far more than its share of the work?"
                                           : "a printf in a kernel prints from each of its threads: take it out, or "
                                             "print from one thread and for small inputs");
}

Problem ProblemOfOutcome(const CallReport& report, const CallContext& context) {
  if (!report.over_budget.empty()) {
    return MakeProblem(
        Verdict::kTimeout, context, {report.over_budget},
        "each call alone was quick enough: the launchers wait, or do far more than their share of the work");
  }
  const bool fell = report.outcome == Outcome::kExited || report.outcome == Outcome::kCrashed ||
                    report.outcome == Outcome::kClosedSocket || report.outcome == Outcome::kFlooded;
  if (report.at_start && !report.loaded && (fell || report.outcome == Outcome::kTimeout)) {
    return MakeProblem(
        report.outcome == Outcome::kTimeout ? Verdict::kTimeout : Verdict::kCrash, context,
        {"the program could not be loaded, where a program without this source can", Printable(report.detail)},
        "global arrays beyond all memory, and what the linker runs first (ifunc), keep a program from "
        "starting");
  }
  if (report.at_start && fell && report.outcome != Outcome::kFlooded) {
    return MakeProblem(
        Verdict::kCrash, context,
        {"the program ended before any test began, in a global object's constructor", Printable(report.detail)},
        "keep code out of the initialisers of global variables");
  }
  switch (report.outcome) {
    case Outcome::kReturned:
      break;
    case Outcome::kExited:
      return MakeProblem(
          Verdict::kCrash, context,
          {"the program ended itself with exit status " + std::to_string(report.code) + " during the call"},
          "a launcher has to return: no exit(), no quick_exit()");
    case Outcome::kCrashed:
      return MakeProblem(Verdict::kCrash, context, {"the host code was stopped by " + SignalText(report.code)},
                         SignalHint(report.code));
    case Outcome::kTimeout:
      if (!report.observed) {
        return MakeProblem(
            Verdict::kTimeout, context,
            {"the call, its kernels included, did not end within " + Seconds(report.limit_seconds)},
            "a loop in a kernel or in the launcher does not end; make test without DEVICE=cuda says which");
      }
      return MakeProblem(Verdict::kTimeout, context,
                         {"the host code did not return within " + Seconds(report.limit_seconds) +
                          ", the time of its kernels not counted"},
                         "a loop in the launcher does not end: see whether what it counts gets smaller in each pass");
    case Outcome::kClosedSocket:
      return MakeProblem(Verdict::kCrash, context, {"the program cut its connection to the judge during the call"},
                         "the program closed a file descriptor that it had not opened");
    case Outcome::kFlooded:
      return MakeProblem(Verdict::kCrash, context, {"the program printed more than it may, and was stopped"},
                         "print only for a small input, and nothing in what you hand in");
    case Outcome::kDeviceTimeout:
      return DeviceTimeout(report, context);
    case Outcome::kProtocolError:
      return MakeProblem(
          Verdict::kRejected, context,
          {"the program wrote something of its own to its connection to the judge", Printable(report.detail)},
          "use no file descriptor that the program did not open");
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

Problem MakeProblem(Verdict verdict, const CallContext& context, std::vector<std::string> evidence, std::string hint) {
  Problem problem;
  problem.verdict = verdict;
  problem.place = context.launcher;
  problem.evidence = std::move(evidence);
  if (!context.input.empty()) problem.evidence.push_back("input   " + context.input);
  problem.hint = std::move(hint);
  problem.file = context.source;
  return problem;
}

void NoteBegun(const std::string& launcher) { Begun().insert(launcher); }

Problem UnfinishedProblem(const CallContext& context, const std::string& lack) {
  if (Begun().contains(context.launcher)) {
    return MakeProblem(Verdict::kWrong, context, {context.launcher + " " + lack + " for this input, unlike for others"},
                       "is there a way through the launcher on which it returns before it has done anything?");
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
    if (!context.input.empty()) problem.evidence.push_back("input   " + context.input);
    if (problem.file.empty()) problem.file = context.source;
    problems.push_back(std::move(problem));
  }
  for (const std::string& refusal : report.refusals) {
    problems.push_back(MakeProblem(Verdict::kRejected, context, {Printable(refusal)},
                                   "a launcher may use the buffers it is given and those it allocates itself"));
  }
  if (!report.before_main.empty()) {
    problems.push_back(MakeProblem(
        Verdict::kRejected, context, {"before any launcher was called, the program " + Printable(report.before_main)},
        "each launcher does its own work: keep kernels and copies out of the initialisers of "
        "global variables"));
  }
  const bool faulted = std::any_of(report.findings.begin(), report.findings.end(),
                                   [](const vgpu::Finding& finding) { return finding.fatal; });
  const bool left_early = report.outcome == Outcome::kExited || report.outcome == Outcome::kCrashed;
  if (report.outcome != Outcome::kReturned && !(faulted && left_early && !report.at_start)) {
    problems.push_back(ProblemOfOutcome(report, context));
  }
  if (!report.cuda_error.empty() && !faulted) {
    const Verdict verdict = VerdictOfError(report);
    const Failure failure = FirstFailure(report);
    std::string hint = verdict == Verdict::kApi ? "look at cudaGetLastError() after each launch"
                                                : "make test without DEVICE=cuda says which thread did it, and where";
    if (!failure.hint.empty()) hint = failure.hint;
    problems.push_back(MakeProblem(
        verdict, context,
        {"a CUDA call or launch failed: " + Printable(report.cuda_error), failure.evidence, Printable(report.detail)},
        std::move(hint)));
  }
  if (const worker::ApiCall* copy = OverlappingCopy(report)) {
    const uint64_t apart = std::max(copy->address, copy->from) - std::min(copy->address, copy->from);
    problems.push_back(MakeProblem(Verdict::kApi, context,
                                   {copy->function + " copies " + Grouped(copy->bytes) + " bytes to a place " +
                                    Grouped(apart) + " bytes away: its two ends overlap"},
                                   "where source and destination overlap, what arrives is undefined: copy by way of "
                                   "another buffer"));
  }
  if (report.api.bytes_to_host > context.host_bytes) {
    problems.push_back(
        MakeProblem(Verdict::kRejected, context, {ToHostText(report)},
                    "the kernels have to do the work: what they computed stays in memory of the device"));
  }
  // An empty line says nothing.
  for (Problem& problem : problems) std::erase(problem.evidence, "");
  return problems;
}

}  // namespace lockstep::judge
