// Assignment 16, stencil and convolution: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/16_stencil_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenStencilTest : public StencilTest {};

TEST_P(HiddenStencilTest, FiltersRandomShapes) {
  judge::Random random(Seed());
  const auto drawn = [&](int64_t low, int64_t high) { return static_cast<uint64_t>(random.Between(low, high)); };
  for (uint64_t k = 0; k < 16; ++k) {
    Expect({{drawn(1, 90), drawn(1, 90), k % (kMaxRadius + 1)}}, k % 3 == 0 ? Values::kReals : Values::kWhole);
  }
}

TEST_P(HiddenStencilTest, FiltersSmallImagesAnywhere) {
  for (uint64_t width = 1; width <= 4; ++width) {
    for (uint64_t height = 1; height <= 4; ++height) {
      Expect({{width, height, (width * 5 + height) % (kMaxRadius + 1)}}, Values::kWhole, {width % 4, height % 4});
      Expect({{width * 16, height * 9, height}}, Values::kWhole, {height % 4, width % 4});
    }
  }
}

// A result, or weights, that were kept by address and size are wrong here.
TEST_P(HiddenStencilTest, FiltersAgainAtTheSameAddresses) {
  Expect({{40, 30, 3}, {40, 30, 3}, {64, 64, 8}, {30, 40, 3}, {5, 4, 1}, {40, 30, 2}, {40, 30, 3}});
}

TEST_P(HiddenStencilTest, FiltersLargerImages) {
  judge::Random random(Seed());
  Expect({{3, 3, 1}}, Values::kWhole, {}, Role::kPlain);
  Expect({{static_cast<uint64_t>(random.Between(500, 700)), 130, 2}}, Values::kWhole, {}, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenStencilTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
