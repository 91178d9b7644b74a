// Tests which lanes' loads count as reads, one rule per test. speculation_random_test.cc tries them together.
#include "vgpu/exec/read_tracker.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "tests/support/device_support.h"
#include "vgpu/core/program.h"
#include "vgpu/observers/delayed_events.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {
namespace read_tracker_test {

using Lanes = std::map<uint32_t, LaneMask>;  // by word of shared memory: lanes that read it

class Recorder : public Observer {
 public:
  explicit Recorder(Lanes& lanes) : lanes_(lanes) {}
  bool WantsUsedReads() const override { return true; }
  void OnMemory(const MemoryAccess& event) override {
    if (event.kind != AccessKind::kLoad || event.space != MemorySpace::kShared) return;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint32_t at = 0; at < event.bytes && (event.mask >> lane & 1) != 0; at += 4) {
        lanes_[static_cast<uint32_t>(event.address[lane] + at) / 4] |= 1u << lane;
      }
    }
  }

 private:
  Lanes& lanes_;
};

// Runs a warp. The body finds its lane in %t, its place for results in %o; %p is true in lane 0, %h from lane 16 on.
Lanes ReadLanes(const std::string& body, const std::string& functions = "") {
  const std::string ptx =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b32 s[64];\n" + functions +
      ".visible .entry k(.param .u64 out) {\n.reg .u32 %r<20>, %t;\n.reg .f32 %f<4>;\n.reg .u64 %d<8>, %o;\n"
      ".reg .pred %p, %h, %q<4>;\nld.param.u64 %o, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %d0, %t, 16;\n"
      "add.u64 %o, %o, %d0;\nsetp.eq.u32 %p, %t, 0;\nsetp.ge.u32 %h, %t, 16;\n" +
      body + "\nret;\n}\n";
  TestDevice device(ptx);
  Lanes lanes;
  device->AddObserver(std::make_unique<Recorder>(lanes));
  const auto out = device.Make(std::vector<uint32_t>(4 * kWarpSize), "out");
  EXPECT_EQ(device.Launch("k", {{1}, {kWarpSize}}, out).error, LaunchError::kNone);
  return lanes;
}

constexpr LaneMask kFirst = 1, kUpper = 0xffff0000;

TEST(ReadTrackerTest, TheLanesThatChooseAValueReadIt) {
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; add.u32 %r2, %r1, %t; selp.b32 %r3, %r2, %t, %p;"
                      "st.global.u32 [%o], %r3;"),
            (Lanes{{0, kFirst}}));
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; cvt.rn.f32.s32 %f0, %t; sub.f32 %f0, %f0, 0f41800000;"
                      "slct.b32.f32 %r2, %r1, %t, %f0; st.global.u32 [%o], %r2;"),
            (Lanes{{0, kUpper}}));
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; @!%h mov.u32 %r1, 7; st.global.u32 [%o], %r1;"), (Lanes{{0, kUpper}}));
}

TEST(ReadTrackerTest, ConditionsHideEachOther) {
  const std::string load = "ld.shared.u32 %r1, [s]; setp.ne.u32 %q0, %r1, 5;";
  EXPECT_EQ(ReadLanes(load + "and.pred %q1, %q0, %h; selp.u32 %r2, 1, 0, %q1; st.global.u32 [%o], %r2;"),
            (Lanes{{0, kUpper}}));
  EXPECT_EQ(ReadLanes(load + "or.pred %q1, %q0, %h; selp.u32 %r2, 1, 0, %q1; st.global.u32 [%o], %r2;"),
            (Lanes{{0, ~kUpper}}));
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; setp.ne.and.u32 %q0, %r1, 5, %p; selp.u32 %r2, 1, 0, %q0;"
                      "st.global.u32 [%o], %r2;"),
            (Lanes{{0, kFirst}}));
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; selp.u64 %d1, -1, 0, %h; cvt.u64.u32 %d2, %r1; and.b64 %d3, %d2, %d1;"
                      "st.global.u64 [%o], %d3;"),
            (Lanes{{0, kUpper}}));
}

TEST(ReadTrackerTest, TheConditionCodePassesAValueOn) {
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; add.cc.u32 %r2, %r1, 5; addc.u32 %r3, 0, 0;"
                      "selp.b32 %r4, %r3, 0, %p; st.global.u32 [%o], %r4;"),
            (Lanes{{0, kFirst}}));
}

TEST(ReadTrackerTest, WhatNobodyLooksAtIsNotRead) {
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; add.u32 %r2, %r1, 1;"), Lanes());
  EXPECT_EQ(ReadLanes("ld.shared.v4.u32 {%r1, _, %r3, %r4}, [s]; selp.b32 %r3, %r3, %t, %p; st.global.u32 [%o], %r1;"
                      "st.global.u32 [%o+4], %r3;"),
            (Lanes{{0, kFullMask}, {2, kFirst}}));
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; @%h exit; st.global.u32 [%o], %r1;"), (Lanes{{0, ~kUpper}}));
}

TEST(ReadTrackerTest, BranchesAddressesAndOtherLanesUseAValue) {
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; @%h bra L; setp.eq.u32 %q0, %r1, 5; @%q0 bra L;"
                      "st.global.u32 [%o], %t; L:"),
            (Lanes{{0, ~kUpper}}));
  EXPECT_EQ(ReadLanes("st.shared.u32 [s+4], %t; ld.shared.u32 %r1, [s+4]; and.b32 %r1, %r1, 28; mov.u32 %r2, s;"
                      "add.u32 %r1, %r1, %r2; ld.shared.u32 %r3, [%r1+8];"),
            (Lanes{{1, kFullMask}}));
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r1, [s]; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; selp.b32 %r3, %r2, 0, %p;"
                      "st.global.u32 [%o], %r3;"),
            (Lanes{{0, kFullMask}}));
}

// Each iteration still holds the value of the one before when it loads its own.
TEST(ReadTrackerTest, EachTurnOfALoopIsARead) {
  EXPECT_EQ(ReadLanes("mov.u32 %r1, 0; mov.u32 %r5, 0; mov.u32 %r6, s;\n"
                      "L: mov.u32 %r2, %r1; ld.shared.u32 %r1, [%r6]; add.u32 %r6, %r6, 4; add.u32 %r5, %r5, 1;"
                      "setp.lt.u32 %q0, %r5, 3; @%q0 bra L;\nselp.b32 %r3, %r2, %t, %p; st.global.u32 [%o], %r3;"),
            (Lanes{{1, kFirst}}));
}

TEST(ReadTrackerTest, VolatileLoadsAlwaysCount) {
  EXPECT_EQ(ReadLanes("ld.volatile.shared.u32 %r1, [s]; selp.b32 %r2, %r1, 0, %p; st.global.u32 [%o], %r2;"),
            (Lanes{{0, kFullMask}}));
}

std::string Function(const std::string& more) {
  return ".func (.param .b32 y) f(.param .b32 x) {\n.reg .u32 %a<4>;\n.reg .pred %p;\nld.param.b32 %a0, [x];\n"
         "setp.lt.u32 %p, %a0, 4;\nld.shared.u32 %a1, [s+12];\nselp.b32 %a2, %a1, %a0, %p;\n" +
         more + "st.param.b32 [y], %a2;\nret;\n}\n";
}
constexpr const char* kCall =
    "{ .param .b32 x0; .param .b32 y0; st.param.b32 [x0], %t; call.uni (y0), f, (x0); ld.param.b32 %r1, [y0]; }"
    "st.global.u32 [%o], %r1;";

TEST(ReadTrackerTest, FunctionsAreFollowedWhereTheyHaveOneFrame) {
  EXPECT_EQ(ReadLanes(kCall, Function("")), (Lanes{{3, 0xf}}));
  EXPECT_EQ(ReadLanes(kCall, Function("{ .param .b32 x1; .param .b32 y1; setp.gt.u32 %p, %a0, 99; @!%p bra E;\n"
                                      "st.param.b32 [x1], %a0; call.uni (y1), f, (x1);\nE: }\n")),
            (Lanes{{3, kFullMask}}));
}

// The compiler loads a struct's padding along with its members.
TEST(ReadTrackerTest, AnElementThatNobodyNamesIsNotReadEvenByAFunctionThatCallsItself) {
  const std::string function =
      ".func (.param .b32 y) f(.param .b32 x) {\n.reg .u32 %a<9>;\n.reg .pred %p;\nld.param.b32 %a0, [x];\n"
      "ld.shared.v4.u32 {%a1, %a2, %a3, %a4}, [s+16];\nadd.u32 %a5, %a1, %a3;\n"
      "{ .param .b32 x1; .param .b32 y1; setp.gt.u32 %p, %a0, 99; @!%p bra E;\n"
      "st.param.b32 [x1], %a0; call.uni (y1), f, (x1);\nE: }\nst.param.b32 [y], %a5;\nret;\n}\n";
  EXPECT_EQ(ReadLanes(kCall, function), (Lanes{{4, kFullMask}, {6, kFullMask}}));
}

// A value held for longer than the event buffer has room: only lanes that used it before the buffer was full count.
TEST(ReadTrackerTest, AReadThatWaitsTooLongCountsForTheLanesThatHaveUsedIt) {
  const auto held = [](size_t stores) {
    return ReadLanes(
        "ld.shared.u32 %r1, [s]; mov.u32 %r5, 0; @%h st.global.u32 [%o+4], %r1;\nL: st.shared.u32 [s+64], %r5; add.u32 "
        "%r5, %r5, 1;"
        "setp.lt.u32 %q0, %r5, " +
        std::to_string(stores) + "; @%q0 bra L;\nselp.b32 %r3, %r1, %t, %p; st.global.u32 [%o], %r3;");
  };
  EXPECT_EQ(held(DelayedEvents::kMostEvents / 2), (Lanes{{0, kFirst | kUpper}}));
  EXPECT_EQ(held(DelayedEvents::kMostEvents * 2), (Lanes{{0, kUpper}}));
}

std::string Loop(const std::string& body, const std::string& behind) {
  return "mov.u32 %r2, 0; mov.u32 %r5, 0; mov.u32 %r6, s;\nL: ld.shared.u32 %r1, [s];" + body +
         "add.u32 %r5, %r5, 1; setp.lt.u32 %q0, %r5, 500; @%q0 bra L;\n" + behind;
}

// A value that is computed in a loop and leaves it counts, stored or not: no compiler would move the sum into the loop.
TEST(ReadTrackerTest, ASumThatLeavesItsLoopCounts) {
  const std::string sum = "add.u32 %r2, %r2, %r1;";
  EXPECT_EQ(ReadLanes(Loop(sum, "@!%h st.global.u32 [%o], %r2;")), (Lanes{{0, kFullMask}}));
  EXPECT_EQ(ReadLanes(Loop(sum, "@%h bra E; st.global.u32 [%o], %r2;\nE:")), (Lanes{{0, kFullMask}}));
  EXPECT_EQ(ReadLanes(Loop(sum, "")), Lanes());
  EXPECT_EQ(ReadLanes(Loop("add.u32 %r3, %r2, %r1; selp.b32 %r2, %r3, %r2, %p;", "@!%h st.global.u32 [%o], %r2;")),
            (Lanes{{0, kFirst}}));
}

// A loaded value that only leaves the loop counts where it is used: its load may have been moved above a condition.
TEST(ReadTrackerTest, ACopyThatLeavesItsLoopCountsWhereItIsUsed) {
  EXPECT_EQ(ReadLanes(Loop("mov.u32 %r2, %r1;", "@!%h st.global.u32 [%o], %r2;")), (Lanes{{0, ~kUpper}}));
  EXPECT_EQ(ReadLanes("ld.shared.u32 %r7, [s+4]; shl.b32 %r8, %r7, 1;" +
                      Loop("add.u32 %r3, %r2, %r8; selp.b32 %r2, %r3, %r2, %p; xor.b32 %r2, %r2, %r1;",
                           "@!%h st.global.u32 [%o], %r2;")),
            (Lanes{{0, kFullMask}, {1, kFirst}}));
}

// A value may come from any number of reads: each counts for the lanes that use the value, and for no others.
TEST(ReadTrackerTest, ManyReadsInOneValueCountForTheLanesThatUseIt) {
  for (const int reads : {1, 3, 63, 64, 127, 128, 129, 1000, 5000}) {
    std::string sum = "mov.u32 %r2, 0;";
    Lanes expected;
    for (int k = 0; k < reads; ++k) {
      sum += "ld.shared.u32 %r1, [s+" + std::to_string(k % 64 * 4) + "]; add.u32 %r2, %r2, %r1;\n";
      expected[static_cast<uint32_t>(k) % 64] = ~kUpper;
    }
    EXPECT_EQ(ReadLanes(sum + "@!%h st.global.u32 [%o], %r2;"), expected) << reads;
  }
}

}  // namespace read_tracker_test
}  // namespace lockstep::vgpu
