// Assignment 18, two GPUs: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/18_two_gpus_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenGpusTest : public GpusTest {};

TEST_P(HiddenGpusTest, SharesAmongMore) {
  for (const int devices : {4, 3}) {
    ExpectWords(devices, {4096, 5001, 3, 2});
    for (const int height : {16, 17, 5, 3, 2}) ExpectField(devices, 40, height, 6);
  }
}

TEST_P(HiddenGpusTest, TakesDrawnSizes) {
  judge::Random random(Seed());
  for (int k = 0; k < 6; ++k) {
    const auto devices = static_cast<int>(random.Between(1, 4));
    const auto drawn = [&](int most) { return static_cast<int>(random.Between(1, most)); };
    ExpectWords(devices, {static_cast<uint64_t>(drawn(6000))});
    ExpectField(devices, drawn(150), drawn(40), drawn(8));
  }
}

TEST_P(HiddenGpusTest, RunsAgainWithOthers) {
  for (const int devices : {4, 2, 4, 3, 1, 4}) {
    ExpectWords(devices, {2000});
    ExpectField(devices, 40, 16, 3);
  }
}

TEST_P(HiddenGpusTest, RunsForLong) {
  ExpectWords(3, {33, 200001}, Role::kPlain);
  ExpectField(4, 33, 9, 2, Role::kPlain);
  ExpectField(4, 200, 101, 30, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenGpusTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
