// Assignment 14, the matrix product: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/14_matmul_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenMatmulTest : public MatmulTest {};

TEST_P(HiddenMatmulTest, MultipliesRandomShapes) {
  judge::Random random(Seed());
  for (int k = 0; k < 24; ++k) {
    const auto side = [&] { return static_cast<uint64_t>(random.Between(1, 150)); };
    const uint64_t rows = side(), columns = side();
    Expect({rows, columns, side()}, k % 2 == 0 ? Values::kWhole : Values::kReals);
  }
}

// Multiples of four or eight one way and not the other.
TEST_P(HiddenMatmulTest, MultipliesMultiplesOfFour) {
  for (const Shape shape : {Shape{4, 4, 4}, {36, 44, 20}, {100, 132, 8}, {100, 131, 8}, {100, 132, 9}, {99, 8, 68}}) {
    Expect(shape);
  }
}

TEST_P(HiddenMatmulTest, MultipliesAtAnyAddress) {
  for (const Offsets offsets : {Offsets{3, 0, 0}, {0, 2, 0}, {0, 0, 3}, {8, 8, 8}, {4, 4, 4}}) {
    Expect({64, 64, 64}, Values::kWhole, Role::kChecked, offsets);
  }
}

// Whole numbers, so that a sum of many products is as exact as one of few.
TEST_P(HiddenMatmulTest, MultipliesDeepMatrices) {
  for (const Shape shape : {Shape{3, 5, 4099}, {64, 64, 1000}}) Expect(shape);
}

// An infinity changes its row of the product and no other: what fills a tile past its edge has to be 0 on both sides,
// and may be no element of the next row, nor a row's last element again.
TEST_P(HiddenMatmulTest, KeepsAnInfinityInItsRow) {
  for (const Shape shape : {Shape{20, 20, 20}, {70, 66, 37}, {9, 40, 5}}) Expect(shape, Values::kInfinity);
}

// A result that was remembered by address and shape is wrong here, and so is what a larger product has left.
TEST_P(HiddenMatmulTest, MultipliesAgainAtTheSameAddresses) {
  ExpectInTurn({{65, 40, 30}, {65, 40, 30}, {100, 70, 64}, {17, 31, 9}, {1, 1, 1}, {64, 64, 32}},
               "at addresses that had other matrices before");
}

// A row longer than 2^16 elements, and an index that a float does not hold.
TEST_P(HiddenMatmulTest, MultipliesWideMatrices) {
  Expect({33, 65, 17}, Values::kWhole, Role::kPlain);
  Expect({2, 70001, 3}, Values::kWhole, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenMatmulTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
