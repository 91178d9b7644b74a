// Runs whole kernels, as nvcc compiles them, and compares values and a few counters that were computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace engine_test {

const std::string& Ptx() {
  static const std::string text = ReadPtx("engine_kernels");
  return text;
}

TEST(EngineTest, ReducesInSharedMemory) {
  TestDevice device(Ptx());
  const std::vector<int> in = RandomInts(1000, -100, 100);
  const auto d_in = device.Make(in);
  const auto d_out = device.Make(std::vector<int>(8));
  const LaunchRecord& record = device.Run("reduce_interleaved", {{8}, {128}, 512}, d_in, d_out, 1000u);
  const std::vector<int> out = device.Get(d_out);
  for (int b = 0; b < 8; ++b) {
    int sum = 0;
    for (int i = b * 128; i < std::min(1000, b * 128 + 128); ++i) sum += in[static_cast<size_t>(i)];
    EXPECT_EQ(out[static_cast<size_t>(b)], sum) << b;
  }
  const Counters& c = record.counters;
  EXPECT_LT(record.busiest_block, 1.1);
  EXPECT_EQ(c.barriers, 8u * 4 * 8);       // 1 + 7 rounds, by 4 warps of 8 blocks
  EXPECT_EQ(c.global_load_requests, 32u);  // one per warp; no warp is wholly idle
  EXPECT_EQ(c.global_load_sectors, 31u * 4 + 1);
  EXPECT_EQ(c.global_store_requests, 8u);
  EXPECT_EQ(c.global_store_sectors, 8u);
  // Rounds 1 to 5 diverge in every warp, round 6 in two warps of a block, round 7 in one; the branch `tid == 0`
  // diverges in each block's first warp, `i < n` in the grid's last warp.
  EXPECT_EQ(c.divergent_branches, 8u * (4 * 5 + 2 + 1) + 8 + 1);
  EXPECT_FALSE(record.lines.empty());
  Counters sum;
  for (const LineCounters& line : record.lines) sum += line.counters;
  EXPECT_EQ(sum.warp_instructions, c.warp_instructions);
}

// A GPU promises no order, so what relies on one is wrong under checkers.
TEST(EngineTest, UnderCheckersAnAtomicServesItsLanesBackwards) {
  const std::string tickets = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry tickets(.param .u64 counter, .param .u64 out) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<5>;
  ld.param.u64 %rd1, [counter];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  atom.global.add.u32 %r2, [%rd1], 1;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
}
)";
  for (const bool checked : {false, true}) {
    DeviceOptions options;
    if (checked) options.checkers = CheckerSet::All();
    TestDevice device(tickets, options);
    const auto counter = device.Make(std::vector<int>(1));
    const auto out = device.Make(std::vector<int>(32));
    device.Run("tickets", {{1}, {32}}, counter, out);
    EXPECT_EQ(device.Get(out)[31], checked ? 0 : 31);
  }
}

// One of six warps goes 100 times through a loop of three instructions.
TEST(EngineTest, KnowsTheBusiestBlockAndTheLongestWarp) {
  TestDevice device(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry uneven() {
  .reg .pred %p<3>;
  .reg .u32 %r<5>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 64, %r2;
  setp.ge.u32 %p1, %r3, 32;
  @%p1 bra END;
  mov.u32 %r4, 0;
LOOP:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r4, 100;
  @%p2 bra LOOP;
END:
  ret;
})");
  const LaunchRecord& record = device.Run("uneven", {{3}, {64}});
  EXPECT_NEAR(static_cast<double>(record.longest_warp), 307, 3);
  EXPECT_NEAR(record.busiest_block, 3 * (307 + 6) / (307.0 + 5 * 6), 0.05);
}

TEST(EngineTest, PlacesModuleVariables) {
  TestDevice device(Ptx());
  const auto table = device->FindVariable(device.module(), "table");
  ASSERT_TRUE(table.has_value());
  EXPECT_TRUE(table->constant);
  EXPECT_EQ(table->bytes, 256u);
  std::vector<int> values(64);
  std::iota(values.begin(), values.end(), 7);
  ASSERT_TRUE(device->Write(table->address, values.data(), 256));
  const auto d_out = device.Make(std::vector<int>(65));
  device.Run("module_variables", {{1}, {64}}, d_out);
  const auto out = device.Get(d_out);
  for (size_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], values[t] + values[t * 7 % 64]);
  EXPECT_EQ(out[64], 's');
  int counter = 0;
  ASSERT_TRUE(device->Read(&counter, device->FindVariable(device.module(), "counter_variable")->address, 4));
  EXPECT_EQ(counter, 42);
}

TEST(EngineTest, GathersLanesForWarpSynchronousOperations) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(32));
  device.Run("gathered", {{1}, {32}}, d_out);
  const auto out = device.Get(d_out);
  for (int t = 0; t < 32; ++t) {
    const int from = (t + 1) % 32;
    EXPECT_EQ(out[static_cast<size_t>(t)], from % 2 ? from * 3 : from * 5) << t;
  }
}

TEST(EngineTest, GathersLanesOfOneOperationAtDifferentPlaces) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(128));
  device.Run("gathered_from_places", {{1}, {32}}, d_out, 0xffffffffu);
  const auto out = device.Get(d_out);
  for (size_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[t], t % 2 ? 500 + 116000 : 303 + 116000) << t;
    EXPECT_EQ(out[64 + t], t < 16 ? 121 : 206) << t;
    // Threads below 8 match by t / 4 (0 and 1), the others by t / 8 (1 to 3).
    const int alike[] = {0xf, 0xfff0, 0xfff0, 0xfff0, 0xff0000, 0xff0000, -0x1000000, -0x1000000};
    EXPECT_EQ(out[96 + t], alike[t / 4]) << t;
  }
}

TEST(EngineTest, GathersLanesOfLoopsOfDifferentLengths) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(32));
  device.Run("gathered_from_loops", {{1}, {32}}, d_out);
  const auto out = device.Get(d_out);
  for (size_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 16 ? 3 + 2 * 3000 : 5 * 16 + 10) << t;
}

TEST(EngineTest, GathersLanesOfDifferentCalls) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(32));
  device.Run("gathered_in_calls", {{1}, {32}}, d_out);
  const auto out = device.Get(d_out);
  for (int t = 0; t < 32; ++t) {
    const int from = (t + 5) % 32, v = from % 4 < 2 ? from * 7 : from * 9;
    EXPECT_EQ(out[static_cast<size_t>(t)], t % 4 < 2 ? v + 1 : v * 2) << t;
  }
}

TEST(EngineTest, PrintfReturnsTheNumberOfItsArguments) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(5));
  device.Run("printf_results", {{1}, {1}}, uint64_t{0}, d_out);
  EXPECT_EQ(device.Get(d_out), (std::vector<int>{0, 2, 4, 2, -1}));
  EXPECT_EQ(device.printed(), "nothing\n7  1.50 %\ntext a 10000000000 (nil)\n   7 %.*f\n");
}

TEST(EngineTest, HasAHeap) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(64));
  device.Run("heap", {{2}, {32}}, d_out);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(device.Get(d_out)[static_cast<size_t>(t)], 16 * t + 120);
}

TEST(EngineTest, IndexesParameters) {
  struct Big {
    int v[64];
  } big;
  for (int k = 0; k < 64; ++k) big.v[k] = k * k;
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(64));
  device.Run("big_parameter", {{1}, {64}}, big, d_out);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(device.Get(d_out)[static_cast<size_t>(t)], big.v[t * 5 % 64]);
}

}  // namespace engine_test
}  // namespace lockstep::vgpu
