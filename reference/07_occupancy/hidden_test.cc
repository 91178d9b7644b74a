// Assignment 07, the occupancy calculator: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "cases.h"
#include "suites/07_occupancy_fixture.h"

namespace lockstep::suites {
namespace {

using judge::Random;

class HiddenOccupancyTest : public OccupancyTest {
 protected:
  void Ask(const Sm& sm, const Kernel& kernel) {
    if (Concerns(number(), sm.limits)) cases_.push_back(Solved(sm, kernel, number()));
  }
  // Asks all of them, at the end of a test.
  void ExpectAsked() { Expect(cases_); }

 private:
  std::vector<Case> cases_;
};

TEST_P(HiddenOccupancyTest, KnowsRandomKernels) {
  Random random(Seed());
  for (const Sm& sm : Devices(number(), /*every_carveout=*/true)) {
    for (int i = 0; i < 8; ++i) Ask(sm, RandomKernel(random, sm.limits));
  }
  ExpectAsked();
}

// Numbers that were remembered for the devices there are do not help here.
TEST_P(HiddenOccupancyTest, KnowsDevicesThatWereNeverBuilt) {
  Random random(Seed());
  for (int i = 1; i <= 400; ++i) {
    const Sm sm = MadeUpDevice(random, i, number());
    Ask(sm, RandomKernel(random, sm.limits));
  }
  ExpectAsked();
}

TEST_P(HiddenOccupancyTest, IsRightAtBoundariesOfDevicesThatWereNeverBuilt) {
  Random random(Seed());
  for (int i = 1; i <= 100; ++i) {
    const Sm sm = MadeUpDevice(random, i, number());
    const auto around = [&](int unit) {
      return std::max(1, unit * static_cast<int>(random.Between(1, 6)) + static_cast<int>(random.Between(-1, 1)));
    };
    Ask(sm, {around(sm.limits.warp_size), around(8), around(sm.limits.shared_unit), 0, 4});
  }
  ExpectAsked();
}

TEST_P(HiddenOccupancyTest, AnswersAgainAsBefore) {
  Random random(Seed());
  const std::vector<Sm> devices = Devices(number());
  for (int round = 0; round < 2; ++round) {
    for (const Sm& sm : devices) Ask(sm, {128, static_cast<int>(random.Between(1, 60)), 2048, 0, 4});
  }
  ExpectAsked();
}

INSTANTIATE_TEST_SUITE_P(, HiddenOccupancyTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()),
                         judge::RungName);

}  // namespace
}  // namespace lockstep::suites
