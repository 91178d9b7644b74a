// Assignment 07, the occupancy calculator: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/inputs.h"
#include "suites/07_occupancy_fixture.h"

namespace lockstep::suites {
namespace {

using judge::Random;
using judge::SmLimits;

class HiddenOccupancyTest : public OccupancyTest {
 protected:
  static int Between(Random& random, int low, int high) { return static_cast<int>(random.Between(low, high)); }

  static Kernel RandomKernel(Random& random, const SmLimits& sm) {
    Kernel kernel;
    kernel.threads = Between(random, 1, sm.max_threads_per_block);
    kernel.registers = Between(random, 1, sm.max_registers_per_thread);
    // Small and large needs alike, which one range would not give.
    kernel.shared = Between(random, 0, sm.shared_per_block >> Between(random, 0, 6));
    kernel.shared_per_thread = Between(random, 0, 1) * Between(random, 0, 64);
    kernel.warps = Between(random, 1, sm.max_warps);
    return kernel;
  }
};

TEST_P(HiddenOccupancyTest, KnowsRandomKernels) {
  Random random(Seed());
  for (const Sm& sm : DevicesWithCarveOuts()) {
    for (int i = 0; i < 8; ++i) Expect(sm, RandomKernel(random, sm.limits));
  }
}

// Numbers that were remembered for the devices there are do not help here.
TEST_P(HiddenOccupancyTest, KnowsDevicesThatWereNeverBuilt) {
  Random random(Seed());
  for (int i = 0; i < 400; ++i) {
    SmLimits sm;
    sm.max_warps = Between(random, 8, 96);
    sm.max_threads_per_block = 32 * Between(random, 4, 48);
    sm.max_blocks = Between(random, 2, 40);
    sm.warp_granularity = Between(random, 1, 8);
    sm.register_unit = 32 * Between(random, 1, 16);
    sm.registers = 1024 * Between(random, 8, 160);
    sm.registers_per_block = sm.registers / Between(random, 1, 2);
    sm.max_registers_per_thread = Between(random, 60, 300);
    sm.shared_unit = 64 * Between(random, 1, 16);
    sm.shared = 1024 * Between(random, 8, 256);
    sm.shared_reserved = 256 * Between(random, 0, 6);
    sm.shared_per_block = sm.shared - sm.shared_reserved;
    sm.registers_by_block = number() == 3 || (number() != 4 && Between(random, 0, 3) == 0);
    Expect({sm, "a device that was never built, no. " + std::to_string(i)}, RandomKernel(random, sm));
  }
}

TEST_P(HiddenOccupancyTest, AnswersAgainAsBefore) {
  Random random(Seed());
  const std::vector<Sm> devices = Devices();
  for (int round = 0; round < 2; ++round) {
    for (const Sm& sm : devices) Expect(sm, {128, Between(random, 1, 60), 2048, 0, 4});
  }
}

INSTANTIATE_TEST_SUITE_P(, HiddenOccupancyTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()),
                         judge::RungName);

}  // namespace
}  // namespace lockstep::suites
