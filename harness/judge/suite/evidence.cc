#include "judge/suite/evidence.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "judge/input/inputs.h"
#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "vgpu/device/device.h"
#include "vgpu/model/time_model.h"

namespace lockstep::judge {
namespace {

constexpr size_t kMostAdvised = 10;  // kernels
constexpr int kAlikeCalls = 5;
constexpr uint64_t kMany = uint64_t{1} << 22, kRoundTo = 4096;  // elements

bool NeedsReference(const EvidenceCriterion& criterion) {
  const std::vector<std::string> scopes = ScopesOf(criterion.metric);
  return std::find(scopes.begin(), scopes.end(), kReferenceScope) != scopes.end();
}

// During its life, blocks run in the usual order, because other orders change counts; checkers run only if `checked`.
class CountedTurns {
 public:
  CountedTurns(vgpu::Device& device, bool checked) : device_(device) {
    device_.set_usual_turns(true);
    device_.set_checked(checked);
  }
  ~CountedTurns() {
    device_.set_checked(true);
    device_.set_usual_turns(false);
  }
  CountedTurns(const CountedTurns&) = delete;
  CountedTurns& operator=(const CountedTurns&) = delete;

 private:
  vgpu::Device& device_;
};

// A kernel in the default stream, which serialises it with other streams; "" if there is none.
vgpu::MessageLine DefaultStreamLine(const CallReport& report) {
  const auto is_default = [](const worker::ApiCall& call) { return call.stream == kDefaultStream; };
  const auto launch = std::ranges::find_if(report.trace, [&](const worker::ApiCall& call) {
    return call.kind == worker::ApiKind::kLaunch && is_default(call);
  });
  const bool has_others = std::ranges::any_of(report.trace, [&](const worker::ApiCall& call) {
    return call.kind != worker::ApiKind::kOther && !call.stream.empty() && !is_default(call);
  });
  if (launch == report.trace.end() || !has_others) return "";
  return LineAt("but", launch->call_site,
                Printable(launch->kernel_name) +
                    " is in the default stream, which waits for all others and they for "
                    "it: its launch needs the stream, <<<blocks, threads, 0, stream>>>");
}

// Adds the time on the device that the tests run on, if evidence is modelled on another.
RungProfile ProfileOf(const std::string& rung, const char* source, uint64_t elements, const CallReport& report,
                      const Suite& suite) {
  const Options& options = suite.options();
  RungProfile profile = MakeProfile(rung, source, elements, report.launches, report.api);
  const vgpu::DeviceProfile* modelled = vgpu::FindProfile(options.evidence_profile);
  if (suite.assignment().evidence_timeline && modelled != nullptr) {
    profile.timeline = MakeTimeline(report.operations, report.launches, *modelled);
    profile.timeline->remark = DefaultStreamLine(report);
  }
  if (options.profile == options.evidence_profile) return profile;
  if (const vgpu::DeviceProfile* device = vgpu::FindProfile(options.profile)) {
    profile.device_microseconds = 0;
    for (const vgpu::LaunchRecord& launch : report.launches) {
      *profile.device_microseconds += vgpu::EstimateTime(launch, *device).microseconds;
    }
  }
  return profile;
}

}  // namespace

RungProfile Scaled(RungProfile profile, uint64_t elements) {
  const double ratio = static_cast<double>(elements) / static_cast<double>(profile.elements);
  const double part = std::max(ratio, (1 + ratio) / 2);
  profile.elements = elements;
  profile.microseconds *= part;
  if (profile.timeline) {
    for (const TimelineFigureInfo& info : AllTimelineFigures()) (*profile.timeline).*info.field *= part;
  }
  return profile;
}

uint64_t EvidenceCase::Offset(const char* buffer, uint64_t unit) const {
  if (!drawn || round) return 0;
  return (wide ? 1 : unit) * static_cast<uint64_t>(Random(SeedFor(seed, buffer)).Between(1, 15));
}

bool Evidence::IsDrawn(const std::string& rung) const {
  const Assignment& assignment = suite_.assignment();
  return assignment.evidence_drawn &&
         std::any_of(assignment.criteria.begin(), assignment.criteria.end(), [&](const EvidenceCriterion& criterion) {
           return criterion.rung == rung && HoldsElsewhere(criterion.metric, Draw::kRound);
         });
}

// Of all magnitudes up to half of the assignment's size, and 2^17. Only figures of right results count; the tests report
// wrong ones.
void Evidence::MakeSmallCalls(const std::string& rung, const SeedKey& seed, Measurement& measurement) {
  constexpr uint64_t kMost = uint64_t{1} << 17;
  Random random(SeedFor(seed, "small calls"));
  const uint64_t most = std::min(suite_.assignment().EvidenceElements(rung) / 2, kMost);
  for (int64_t calls = random.Between(1, 4); calls > 0; --calls) {
    const uint64_t upper = std::max<uint64_t>(most >> random.Between(0, std::bit_width(most) - 1), 2);
    const auto elements =
        static_cast<uint64_t>(random.Between(static_cast<int64_t>(upper / 2 + 1), static_cast<int64_t>(upper)));
    MeasureElsewhere(rung, Draw::kFew, {elements, SeedFor(seed, std::to_string(calls)), true}, measurement);
  }
}

// Up to twice the assignment's size: code must not be good only where it is measured. Where that is large, between the
// other calls' sizes and that one.
EvidenceCase Evidence::Beyond(const std::string& rung, const SeedKey& seed) const {
  const uint64_t size = suite_.assignment().EvidenceElements(rung);
  const bool is_large = size > 2 * kMany;
  const uint64_t from = is_large ? kMany : size, to = is_large ? size : 2 * size;
  const int64_t drawn = Random(SeedFor(seed, "size")).Between(static_cast<int64_t>(from + 1), static_cast<int64_t>(to));
  const auto elements = static_cast<uint64_t>(drawn);
  return {(elements + kRoundTo - 1) / kRoundTo * kRoundTo, seed, /*drawn=*/true, /*round=*/true};
}

EvidenceCase Evidence::Drawn(const std::string& rung, Draw draw, const SeedKey& seed, bool is_larger) const {
  const auto most = static_cast<int64_t>(std::min(suite_.assignment().EvidenceElements(rung), kMany));
  Random random(SeedFor(seed, "size"));
  // The ranges are far enough apart that the larger draw stays larger whatever shape is drawn.
  const int64_t from = most * (is_larger ? 29 : 24) / 32, to = most * (is_larger ? 31 : 27) / 32;
  EvidenceCase one{static_cast<uint64_t>(random.Between(from + 1, to - 1)), seed, /*drawn=*/true};
  one.wide = draw == Draw::kWide;
  if (one.wide && suite_.assignment().evidence_timeline) {
    one.elements = static_cast<uint64_t>(random.Between(most * 13 / 32, most * 16 / 32));
  } else if (one.wide) {
    const int64_t upper = most >> random.Between(1, 2);
    one.elements = static_cast<uint64_t>(random.Between(upper / 2 + 1, upper));
  } else if (draw == Draw::kRound) {
    one.elements = (one.elements + kRoundTo - 1) / kRoundTo * kRoundTo;
    one.round = true;
  }
  return one;
}

// A size up to a sixth larger, in whole blocks. With a timeline, which has few operations, the size hardly changes. Below
// kComparable it stays below the next power of two, since a block's tree may be of whole powers.
EvidenceCase Evidence::Alike(EvidenceCase one, int64_t part) const {
  const bool is_timed = suite_.assignment().evidence_timeline;
  const uint64_t more = one.elements * static_cast<uint64_t>(part) / (is_timed ? 8192 : 1536);
  const uint64_t unit = std::clamp<uint64_t>(std::bit_floor(one.elements / 16), 1, is_timed ? 256 : 4096);
  const uint64_t most = one.elements < kComparable ? std::bit_ceil(one.elements) : ~uint64_t{0};
  one.elements = std::min((one.elements + more) / unit * unit, most);
  one.round = true;
  one.wide = false;
  one.seed = SeedFor(one.seed, std::to_string(part));
  return one;
}

// On the virtual GPU the worker that the tests have been calling: a new one could recognise its first calls as measured
// ones.
Role Evidence::ElsewhereRole() const {
  return suite_.options().device == DeviceKind::kVgpu ? Role::kChecked : Role::kMeasured;
}

// Polling costs traffic, and perturbed block orders cause more of it, so blocks run in the usual order.
EvidenceRun Evidence::RunElsewhere(const std::string& rung, const EvidenceCase& one, bool checked) {
  Runner& runner = suite_.runner(ElsewhereRole());
  vgpu::Device* const device = runner.device().virtual_device();
  if (suite_.options().device != DeviceKind::kVgpu || device == nullptr) return run_(runner, rung, one);
  const CountedTurns turns(*device, checked);
  return run_(runner, rung, one);
}

void Evidence::MeasureElsewhere(const std::string& rung, Draw draw, EvidenceCase one, Measurement& measurement) {
  const bool is_counted = suite_.options().device == DeviceKind::kVgpu;
  // Draws of kind kAny run with the checkers, like the tests and the run that earns the points. The others only
  // measure: code can't gain from a race there.
  EvidenceRun run = RunElsewhere(rung, one, draw == Draw::kAny);
  if (run.elements != 0) one.elements = run.elements;
  if (!run.problems.empty()) {
    if (!measurement.problems.empty() || draw == Draw::kFew) return;
    measurement.problems = std::move(run.problems);
    measurement.elements = one.elements;
    return;
  }
  // Estimates times with the evidence's device profile, as for the reference.
  const vgpu::DeviceProfile* clock = vgpu::FindProfile(suite_.options().evidence_profile);
  if (is_counted && clock != nullptr) {
    for (vgpu::LaunchRecord& launch : run.report.launches) {
      launch.microseconds = vgpu::EstimateTime(launch, *clock).microseconds;
    }
  }
  Measurement::Elsewhere& elsewhere =
      measurement.elsewhere.emplace_back(draw, ProfileOf(rung, "submission", one.elements, run.report, suite_));
  elsewhere.held_bytes = run.report.held_bytes;
  elsewhere.room = run.room;
  const std::vector<EvidenceCriterion>& criteria = suite_.assignment().criteria;
  const bool compares = std::any_of(criteria.begin(), criteria.end(), [&](const EvidenceCriterion& criterion) {
    return criterion.rung == rung && NeedsReference(criterion);
  });
  if (!compares || draw == Draw::kFew) return;
  if (!suite_.has_runner(Role::kReference)) {
    const RungProfile* recorded = Reference(rung);
    if (recorded != nullptr) elsewhere.reference = Scaled(*recorded, one.elements);
    return;
  }
  const EvidenceRun other = run_(suite_.runner(Role::kReference), rung, one);
  if (const Problem* worst = Worst(other.problems)) {
    throw HarnessError("the reference's " + rung + " failed: " + FormatProblem(*worst, "evidence"));
  }
  elsewhere.reference = ProfileOf(rung, "reference", one.elements, other.report, suite_);
}

// Memory kept for later calls may grow with the largest size so far, but a larger call came before these: it is a leak.
void Evidence::CheckKeepsNoMore(const std::string& rung, Measurement& measurement) const {
  if (!measurement.problems.empty()) return;
  const Measurement::Elsewhere* before = nullptr;
  uint64_t grown = 0;
  for (const Measurement::Elsewhere& there : measurement.elsewhere) {
    if (there.draw != Draw::kAlike) continue;
    if (before != nullptr && there.held_bytes > before->held_bytes) ++grown;
    before = &there;
  }
  constexpr uint64_t kLeaks = 2;  // calls
  if (grown < kLeaks) return;
  ReportLeak(rung, Counted(grown, "call") + " of nearly one size", measurement);
}

// Repeats the last call, which can use the memory that was kept then: if it keeps more, that is a leak.
void Evidence::CheckKeepsNothing(const std::string& rung, const EvidenceCase& one, Measurement& measurement) {
  if (!measurement.problems.empty() || measurement.elsewhere.empty()) return;
  const uint64_t before = measurement.elsewhere.back().held_bytes;
  EvidenceRun run = RunElsewhere(rung, one, /*checked=*/false);
  if (!run.problems.empty()) {
    measurement.problems = std::move(run.problems);
    measurement.elements = one.elements;
  } else if (run.report.held_bytes > before) {
    ReportLeak(rung, "the same call again", measurement);
  }
}

void Evidence::ReportLeak(const std::string& rung, const std::string& calls, Measurement& measurement) const {
  measurement.elements = measurement.elsewhere.back().profile.elements;
  measurement.problems.push_back(
      MakeProblem(Verdict::kApi, {rung, "n = " + Grouped(measurement.elements), suite_.assignment().submission},
                  {calls + " left more device memory allocated"},
                  "each cudaMalloc needs its cudaFree, on every path out of the function"));
}

const Evidence::Measurement& Evidence::Submission(const std::string& rung) {
  const auto known = submission_.find(rung);
  if (known != submission_.end()) return known->second;
  const uint64_t elements = suite_.assignment().EvidenceElements(rung);
  const SeedKey seed = SeedFor(suite_.seed(), "evidence " + rung), other = SeedFor(seed, "elsewhere");
  Measurement measurement;
  const auto measure = [&] {
    EvidenceRun run = run_(suite_.runner(Role::kMeasured), rung, {elements, seed});
    if (!run.problems.empty()) {
      measurement.problems = std::move(run.problems);
      measurement.elements = elements;
      return;
    }
    measurement.profile = ProfileOf(rung, "submission", elements, run.report, suite_);
    const vgpu::DeviceProfile* clock = vgpu::FindProfile(suite_.options().evidence_profile);
    for (const vgpu::KernelSummary& kernel : vgpu::Summarize(measurement.profile->launches)) {
      std::vector<vgpu::KernelAdvice>& advice = measurement.profile->advice;
      if (clock == nullptr || vgpu::IsLibraryCall(*kernel.first) || advice.size() == kMostAdvised) continue;
      advice.push_back(vgpu::AdviseOn(kernel, *clock));
    }
    if (run.report.page != nullptr) suite_.AddPage(rung, *run.report.page);
    suite_.results().profiles.push_back(*measurement.profile);
  };
  if (!IsDrawn(rung)) {
    measure();
  } else {
    // Neither the number of a call nor its predecessors reveal which one is measured. The two draws near the size are
    // consecutive, the larger one first: if the technique is used only in every other call, or only if a call has more
    // elements than the previous one, one of them lacks it.
    Random random(SeedFor(seed, "order"));
    const auto near_it = [&] {
      Draw draws[] = {elements >= kComparable ? Draw::kRound : Draw::kAny, Draw::kAny};
      if (random.Next() % 2 == 0) std::swap(draws[0], draws[1]);
      MakeSmallCalls(rung, SeedFor(other, "near"), measurement);
      for (const bool is_larger : {true, false}) {
        const Draw draw = draws[is_larger ? 0 : 1];
        MeasureElsewhere(rung, draw, Drawn(rung, draw, SeedFor(other, is_larger ? "0" : "1"), is_larger), measurement);
      }
    };
    const auto far_off = [&] {
      const bool is_first = measurement.elsewhere.empty() && measurement.problems.empty();
      MakeSmallCalls(rung, SeedFor(other, "far"), measurement);
      // A call for more elements always comes first, so neither a smaller size nor a new largest one reveals anything.
      // Rungs for one block take no more elements than are measured.
      if (elements >= kComparable) {
        MeasureElsewhere(rung, Draw::kRound, Beyond(rung, SeedFor(other, "beyond")), measurement);
      } else if (is_first) {
        Measurement unused;
        MeasureElsewhere(rung, Draw::kRound, Drawn(rung, Draw::kAny, SeedFor(other, "larger")), unused);
      }
      const EvidenceCase wide = Drawn(rung, Draw::kWide, SeedFor(other, "wide"));
      MeasureElsewhere(rung, Draw::kWide, wide, measurement);
      CheckKeepsNothing(rung, wide, measurement);
      // Whatever rule selects the calls that use the technique, several such calls include both cases.
      const std::vector<EvidenceCriterion>& criteria = suite_.assignment().criteria;
      const bool compared = std::any_of(criteria.begin(), criteria.end(), [&](const EvidenceCriterion& criterion) {
        return criterion.rung == rung && IsAlike(criterion.metric);
      });
      for (int k = 0; compared && k < kAlikeCalls; ++k) {
        MeasureElsewhere(rung, Draw::kAlike, Alike(wide, random.Between(0, 255)), measurement);
      }
      CheckKeepsNoMore(rung, measurement);
    };
    // In random order: a call's number does not reveal whether it is measured.
    std::vector<std::function<void()>> parts = {near_it, far_off, measure};
    for (size_t i = parts.size() - 1; i > 0; --i) {
      std::swap(parts[i], parts[static_cast<size_t>(random.Between(0, static_cast<int64_t>(i)))]);
    }
    for (const auto& part : parts) part();
  }
  return submission_.emplace(rung, std::move(measurement)).first->second;
}

const RungProfile* Evidence::Reference(const std::string& rung) {
  const auto known = reference_.find(rung);
  if (known != reference_.end()) return known->second ? &*known->second : nullptr;
  const uint64_t elements = suite_.assignment().EvidenceElements(rung);
  std::optional<RungProfile> profile;
  if (suite_.has_runner(Role::kReference)) {
    const EvidenceRun run =
        run_(suite_.runner(Role::kReference), rung, {elements, SeedFor(suite_.seed(), "evidence " + rung)});
    if (const Problem* worst = Worst(run.problems)) {
      throw HarnessError("the reference's " + rung + " failed: " + FormatProblem(*worst, "evidence"));
    }
    profile = ProfileOf(rung, "reference", elements, run.report, suite_);
  } else {
    const Options& options = suite_.options();
    const auto file = options.figures.empty() ? suite_.assignment().folder / "figures.json" : options.figures;
    for (RungProfile& recorded : ReadFigures(file, options.evidence_profile)) {
      if (recorded.rung == rung && recorded.elements == elements) profile = std::move(recorded);
    }
  }
  if (profile) suite_.results().profiles.push_back(*profile);
  const auto stored = reference_.emplace(rung, std::move(profile)).first;
  return stored->second ? &*stored->second : nullptr;
}

}  // namespace lockstep::judge
