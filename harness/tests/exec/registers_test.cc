// Registers of kernels that declare how large their blocks are: they are limited so that the blocks fit.
#include <gtest/gtest.h>

#include "tests/support/device_support.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::vgpu {
namespace registers_test {

// k(out): has `live` words in registers at once, and stores their sum.
std::string Program(int live, const std::string& directives) {
  const std::string count = std::to_string(live);
  std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) " + directives +
                    " {\n.reg .b32 %v<" + count + ">; .reg .b32 %s; .reg .b64 %out;\nld.param.u64 %out, [out];\n";
  for (int k = 0; k < live; ++k) {
    ptx += "ld.volatile.global.u32 %v" + std::to_string(k) + ", [%out+" + std::to_string(4 * k) + "];\n";
  }
  ptx += "mov.u32 %s, 0;\n";
  for (int k = 0; k < live; ++k) ptx += "add.u32 %s, %s, %v" + std::to_string(k) + ";\n";
  return ptx + "st.global.u32 [%out], %s;\nret;\n}\n";
}

struct Outcome {
  LaunchError error;
  uint32_t registers;  // 0 for a launch that failed
};

Outcome Launch(int live, const std::string& directives, int threads, const char* profile = "h200") {
  TestDevice device(Program(live, directives), {}, profile);
  const auto out = device.Make(std::vector<int>(static_cast<size_t>(live)));
  const LaunchResult result = device.Launch("k", {{1, 1, 1}, {static_cast<uint32_t>(threads), 1, 1}}, out);
  return {result.error, device->launches().empty() ? 0 : device->launches().back().registers};
}

TEST(RegistersTest, WithoutALimitTheyAreWhatTheKernelHasUnderWay) {
  EXPECT_GE(Launch(120, "", 32).registers, 120u);
  EXPECT_EQ(Launch(120, "", 1024).error, LaunchError::kTooManyResources);
}

// The assembler may need fewer than the PTX has under way.
TEST(RegistersTest, ABlockThatMayFitFits) {
  const Outcome outcome = Launch(90, "", 1024);
  EXPECT_EQ(outcome.error, LaunchError::kNone);
  EXPECT_EQ(outcome.registers, 64u);
  EXPECT_GE(Launch(90, "", 512).registers, 90u);
}

TEST(RegistersTest, FitTheBlocksThatTheKernelIsMadeFor) {
  const Outcome whole = Launch(120, ".maxntid 1024, 1, 1", 1024);
  EXPECT_EQ(whole.error, LaunchError::kNone);
  EXPECT_EQ(whole.registers, 64u);  // 65 536 of an SM for 1024 threads
  EXPECT_EQ(Launch(120, ".reqntid 512", 512).registers, Launch(120, "", 32).registers);  // 128 would fit
  EXPECT_EQ(Launch(120, ".maxntid 512 .minnctapersm 4", 512).registers, 32u);
  EXPECT_EQ(Launch(20, ".maxntid 1024", 1024).registers, Launch(20, "", 1024).registers);
}

TEST(RegistersTest, AreNoMoreThanAnInstructionCanName) {
  const Outcome outcome = Launch(400, "", 256);
  EXPECT_EQ(outcome.error, LaunchError::kNone);
  EXPECT_EQ(outcome.registers, 255u);
}

TEST(RegistersTest, AreBoundedOutright) { EXPECT_EQ(Launch(120, ".maxnreg 40", 1024).registers, 40u); }

// The course's GPU has 8192 registers per SM.
TEST(RegistersTest, AKernelOfSmallBlocksIsFittedIntoAnOldGpu) {
  EXPECT_EQ(Launch(40, "", 256, "g80").error, LaunchError::kTooManyResources);
  const Outcome bounded = Launch(40, ".maxntid 256", 256, "g80");
  EXPECT_EQ(bounded.error, LaunchError::kNone);
  EXPECT_EQ(bounded.registers, 32u);
}

// A register that its thread has not written holds no value of an earlier block.
TEST(RegistersTest, HoldNothingOfAnEarlierBlock) {
  // written(out): a thread's value, written only in even blocks. voted(out): a vote among the remaining lanes; in odd
  // blocks the other lanes exit before they vote.
  const std::string place = R"((.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 64, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  and.b32 %r4, %r1, 1;
)";
  const std::string program = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry written)" + place +
                              R"(  setp.eq.u32 %p1, %r4, 0;
  @%p1 mov.u32 %r5, 99;
  st.global.u32 [%rd3], %r5;
  ret;
}
.visible .entry voted)" + place +
                              R"(  and.b32 %r5, %r2, 31;
  setp.eq.u32 %p1, %r4, 1;
  setp.ge.and.u32 %p2, %r5, 16, %p1;
  @%p2 ret;
  setp.ge.u32 %p3, %r2, 0;
  vote.sync.ballot.b32 %r6, %p3, 0xffffffff;
  st.global.u32 [%rd3], %r6;
  ret;
}
)";
  for (const int threads : {1, 2}) {
    DeviceOptions options;
    options.threads = threads;
    TestDevice device(program, options);
    const auto out = device.Make(std::vector<uint32_t>(8 * 64, 5));
    device.Run("written", {{8}, {64}}, out);
    for (uint32_t k = 0; k < 8 * 64; ++k)
      EXPECT_EQ(device.Get(out)[k], k / 64 % 2 == 0 ? 99u : 0x01010101u * kUnwrittenRegister) << k;
    device.Run("voted", {{8}, {64}}, out);
    for (uint32_t k = 0; k < 8 * 64; ++k) {
      if (k / 64 % 2 == 0 || k % 32 < 16) {
        EXPECT_EQ(device.Get(out)[k], k / 64 % 2 == 0 ? 0xffffffffu : 0xffffu) << k;
      }
    }
  }
}

}  // namespace registers_test
}  // namespace lockstep::vgpu
