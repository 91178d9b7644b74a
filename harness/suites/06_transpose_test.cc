// Assignment 06, the ladder of transposes: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "judge/suite/timing.h"
#include "suites/06_transpose_explain.h"
#include "suites/06_transpose_fixture.h"
#include "transpose.h"

namespace lockstep::suites {
namespace {

std::string_view NameOf(Values values) {
  switch (values) {
    case Values::kRamp:
      return "elements 1, 2, 3 ...";
    case Values::kBits:
      return "random bits";
    case Values::kNaNs:
      return "NaNs, all different";
  }
  return "?";
}

std::string ShapeText(Shape shape) {
  return "width = " + judge::Grouped(shape.width) + ", height = " + judge::Grouped(shape.height);
}

std::optional<Problem> CheckResult(const judge::CallContext& context, const judge::CallReport& report, Shape shape,
                                   std::span<const uint32_t> in, std::span<const uint32_t> out) {
  const uint32_t poison = judge::DeviceArray<uint32_t>::FillValue();
  const bool has_tiles = !context.launcher.starts_with("transpose1");
  const TransposeResult result(shape, in, out, poison, has_tiles, judge::ThreadsOf(report));
  const bool launched = !report.observed || !report.launches.empty();
  const std::optional<uint64_t> wrong = result.FirstWrong();
  if (!wrong) {
    // The transpose of one row or column is a copy; any other needs a kernel.
    if (launched || shape.width < 2 || shape.height < 2) return std::nullopt;
    return judge::NoKernelProblem(context);
  }
  if (!launched && out[*wrong] == poison) return judge::UnfinishedProblem(context);
  return judge::WrongAt(*wrong, context, result.Evidence(*wrong), result.Hint(*wrong));
}

judge::CallContext ContextOf(const std::string& rung, Shape shape, const std::string& what) {
  return {rung, ShapeText(shape) + ", " + what, judge::Suite::Get().assignment().submission};
}

// A square, as in the course, if `elements` is a power of 4; otherwise up to four times as high as wide.
Shape SquareOf(uint64_t elements) {
  uint64_t width = 1;
  while (4 * width * width <= elements) width *= 2;
  return {width, elements / width};
}

bool TakesVectors(const std::string& rung) { return rung.starts_with("transpose5"); }

// The longer side is up to 16 times the shorter, which is nearly a multiple of 64, so that few tiles are partly empty.
// In round cases, and if four elements are processed together, both are multiples of 64: many correct designs move
// single elements if a side is not divisible by 8, or by its tile.
Shape AnyOf(const std::string& rung, const judge::EvidenceCase& one) {
  constexpr uint64_t kTiles = 64;
  const uint64_t elements = one.elements;
  const auto root = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
  judge::Random random(judge::SeedFor(one.seed, "width"));
  uint64_t shorter = (static_cast<uint64_t>(random.Between((root + 3) / 4, root)) + kTiles - 1) / kTiles * kTiles;
  const bool is_wide = random.Next() % 2 == 0, whole = one.round || (TakesVectors(rung) && !one.wide);
  if (!whole) shorter -= random.Next() % (one.wide ? kTiles : 4);
  uint64_t longer = std::max<uint64_t>(elements / shorter, 1);
  if (whole) longer = std::max(longer / kTiles, uint64_t{1}) * kTiles;
  return is_wide ? Shape{longer, shorter} : Shape{shorter, longer};
}

std::vector<worker::Argument> ArgumentsOf(const TransposeBuffers& buffers, Shape shape) {
  return {buffers.in.argument(), buffers.out.argument(), worker::Argument::Integer(static_cast<unsigned>(shape.width)),
          worker::Argument::Integer(static_cast<unsigned>(shape.height))};
}

}  // namespace

std::vector<uint32_t> MakeMatrix(Values values, uint64_t elements, const judge::SeedKey& seed) {
  std::vector<uint32_t> words = judge::MakeDistinct(elements, seed);
  if (values == Values::kRamp) {
    for (uint64_t i = 0; i < elements; ++i) {
      const auto value = static_cast<float>(i + 1);
      std::memcpy(&words[i], &value, sizeof value);
    }
  }
  if (values == Values::kNaNs) {
    for (uint64_t i = 0; i < elements; ++i) {
      // There are 2 · (2^23 - 1) NaNs; signs alternate, and payloads count down from all ones.
      words[i] = 0x7FFF'FFFF - static_cast<uint32_t>(i / 2) + (i % 2 == 0 ? 0 : 0x8000'0000);
    }
  }
  return words;
}

TransposeBuffers::TransposeBuffers(judge::JudgeDevice& device, uint64_t capacity, Offsets offsets)
    : in(device, capacity, "d_in", offsets.in), out(device, capacity, "d_out", offsets.out) {}

judge::EvidenceRun Transpose(judge::Runner& runner, const std::string& rung, TransposeBuffers& buffers, Shape shape,
                             const std::vector<uint32_t>& matrix, const std::string& what) {
  const judge::CallContext context = ContextOf(rung, shape, what);
  return judge::RunArrayCall<uint32_t>(
      runner, context,
      {.in = buffers.in,
       .out = buffers.out,
       .values = matrix,
       .arguments = ArgumentsOf(buffers, shape),
       .unchanged_hint = "d_in is read-only: the transpose goes to d_out",
       // A single row or column is a copy.
       .is_work = shape.width > 1 && shape.height > 1,
       .text_of = [](uint32_t word) { return judge::ValueText(std::bit_cast<float>(word)); },
       .explain =
           [&](const judge::CallReport&, std::vector<Problem>& problems) {
             judge::ExplainEach(problems, [&](const Problem& one) { return HintOfFault(one, shape); });
           },
       .check = [&](const judge::CallReport& report,
                    std::span<const uint32_t> found) { return CheckResult(context, report, shape, matrix, found); }});
}

void TransposeTest::ExpectIn(TransposeBuffers& buffers, Shape shape, const std::vector<uint32_t>& matrix,
                             const std::string& what, Role role, bool is_repeated) {
  if (!ok()) return;
  judge::EvidenceRun run = Transpose(judge::Suite::Get().runner(role), rung(), buffers, shape, matrix, what);
  Keep(run.report);
  if (is_repeated && run.problems.empty()) {
    judge::CheckNothingHeld(ContextOf(rung(), shape, what), run.report, run.problems);
  }
  Add(std::move(run.problems));
}

void TransposeTest::Expect(Shape shape, Values values, Role role, Offsets offsets) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  TransposeBuffers buffers(judge::Suite::Get().runner(role).device(), shape.elements(), offsets);
  std::string what(NameOf(values));
  if (offsets.in + offsets.out > 0) {
    what += "; d_in and d_out begin " + std::to_string(4 * offsets.in) + " and " + std::to_string(4 * offsets.out) +
            " bytes into their allocations";
  }
  ExpectIn(buffers, shape, MakeMatrix(values, shape.elements(), seed), what, role);
}

// From the least to the most demanding shapes, so that the first message is the simplest.
TEST_P(TransposeTest, TransposesSquares) {
  for (const uint64_t side : {64, 32, 16, 128, 33, 100, 31, 2, 1}) Expect({side, side});
}

TEST_P(TransposeTest, TransposesWholeTiles) {
  for (const Shape shape : {Shape{128, 64}, {64, 128}, {32, 256}, {256, 32}}) Expect(shape);
}

TEST_P(TransposeTest, TransposesAnyShape) {
  // With some tiles full and others not, missing elements are most informative.
  for (const Shape shape : {Shape{48, 80}, {80, 48}}) Expect(shape);
  const std::vector<uint64_t> sides = judge::Around({1, 16, 32, 64, 128});
  for (const uint64_t width : sides) {
    for (const uint64_t height : sides) {
      if (width > 0 && height > 0) Expect({width, height});
    }
  }
}

TEST_P(TransposeTest, TransposesShapesThatBreakAlignment) {
  for (const Shape shape : {Shape{97, 101}, {131, 257}, {1021, 61}, {61, 1021}, {1000, 3}, {3, 1000}, {300, 200}}) {
    Expect(shape, Values::kBits);
  }
}

TEST_P(TransposeTest, TransposesOneRowOrColumn) {
  for (const uint64_t n : {2, 31, 32, 33, 1000, 4099, 20011}) {
    Expect({n, 1}, Values::kBits);
    Expect({1, n}, Values::kBits);
  }
}

TEST_P(TransposeTest, MovesEveryBitPattern) {
  Expect({40, 50}, Values::kNaNs);
  TransposeBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 4);
  // -0, the smallest denormal number, minus infinity, a signalling NaN.
  ExpectIn(buffers, {2, 2}, {0x8000'0000, 1, 0xFF80'0000, 0x7F80'0001},
           "-0, a denormal number, -inf, a signalling NaN");
}

TEST_P(TransposeTest, TransposesFromAnyAddress) {
  for (const Offsets offsets : {Offsets{1, 1}, {2, 0}, {0, 3}}) {
    Expect({68, 36}, Values::kRamp, Role::kChecked, offsets);
  }
}

TEST_P(TransposeTest, HandlesNothing) {
  // If the rung can't move one element yet, report that first.
  Expect({1, 1});
  for (const Shape shape : {Shape{0, 0}, {0, 5}, {5, 0}}) Expect(shape);
}

// Too large for checkers that inspect every access; out-of-bounds accesses are still found.
TEST_P(TransposeTest, TransposesLargeMatrices) {
  // A quick check that reports a rung not begun.
  Expect({33, 65}, Values::kRamp, Role::kPlain);
  Expect({1023, 1025}, Values::kBits, Role::kPlain);
}

// A grid has at most 65,535 blocks in y, which is for rows; columns, in x, have no such limit, so a wide matrix would
// test nothing more.
TEST_P(TransposeTest, TransposesVeryLongMatrices) {
  Expect({33, 65}, Values::kRamp, Role::kPlain);
  Expect({1, kLong}, Values::kBits, Role::kPlain);
}

TEST_P(TransposeTest, LeavesTheInputUnchanged) {
  // Every test checks that the input is unchanged; here all of it must survive two calls with the same result.
  constexpr Shape kShape{70, 90};
  TransposeBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), kShape.elements());
  const std::vector<uint32_t> matrix = MakeMatrix(Values::kBits, kShape.elements(), Seed());
  ExpectIn(buffers, kShape, matrix, "random bits, first call");
  ExpectIn(buffers, kShape, matrix, "the same matrix again, second call");
}

TEST_P(TransposeTest, KeepsNoMemory) {
  constexpr Shape kShape{40, 30};
  TransposeBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), kShape.elements());
  const std::vector<uint32_t> matrix = MakeMatrix(Values::kRamp, kShape.elements(), Seed());
  ExpectIn(buffers, kShape, matrix, "elements 1, 2, 3 ..., first call");
  ExpectIn(buffers, kShape, matrix, "the same matrix again, second call", Role::kChecked, /*is_repeated=*/true);
}

// The timed workload: each call transposes a matrix of its own. A batch alternates between three shapes: a square of a
// power of two, as in the course; nearly that, but with sides that are multiples of nothing; and a wide one whose sides
// are multiples of 4 only.
class TransposeWorkload : public judge::Workload {
 public:
  TransposeWorkload(judge::JudgeDevice& device, uint64_t elements, uint32_t call)
      : shape_(ShapeOf(elements, call)), buffers_(device, shape_.elements()) {}

  judge::GpuJob Job() const override {
    return {.in = buffers_.in.address(),
            .out = buffers_.out.address(),
            .n = shape_.elements(),
            .parameter = shape_.width,
            .values = judge::GpuValues::kInts,
            .task = judge::GpuTask::kTranspose};
  }
  void Poison() override { buffers_.out.Poison(); }
  std::vector<worker::Argument> Arguments() const override { return ArgumentsOf(buffers_, shape_); }
  uint64_t LeastBytes() const override { return 2 * sizeof(float) * shape_.elements(); }

 private:
  static Shape ShapeOf(uint64_t elements, uint32_t call) {
    const Shape square = SquareOf(elements);
    if (square.width < 64 || square.height < 64) throw judge::HarnessError("[timing] n is too small for a matrix");
    switch (call % 3) {
      case 0:
        return square;
      case 1:
        return {square.width + 3, square.height - 5};
      default:
        return {2 * square.width - 28, square.height / 2 + 4};
    }
  }

  Shape shape_;
  TransposeBuffers buffers_;
};

const bool kTimed =
    judge::RegisterWorkload([](judge::JudgeDevice& device, const std::string&, uint64_t elements, uint32_t call) {
      return std::make_unique<TransposeWorkload>(device, elements, call);
    });

INSTANTIATE_TEST_SUITE_P(, TransposeTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  const suites::Shape shape = one.drawn ? suites::AnyOf(rung, one) : suites::SquareOf(one.elements);
  const uint64_t unit = suites::TakesVectors(rung) ? kWholeSectors : 1;
  suites::TransposeBuffers buffers(runner.device(), shape.elements(),
                                   {one.Offset("d_in", unit), one.Offset("d_out", unit)});
  EvidenceRun run =
      suites::Transpose(runner, rung, buffers, shape,
                        suites::MakeMatrix(suites::Values::kBits, shape.elements(), one.seed), "random bits");
  run.elements = shape.elements();
  run.room = one.wide && suites::TakesVectors(rung) ? 1 : 0;
  return run;
}

}  // namespace lockstep::judge
