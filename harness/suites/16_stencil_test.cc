// Assignment 16, stencil and convolution: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "judge/device/compare.h"
#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "suites/16_stencil_explain.h"
#include "suites/16_stencil_fixture.h"

namespace lockstep::suites {
namespace {

uint64_t SideOf(uint64_t radius) { return 2 * radius + 1; }
constexpr const char* kReadOnly = "the image and the weights are read-only: the result goes to d_out";

// The work per pixel: multiplications, or steps.
uint64_t WorkOf(const std::string& rung, uint64_t reach) {
  if (IsSteps(rung)) return reach;
  return IsSeparable(rung) ? 2 * SideOf(reach) : SideOf(reach) * SideOf(reach);
}

Input MakeInput(const std::string& rung, Image image, Values values, const judge::SeedKey& seed) {
  const bool is_whole = values == Values::kWhole;
  const auto make = [&](uint64_t n, const char* name) {
    std::vector<float> numbers;
    for (const uint32_t word : judge::MakeWords(n, judge::SeedFor(seed, name))) {
      const float magnitude =
          is_whole ? static_cast<float>(1 + (word >> 1) % 8) : 0.5f + std::ldexp(static_cast<float>(word >> 9), -24);
      numbers.push_back((word & 1) == 0 ? magnitude : -magnitude);
    }
    return numbers;
  };
  const std::vector<float> pixels = make(image.pixels(), "in");
  Input input{{pixels.begin(), pixels.end()}, {}, {}, {}, is_whole ? "random whole numbers" : "random real numbers"};
  const uint64_t side = SideOf(image.reach);
  if (IsSeparable(rung)) {
    input.row = make(side, "row"), input.column = make(side, "column");
    for (const float of_row : input.column) {
      for (const float weight : input.row) input.filter.push_back(of_row * weight);
    }
  } else if (!IsSteps(rung)) {
    input.filter = make(side * side, "filter");
  }
  return input;
}

std::vector<double> Expected(const std::string& rung, Image image, const Input& input) {
  const auto reach = static_cast<int64_t>(image.reach);
  if (IsSteps(rung)) return Stepped(input.pixels, image, image.reach);
  if (!IsSeparable(rung)) return Convolved(input.pixels, image, input.filter, reach, reach);
  return Convolved(Convolved(input.pixels, image, input.row, reach, 0), image, input.column, 0, reach);
}

std::optional<Problem> CheckResult(const judge::CallContext& context, const judge::CallReport& report, Image image,
                                   const Input& input, Values values, std::span<const float> found) {
  // Three additions a step, of pixels whose magnitudes are at most 1.
  const uint64_t roundings = IsSteps(context.launcher) ? 3 * image.reach : input.filter.size() + 1;
  const double rounded = values == Values::kReals ? static_cast<double>(roundings) * 0x1p-24 : 0;
  double bound = IsSteps(context.launcher) ? rounded / (1 - rounded) : 0;
  for (const float weight : input.filter) bound += rounded / (1 - rounded) * std::abs(static_cast<double>(weight));
  const std::vector<double> expected = Expected(context.launcher, image, input), bounds(found.size(), bound);
  const auto mismatch = judge::CompareBounded<float>(expected, found, bounds);
  // Zero steps may be a copy.
  const bool launched =
      !report.observed || !report.launches.empty() || found.empty() || input.filter.size() + image.reach == 0;
  if (!mismatch) return launched ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  if (!launched) return judge::UnfinishedProblem(context);
  const uint64_t wrong = mismatch->index;
  return judge::MakeProblem(
      Verdict::kWrong, context,
      {"pixel (" + std::to_string(wrong % image.width) + ", " + std::to_string(wrong / image.width) +
           ") of d_out is wrong (" + Grouped(mismatch->count) + " of " + judge::Counted(found.size(), "pixel") +
           " in total)",
       {"expect", mismatch->expected},
       {"found", mismatch->found}},
      HintOfImage(image, input, expected, bound, found, wrong));
}

// A rung's buffers, for images and filters of up to this size.
struct Buffers {
  Buffers(judge::JudgeDevice& device, const std::string& rung, uint64_t pixels, uint64_t side, Offsets offsets)
      : offsets(offsets),
        in(device, pixels, "d_in", offsets.in),
        out(device, pixels, "d_out", offsets.out),
        filter(device, IsSteps(rung) ? 0 : side * (IsSeparable(rung) ? 1 : side),
               IsSeparable(rung) ? "d_row" : "d_filter", offsets.in),
        column(device, IsSeparable(rung) ? side : 0, "d_column", offsets.in) {}

  Offsets offsets;
  judge::DeviceArray<float> in, out, filter, column;
};

// Makes one call, and collects all its problems.
judge::EvidenceRun Call(judge::Runner& runner, const std::string& rung, Buffers& buffers, Image image,
                        const Input& input, Values values, bool repeats) {
  auto& [offsets, in, out, filter, column] = buffers;
  std::string text = "width = " + Grouped(image.width) + ", height = " + Grouped(image.height) +
                     (IsSteps(rung) ? ", steps = " : ", radius = ") + std::to_string(image.reach) + ", " + input.what;
  if (offsets.in + offsets.out > 0) {
    text += "; d_in and d_out begin " + std::to_string(offsets.in) + " and " + std::to_string(offsets.out) +
            " elements into their allocations";
  }
  const judge::CallContext context{rung, text, judge::Suite::Get().assignment().submission};
  const std::vector<float> pixels(input.pixels.begin(), input.pixels.end());
  const std::vector<float>& first = IsSeparable(rung) ? input.row : input.filter;
  const auto filter_before = filter.Fill(first), column_before = column.Fill(input.column);
  std::vector<worker::Argument> arguments = {in.argument()};
  if (filter.size() > 0) arguments.push_back(filter.argument());
  if (column.size() > 0) arguments.push_back(column.argument());
  arguments.push_back(out.argument());
  for (const uint64_t size : {image.width, image.height, image.reach}) {
    arguments.push_back(worker::Argument::Integer(static_cast<int>(size)));
  }
  const uint64_t work = WorkOf(rung, image.reach);
  // Tiles may be much larger than an image, so a launch may execute as much for 16 products as for an element.
  constexpr uint64_t kTileWidth = 256, kTileHeight = 64, kProducts = 16;
  judge::EvidenceRun run = judge::RunArrayCall<float>(
      runner, context,
      {.in = in,
       .out = out,
       .values = pixels,
       .arguments = std::move(arguments),
       .work = std::max(image.width, kTileWidth) * std::max(image.height, kTileHeight) * (1 + work / kProducts),
       .unchanged_hint = kReadOnly,
       .frees = repeats,
       .is_work = !pixels.empty() && work > 0,
       .check = [&](const judge::CallReport& report,
                    auto found) { return CheckResult(context, report, image, input, values, found); }},
      filter, column);
  judge::ExplainEach(run.problems, [&](const Problem& problem) { return HintOfFault(rung, problem); });
  run.elements = image.pixels() * work;
  const uint64_t read = run.elements > 0 ? 1 : 0;
  judge::CheckFurtherInput<float>(run, context, filter, filter_before.values(), read * first.size(), kReadOnly);
  judge::CheckFurtherInput<float>(run, context, column, column_before.values(), read * input.column.size(), kReadOnly);
  return run;
}

constexpr uint64_t kEvidenceReach = 4;

// An image with about one.elements of work. An undrawn image is square. Drawn round ones have the same radius or steps,
// and a width and height that are multiples of 64 and 16; other drawn ones have any sides, and any reach from 3 to 8;
// wide ones have a reach of 2.
// A side near this one that tiles of 64 fill to seven eighths or more; tiles of 32 too. Small ones stay.
uint64_t WellFilled(uint64_t side, judge::Random& random) {
  const uint64_t whole = (side + 63) / 64 * 64, part = whole / 8;
  if (side <= 32 || side >= whole - part) return side;
  return whole - static_cast<uint64_t>(random.Between(0, static_cast<int64_t>(part)));
}

Image ImageFor(const std::string& rung, const judge::EvidenceCase& one) {
  judge::Random random(judge::SeedFor(one.seed, "shape"));
  constexpr int64_t kWideReach = 2, kLeastReach = 3, kMostReach = 8;
  uint64_t reach = kEvidenceReach;
  if (one.wide)
    reach = kWideReach;
  else if (one.drawn && !one.round)
    reach = static_cast<uint64_t>(random.Between(kLeastReach, kMostReach));
  const uint64_t pixels = std::max<uint64_t>(one.elements / WorkOf(rung, reach), 1);
  const auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(pixels)));
  if (!one.drawn) return {root, root, reach};
  if (!one.round) {
    // One side is up to nine times as long as the other.
    const auto drawn =
        static_cast<uint64_t>(random.Between(static_cast<int64_t>(root / 3 + 1), static_cast<int64_t>(root)));
    const uint64_t shorter = WellFilled(drawn, random);
    const uint64_t longer = WellFilled(std::max<uint64_t>(pixels / shorter, 1), random);
    const bool is_wide = random.Next() % 2 == 0;
    return {is_wide ? longer : shorter, is_wide ? shorter : longer, reach};
  }
  const uint64_t width = std::max<uint64_t>((root + 32) / 64, 1) * 64;
  return {width, std::max<uint64_t>((pixels / width + 8) / 16, 1) * 16, reach};
}

}  // namespace

void StencilTest::Expect(const std::vector<Image>& images, Values values, Offsets offsets, Role role) {
  if (!ok()) return;
  judge::Runner& runner = judge::Suite::Get().runner(role);
  uint64_t pixels = 0, side = 0;
  for (const Image image : images) {
    pixels = std::max(pixels, image.pixels()), side = std::max(side, SideOf(image.reach));
  }
  Buffers buffers(runner.device(), rung(), pixels, side, offsets);
  Add(judge::CallInTurn(images, [&](const Image& image, bool repeats) {
        Input input = MakeInput(rung(), image, values, Seed(inputs_++));
        if (&image != images.data()) input.what += ", at addresses that had other values before";
        judge::EvidenceRun run = Call(runner, rung(), buffers, image, input, values, repeats);
        Keep(run.report);
        return run;
      }).problems);
}

// From the least to the most demanding images, so that the first message is the simplest.
TEST_P(StencilTest, FiltersWholeTiles) {
  for (const Image image : {Image{64, 64, 1}, {64, 64, 4}, {128, 32, 2}, {32, 96, 8}, {64, 32, 0}}) Expect({image});
}

TEST_P(StencilTest, FiltersAnyShape) {
  for (const Image image : {Image{70, 45, 3}, {45, 70, 8}}) Expect({image});
  const std::vector<uint64_t> sides = judge::Around({16, 32, 64});
  for (size_t i = 0; i < 2 * sides.size(); ++i) {
    Expect({{sides[i % sides.size()], sides[i * 4 % sides.size()], i % (kMaxRadius + 1)}});
  }
}

// Images may be narrower than the filter, which then reaches beyond opposite edges at once.
TEST_P(StencilTest, FiltersSmallImages) {
  for (uint64_t side = 5; side > 0; --side) Expect({{side, side, 8 - side}});
  for (const Image image : {Image{3, 2, 1}, {2, 3, 8}, {1, 1, 8}, {1, 1, 0}}) Expect({image});
  for (const uint64_t n : {33, 32, 1000}) Expect({{n, 1, n % 7}}), Expect({{1, n, n % 8}});
}

TEST_P(StencilTest, KeepsTheSumsPrecision) {
  for (const Image image : {Image{64, 32, 2}, {61, 67, 8}, {7, 300, 5}}) Expect({image}, Values::kReals);
}

TEST_P(StencilTest, FiltersAtAnyAddress) {
  for (const Offsets offsets : {Offsets{1, 0}, {0, 1}, {2, 2}, {3, 1}}) {
    Expect({{68, 36, 3}}, Values::kWhole, offsets);
  }
}

TEST_P(StencilTest, HandlesNothing) {
  // If the rung can't filter one pixel yet, report that first.
  Expect({{1, 1, 1}});
  for (const Image image : {Image{0, 0, 1}, {0, 5, 2}, {5, 0, 0}}) Expect({image});
}

// More rows or columns than a grid has blocks in y or z; on rung 1 more than that in tiles of sixteen.
TEST_P(StencilTest, FiltersLongImages) {
  // A quick check that reports a rung not begun.
  Expect({{33, 65, 2}}, Values::kWhole, {}, Role::kPlain);
  if (rung() == "convolve1_naive") return Expect({{1, uint64_t{1} << 20, 0}}, Values::kWhole, {}, Role::kPlain);
  for (const Image image : {Image{2, 65600, 1}, {65600, 2, 1}}) Expect({image}, Values::kWhole, {}, Role::kPlain);
}

TEST_P(StencilTest, KeepsNoMemory) { Expect({{40, 30, 3}, {40, 30, 3}}); }

INSTANTIATE_TEST_SUITE_P(, StencilTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  const suites::Image image = suites::ImageFor(rung, one);
  suites::Buffers buffers(runner.device(), rung, image.pixels(), suites::SideOf(image.reach),
                          {one.Offset("d_in"), one.Offset("d_out")});
  constexpr suites::Values kValues = suites::Values::kReals;
  EvidenceRun run =
      suites::Call(runner, rung, buffers, image, suites::MakeInput(rung, image, kValues, one.seed), kValues, false);
  if (one.wide && (rung.starts_with("convolve3") || suites::IsSteps(rung))) run.room = 1.35;  // more halo for a product
  return run;
}

}  // namespace lockstep::judge
