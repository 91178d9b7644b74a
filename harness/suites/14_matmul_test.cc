// Assignment 14, the matrix product: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "judge/device/compare.h"
#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/run/kernel_work.h"
#include "judge/run/runner.h"
#include "judge/suite/array_call.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/main.h"
#include "suites/14_matmul_explain.h"
#include "suites/14_matmul_fixture.h"

namespace lockstep::suites {
namespace {

bool TakesHalves(const std::string& rung) { return rung.starts_with("matmul5"); }

template <class T>
std::vector<T> As(const std::vector<float>& values) {
  if constexpr (std::is_same_v<T, float>) {
    return values;
  } else {
    std::vector<T> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(),
                   [](float value) { return static_cast<__half_raw>(__float2half(value)).x; });
    return halves;
  }
}

std::string ShapeText(Shape shape) {
  return "rows = " + Grouped(shape.rows) + ", columns = " + Grouped(shape.columns) +
         ", depth = " + Grouped(shape.depth);
}

judge::CallContext ContextOf(const std::string& rung, Shape shape, const std::string& what) {
  return {rung, ShapeText(shape) + ", " + what, judge::Suite::Get().assignment().submission};
}

struct Product {
  std::vector<double> sums, bounds;
};

Product Expected(const std::string& rung, Shape shape, const Factors& factors) {
  // Tensor cores may round toward 0, and keep only a few more bits than the result has.
  const double roundoff = TakesHalves(rung) ? 0x1p-22 : 0x1p-24;
  const double rounded = static_cast<double>(shape.depth) * roundoff;
  const double gamma = factors.values == Values::kReals ? rounded / (1 - rounded) : 0;
  Product product{std::vector<double>(shape.elements()), std::vector<double>(shape.elements())};
  for (uint64_t row = 0; row < shape.rows; ++row) {
    double* const sums = &product.sums[row * shape.columns];
    double* const bounds = &product.bounds[row * shape.columns];
    for (uint64_t k = 0; k < shape.depth; ++k) {
      const auto a = static_cast<double>(factors.a[row * shape.depth + k]);
      const float* const b = &factors.b[k * shape.columns];
      for (uint64_t column = 0; column < shape.columns; ++column) sums[column] += a * static_cast<double>(b[column]);
      if (gamma == 0) continue;
      const double most = gamma * std::abs(a);
      for (uint64_t column = 0; column < shape.columns; ++column) {
        bounds[column] += most * std::abs(static_cast<double>(b[column]));
      }
    }
  }
  return product;
}

std::optional<Problem> CheckResult(const judge::CallContext& context, const judge::CallReport& report, Shape shape,
                                   const Factors& factors, std::span<const float> found) {
  const Product expected = Expected(context.launcher, shape, factors);
  const bool launched = !report.observed || !report.launches.empty();
  const auto mismatch = judge::CompareBounded<float>(expected.sums, found, expected.bounds);
  const bool is_nothing = found.empty() || shape.depth == 0;  // empty sums may be set by cudaMemset
  if (!mismatch) return launched || is_nothing ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  if (!launched) return judge::UnfinishedProblem(context);
  const uint64_t row = mismatch->index / shape.columns, column = mismatch->index % shape.columns;
  return judge::MakeProblem(
      Verdict::kWrong, context,
      {"row " + std::to_string(row) + ", column " + std::to_string(column) + " of d_c is wrong (" +
           Grouped(mismatch->count) + " of " + judge::Counted(shape.elements(), "element") + " in total)",
       {"expect", mismatch->expected},
       {"found", mismatch->found}},
      Suspect(shape, factors, found, mismatch->index).Hint());
}

template <class T>
judge::EvidenceRun MultiplyIn(judge::Runner& runner, const std::string& rung, Inputs<T>& inputs,
                              judge::DeviceArray<float>& c, Shape shape, const Factors& factors) {
  const judge::CallContext context = ContextOf(rung, shape, factors.what);
  const std::vector<T> a = As<T>(factors.a), b = As<T>(factors.b);
  const auto a_before = inputs.a.Fill(a), b_before = inputs.b.Fill(b);
  c.Poison();
  constexpr uint64_t kProducts = 16;  // products allowed to cost a launch as much as one element
  runner.LimitInstructions(a.size() + b.size() + shape.elements() * (1 + shape.depth / kProducts));
  const auto size = [](uint64_t n) { return worker::Argument::Integer(static_cast<unsigned>(n)); };
  judge::EvidenceRun run{
      runner.Call(rung, std::vector<worker::Argument>{inputs.a.argument(), inputs.b.argument(), c.argument(),
                                                      size(shape.rows), size(shape.columns), size(shape.depth)}),
      {}};
  run.problems = judge::ProblemsOf(run.report, context);
  judge::ExplainEach(run.problems, HintOfFault);
  const auto result_now = c.Look();
  const std::span<const float> found = result_now.values();
  if (!run.problems.empty() || found.size() < shape.elements()) return run;
  if (auto problem = CheckResult(context, run.report, shape, factors, found.first(shape.elements()))) {
    run.problems.push_back(std::move(*problem));
  }
  const judge::HintText unchanged = "d_a and d_b are read-only: the product goes to d_c";
  judge::CheckUnchanged<T>(inputs.a, a_before.values(), context, unchanged, run.problems);
  judge::CheckUnchanged<T>(inputs.b, b_before.values(), context, unchanged, run.problems);
  judge::CheckGuards(context, run.problems, inputs.a, inputs.b, c);
  if (run.problems.empty() && shape.elements() > 0 && shape.depth > 0) {
    const judge::TaskBytes read[] = {judge::FirstOf(inputs.a, a.size()), judge::FirstOf(inputs.b, b.size())};
    const judge::TaskBytes stored = judge::FirstOf(c, shape.elements());
    judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls, read,
                             std::span(&stored, 1), run.problems);
  }
  return run;
}

// The depth of evidence runs; drawn ones vary it.
constexpr uint64_t kEvidenceDepth = 64;

// Draws from [low, high].
auto DrawsOf(const judge::SeedKey& seed) {
  return [random = judge::Random(seed)](uint64_t low, uint64_t high) mutable {
    return static_cast<uint64_t>(random.Between(static_cast<int64_t>(low), static_cast<int64_t>(high)));
  };
}

// A wide case of rungs 2 and 3: one side is less than a multiple of 64 by any number up to 24, and long, so that no
// design's tiles are much emptier than another's; the depth is another one.
Shape LongShape(const judge::EvidenceCase& one) {
  auto drawn = DrawsOf(judge::SeedFor(one.seed, "long shape"));
  constexpr uint64_t kSide = 64, kLeast = 4, kDepth = 32;
  const uint64_t depth =
      kDepth * drawn(1, std::max<uint64_t>(one.elements / (kSide * kLeast * kSide * kDepth), 1)) - drawn(0, 2);
  const uint64_t narrow = kSide - drawn(1, 4);
  const uint64_t wide = kSide * std::max(one.elements / narrow / depth / kSide, kLeast) - drawn(1, 24);
  return drawn(0, 1) == 0 ? Shape{narrow, wide, depth} : Shape{wide, narrow, depth};
}

// A shape with about one.elements products; the judge runs the larger of two calls first. Rung 1 gets any sides, unless
// the case is round. Others get multiples of 64, and of 16 as the depth, or slightly less, so that no design's tiles are
// much emptier than another's. On rung 4, whose budgets are narrow and where tiles of 128 are usual, these are multiples
// of 128, less by whole float4s, or by up to 63 where calls are wide. On rung 5 they are less by nothing, because many
// correct designs take single elements if a side is not divisible by 8.
Shape AnyOf(const std::string& rung, const judge::EvidenceCase& one) {
  auto drawn = DrawsOf(judge::SeedFor(one.seed, "shape"));
  constexpr uint64_t kStep = 16, kLess = 4;
  const bool is_fourth = rung.starts_with("matmul4"), is_first = rung.starts_with("matmul1");
  if (one.wide && !is_first && !is_fourth && !TakesHalves(rung)) return LongShape(one);
  const uint64_t side = is_fourth ? 128 : 64;
  const uint64_t usual = one.wide && is_first ? kEvidenceDepth * drawn(1, 3) : kEvidenceDepth;
  const auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(one.elements / usual)));
  if (!one.round && is_first) {
    const uint64_t columns = drawn(root * 3 / 4 + 1, root * 4 / 3 + 1);
    const uint64_t depth = drawn(usual * 3 / 4, usual * 3 / 2);
    return {std::max<uint64_t>(one.elements / columns / depth, 1), columns, depth};
  }
  Shape less;
  if (!one.round && !TakesHalves(rung)) {
    const bool any = one.wide && is_fourth;
    const uint64_t most_less = any ? side / 2 - 1 : kLess;
    less = {drawn(1, most_less), drawn(1, most_less), drawn(1, kLess)};
    if (is_fourth && !any) less.columns = less.depth = kLess;
  }
  Shape best{side - less.rows, side - less.columns, usual - less.depth};
  const auto off = [&](const Shape& shape) {
    return std::max(shape.products(), one.elements) - std::min(shape.products(), one.elements);
  };
  const uint64_t most = (2 * root / side + 1) * side;
  for (uint64_t rows = std::max(side, root / 2 / side * side); rows <= most; rows += side) {
    for (uint64_t columns = side; columns <= most; columns += side) {
      for (uint64_t depth = usual - kStep; depth <= usual + 2 * kStep; depth += kStep) {
        const Shape shape{rows - less.rows, columns - less.columns, depth - less.depth};
        if (off(shape) < off(best)) best = shape;
      }
    }
  }
  return best;
}

// Square, or twice as wide as high, if `products` is a power of 2; otherwise up to four times as wide as high.
Shape EvidenceShape(uint64_t products) {
  uint64_t rows = 1;
  while (4 * rows * rows * kEvidenceDepth <= products) rows *= 2;
  return {rows, products / kEvidenceDepth / rows, kEvidenceDepth};
}

}  // namespace

MatmulBuffers::MatmulBuffers(judge::JudgeDevice& device, const std::string& rung, Shape most, Offsets offsets)
    : c(device, most.elements(), "d_c", offsets.c) {
  if (TakesHalves(rung)) {
    halves.emplace(device, most, offsets);
  } else {
    floats.emplace(device, most, offsets);
  }
}

Factors MakeFactors(const std::string& rung, Shape shape, Values values, const judge::SeedKey& seed) {
  Factors factors{{}, {}, values, "random whole numbers"};
  if (values == Values::kReals) factors.what = "random numbers with magnitudes from 0.5 to 1";
  const int bits = TakesHalves(rung) ? 10 : 23;  // of the fraction
  const auto fill = [&](std::vector<float>& matrix, uint64_t elements, const char* name) {
    for (const uint32_t word : judge::MakeWords(elements, judge::SeedFor(seed, name))) {
      const uint32_t kept = word >> 1;
      const float magnitude = values == Values::kReals
                                  ? 0.5f + std::ldexp(static_cast<float>(kept >> (31 - bits)), -bits - 1)
                                  : static_cast<float>(1 + kept % 8);
      matrix.push_back((word & 1) == 0 ? magnitude : -magnitude);
    }
  };
  fill(factors.a, shape.rows * shape.depth, "a");
  fill(factors.b, shape.depth * shape.columns, "b");
  if (values == Values::kInfinity && !factors.a.empty() && !factors.b.empty()) {
    const uint64_t place = factors.a.size() / 2, row = shape.rows / 3;  // of the other one, at the end of its row
    const uint64_t last = shape.depth - 1, column = shape.columns / 3;
    // All that an infinity is added to is positive: no right sum is NaN.
    for (float* other : {&factors.a[place / shape.depth * shape.depth + last],
                         &factors.b[place % shape.depth * shape.columns + column]}) {
      *other = std::abs(*other);
    }
    for (float* infinite :
         {&factors.a[place], &factors.a[row * shape.depth + last], &factors.b[last * shape.columns + column]}) {
      *infinite = std::numeric_limits<float>::infinity();
    }
    const std::string rows = std::to_string(row) + " and " + std::to_string(place / shape.depth);
    factors.what += ", and infinities in rows " + rows + " of d_a and column " + std::to_string(column) + " of d_b";
  }
  return factors;
}

judge::EvidenceRun Multiply(judge::Runner& runner, const std::string& rung, MatmulBuffers& buffers, Shape shape,
                            const Factors& factors) {
  return buffers.halves ? MultiplyIn(runner, rung, *buffers.halves, buffers.c, shape, factors)
                        : MultiplyIn(runner, rung, *buffers.floats, buffers.c, shape, factors);
}

void MatmulTest::Expect(Shape shape, Values values, Role role, Offsets offsets) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  judge::Runner& runner = judge::Suite::Get().runner(role);
  MatmulBuffers buffers(runner.device(), rung(), shape, offsets);
  Factors factors = MakeFactors(rung(), shape, values, seed);
  if (offsets.a + offsets.b + offsets.c > 0) {
    factors.what += "; d_a, d_b and d_c begin " + std::to_string(offsets.a) + ", " + std::to_string(offsets.b) +
                    " and " + std::to_string(offsets.c) + " elements into their allocations";
  }
  judge::EvidenceRun run = Multiply(runner, rung(), buffers, shape, factors);
  Keep(run.report);
  Add(std::move(run.problems));
}

void MatmulTest::ExpectInTurn(const std::vector<Shape>& shapes, const std::string& how, bool repeats) {
  if (!ok()) return;
  judge::Runner& runner = judge::Suite::Get().runner(Role::kChecked);
  Shape most;
  for (const Shape shape : shapes) {
    most = {std::max(most.rows, shape.rows), std::max(most.columns, shape.columns), std::max(most.depth, shape.depth)};
  }
  MatmulBuffers buffers(runner.device(), rung(), most);
  Add(judge::CallInTurn(shapes, [&](const Shape& shape, bool is_last) {
        Factors factors = MakeFactors(rung(), shape, Values::kWhole, Seed(inputs_++));
        factors.what += ", " + how + ", call " + std::to_string(&shape - shapes.data() + 1);
        judge::EvidenceRun run = Multiply(runner, rung(), buffers, shape, factors);
        if (repeats && is_last && run.problems.empty()) {
          judge::CheckNothingHeld(ContextOf(rung(), shape, factors.what), run.report, run.problems);
        }
        Keep(run.report);
        return run;
      }).problems);
}

// From the least to the most demanding shapes, so that the first message is the simplest.
TEST_P(MatmulTest, MultipliesSquares) {
  for (const uint64_t side : {64, 32, 128, 16, 33, 100, 2, 1}) Expect({side, side, side});
}

TEST_P(MatmulTest, MultipliesWholeTiles) {
  for (const Shape shape : {Shape{64, 128, 32}, {128, 64, 32}, {64, 64, 160}, {32, 64, 16}}) Expect(shape);
}

TEST_P(MatmulTest, MultipliesAnyShape) {
  for (const Shape shape : {Shape{48, 80, 24}, {80, 48, 72}}) Expect(shape);
  const std::vector<uint64_t> sides = judge::Around({1, 16, 64});
  for (const uint64_t rows : sides) {
    for (const uint64_t columns : sides) {
      for (const uint64_t depth : {uint64_t{1}, uint64_t{17}, columns}) {
        if (rows > 0 && columns > 0 && depth > 0) Expect({rows, columns, depth});
      }
    }
  }
}

TEST_P(MatmulTest, KeepsTheProductsPrecision) {
  for (const Shape shape : {Shape{32, 32, 32}, {61, 67, 71}, {64, 128, 64}, {7, 9, 300}}) Expect(shape, Values::kReals);
}

TEST_P(MatmulTest, MultipliesOneRowOrColumn) {
  for (const uint64_t n : {31, 32, 33, 1000}) {
    Expect({1, n, 3});
    Expect({n, 1, 5});
    Expect({1, 1, n});
  }
}

TEST_P(MatmulTest, MultipliesAtAnyAddress) {
  for (const Offsets offsets : {Offsets{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 2, 2}}) {
    Expect({68, 36, 32}, Values::kWhole, Role::kChecked, offsets);
  }
}

TEST_P(MatmulTest, HandlesNothing) {
  // If the rung can't multiply one element yet, report that first.
  Expect({1, 1, 1});
  for (const Shape shape : {Shape{0, 0, 0}, {0, 5, 5}, {5, 0, 5}}) Expect(shape);
  // Empty sums are 0.
  Expect({5, 40, 0});
}

// More rows than a grid has blocks in y; on rung 1 more than that in tiles of eight, the largest there.
TEST_P(MatmulTest, MultipliesLongMatrices) {
  // A quick check that reports a rung not begun.
  Expect({33, 65, 17}, Values::kWhole, Role::kPlain);
  Expect({rung() == "matmul1_naive" ? uint64_t{1} << 19 : 65600, 1, 1}, Values::kWhole, Role::kPlain);
}

TEST_P(MatmulTest, KeepsNoMemory) {
  ExpectInTurn({{40, 30, 20}, {40, 30, 20}}, "other values at the same addresses", /*repeats=*/true);
}

INSTANTIATE_TEST_SUITE_P(, MatmulTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  const suites::Shape shape = one.drawn ? suites::AnyOf(rung, one) : suites::EvidenceShape(one.elements);
  const uint64_t unit = suites::TakesHalves(rung) ? 16 : rung.starts_with("matmul4") ? kWholeSectors : 1;
  suites::MatmulBuffers buffers(runner.device(), rung, shape,
                                {one.Offset("d_a", unit), one.Offset("d_b", unit), one.Offset("d_c", unit)});
  EvidenceRun run = suites::Multiply(runner, rung, buffers, shape,
                                     suites::MakeFactors(rung, shape, suites::Values::kReals, one.seed));
  run.elements = shape.products();
  run.room = one.wide && rung.starts_with("matmul4") ? 1 : 0;
  return run;
}

}  // namespace lockstep::judge
