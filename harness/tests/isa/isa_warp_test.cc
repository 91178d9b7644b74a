// Operations across lanes, against the pseudo-code of PTX ISA 9.0, 9.7.9.6 and 9.7.13: shuffles, and groups of lanes that
// meet in one instruction. cosim_test.cc has every operation.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/isa/isa_test_support.h"

namespace lockstep::vgpu {
namespace {

struct Shuffled {
  int lane;
  bool in_range;
};

Shuffled ShuffleSource(const std::string& mode, int lane, uint32_t b, uint32_t c) {
  const int value = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31);
  const int segment = static_cast<int>((c >> 8) & 31);
  const int max_lane = (lane & segment) | (clamp & ~segment);
  const int min_lane = lane & segment;
  int j = 0;
  bool in_range = false;
  if (mode == "up") {
    j = lane - value;
    in_range = j >= max_lane;
  } else if (mode == "down") {
    j = lane + value;
    in_range = j <= max_lane;
  } else if (mode == "bfly") {
    j = lane ^ value;
    in_range = j <= max_lane;
  } else {
    j = min_lane | (value & ~segment);
    in_range = j <= max_lane;
  }
  return {in_range ? j : lane, in_range};
}

TEST(WarpOpsTest, ShufflesInEveryMode) {
  std::mt19937 random(1);
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const bool sync : {true, false}) {
      LaneMachine machine((sync ? "shfl.sync." : "shfl.") + mode + ".b32");
      ASSERT_TRUE(machine.supported());
      EXPECT_EQ(machine.insn().flags & kWarpSynchronous, sync ? kWarpSynchronous : 0);
      ASSERT_EQ(machine.sources(), sync ? 4u : 3u);
      for (int width = 1; width <= 32; width *= 2) {
        // What __shfl_*_sync passes for a width; up clamps at 0.
        const uint32_t c = static_cast<uint32_t>(32 - width) << 8 | (mode == "up" ? 0u : 31u);
        for (int round = 0; round < 20; ++round) {
          uint32_t b[kWarpSize];
          for (int lane = 0; lane < kWarpSize; ++lane) {
            b[lane] = round < 10 ? static_cast<uint32_t>(round) : static_cast<uint32_t>(random());
            machine.SetSource(0, lane, 1000u + static_cast<unsigned>(lane));
            machine.SetSource(1, lane, b[lane]);
            machine.SetSource(2, lane, c);
            if (sync) machine.SetSource(3, lane, kFullMask);
          }
          machine.Run();
          for (int lane = 0; lane < kWarpSize; ++lane) {
            const Shuffled expected = ShuffleSource(mode, lane, b[lane], c);
            EXPECT_EQ(machine.Destination(0, lane), 1000u + static_cast<unsigned>(expected.lane)) << mode << width;
            EXPECT_EQ(machine.Destination(1, lane), static_cast<uint64_t>(expected.in_range)) << mode << width;
          }
        }
      }
    }
  }
}

// Lanes with member masks of their own: halves of the warp, and a few lanes more.
constexpr LaneMask kGroups[] = {0x0000ffff, 0x00ff0000, 0xf0000000};
constexpr LaneMask kTaking = 0xf0ffffff;
LaneMask GroupOf(int lane) {
  for (const LaneMask group : kGroups) {
    if ((group >> lane) & 1) return group;
  }
  return 0;
}

void SetMembers(LaneMachine& machine, size_t source) {
  for (int lane = 0; lane < kWarpSize; ++lane) machine.SetSource(source, lane, GroupOf(lane));
}

TEST(WarpOpsTest, TheFormsWithoutSyncVoteAmongTheLanesThatRun) {
  LaneMachine ballot("vote.ballot.b32");
  for (int lane = 0; lane < kWarpSize; ++lane) ballot.SetSource(0, lane, lane & 1);
  ballot.Run(0x0000000f);
  EXPECT_EQ(ballot.Destination(0, 2), 0xau);
  EXPECT_EQ(ballot.Destination(0, 4), 0u);
  LaneMachine active("activemask.b32");
  active.Run(0x12345678);
  EXPECT_EQ(active.Destination(0, 3), 0x12345678u);
  EXPECT_EQ(active.Destination(0, 0), 0u);
}

TEST(WarpOpsTest, MembersThatHaveExitedDoNotVote) {
  LaneMachine all("vote.sync.all.pred"), ballot("vote.sync.ballot.b32");
  for (LaneMachine* machine : {&all, &ballot}) {
    for (int lane = 0; lane < kWarpSize; ++lane) machine->SetSource(0, lane, lane < 16);
    machine->SetSourceInAllLanes(1, kFullMask);
    machine->Run(0x0000ffff);
  }
  EXPECT_EQ(all.Destination(0, 3), 1u);
  EXPECT_EQ(ballot.Destination(0, 3), 0xffffu);
}

TEST(WarpOpsTest, MatchesEqualValues) {
  for (const std::string type : {"b32", "b64"}) {
    LaneMachine any("match.any.sync." + type), all("match.all.sync." + type);
    const auto value = [&](int lane) { return static_cast<uint64_t>(lane % 3) << (type == "b64" ? 33 : 0); };
    for (int lane = 0; lane < kWarpSize; ++lane) {
      any.SetSource(0, lane, value(lane));
      // Only the second group agrees.
      all.SetSource(0, lane, lane >= 16 && lane < 24 ? 5 : value(lane));
    }
    SetMembers(any, 1);
    SetMembers(all, 1);
    any.Run(kTaking);
    all.Run(kTaking);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (((kTaking >> lane) & 1) == 0) continue;
      LaneMask equal = 0;
      for (int other = 0; other < kWarpSize; ++other) equal |= LaneMask{value(other) == value(lane)} << other;
      EXPECT_EQ(any.Destination(0, lane), equal & GroupOf(lane)) << lane;
      const bool agrees = lane >= 16 && lane < 24;
      EXPECT_EQ(all.Destination(0, lane), agrees ? GroupOf(lane) : 0) << lane;
      EXPECT_EQ(all.Destination(1, lane), static_cast<uint64_t>(agrees));
    }
  }
}

TEST(WarpOpsTest, ReducesWithinTheMembers) {
  LaneMachine machine("redux.sync.add.u32");
  for (int lane = 0; lane < kWarpSize; ++lane) machine.SetSource(0, lane, uint64_t{1} << lane);
  SetMembers(machine, 1);
  machine.Run(kTaking);
  for (int lane = 0; lane < kWarpSize; ++lane) EXPECT_EQ(machine.Destination(0, lane), GroupOf(lane)) << lane;
}

TEST(WarpOpsTest, ElectsOneLane) {
  LaneMachine machine("elect.sync");
  ASSERT_TRUE(machine.supported());
  SetMembers(machine, 0);
  machine.Run(kTaking);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool takes = (kTaking >> lane) & 1;
    const int first = takes ? std::countr_zero(GroupOf(lane)) : 0;
    EXPECT_EQ(machine.Destination(0, lane), static_cast<uint64_t>(first));
    EXPECT_EQ(machine.Destination(1, lane), static_cast<uint64_t>(takes && lane == first));
  }
}

}  // namespace
}  // namespace lockstep::vgpu
