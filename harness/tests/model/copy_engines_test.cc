#include "vgpu/model/copy_engines.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/model/profile_named.h"

namespace lockstep::vgpu {
namespace copy_engines_test {

constexpr LaneRules kToday{.copy_engines = 2};
constexpr LaneRules kOneQueue{.copy_engines = 1, .in_order = true};

// Chunks of a copy to the device (10), a kernel (5) and a copy back (10), each waiting for the one before.
std::vector<LaneOperation> Chunks(uint32_t count, bool depth_first) {
  std::vector<LaneOperation> operations;
  const auto add = [&](Lane lane, double microseconds, std::vector<uint32_t> after, uint32_t chunk) {
    operations.push_back({lane, microseconds, std::move(after), chunk});
  };
  if (depth_first) {
    for (uint32_t c = 0; c < count; ++c) {
      add(Lane::kToDevice, 10, {}, c);
      add(Lane::kCompute, 5, {3 * c}, c);
      add(Lane::kToHost, 10, {3 * c + 1}, c);
    }
  } else {
    for (uint32_t c = 0; c < count; ++c) add(Lane::kToDevice, 10, {}, c);
    for (uint32_t c = 0; c < count; ++c) add(Lane::kCompute, 5, {c}, c);
    for (uint32_t c = 0; c < count; ++c) add(Lane::kToHost, 10, {count + c}, c);
  }
  return operations;
}

TEST(CopyEnginesTest, NothingTakesNoTime) {
  const LaneSchedule schedule = ScheduleLanes({}, kToday);
  EXPECT_EQ(schedule.microseconds, 0);
  EXPECT_EQ(schedule.bound, 0);
}

TEST(CopyEnginesTest, ChunksOverlapOnThreeEngines) {
  for (const bool depth_first : {true, false}) {
    const LaneSchedule schedule = ScheduleLanes(Chunks(4, depth_first), kToday);
    EXPECT_EQ(schedule.microseconds, 55) << "four copies, and the last chunk's kernel and copy back";
    EXPECT_EQ(schedule.bound, 40);
    EXPECT_EQ(schedule.serial, 100);
    EXPECT_EQ(schedule.copy_overlap, 25);
    EXPECT_EQ(schedule.kernel_overlap, 20);
  }
}

TEST(CopyEnginesTest, OneStreamOverlapsNothing) {
  std::vector<LaneOperation> operations = Chunks(4, true);
  for (uint32_t k = 1; k < operations.size(); ++k) operations[k].after = {k - 1};
  const LaneSchedule schedule = ScheduleLanes(operations, kToday);
  EXPECT_EQ(schedule.microseconds, 100);
  EXPECT_EQ(schedule.kernel_overlap, 0);
  EXPECT_EQ(schedule.copy_overlap, 0);
}

TEST(CopyEnginesTest, TheOrderOfIssueMattersWithOneQueue) {
  EXPECT_EQ(ScheduleLanes(Chunks(4, true), kOneQueue).microseconds, 100);
  const LaneSchedule breadth = ScheduleLanes(Chunks(4, false), kOneQueue);
  EXPECT_EQ(breadth.microseconds, 80);
  EXPECT_EQ(breadth.bound, 80);
}

// Two streams with two copies each, issued alternately: an engine stays with its current stream.
TEST(CopyEnginesTest, AnEngineStaysWithAStream) {
  const std::vector<LaneOperation> operations = {{Lane::kToDevice, 10, {}, 1},
                                                 {Lane::kToDevice, 10, {}, 2},
                                                 {Lane::kToDevice, 10, {0}, 1},
                                                 {Lane::kToDevice, 10, {1}, 2}};
  EXPECT_EQ(ScheduleLanes(operations, kToday).begin, (std::vector<double>{0, 20, 10, 30}));
  EXPECT_EQ(ScheduleLanes(operations, kOneQueue).begin, (std::vector<double>{0, 10, 20, 30}));
}

// One engine for both directions, but a queue for each stream: what is ready goes first.
TEST(CopyEnginesTest, TheOrderOfIssueHardlyMattersWithQueues) {
  const LaneRules rules{.copy_engines = 1, .in_order = false};
  EXPECT_EQ(ScheduleLanes(Chunks(4, true), rules).microseconds, 80);
  EXPECT_EQ(ScheduleLanes(Chunks(4, false), rules).microseconds, 80);
}

TEST(CopyEnginesTest, WithoutCopyEnginesNothingOverlaps) {
  const LaneSchedule schedule = ScheduleLanes(Chunks(4, true), {.copy_engines = 0});
  EXPECT_EQ(schedule.microseconds, 100);
  EXPECT_EQ(schedule.bound, 100);
  EXPECT_EQ(schedule.copy_overlap, 0);
}

TEST(CopyEnginesTest, PageLockedMemoryIsFaster) {
  const DeviceProfile& t4 = Profile("t4");
  EXPECT_LT(HostCopyMicroseconds(t4, 1 << 20, true), HostCopyMicroseconds(t4, 1 << 20, false));
  EXPECT_GT(HostCopyMicroseconds(t4, 0, true), 0);
}

// Whatever the rules and the waits: nothing begins before what it waits for has ended, no engine does two things at
// once, no engine idles while something is ready for it, and no schedule is shorter than the bound.
TEST(CopyEnginesTest, RandomSchedulesKeepTheRules) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<LaneOperation> operations(random() % 40);
    for (uint32_t k = 0; k < operations.size(); ++k) {
      operations[k].lane = static_cast<Lane>(random() % 3);
      operations[k].microseconds = random() % 10;
      operations[k].stream = random() % 4;
      for (uint32_t before = 0; before < k; ++before) {
        if (random() % 8 == 0) operations[k].after.push_back(before);
      }
    }
    const LaneRules rules{.copy_engines = static_cast<int>(random() % 3), .in_order = random() % 2 == 0};
    const LaneSchedule schedule = ScheduleLanes(operations, rules);
    const auto engine_of = [&](uint32_t k) {
      const Lane lane = operations[k].lane;
      if (rules.copy_engines == 0) return 0;
      if (rules.copy_engines == 1) return lane == Lane::kCompute ? 0 : 1;
      return static_cast<int>(lane);
    };
    for (uint32_t k = 0; k < operations.size(); ++k) {
      EXPECT_EQ(schedule.end[k], schedule.begin[k] + operations[k].microseconds);
      double ready = 0;
      for (const uint32_t before : operations[k].after) {
        EXPECT_GE(schedule.begin[k], schedule.end[before]);
        ready = std::max(ready, schedule.end[before]);
      }
      double busy_until = 0;  // the end of the engine's earlier operations
      for (uint32_t other = 0; other < operations.size(); ++other) {
        if (other == k || engine_of(other) != engine_of(k)) continue;
        EXPECT_TRUE(schedule.end[other] <= schedule.begin[k] || schedule.begin[other] >= schedule.end[k] ||
                    operations[other].microseconds == 0 || operations[k].microseconds == 0);
        if (schedule.end[other] <= schedule.begin[k]) busy_until = std::max(busy_until, schedule.end[other]);
        if (rules.in_order && other < k) {
          EXPECT_LE(schedule.end[other], schedule.begin[k]);
        }
      }
      EXPECT_EQ(schedule.begin[k], std::max(ready, busy_until));
    }
    EXPECT_GE(schedule.microseconds, schedule.bound);
    EXPECT_LE(schedule.microseconds, schedule.serial);
  }
}

// Each device sends one copy at a time and receives one, while its kernels run.
TEST(CopyEnginesTest, CopiesBetweenDevicesNeedBothEnds) {
  std::vector<LaneOperation> operations = {{Lane::kToPeer, 10, {}, 0, 0, 1}, {Lane::kToPeer, 10, {}, 1, 1, 0},
                                           {Lane::kCompute, 15, {}, 2, 0},   {Lane::kCompute, 15, {}, 3, 1},
                                           {Lane::kToPeer, 10, {}, 4, 2, 1}, {Lane::kToPeer, 10, {3}, 5, 2, 0}};
  const LaneSchedule schedule = ScheduleLanes(operations, kToday);
  EXPECT_EQ(schedule.begin, (std::vector<double>{0, 0, 0, 0, 10, 20}));
  EXPECT_EQ(schedule.microseconds, 30);
  EXPECT_EQ(schedule.bound, 20);
  EXPECT_EQ(schedule.peer, 30);
  EXPECT_EQ(schedule.peer_overlap, 15);
  EXPECT_EQ(schedule.kernels, 15);
}

}  // namespace copy_engines_test
}  // namespace lockstep::vgpu
