#include "judge/run/call.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <set>

#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/run/failure.h"
#include "judge/session/signal_text.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {
namespace {

using worker::Outcome;
using worker::SignalText;

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g seconds", seconds);
  return text;
}

// On a real GPU a fault is known only by its error.
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

// The line at which the worker ended, by its own report; "" if unknown.
vgpu::MessageLine StopLine(const CallReport& report) {
  return report.stopped.site.empty() ? vgpu::MessageLine("") : LineAt("at", report.stopped.site);
}

Hint SignalHint(int signal, worker::FaultAddress address) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      if (address == worker::FaultAddress::kNull) return Hint::kHostNullPointer;
      if (address == worker::FaultAddress::kDevice) return Hint::kHostDevicePointer;
      if (address == worker::FaultAddress::kStack) return Hint::kHostStackFull;
      return Hint::kHostSegfault;
    case SIGILL:
      return Hint::kNoReturn;
    case SIGFPE:
      return Hint::kDivisionByZero;
    case SIGABRT:
      return Hint::kAborted;
    default:
      return Hint::kNone;
  }
}

// The data copied to the host, and the call that copied most of it.
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

Hint EndlessCallsHint(const CallReport& report) {
  const bool copies = !report.trace.empty() && report.trace.back().function.starts_with("cudaMemcpy");
  return copies ? Hint::kCopyAtOnce : Hint::kHostLoopNeverEnds;
}

// The call site of the last call of a launcher that does not return.
vgpu::MessageLine LastCall(const CallReport& report) {
  if (report.trace.empty() || report.trace.back().call_site.empty()) return "";
  return LineAt("at", report.trace.back().call_site, report.trace.back().function);
}

// Kernels took too long in total: many of them, or a few slow ones; printing is the slowest operation.
Problem DeviceTimeout(const CallReport& report, const CallContext& context) {
  constexpr size_t kMany = 100;  // launches: far more than any launcher of the assignments needs
  const size_t launches = report.launches.size();
  if (launches >= kMany) {
    return MakeProblem(Verdict::kTimeout, context,
                       {"the launcher launched " + Grouped(launches) + " kernels and did not finish", LastCall(report)},
                       Hint::kPassesNeverEnd);
  }
  if (report.endless) {
    return MakeProblem(
        Verdict::kTimeout, context,
        {"the launcher made " + Grouped(report.trace.size()) + " CUDA calls and did not finish", LastCall(report)},
        EndlessCallsHint(report));
  }
  return MakeProblem(Verdict::kTimeout, context,
                     {"its " + (launches <= 1 ? std::string("kernel") : Grouped(launches) + " kernels") +
                      " took too long on the virtual GPU"},
                     report.output.empty() ? Hint::kThreadsDoTooMuch : Hint::kPrintsInKernel);
}

// CUDA calls in one launcher call: far more than any launcher of the assignments needs.
constexpr size_t kManyCalls = 1000;

Problem ProblemOfOutcome(const CallReport& report, const CallContext& context) {
  if (!report.not_called.empty()) {
    return MakeProblem(Verdict::kTimeout, context, {report.not_called}, report.not_called_hint);
  }
  const bool fell = report.outcome == Outcome::kExited || report.outcome == Outcome::kCrashed ||
                    report.outcome == Outcome::kClosedSocket || report.outcome == Outcome::kFlooded;
  if (report.at_start && !report.loaded && (fell || report.outcome == Outcome::kTimeout)) {
    return MakeProblem(report.outcome == Outcome::kTimeout ? Verdict::kTimeout : Verdict::kCrash, context,
                       {"the program could not be loaded; without this source it loads", Printable(report.detail)},
                       Hint::kCannotBeLoaded);
  }
  if (report.at_start && fell && report.outcome != Outcome::kFlooded) {
    return MakeProblem(
        Verdict::kCrash, context,
        {"the program exited before any test began, in the constructor of a global object", Printable(report.detail)},
        Hint::kExitsInInitialiser);
  }
  switch (report.outcome) {
    case Outcome::kReturned:
      break;
    case Outcome::kExited:
      if (!report.stopped.exception.empty()) {
        return MakeProblem(Verdict::kCrash, context,
                           {"the launcher raised " + Printable(report.stopped.exception), StopLine(report)},
                           Hint::kException);
      }
      return MakeProblem(
          Verdict::kCrash, context,
          {"the program exited with status " + std::to_string(report.code) + " during the call", StopLine(report)},
          Hint::kExits);
    case Outcome::kCrashed:
      return MakeProblem(Verdict::kCrash, context,
                         {"the host code was killed by " + SignalText(report.code), StopLine(report)},
                         SignalHint(report.code, report.stopped.address));
    case Outcome::kTimeout:
      if (!report.observed) {
        return MakeProblem(Verdict::kTimeout, context,
                           {"the call, its kernels included, did not end within " + Seconds(report.limit_seconds)},
                           Hint::kLoopOnDevice);
      }
      if (report.trace.size() >= kManyCalls) {
        return MakeProblem(Verdict::kTimeout, context,
                           {"the host code made " + Grouped(report.trace.size()) +
                                " CUDA calls and did not return within " + Seconds(report.limit_seconds),
                            LastCall(report)},
                           EndlessCallsHint(report));
      }
      return MakeProblem(
          Verdict::kTimeout, context,
          {"the host code did not return within " + Seconds(report.limit_seconds) + ", not counting its kernels",
           StopLine(report)},
          Hint::kHostLoop);
    case Outcome::kClosedSocket:
      return MakeProblem(Verdict::kCrash, context, {"the program closed its connection to the judge during the call"},
                         Hint::kClosedSocket);
    case Outcome::kFlooded:
      return MakeProblem(Verdict::kCrash, context, {"the program printed too much and was stopped"},
                         Hint::kPrintsTooMuch);
    case Outcome::kDeviceTimeout:
      return DeviceTimeout(report, context);
    case Outcome::kProtocolError:
      return MakeProblem(Verdict::kRejected, context,
                         {"the program wrote to its own connection to the judge", Printable(report.detail)},
                         Hint::kWroteToSocket);
    case Outcome::kNoSuchLauncher:
    case Outcome::kBadSignature:
    case Outcome::kCouldNotStart:
      break;
  }
  return MakeProblem(Verdict::kHarness, context, {"the worker could not be run", Printable(report.detail)});
}

// Launchers that did something in some call.
std::set<std::string>& Begun() {
  static std::set<std::string> launchers;
  return launchers;
}

// A copy within device memory with overlapping ranges: the result is undefined, as with memcpy.
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

// A thread that reads another's value too early because a barrier is missing also reads uninitialised memory: the race
// is the root cause. The same holds if stores of an earlier launch to the buffer race: when all threads store to one
// element, the others stay unwritten.
bool IsExplainedByRace(const vgpu::Finding& finding, const std::vector<vgpu::Finding>& findings) {
  if (finding.kind != vgpu::FindingKind::kUninitialized) return false;
  return std::any_of(findings.begin(), findings.end(), [&](const vgpu::Finding& race) {
    if (race.kind == vgpu::FindingKind::kRace && race.launch < finding.launch && race.memory && finding.memory) {
      return race.second && race.first.access == vgpu::AccessKind::kStore &&
             race.second->access == vgpu::AccessKind::kStore && race.memory->space == vgpu::MemorySpace::kGlobal &&
             finding.memory->space == vgpu::MemorySpace::kGlobal &&
             race.memory->buffer_base == finding.memory->buffer_base;
    }
    return race.kind == vgpu::FindingKind::kRace && race.kernel == finding.kernel &&
           (SamePlace(race.first, finding.first) || (race.second && SamePlace(*race.second, finding.first)));
  });
}

}  // namespace

Problem MakeProblem(Verdict verdict, const CallContext& context, std::vector<vgpu::MessageLine> evidence,
                    HintText hint) {
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
                       Hint::kReturnsEarly);
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
    problems.push_back(MakeProblem(Verdict::kRejected, context, {Printable(refusal)}, Hint::kForeignBuffer));
  }
  if (!report.before_main.empty()) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"before any launcher was called, the program " + Printable(report.before_main)},
                                   Hint::kWorksBeforeMain));
  }
  const auto foreign = std::ranges::find_if(report.trace, &worker::ApiCall::foreign);
  if (foreign != report.trace.end()) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"it launched " + Printable(foreign->kernel_name) +
                                    ", of device code that was not compiled from the assignment's "
                                    "kernels or from " +
                                    context.source},
                                   Hint::kForeignKernel));
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
    HintText hint = verdict == Verdict::kApi ? Hint::kCheckLastError : Hint::kFaultOnDevice;
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
                                   Hint::kOverlappingCopy));
  }
  if (report.api.bytes_to_host > context.host_bytes) {
    problems.push_back(MakeProblem(Verdict::kRejected, context, {ToHostText(report)}, Hint::kCopiedToHost));
  }
  return problems;
}

}  // namespace lockstep::judge
