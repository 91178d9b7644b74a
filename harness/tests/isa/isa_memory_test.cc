// Wide and vector accesses, atomics of small floats, the stack, register parameters, address spaces, clocks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/device_support.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {
namespace isa_memory_test {

std::string Module(const std::string& text) { return ".version 9.0\n.target sm_100\n.address_size 64\n" + text; }

// A kernel k(p): %rd1 holds the pointer.
std::string Kernel(const std::string& body, const std::string& before = "") {
  return Module(before + R"(
.visible .entry k(.param .u64 p) {
  .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .b128 %q<8>; .reg .pred %p<8>; .reg .f32 %f<16>;
  ld.param.u64 %rd1, [p];
)" + body + "\n ret;\n}\n");
}

// The 64 words of the buffer after one block of `threads` threads.
std::vector<uint32_t> RunKernel(const std::string& ptx, std::vector<uint32_t> words = {}, uint32_t threads = 1) {
  TestDevice device(ptx);
  words.resize(64);
  const auto buffer = device.Make(words);
  device.Run("k", {{1}, {threads}}, buffer);
  return device->faulted() ? std::vector<uint32_t>(64, 0xdead) : device.Get(buffer);
}
LaunchError ErrorOf(const std::string& ptx) {
  TestDevice device(ptx);
  const auto buffer = device.Make(std::vector<uint32_t>(64));
  return device.Launch("k", {{1}, {1}}, buffer).error;
}
std::string Refusal(const std::string& instruction) {
  TestDevice device(Kernel(instruction));
  const auto buffer = device.Make(std::vector<uint32_t>(64));
  const LaunchError error = device.Launch("k", {{1}, {1}}, buffer).error;
  return error == LaunchError::kUnsupported ? device->findings().findings().at(0).detail : "";
}

TEST(IsaMemoryTest, LoadsAndStoresOf128Bits) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      ld.global.b128 %q1, [%rd1]; mov.b128 {%rd2, %rd3}, %q1; mov.b128 %q2, {%rd3, %rd2};
      st.global.b128 [%rd1+16], %q2;
      mov.b32 %r1, 9; atom.global.exch.b128 %q3, [%rd1+16], %q1; st.global.b128 [%rd1+32], %q3;
      atom.global.cas.b128 %q4, [%rd1+16], %q1, %q2; st.global.b128 [%rd1+48], %q4;)"),
                                                {1, 2, 3, 4});
  EXPECT_EQ(std::vector(words.begin() + 4, words.begin() + 16),
            (std::vector<uint32_t>{3, 4, 1, 2, 3, 4, 1, 2, 1, 2, 3, 4}));
  EXPECT_EQ(ErrorOf(Kernel("ld.global.b128 %q1, [%rd1+8];")), LaunchError::kMisalignedAddress);
}

TEST(IsaMemoryTest, VectorsOf32Bytes) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      mov.u32 %r20, %tid.x; mul.wide.u32 %rd2, %r20, 32; add.u64 %rd3, %rd1, %rd2;
      ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd3];
      add.u32 %r8, %r8, 1;
      st.global.v8.b32 [%rd3+128], {%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1};
      ld.global.v4.b64 {%rd4, %rd5, %rd6, %rd7}, [%rd3];)"),
                                                {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18}, 4);
  EXPECT_EQ(std::vector(words.begin() + 32, words.begin() + 48),
            (std::vector<uint32_t>{9, 7, 6, 5, 4, 3, 2, 1, 19, 17, 16, 15, 14, 13, 12, 11}));
  EXPECT_EQ(ErrorOf(Kernel("ld.global.v4.b64 {%rd4, %rd5, %rd6, %rd7}, [%rd1+16];")), LaunchError::kMisalignedAddress);
  EXPECT_NE(Refusal("ld.shared.v4.b64 {%rd4, %rd5, %rd6, %rd7}, [%rd1];"), "");
}

TEST(IsaMemoryTest, AtomicsOfHalvesAndVectors) {
  const std::vector<uint32_t> words = RunKernel(
      Kernel(R"(
      mov.b16 %h1, 0x3f80; atom.global.add.noftz.bf16 %h2, [%rd1], %h1;
      mov.b32 %r1, 0x40003f80; red.global.add.noftz.bf16x2 [%rd1+4], %r1;
      mov.b32 %r2, 0x3c003c00; atom.global.add.noftz.f16x2 %r3, [%rd1+8], %r2;
      mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
      atom.global.v2.f32.add {%f3, %f4}, [%rd1+16], {%f1, %f2};
      red.global.v4.f32.add [%rd1+32], {%f1, %f1, %f2, %f2};
      atom.global.v2.bf16x2.max.noftz {%r4, %r5}, [%rd1+48], {%r1, %r1};)"),
      {0x3f80, 0x3f803f80, 0x40003c00, 0, 0x3f800000, 0x3f800000, 0, 0, 1, 0, 0, 0x3f800000, 0x3f804040, 0x7fff0000});
  EXPECT_EQ(words[0], 0x4000u);
  EXPECT_EQ(words[1], 0x40404000u);
  EXPECT_EQ(words[2], 0x42004000u);
  EXPECT_EQ(words[4], 0x40000000u);
  EXPECT_EQ(words[5], 0x40400000u);
  EXPECT_EQ(words[8], 0x3f800000u);
  EXPECT_EQ(words[11], 0x40400000u);
  EXPECT_EQ(words[12], 0x40004040u);
  EXPECT_EQ(words[13], 0x40003f80u);
  EXPECT_NE(Refusal("red.global.v2.u32.add [%rd1], {%r1, %r2};"), "");
  EXPECT_NE(Refusal("atom.global.add.bf16 %h2, [%rd1], %h1;"), "");
}

TEST(IsaMemoryTest, VectorsMustFitTheirModifier) {
  for (const char* text :
       {"ld.global.v2.u32 %r1, [%rd1];", "ld.global.u32 {%r1, %r2}, [%rd1];", "ld.global.v4.u32 {%r1, %r2}, [%rd1];",
        "st.global.v2.u32 [%rd1], %r1;", "ld.global.v8.b32 {%r1, %r2, %r3, %r4}, [%rd1];", "ld.param.v2.u32 %r1, [p];",
        "atom.global.v2.f32.add {%f1, %f2, %f3}, [%rd1], {%f4};", "atom.global.v2.f32.add %f1, [%rd1], {%f2, %f3};",
        "red.global.v2.f32.add [%rd1], %f1;"}) {
    EXPECT_NE(Refusal(text), "") << text;
  }
}

TEST(IsaMemoryTest, PairsOfFloats) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      ld.global.v2.b64 {%rd2, %rd3}, [%rd1];
      add.f32x2 %rd4, %rd2, %rd3; mul.rn.f32x2 %rd5, %rd2, %rd3; fma.rn.f32x2 %rd6, %rd2, %rd3, %rd4;
      sub.ftz.f32x2 %rd7, %rd2, %rd3;
      st.global.v2.b64 [%rd1+16], {%rd4, %rd5}; st.global.v2.b64 [%rd1+32], {%rd6, %rd7};)"),
                                                {0x3f800000, 0x40000000, 0x40400000, 0x40800000});
  EXPECT_EQ(std::vector(words.begin() + 4, words.begin() + 12),
            (std::vector<uint32_t>{0x40800000, 0x40c00000, 0x40400000, 0x41000000, 0x40e00000, 0x41600000, 0xc0000000,
                                   0xc0000000}));
  EXPECT_NE(Refusal("add.sat.f32x2 %rd4, %rd2, %rd3;"), "");
  EXPECT_NE(Refusal("neg.f32x2 %rd4, %rd2;"), "");
  TestDevice device(
      Kernel("mov.b64 %rd2, 0; add.f32x2 %rd3, %rd2, %rd2; add.f32 %f1, 0f00000000, 0f00000000;"
             "redux.sync.add.u32 %r1, %r2, 1;"));
  const LaunchRecord& record = device.Run("k", {{1}, {1}}, device.Make(std::vector<uint32_t>(1)));
  EXPECT_EQ(record.counters.float32_instructions, 3u);
  EXPECT_EQ(record.counters.warp_syncs, 5u);
}

TEST(IsaMemoryTest, EightBitElementsOfAMove) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      .reg .b8 %b<4>;
      ld.global.u32 %r1, [%rd1]; mov.b32 {%b0, %b1, %b2, %b3}, %r1; mov.b32 %r2, {%b3, %b2, %b1, %b0};
      st.global.u32 [%rd1+4], %r2;)"),
                                                {0x81020304});
  EXPECT_EQ(words[1], 0x04030281u);
}

TEST(IsaMemoryTest, SpaceOnTheStack) {
  // Each call takes a piece of its own, gives it back at its end, and leaves the caller's alone.
  const std::string function = R"(
.func (.param .b32 r) fill (.param .b32 n) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
  ld.param.b32 %r1, [n];
  alloca.u64 %rd1, 64, 16;
  st.local.u32 [%rd1], %r1;
  setp.eq.u32 %p1, %r1, 0;
  mov.u32 %r2, 0;
  @%p1 bra end;
  sub.u32 %r3, %r1, 1;
  { .param .b32 a; .param .b32 v; st.param.b32 [a], %r3; call (v), fill, (a); ld.param.b32 %r2, [v]; }
end:
  ld.local.u32 %r4, [%rd1];
  add.u32 %r2, %r2, %r4;
  st.param.b32 [r], %r2;
  ret;
})";
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      mov.u32 %r1, 10;
      { .param .b32 a; .param .b32 v; st.param.b32 [a], %r1; call (v), fill, (a); ld.param.b32 %r2, [v]; }
      st.global.u32 [%rd1], %r2;
      stacksave.u64 %rd2; alloca.u64 %rd3, 1000; stackrestore.u64 %rd2; alloca.u64 %rd4, 8;
      sub.u64 %rd5, %rd4, %rd3; st.global.u64 [%rd1+8], %rd5;)",
                                                       function));
  EXPECT_EQ(words[0], 55u);
  EXPECT_EQ(words[2], 0u);
  EXPECT_EQ(ErrorOf(Kernel("mov.u64 %rd2, 1000000000; alloca.u64 %rd3, %rd2;")), LaunchError::kStackOverflow);
  EXPECT_EQ(ErrorOf(Kernel("alloca.u64 %rd3, 64; st.local.u32 [%rd3+64], %r1;")), LaunchError::kIllegalAddress);
}

TEST(IsaMemoryTest, ParametersInRegisters) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      mov.u32 %r1, 5; call (%r2, %rd2), f, (%r1, 7);
      st.global.u32 [%rd1], %r2; st.global.u64 [%rd1+8], %rd2;)",
                                                       R"(
.func (.reg .b32 sum, .reg .b64 wide) f (.reg .b32 a, .reg .b64 b) {
  .reg .b32 %r<2>;
  cvt.u32.u64 %r1, b; add.u32 sum, a, %r1; cvt.u64.u32 wide, sum; ret;
})"));
  EXPECT_EQ(words[0], 12u);
  EXPECT_EQ(words[2], 12u);
}

TEST(IsaMemoryTest, AddressesTellTheirSpace) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      .local .b32 l; .shared .b32 s;
      mov.u64 %rd2, c; cvta.const.u64 %rd2, %rd2; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3;
      mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4;
      mov.u32 %r2, 0;
      isspacep.global %p1, %rd1; @%p1 or.b32 %r2, %r2, 1;
      isspacep.const %p1, %rd1; @%p1 or.b32 %r2, %r2, 2;
      isspacep.global %p1, %rd2; @%p1 or.b32 %r2, %r2, 4;
      isspacep.const %p1, %rd2; @%p1 or.b32 %r2, %r2, 8;
      isspacep.shared %p1, %rd3; @%p1 or.b32 %r2, %r2, 16;
      isspacep.local %p1, %rd3; @%p1 or.b32 %r2, %r2, 32;
      isspacep.local %p1, %rd4; @%p1 or.b32 %r2, %r2, 64;
      isspacep.global %p1, %rd4; @%p1 or.b32 %r2, %r2, 128;
      st.global.u32 [%rd1], %r2;)",
                                                       ".const .b32 c = 1;"));
  EXPECT_EQ(words[0], 1u + 8 + 16 + 64);
}

TEST(IsaMemoryTest, ClocksAdvance) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      mov.u64 %rd2, %clock64; mov.u64 %rd3, %globaltimer; nanosleep.u32 5000;
      mov.u64 %rd4, %clock64; mov.u64 %rd5, %globaltimer;
      sub.u64 %rd2, %rd4, %rd2; sub.u64 %rd3, %rd5, %rd3;
      st.global.v2.u64 [%rd1], {%rd2, %rd3};)"));
  EXPECT_GE(words[0], 5000u);
  EXPECT_LT(words[0], 6000u);
  EXPECT_GE(words[2], 5000u);
}

// A wait of 2^36 clocks would be 10^10 instructions one by one; a short wait is as long as it says.
TEST(IsaMemoryTest, WaitsByTheClockEnd) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      mov.u64 %rd5, 100;
      again: mov.u64 %rd2, %clock64;
      wait: mov.u64 %rd3, %clock64; sub.u64 %rd3, %rd3, %rd2; setp.lt.u64 %p1, %rd3, %rd5; @%p1 bra wait;
      st.global.u64 [%rd1], %rd3; add.u64 %rd1, %rd1, 8;
      setp.eq.u64 %p1, %rd5, 100; mov.u64 %rd5, 0x1000000000; @%p1 bra again;)"));
  EXPECT_GE(words[0], 100u);
  EXPECT_LT(words[0], 150u);
  EXPECT_EQ(words[3], 16u);
  EXPECT_LT(words[2], 0xf0000000u);  // it takes less than a 16th longer
}

TEST(IsaMemoryTest, WhatChangesNoResultIsTaken) {
  const std::vector<uint32_t> words = RunKernel(Kernel(R"(
      griddepcontrol.wait; griddepcontrol.launch_dependents; pmevent 3;
      createpolicy.fractional.L2::evict_last.b64 %rd2, 0f3F800000;
      ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2; add.u32 %r1, %r1, 1;
      st.global.L2::cache_hint.u32 [%rd1+4], %r1, %rd2;
      fence.proxy.async; fence.mbarrier_init.release.cluster; fence.proxy.alias;)"),
                                                {41});
  EXPECT_EQ(words[1], 42u);
}

TEST(IsaMemoryTest, WhatIsKnownAndNotSupportedSaysWhy) {
  EXPECT_NE(Refusal("wgmma.fence.sync.aligned;").find("tensor cores"), std::string::npos);
  EXPECT_NE(Refusal("setmaxnreg.inc.sync.aligned.u32 64;").find("registers between warps"), std::string::npos);
  EXPECT_NE(Refusal("vadd.u32.u32.u32 %r1, %r2.b4, %r3;").find("modifiers"), std::string::npos);
  EXPECT_NE(Refusal("add.u32 %r1, %r2.b0, %r3;").find("of an operand, b0"), std::string::npos);
  EXPECT_NE(Refusal("multimem.ld_reduce.global.add.u32 %r1, [%rd1];").find("multicast"), std::string::npos);
  EXPECT_THROW(Refusal("frobnicate.u32 %r1, %r2;"), ptx::PtxError);
  EXPECT_EQ(Refusal("setp.eq.u32 %p1, 0, 1; @%p1 setmaxnreg.dec.sync.aligned.u32 40;"), "");  // its guard is false
  EXPECT_NE(Refusal("mov.pred %p1, %tid.x;").find("special register %tid.x"), std::string::npos);
}

}  // namespace isa_memory_test
}  // namespace lockstep::vgpu
