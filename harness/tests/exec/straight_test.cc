// Code without branches: the results of a run of instructions that are counted together, also if a fault ends it.
#include <gtest/gtest.h>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace straight_test {

// k(addresses, turns, out): each thread loads addresses[turn], adds 4 * its lane, and loads from there, turn after
// turn.
const char* const kProgram = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 addresses, .param .u32 turns, .param .u64 out) {
  .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [addresses];
  ld.param.u32 %r1, [turns];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  and.b32 %r2, %r2, 31;
  mov.u32 %r3, 0;
  mul.wide.u32 %rd3, %r2, 4;
LOOP:
.loc 1 2 1
  mul.wide.u32 %rd4, %r3, 8;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u64 %rd6, [%rd5];
  add.s64 %rd7, %rd6, %rd3;
.loc 1 3 1
  ld.global.u32 %r4, [%rd7];
.loc 1 4 1
  add.s64 %rd8, %rd2, %rd3;
  st.global.u32 [%rd8], %r4;
.loc 1 5 1
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r1;
  @%p1 bra LOOP;
.loc 1 6 1
  ret;
}
.file 1 "k.cu"
)";

uint64_t InstructionsOfLine(const LaunchRecord& launch, int line) {
  for (const LineCounters& l : launch.lines) {
    if (l.line == line) return l.counters.warp_instructions;
  }
  return 0;
}

TEST(StraightTest, CountsEveryInstruction) {
  TestDevice device(kProgram);
  const auto memory = device.Make(std::vector<uint32_t>(64, 7));
  const auto addresses = device.Make(std::vector<uint64_t>{memory.address, memory.address + 128, memory.address});
  const auto out = device.Make(std::vector<uint32_t>(32));
  const LaunchRecord& launch = device.Run("k", {{1}, {64}}, addresses, uint32_t{3}, out);
  EXPECT_EQ(InstructionsOfLine(launch, 2), 2u * 3 * 4);
  EXPECT_EQ(InstructionsOfLine(launch, 3), 2u * 3);
  EXPECT_EQ(InstructionsOfLine(launch, 4), 2u * 3 * 2);
  EXPECT_EQ(InstructionsOfLine(launch, 5), 2u * 3 * 3);
  // The last branch of each of the two warps counts for no lane.
  EXPECT_EQ(launch.counters.thread_instructions, 32 * (launch.counters.warp_instructions - 2));
  EXPECT_EQ(device.Get(out), std::vector<uint32_t>(32, 7));
}

// The last lanes' addresses wrap around to below the start of any buffer; the first lanes' are beyond any buffer's end.
TEST(StraightTest, FindsAddressesThatGoRound) {
  for (const uint64_t wild : {uint64_t{0} - 128, uint64_t{0} - 64, uint64_t{0}}) {
    TestDevice device(kProgram);
    const auto memory = device.Make(std::vector<uint32_t>(32, 7));
    const auto addresses = device.Make(std::vector<uint64_t>{memory.address, wild});
    const auto out = device.Make(std::vector<uint32_t>(32));
    EXPECT_EQ(device.Launch("k", {{1}, {32}}, addresses, uint32_t{2}, out).error, LaunchError::kIllegalAddress);
    ASSERT_EQ(device->findings().findings().size(), 1u);
    EXPECT_EQ(device->findings().findings()[0].kind, FindingKind::kInvalidAddress);
    EXPECT_EQ(device->findings().findings()[0].first.line, 3);
  }
}

// The load's second execution goes one element past the buffer; the first one was within it.
TEST(StraightTest, FindsTheLaneBeyondTheEnd) {
  TestDevice device(kProgram);
  const auto memory = device.Make(std::vector<uint32_t>(32, 7));
  const auto addresses = device.Make(std::vector<uint64_t>{memory.address, memory.address + 4});
  const auto out = device.Make(std::vector<uint32_t>(32));
  EXPECT_EQ(device.Launch("k", {{1}, {32}}, addresses, uint32_t{2}, out).error, LaunchError::kIllegalAddress);
  ASSERT_EQ(device->findings().findings().size(), 1u);
  EXPECT_EQ(device->findings().findings()[0].first.thread.x, 31u);
}

}  // namespace straight_test
}  // namespace lockstep::vgpu
