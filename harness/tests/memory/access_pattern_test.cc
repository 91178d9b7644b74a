// An instruction's successive accesses to shared memory, in the same layout or in others: values and wavefronts are
// those of each access by itself.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/device_support.h"
#include "vgpu/memory/coalescing.h"

namespace lockstep::vgpu {
namespace access_pattern_test {

constexpr uint32_t kWarps = 16, kThreads = kWarps * kWarpSize, kBoxBytes = 4096;

// k(...): copies `memory` to `box`, in shared memory. Then each thread whose bit `lane` in lanes[warp] is set loads the
// element at offsets[thread] into seen[thread].
std::string Program(int bytes) {
  const std::string type = ".u" + std::to_string(8 * bytes);
  const std::string value = bytes == 8 ? "%v64" : "%v32";
  return R"(.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 box[4096];
.visible .entry k(.param .u64 offsets, .param .u64 lanes, .param .u64 memory, .param .u64 seen) {
  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<4>; .reg .b32 %v32; .reg .b64 %v64;
  ld.param.u64 %rd1, [offsets];
  ld.param.u64 %rd2, [lanes];
  ld.param.u64 %rd3, [memory];
  ld.param.u64 %rd4, [seen];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, box;
  mul.wide.u32 %rd5, %r1, 8;
  add.s64 %rd6, %rd3, %rd5;
  ld.global.u64 %rd7, [%rd6];
  mad.lo.u32 %r3, %r1, 8, %r2;
  st.shared.u64 [%r3], %rd7;
  bar.sync 0;
  mul.wide.u32 %rd8, %r1, 4;
  add.s64 %rd9, %rd1, %rd8;
  ld.global.u32 %r4, [%rd9];
  add.u32 %r5, %r4, %r2;
  shr.u32 %r6, %r1, 5;
  mul.wide.u32 %rd10, %r6, 4;
  add.s64 %rd11, %rd2, %rd10;
  ld.global.u32 %r7, [%rd11];
  and.b32 %r8, %r1, 31;
  shr.u32 %r9, %r7, %r8;
  and.b32 %r10, %r9, 1;
  setp.eq.u32 %p1, %r10, 0;
  @%p1 bra DONE;
  add.s64 %rd12, %rd4, %rd5;
.loc 1 2 1
  ld.shared)" +
         type + " " + value + ", [%r5];\n.loc 1 3 1\n  st.global" + type + " [%rd12], " + value +
         R"(;
DONE:
  ret;
}
.file 1 "k.cu"
)";
}

class AccessPatternTest : public testing::TestWithParam<int> {};

TEST_P(AccessPatternTest, EachAccessCountsAsIfItWereAlone) {
  const uint32_t bytes = static_cast<uint32_t>(GetParam());
  std::mt19937 random(bytes);
  TestDevice device(Program(GetParam()));
  std::vector<uint8_t> memory(kBoxBytes);
  for (auto& b : memory) b = static_cast<uint8_t>(random());
  const auto d_memory = device.Make(memory);
  for (int round = 0; round < 30; ++round) {
    // Two shapes and two masks; each warp uses one shape and one mask, at its own offset.
    uint32_t shapes[2][kWarpSize], masks[2] = {kFullMask, static_cast<uint32_t>(random()) | 1};
    const uint32_t stride = 1 + static_cast<uint32_t>(random() % 12);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      shapes[0][lane] = round % 3 == 0 ? lane / 16 * 40 : lane * stride;
      shapes[1][lane] = static_cast<uint32_t>(random() % 32);
    }
    std::vector<uint32_t> offsets(kThreads), lanes(kWarps);
    Wavefronts sum;
    for (uint32_t warp = 0; warp < kWarps; ++warp) {
      const uint32_t place = static_cast<uint32_t>(random() % 64), *shape = shapes[random() % 2];
      lanes[warp] = masks[random() % 2];
      uint64_t address[kWarpSize];
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        address[lane] = (place + shape[lane]) * bytes % kBoxBytes;
        offsets[warp * kWarpSize + lane] = static_cast<uint32_t>(address[lane]);
      }
      const Wavefronts w = CountWavefronts(address, lanes[warp], GetParam());
      sum.actual += w.actual;
      sum.ideal += w.ideal;
    }
    const auto d_offsets = device.Make(offsets);
    const auto d_lanes = device.Make(lanes);
    std::vector<uint8_t> expected(kThreads * 8, 0xee);
    const auto d_seen = device.Make(expected);
    const LaunchRecord& record = device.Run("k", {{1}, {kThreads}}, d_offsets, d_lanes, d_memory, d_seen);
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
      if (lanes[thread / kWarpSize] >> (thread % kWarpSize) & 1) {
        std::memcpy(&expected[thread * 8], &memory[offsets[thread]], bytes);
      }
    }
    EXPECT_EQ(device.Get(d_seen), expected) << "round " << round;
    bool found = false;
    for (const LineCounters& line : record.lines) {
      if (line.line != 2) continue;
      found = true;
      EXPECT_EQ(line.counters.shared_load_requests, kWarps);
      EXPECT_EQ(line.counters.shared_wavefronts, sum.actual) << "round " << round;
      EXPECT_EQ(line.counters.shared_wavefronts_ideal, sum.ideal) << "round " << round;
    }
    EXPECT_TRUE(found);
    for (const auto address : {d_offsets.address, d_lanes.address, d_seen.address}) device->Free(address);
  }
}

INSTANTIATE_TEST_SUITE_P(Bytes, AccessPatternTest, testing::Values(2, 4, 8), testing::PrintToStringParamName());

}  // namespace access_pattern_test
}  // namespace lockstep::vgpu
