#include "vgpu/analysis/waiting_loads.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu {
namespace waiting_loads_test {

// The volatile loads of a function in order: w for one that waits, d for one of data.
std::string LoadsOf(const std::string& header, const std::string& body, bool entry) {
  const std::string registers =
      ".reg .pred p<8>; .reg .b32 r<16>; .reg .b64 d<16>; .shared .u32 s[4];\n .reg .b32 x; mov.u32 x, 0;\n";
  const ptx::Module module =
      ptx::Parse(".version 9.0\n.target sm_80\n.address_size 64\n" + header + "{\n" + registers + body + "}\n");
  const ptx::Function& function = module.functions.at(0);
  const std::vector<bool> waits = FindSpinReads(function, BuildControlFlowGraph(function), entry);
  std::string loads;
  for (size_t k = 0; k < function.body.size(); ++k) {
    const ptx::Instruction& i = function.body[k];
    const std::string kind = i.opcode == "ld" && !i.modifiers.empty() ? i.modifiers[0] : "";
    if (kind == "volatile" || kind == "acquire") loads += waits.at(k) ? 'w' : 'd';
  }
  return loads;
}
std::string Loads(const std::string& body) { return LoadsOf(".entry k(.param .u64 a)", body, true); }

TEST(SpinReadsTest, ALoopUntilAWordHasChanged) {
  EXPECT_EQ(Loads(R"(
    SPIN: ld.volatile.global.u32 r1, [d1];
    setp.eq.u32 p1, r1, 0;
    @p1 bra SPIN;
    ret;
  )"),
            "w");
}

TEST(SpinReadsTest, WhatGoesToSharedMemoryIsNotInTheKernelsParameters) {
  EXPECT_EQ(Loads(R"(
    ld.param.u64 d1, [a];
    LOOP: ld.volatile.global.u32 r1, [d1];
    st.shared.u32 [s], r1;
    ld.param.u64 d2, [a];
    setp.eq.u64 p1, d2, 0;
    @p1 bra LOOP;
    ret;
  )"),
            "d");
}

TEST(SpinReadsTest, WhatWasLoadedFromSharedMemoryBeforeIsNotTheValue) {
  EXPECT_EQ(Loads(R"(
    ld.shared.u32 r2, [s];
    LOOP: ld.volatile.global.u32 r1, [d1];
    add.u32 r3, r3, r1;
    add.u32 r2, r2, -1;
    setp.ne.u32 p1, r2, 0;
    @p1 bra LOOP;
    st.shared.u32 [s], r3;
    ld.shared.u32 r4, [s];
    st.global.u32 [d2], r4;
    ret;
  )"),
            "d");
}

TEST(SpinReadsTest, AVoteOrSharedMemoryInBetween) {
  EXPECT_EQ(Loads(R"(
    SPIN: ld.volatile.global.u64 d2, [d1];
    setp.eq.u64 p1, d2, 0;
    vote.sync.any.pred p2, p1, -1;
    @p2 bra SPIN;
    ret;
  )"),
            "w");
  EXPECT_EQ(Loads(R"(
    SPIN: ld.volatile.global.u32 r1, [d1];
    st.shared.u32 [s], r1;
    bar.sync 0;
    ld.shared.u32 r2, [s];
    setp.eq.u32 p1, r2, 0;
    @p1 bra SPIN;
    ret;
  )"),
            "w");
}

// The same load before the loop and in it, each with its own address register: equal addresses (shift 3), or not (4).
TEST(SpinReadsTest, TheFirstLoadOfALoopThatLoadsAgain) {
  const auto loads = [](const std::string& offset) {
    return Loads(
        "sub.s64 d3, d1, d6; shl.b64 d4, d3, 3; add.s64 d5, d2, d4; ld.volatile.global.u64 d8, [d5];\n"
        "sub.s64 d9, d1, d6; shl.b64 d10, d9, " +
        offset +
        "; add.s64 d11, d2, d10;\n"
        "TEST: setp.ne.s64 p1, d8, 0; @p1 bra FOUND; ld.volatile.global.u64 d8, [d11]; bra TEST;\n"
        "FOUND: st.global.u64 [d7], d8; ret;\n");
  };
  EXPECT_EQ(loads("3"), "ww");
  EXPECT_EQ(loads("4"), "dw");
}

TEST(SpinReadsTest, ASumIsData) {
  EXPECT_EQ(Loads(R"(
    NEXT: ld.volatile.global.u32 r1, [d1];
    add.u32 r2, r2, r1;
    add.u64 d1, d1, 4;
    add.u32 r3, r3, 1;
    setp.lt.u32 p1, r3, r4;
    @p1 bra NEXT;
    st.global.u32 [d2], r2;
    ret;
  )"),
            "d");
}

// The loaded value decides a branch, but the next load is of the next word.
TEST(SpinReadsTest, AMaximumByBranchesIsData) {
  EXPECT_EQ(Loads(R"(
    mov.u64 d1, d8;
    NEXT: ld.volatile.global.u32 r1, [d1];
    setp.le.u32 p2, r1, r2;
    @p2 bra LESS;
    mov.u32 r2, r1;
    LESS: add.u64 d3, d1, 4;
    add.u32 r3, r3, 1;
    setp.lt.u32 p1, r3, r4;
    mov.u64 d1, d3;
    @p1 bra NEXT;
    st.global.u32 [d2], r2;
    ret;
  )"),
            "d");
}

// A look-back in one loop: the next word, or the same one again, by a branch or a selection.
TEST(SpinReadsTest, ALookBackWaitsOnEachWord) {
  EXPECT_EQ(Loads(R"(
    AGAIN: mul.wide.s32 d3, r5, 8;
    add.u64 d4, d1, d3;
    ld.volatile.global.u64 d2, [d4];
    setp.eq.u64 p1, d2, 0;
    @p1 bra AGAIN;
    add.u64 d5, d5, d2;
    add.u32 r5, r5, -1;
    setp.lt.u64 p2, d2, d6;
    @p2 bra AGAIN;
    st.global.u64 [d7], d5;
    ret;
  )"),
            "w");
  EXPECT_EQ(Loads(R"(
    AGAIN: mul.wide.s32 d3, r5, 8;
    add.u64 d4, d1, d3;
    ld.volatile.global.u64 d2, [d4];
    setp.eq.u64 p1, d2, 0;
    add.u32 r6, r5, -1;
    selp.b32 r7, r5, r6, p1;
    add.u64 d5, d5, d2;
    setp.lt.u64 p2, d2, d6;
    mov.u32 r5, r7;
    @p2 bra AGAIN;
    st.global.u64 [d7], d5;
    ret;
  )"),
            "w");
}

TEST(SpinReadsTest, ATestAloneIsNoData) {
  EXPECT_EQ(Loads(R"(
    ld.volatile.global.u32 r1, [d1];
    setp.ne.u32 p1, r1, 0;
    @p1 bra DONE;
    st.global.u32 [d2], r3;
    DONE: ret;
  )"),
            "w");
  EXPECT_EQ(Loads(R"(
    ld.volatile.global.u32 r1, [d1];
    setp.ne.u32 p1, r1, 0;
    @p1 bra DONE;
    st.global.u32 [d2], r1;
    DONE: ret;
  )"),
            "d");
}

// A first load comes before the loop, or before a single second load.
TEST(SpinReadsTest, TheFirstOfSeveralLooks) {
  EXPECT_EQ(Loads(R"(
    ld.volatile.global.u64 d2, [d1+8];
    setp.ne.u64 p1, d2, 0;
    @p1 bra DONE;
    SPIN: ld.volatile.global.u64 d2, [d1+8];
    setp.eq.u64 p1, d2, 0;
    @p1 bra SPIN;
    DONE: st.global.u64 [d7], d2;
    ret;
  )"),
            "ww");
  EXPECT_EQ(Loads(R"(
    ld.volatile.global.u32 r1, [d1];
    setp.le.u32 p1, r1, r2;
    @p1 bra DONE;
    ld.volatile.global.u32 r2, [d1];
    DONE: st.global.u32 [d7], r2;
    ret;
  )"),
            "wd");
}

// All words are read again until each holds a value.
TEST(SpinReadsTest, ALoopOverWordsThatIsRepeated) {
  EXPECT_EQ(Loads(R"(
    AGAIN: mov.u32 r3, 0;
    mov.u64 d5, 0;
    mov.u32 r6, 0;
    NEXT: mul.wide.u32 d3, r3, 8;
    add.u64 d4, d1, d3;
    ld.volatile.global.u64 d2, [d4];
    setp.eq.u64 p1, d2, 0;
    selp.b32 r7, 1, r6, p1;
    mov.u32 r6, r7;
    add.u64 d5, d5, d2;
    add.u32 r3, r3, 1;
    setp.lt.u32 p2, r3, r9;
    @p2 bra NEXT;
    setp.ne.u32 p3, r6, 0;
    @p3 bra AGAIN;
    st.global.u64 [d7], d5;
    ret;
  )"),
            "w");
}

// A kernel that takes tile after tile: the outer loop brings other addresses.
TEST(SpinReadsTest, DataInALoopThatWaitsElsewhere) {
  EXPECT_EQ(Loads(R"(
    TILE: atom.global.add.u32 r5, [d8], 1;
    mul.wide.u32 d3, r5, 8;
    add.u64 d4, d1, d3;
    add.u64 d6, d2, d3;
    SPIN: ld.acquire.gpu.global.u32 r1, [d4];
    setp.eq.u32 p1, r1, 0;
    @p1 bra SPIN;
    ld.acquire.gpu.global.u32 r2, [d6];
    st.global.u32 [d6+4], r2;
    setp.lt.u32 p2, r2, r9;
    @p2 bra TILE;
    ret;
  )"),
            "wd");
}

TEST(SpinReadsTest, WhatAFunctionPassesOnMayBeWaitedFor) {
  EXPECT_EQ(LoadsOf(".func (.reg .b32 y) f(.reg .b64 z)", "ld.volatile.global.u32 y, [z];\n ret;\n", false), "w");
  EXPECT_EQ(
      LoadsOf(".func f(.reg .b64 z)", "ld.volatile.global.u32 r1, [z];\n st.global.u32 [z+4], r1;\n ret;\n", false),
      "d");
}

TEST(SpinReadsTest, NothingToFind) {
  const ptx::Module module = ptx::Parse(
      ".version 9.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a) { .reg .b32 r; ld.param.u32 r, [a]; ret; "
      "}");
  const ptx::Function& function = module.functions.at(0);
  EXPECT_TRUE(FindSpinReads(function, BuildControlFlowGraph(function), true).empty());
}

}  // namespace waiting_loads_test
}  // namespace lockstep::vgpu
