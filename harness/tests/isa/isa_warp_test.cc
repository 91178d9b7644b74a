// Operations across lanes, against the pseudo-code of PTX ISA 9.0, 9.7.9.6 and 9.7.13: groups of lanes that meet in one
// instruction, and the forms without .sync. cosim_test.cc has every operation.
#include <gtest/gtest.h>

#include <string>

#include "tests/isa/isa_test_support.h"

namespace lockstep::vgpu {
namespace isa_warp_test {

// Groups of lanes, each with its own member mask; the lanes of kTaking run the instruction.
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

TEST(WarpOpsTest, TheFormsWithoutSyncAreOfTheLanesThatRun) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    LaneMachine shuffle("shfl." + mode + ".b32"), same("shfl.sync." + mode + ".b32");
    EXPECT_EQ(shuffle.insn().flags, 0);
    EXPECT_EQ(same.insn().flags, kWarpSynchronous);
    EXPECT_EQ(shuffle.insn().handler, same.insn().handler) << mode;
  }
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

}  // namespace isa_warp_test
}  // namespace lockstep::vgpu
