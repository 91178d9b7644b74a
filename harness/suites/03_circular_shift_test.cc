// Assignment 03, the circular shift: the tests that students have. Each runs on every rung that gets such shifts.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "judge/suite/timing.h"
#include "shift.h"
#include "suites/03_circular_shift_explain.h"
#include "suites/03_circular_shift_fixture.h"

namespace lockstep::suites {
namespace {

constexpr int64_t kIntMax = std::numeric_limits<int32_t>::max();
constexpr int64_t kIntMin = std::numeric_limits<int32_t>::min();

constexpr uint64_t kLargeArray = uint64_t{4} << 20;  // bytes

// For evidence runs: not a multiple of anything, so that alignment has to be achieved.
constexpr int32_t kEvidenceShift = 1'000'003;

// For a right result: a problem if the rung that works in place used, or has memory for, a second array.
std::optional<Problem> CheckMeans(const judge::CallContext& context, const judge::CallReport& report, uint64_t bytes,
                                  bool in_place) {
  constexpr uint64_t kShort = 16384;
  uint64_t stored = 0;  // bytes stored by kernels in the program's own memory
  const std::vector<worker::BufferUse>& buffers = report.memory.buffers;
  for (size_t k = report.memory.passed; k < buffers.size(); ++k) {
    for (const uint64_t word : buffers[k].by_kernels.stored) {
      stored += vgpu::TouchedRange::kSectorBytes * static_cast<uint64_t>(std::popcount(word));
    }
  }
  if (in_place && bytes >= kShort && 2 * stored >= bytes) {
    return judge::MakeProblem(Verdict::kRejected, context,
                              {"the result is right, but kernels stored " + judge::Counted(stored, "byte") +
                               " in memory of the program's own, and the array has " + Grouped(bytes)},
                              "in place means within the array itself, with no second buffer");
  }
  // Not for short arrays: other rungs may have variables of some size.
  if (!in_place || bytes < kLargeArray || report.variable_bytes + report.held_bytes + report.heap_bytes < bytes) {
    return std::nullopt;
  }
  std::string what;
  if (report.variable_bytes > 0) what = "__device__ variables of " + judge::Counted(report.variable_bytes, "byte");
  if (report.held_bytes > 0) {
    what += (what.empty() ? "" : ", and ") + judge::Counted(report.held_bytes, "byte") + " from before the call";
  }
  if (report.heap_bytes > 0) {
    what += std::string(what.empty() ? "" : ", and ") + judge::Counted(report.heap_bytes, "byte") +
            " of malloc() in kernels";
  }
  return judge::MakeProblem(
      Verdict::kRejected, context,
      {"the result is right, but the program has " + what + ", enough for the array's " + judge::Grouped(bytes)},
      "in place means within the array itself, with no second buffer");
}

std::optional<Problem> CheckResult(const judge::CallContext& context, const judge::CallReport& report,
                                   const ShiftResult& result, std::span<const int32_t> in, std::span<const int32_t> out,
                                   int64_t shift, bool in_place) {
  const bool launched = !report.observed || !report.launches.empty();
  const std::optional<uint64_t> wrong = result.FirstWrong();
  if (!wrong) {
    // A shift by 0 is a copy, or nothing if in place; any other needs a kernel.
    if (OffsetOf(in.size(), shift) == 0) return std::nullopt;
    if (!launched) return judge::NoKernelProblem(context);
    return CheckMeans(context, report, in.size_bytes(), in_place);
  }
  const bool untouched = in_place ? std::equal(in.begin(), in.end(), out.begin())
                                  : out[*wrong] == judge::DeviceArray<int32_t>::FillValue();
  if (!launched && untouched) return judge::UnfinishedProblem(context);
  return judge::WrongAt(*wrong, context, result.Evidence(*wrong), result.Hint(judge::ThreadsOf(report)));
}

std::vector<worker::Argument> ArgumentsOf(const ShiftBuffers& buffers, bool in_place, uint64_t n, int32_t shift) {
  std::vector<worker::Argument> arguments = {buffers.in.argument()};
  if (!in_place) arguments.push_back(buffers.out.argument());
  arguments.push_back(worker::Argument::Integer(static_cast<unsigned>(n)));
  arguments.push_back(worker::Argument::Integer(shift));
  return arguments;
}

}  // namespace

std::vector<int32_t> MakeArray(Values values, uint64_t n, const judge::SeedKey& seed) {
  std::vector<int32_t> array(n);
  if (values == Values::kRamp) {
    for (uint64_t i = 0; i < n; ++i) array[i] = static_cast<int32_t>(i + 1);
    return array;
  }
  judge::FillDistinct({reinterpret_cast<uint32_t*>(array.data()), n}, seed);
  return array;
}

std::vector<std::string> RungsOfAnyShift() {
  return judge::Suite::Get().SelectedRungs([](const std::string& rung) { return rung != kSimpleRung; });
}

ShiftBuffers::ShiftBuffers(judge::JudgeDevice& device, const std::string& rung, uint64_t capacity)
    : in(device, capacity, rung == kInPlaceRung ? "d_data" : "d_in"),
      out(device, rung == kInPlaceRung ? 0 : capacity, "d_out") {}

judge::EvidenceRun Shift(judge::Runner& runner, const std::string& rung, ShiftBuffers& buffers,
                         const std::vector<int32_t>& array, int32_t shift, const std::string& what) {
  const bool in_place = rung == kInPlaceRung;
  const judge::CallContext context{
      rung, "n = " + judge::Grouped(array.size()) + ", shift = " + std::to_string(shift) + ", " + what,
      judge::Suite::Get().assignment().submission};
  judge::DeviceArray<int32_t>& out = in_place ? buffers.in : buffers.out;
  return judge::RunArrayCall<int32_t>(
      runner, context,
      {.in = buffers.in,
       .out = out,
       .values = array,
       .arguments = ArgumentsOf(buffers, in_place, array.size(), shift),
       .unchanged_hint = "d_in is read-only: the result goes to d_out",
       .frees = true,
       .is_work = OffsetOf(array.size(), shift) != 0,
       .explain =
           [&](const judge::CallReport& report, std::vector<Problem>& problems) {
             judge::ExplainEach(problems,
                                [&](const Problem& one) { return HintOfFault(report, one, array.size(), shift); });
           },
       .check = [&](const judge::CallReport& report, std::span<const int32_t> found) -> std::optional<Problem> {
         const ShiftResult result(array, found, shift, judge::DeviceArray<int32_t>::FillValue(), in_place);
         return CheckResult(context, report, result, array, found, shift, in_place);
       }});
}

void ShiftTest::ExpectIn(ShiftBuffers& buffers, const std::vector<int32_t>& array, int64_t shift,
                         const std::string& what, Role role) {
  if (!ok()) return;
  judge::EvidenceRun run =
      Shift(judge::Suite::Get().runner(role), rung(), buffers, array, static_cast<int32_t>(shift), what);
  Keep(run.report);
  Add(std::move(run.problems));
}

void ShiftTest::Expect(uint64_t n, int64_t shift, Role role, Values values) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  ShiftBuffers buffers(judge::Suite::Get().runner(role).device(), rung(), n);
  ExpectIn(buffers, MakeArray(values, n, seed), shift,
           values == Values::kRamp ? "elements 1, 2, 3 ..." : "random, all different", role);
}

TEST_P(ShiftTest, ShiftsOneBlock) {
  for (const uint64_t n : {8, 32, 256}) {
    for (const int64_t shift : {1, 2, 3, 7}) Expect(n, shift);
  }
}

TEST_P(ShiftTest, ShiftsManyBlocks) {
  for (const uint64_t n : {512, 1024, 4096, 65536}) {
    for (const int64_t shift : {1, 4, 31, 256, 511}) Expect(n, shift);
  }
}

TEST_P(ShiftTest, ShiftsAnyLength) {
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 16384})) {
    for (const int64_t shift : {1, 3, 32, 255}) Expect(n, shift % static_cast<int64_t>(std::max<uint64_t>(n, 1)));
  }
}

TEST_P(ShiftTest, ShiftsPrimeLengths) {
  for (const uint64_t n : {7, 97, 257, 1009, 10007, 100003}) {
    for (const int64_t shift : {2, 5}) Expect(n, shift, Role::kChecked, Values::kDistinct);
  }
}

TEST_P(ShiftTest, ShiftsNearlyAllTheWay) {
  for (const uint64_t n : {2, 33, 256, 1000, 4099}) {
    for (const int64_t rest : {1, 2}) Expect(n, static_cast<int64_t>(n) - rest);
    Expect(n, static_cast<int64_t>(n) / 2);
  }
}

TEST_P(ShiftTest, CopiesWhereTheShiftIsZero) {
  // If the rung can't shift yet, report that first.
  Expect(8, 3);
  for (const uint64_t n : {1, 2, 255, 1000}) Expect(n, 0);
}

TEST_P(ShiftTest, HandlesNothing) {
  Expect(8, 3);
  Expect(0, 0);
}

// Too large for checkers that inspect every access; out-of-bounds accesses are still found.
TEST_P(ShiftTest, ShiftsLargeArrays) {
  // A quick check that reports a rung not begun.
  Expect(1000, 3, Role::kPlain);
  constexpr uint64_t kLarge = uint64_t{1} << 20;
  for (const uint64_t n : {kLarge - 1, kLarge + 1}) Expect(n, kEvidenceShift, Role::kPlain, Values::kDistinct);
}

TEST_P(ShiftTest, LeavesTheInputUnchanged) {
  // Every test checks that the input is unchanged; here all of it must survive two calls with the same result. In
  // place, the second call starts from the same array too.
  ShiftBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), rung(), 5000);
  const std::vector<int32_t> array = MakeArray(Values::kDistinct, 5000, Seed());
  ExpectIn(buffers, array, 77, "random, first call");
  ExpectIn(buffers, array, 77, "the same array again, second call");
}

TEST_P(AnyShiftTest, ShiftsTowardTheEnd) {
  for (const uint64_t n : {8, 256, 1000, 4099}) {
    for (const int64_t shift : {-1, -2, -3, -4, -7}) Expect(n, shift);
  }
}

TEST_P(AnyShiftTest, ShiftsFurtherThanTheArrayIsLong) {
  for (const int64_t n : {5, 256, 1000, 1009}) {
    for (const int64_t shift : {n, n + 1, 2 * n, 3 * n + 2, 100 * n - 1}) {
      Expect(static_cast<uint64_t>(n), shift);
      Expect(static_cast<uint64_t>(n), -shift);
    }
  }
}

TEST_P(AnyShiftTest, ShiftsByTheLargestNumbers) {
  for (const uint64_t n : {2, 3, 1000, 4096, 4099}) {
    for (const int64_t shift : {kIntMax, kIntMax - 1, -kIntMax, kIntMin, kIntMin + 2}) Expect(n, shift);
  }
}

TEST_P(AnyShiftTest, HandlesOneElementAndNone) {
  Expect(8, -3);
  for (const int64_t shift : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{5}, kIntMax, kIntMin}) {
    Expect(1, shift);
    Expect(0, shift);
  }
}

// The timed workload: each call shifts an array of its own. A batch has shifts of all kinds: by almost nothing, far and
// misaligned to 16 bytes, by whole sectors, and toward the end.
class ShiftWorkload : public judge::Workload {
 public:
  ShiftWorkload(judge::JudgeDevice& device, const std::string& rung, uint64_t elements, uint32_t call)
      : in_place_(rung == kInPlaceRung), shift_(kTimedShifts[call % std::size(kTimedShifts)]) {
    if (rung == kSimpleRung) shift_ = std::abs(shift_);
    const auto n = static_cast<int64_t>(elements);
    if (n <= std::abs(shift_)) throw judge::HarnessError("[timing] n is too small: a timed shift is further than that");
    buffers_.emplace(device, rung, elements);
  }

  judge::GpuJob Job() const override {
    return {.in = buffers_->in.address(),
            .out = (in_place_ ? buffers_->in : buffers_->out).address(),
            .n = buffers_->in.size(),
            .parameter = OffsetOf(buffers_->in.size(), shift_),
            .values = judge::GpuValues::kInts,
            .task = judge::GpuTask::kShift};
  }
  void Poison() override {
    if (!in_place_) buffers_->out.Poison();
  }
  std::vector<worker::Argument> Arguments() const override {
    return ArgumentsOf(*buffers_, in_place_, buffers_->in.size(), shift_);
  }
  uint64_t LeastBytes() const override { return 2 * sizeof(int32_t) * buffers_->in.size(); }

 private:
  static constexpr int32_t kTimedShifts[] = {1, kEvidenceShift, 4096, -3};

  bool in_place_;
  int32_t shift_;
  std::optional<ShiftBuffers> buffers_;
};

const bool kTimed =
    judge::RegisterWorkload([](judge::JudgeDevice& device, const std::string& rung, uint64_t elements, uint32_t call) {
      return std::make_unique<ShiftWorkload>(device, rung, elements, call);
    });

INSTANTIATE_TEST_SUITE_P(, ShiftTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, AnyShiftTest, testing::ValuesIn(RungsOfAnyShift()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  const auto n = static_cast<int64_t>(one.elements);
  const int64_t least = rung.starts_with("shift1") ? 0 : -n + 1;  // rung 1 has no negative shifts
  Random random(SeedFor(one.seed, "shift"));
  auto shift = one.drawn ? static_cast<int32_t>(random.Between(least, n - 1)) : suites::kEvidenceShift;
  if (shift % 8 == 0) shift += shift > 0 ? -1 : 1;  // else whole sectors move, whatever the technique
  if (one.wide && least < 0) shift += static_cast<int32_t>(random.Between(-20, 20) * n);
  suites::ShiftBuffers buffers(runner.device(), rung, one.elements);
  return suites::Shift(runner, rung, buffers, suites::MakeArray(suites::Values::kDistinct, one.elements, one.seed),
                       shift, "random, all different");
}

}  // namespace lockstep::judge
