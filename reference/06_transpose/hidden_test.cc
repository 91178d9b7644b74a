// Assignment 06, the ladder of transposes: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/06_transpose_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenTransposeTest : public TransposeTest {};

TEST_P(HiddenTransposeTest, TransposesRandomShapes) {
  judge::Random random(Seed());
  for (int k = 0; k < 40; ++k) {
    const auto side = [&] { return static_cast<uint64_t>(random.Between(1, 200)); };
    const uint64_t width = side();
    Expect({width, side()}, k % 2 == 0 ? Values::kRamp : Values::kBits);
  }
}

TEST_P(HiddenTransposeTest, TransposesPrimeShapes) {
  for (const Shape shape : {Shape{7, 11}, {53, 59}, {211, 223}, {2, 7919}, {7919, 2}, {5, 4099}, {509, 127}}) {
    Expect(shape, Values::kBits);
  }
}

// Multiples of four one way and not the other, and of four but not of a tile.
TEST_P(HiddenTransposeTest, TransposesMultiplesOfFour) {
  for (const Shape shape :
       {Shape{4, 4}, {4, 8}, {36, 44}, {100, 132}, {100, 131}, {101, 132}, {64, 63}, {63, 64}, {4, 65}}) {
    Expect(shape, Values::kBits);
  }
}

TEST_P(HiddenTransposeTest, MovesManyNaNs) {
  Expect({129, 257}, Values::kNaNs);
  Expect({256, 64}, Values::kNaNs);
}

TEST_P(HiddenTransposeTest, TransposesFromAnyAddress) {
  // Each matrix at a different alignment; with shapes that fill whole tiles, and with others.
  for (const Offsets offsets : {Offsets{0, 1}, {2, 0}, {3, 3}, {1, 2}}) {
    for (const Shape shape : {Shape{64, 64}, {128, 4}}) Expect(shape, Values::kBits, Role::kChecked, offsets);
  }
  Expect({33, 31}, Values::kBits, Role::kChecked, {1, 3});
}

// A result that was remembered by address and shape is wrong here.
TEST_P(HiddenTransposeTest, TransposesAgainAtTheSameAddresses) {
  constexpr Shape kShape{65, 40};
  TransposeBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), kShape.elements());
  for (uint64_t call = 0; call < 4; ++call) {
    ExpectIn(buffers, kShape, MakeMatrix(Values::kBits, kShape.elements(), Seed(call)),
             "new values at the same address, call " + std::to_string(call + 1));
  }
}

// Buffers still hold what the larger matrices before left.
TEST_P(HiddenTransposeTest, TransposesSmallAfterLarge) {
  TransposeBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), uint64_t{200} * 170);
  for (const Shape shape : {Shape{200, 170}, {170, 200}, {33, 70}, {1, 1}, {96, 31}}) {
    ExpectIn(buffers, shape, MakeMatrix(Values::kBits, shape.elements(), Seed(shape.width)),
             "in buffers that held another matrix before");
  }
}

// More elements than 2^24, from where on a float skips every other index, in rows longer than 2^16: there a quotient of
// floats becomes the next row's. Rungs 3 and 4 have rung 2's indices, and a matrix of as many columns.
TEST_P(HiddenTransposeTest, TransposesVeryLargeMatrices) {
  Expect({33, 65}, Values::kRamp, Role::kPlain);
  const bool has_indices_of_rung2 = rung() == "transpose3_padded" || rung() == "transpose4_rows";
  Expect({65539, has_indices_of_rung2 ? 17u : 257u}, Values::kBits, Role::kPlain);
}

// With every checker: some faults of blocks that stay need three tiles each, here of 2048 blocks or more.
TEST_P(HiddenTransposeTest, TransposesManyTiles) { Expect({3, 32 * 6200 + 5}, Values::kRamp); }

INSTANTIATE_TEST_SUITE_P(, HiddenTransposeTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()),
                         judge::RungName);

}  // namespace
}  // namespace lockstep::suites
