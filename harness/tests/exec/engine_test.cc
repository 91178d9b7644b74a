// What nvcc makes of whole kernels, run on the device: values, and a few counters that are known by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace {

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
  EXPECT_EQ(c.barriers, 8u * 4 * 8);       // 1 + 7 rounds, by 4 warps of 8 blocks
  EXPECT_EQ(c.global_load_requests, 32u);  // a warp each; the last one is partly off but not wholly
  EXPECT_EQ(c.global_load_sectors, 31u * 4 + 1);
  EXPECT_EQ(c.global_store_requests, 8u);
  EXPECT_EQ(c.global_store_sectors, 8u);
  // Rounds 1 to 5 diverge in every warp, round 6 in two of a block's, round 7 in one; tid == 0 in the first of each
  // block, i < n in the last warp of all.
  EXPECT_EQ(c.divergent_branches, 8u * (4 * 5 + 2 + 1) + 8 + 1);
  EXPECT_FALSE(record.lines.empty());
  Counters sum;
  for (const LineCounters& line : record.lines) sum += line.counters;
  EXPECT_EQ(sum.warp_instructions, c.warp_instructions);
}

TEST(EngineTest, RunsDivergentLoops) {
  TestDevice device(Ptx());
  std::vector<unsigned> in(200);
  std::iota(in.begin(), in.end(), 1u);
  const auto d_in = device.Make(in);
  const auto d_out = device.Make(std::vector<unsigned>(200));
  device.Run("divergent_loops", {{2}, {128}}, d_in, d_out, 200u);
  const std::vector<unsigned> out = device.Get(d_out);
  for (size_t i = 0; i < 200; ++i) {
    unsigned x = in[i], steps = 0;
    for (; x != 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    EXPECT_EQ(out[i], steps) << in[i];
  }
}

TEST(EngineTest, RunsSwitches) {
  TestDevice device(Ptx());
  const std::vector<int> in = RandomInts(500, 0, 10000);
  const auto d_in = device.Make(in);
  const auto d_out = device.Make(std::vector<int>(500));
  device.Run("switches", {{4}, {128}}, d_in, d_out, 500);
  const std::vector<int> out = device.Get(d_out);
  for (size_t i = 0; i < 500; ++i) {
    const int x = in[i];
    int r = 0;
    switch (x & 15) {
      case 0:
        r = 17;
        break;
      case 1:
        r = x * 3;
        break;
      case 2:
      case 3:
        r = x ^ 77;
        break;
      case 4:
        r = -x;
        break;
      case 5:
        r = x >> 1;
        break;
      case 6:
        r = x << 2;
        break;
      case 7:
        r = x * x;
        break;
      case 8:
        for (r = 0; r < x; r += 7) {
        }
        break;
      case 9:
        r = 9;
        break;
      default:
        r = x % 13;
        break;
    }
    EXPECT_EQ(out[i], r) << x;
  }
}

TEST(EngineTest, CallsRecursively) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(64));
  device.Run("recursion", {{1}, {64}}, d_out);
  const std::vector<int> out = device.Get(d_out);
  const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  for (size_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], fibonacci[t % 13]) << t;
}

TEST(EngineTest, PassesStructs) {
  struct Pair {
    long long a;
    int b;
    short c[3];
  } start{5, 100, {1, 2, 3}};
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<long long>(40));
  device.Run("struct_calls", {{1}, {40}}, start, d_out);
  const std::vector<long long> out = device.Get(d_out);
  for (int t = 0; t < 40; ++t) {
    Pair p = start;
    for (int k = 0; k < t; ++k) {
      if (k & 1) {
        p.a += k;
      } else {
        p.c[k % 3] = static_cast<short>(p.c[k % 3] + k);
        p.b -= k;
      }
    }
    EXPECT_EQ(out[static_cast<size_t>(t)], p.a * 1000000 + p.b * 1000 + p.c[0] + p.c[1] + p.c[2]) << t;
  }
}

TEST(EngineTest, CallsThroughPointers) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(64));
  device.Run("function_pointers", {{1}, {64}}, d_out);
  const std::vector<int> out = device.Get(d_out);
  const auto apply = [](int which, int a, int b) { return which == 0 ? a + b : which == 1 ? a * b : a - b; };
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(out[static_cast<size_t>(t)], apply(t % 3, t, 7) + apply(t / 3 % 3, 2, t)) << t;
  }
}

TEST(EngineTest, CallsVirtualFunctions) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(64));
  device.Run("virtual_calls", {{1}, {64}}, d_out);
  const std::vector<int> out = device.Get(d_out);
  for (int t = 0; t < 64; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], t % 2 ? t * t : 0) << t;
}

TEST(EngineTest, SpinLockWithinAWarpEnds) {
  for (const char* kernel : {"warp_spin_lock", "warp_spin_lock_inside"}) {
    TestDevice device(Ptx());
    const auto d_counter = device.Make(std::vector<int>{0});
    device.Run(kernel, {{3}, {96}}, d_counter);
    EXPECT_EQ(device.Get(d_counter)[0], 288) << kernel;
  }
}

TEST(EngineTest, BlocksWaitForEarlierOnes) {
  TestDevice device(Ptx());
  const std::vector<int> in = RandomInts(32 * 50, 0, 9);
  const auto d_in = device.Make(in);
  const auto d_sums = device.Make(std::vector<int>(50));
  const auto d_flags = device.Make(std::vector<int>(50));
  const auto d_out = device.Make(std::vector<int>(50));
  device.Run("look_back", {{50}, {64}}, d_in, d_sums, d_flags, d_out);
  const std::vector<int> out = device.Get(d_out);
  for (size_t b = 0; b < 50; ++b)
    EXPECT_EQ(out[b], std::accumulate(in.begin(), in.begin() + static_cast<long>(b) * 32, 0));
}

TEST(EngineTest, BlocksWaitForLaterResidentOnes) {
  TestDevice device(Ptx());
  const auto d_flags = device.Make(std::vector<int>(20));
  const auto d_out = device.Make(std::vector<int>(20));
  device.Run("look_ahead", {{20}, {32}}, d_flags, d_out);
  EXPECT_EQ(device.Get(d_out), ([] {
              std::vector<int> two(20, 2);
              two.back() = 1;
              return two;
            }()));
}

TEST(EngineTest, LastBlockSumsUp) {
  TestDevice device(Ptx());
  const std::vector<int> in = RandomInts(10000, -50, 50);
  const auto d_in = device.Make(in);
  const auto d_partial = device.Make(std::vector<int>(16));
  const auto d_out = device.Make(std::vector<int>(1));
  device.Run("thread_fence_reduction", {{16}, {96}}, d_in, d_partial, d_out, 10000);
  EXPECT_EQ(device.Get(d_out)[0], std::accumulate(in.begin(), in.end(), 0));
}

TEST(EngineTest, CountsAHistogramOnAnyNumberOfThreads) {
  std::vector<unsigned char> in(30000);
  std::mt19937 random(3);
  for (auto& v : in) v = static_cast<unsigned char>(random() % 200);
  std::vector<unsigned> expected(256);
  for (const auto v : in) ++expected[v];
  Counters first;
  for (const int threads : {1, 2, 3}) {
    DeviceOptions options;
    options.threads = threads;
    TestDevice device(Ptx(), options);
    const auto d_in = device.Make(in);
    const auto d_bins = device.Make(std::vector<unsigned>(256));
    const LaunchRecord& record = device.Run("histogram", {{20}, {128}}, d_in, d_bins, 30000);
    EXPECT_EQ(device.Get(d_bins), expected);
    if (threads == 1) first = record.counters;
    EXPECT_TRUE(record.counters == first) << threads << " threads";
  }
  EXPECT_GT(first.shared_atomics, 0u);
  EXPECT_EQ(first.atomics, 20u * 8);
}

TEST(EngineTest, DoesEveryAtomic) {
  TestDevice device(Ptx());
  const auto i32 = device.Make(std::vector<int>{1, 5, -3, 0x7fffffff, 0, 0, 0, 5});
  const auto u32 = device.Make(std::vector<unsigned>{1, 5, 3, 0xffffffff, 0, 0, 0, 5, 0, 3});
  const auto u64 = device.Make(std::vector<unsigned long long>{1, 5, 3, ~0ull, 0, 0, 0, 5});
  const auto f32 = device.Make(std::vector<float>{1.5f, 0});
  const auto f64 = device.Make(std::vector<double>{0.125});
  device.Run("atomics", {{1}, {32}}, i32, u32, u64, f32, f64);
  int all_and = 0x7fffffff, all_or = 0, all_xor = 0;
  unsigned long long and64 = ~0ull, or64 = 0, xor64 = 0, sum64 = 1;
  for (int t = 0; t < 32; ++t) {
    all_and &= t - 16;
    all_or |= t - 16;
    all_xor ^= t - 16;
    const unsigned long long x = (1ull << 40) + static_cast<unsigned long long>(t);
    and64 &= x;
    or64 |= x;
    xor64 ^= x;
    sum64 += x;
  }
  EXPECT_EQ(device.Get(i32), (std::vector<int>{-15, -16, 15, all_and, all_or, all_xor, 15, -16}));
  const std::vector<unsigned> u = device.Get(u32);
  EXPECT_EQ(u[0], 1u + 32 * 33 / 2);
  EXPECT_EQ(u[1], 1u);
  EXPECT_EQ(u[2], 32u);
  EXPECT_EQ(u[6], 32u);
  EXPECT_EQ(u[7], 1u);  // lane 0 puts 1 in place of 5, and no one finds 5 again
  EXPECT_EQ(u[8], 32u % 10);
  EXPECT_EQ(u[9], 1u);  // 3 2 1 0 then round 5 4 3 2 1 0
  EXPECT_EQ(device.Get(u64), (std::vector<unsigned long long>{sum64, 5, (1ull << 40) + 31, and64, or64, xor64,
                                                              (1ull << 40) + 31, 1ull << 40}));
  EXPECT_EQ(device.Get(f32), (std::vector<float>{1.5f + 0.5f * 496, 31}));
  EXPECT_EQ(device.Get(f64)[0], 0.125 + 0.25 * 496);
}

TEST(EngineTest, LoadsAndStoresVectors) {
  TestDevice device(Ptx());
  std::vector<int> in(4 * 40);
  std::iota(in.begin(), in.end(), 0);
  std::vector<double> in2(2 * 40);
  std::iota(in2.begin(), in2.end(), 0.5);
  std::vector<unsigned char> in3(4 * 40);
  for (size_t k = 0; k < in3.size(); ++k) in3[k] = static_cast<unsigned char>(k * 7);
  const auto d_in = device.Make(in), d_out = device.Make(std::vector<int>(160));
  const auto d_in2 = device.Make(in2), d_out2 = device.Make(std::vector<double>(80));
  const auto d_in3 = device.Make(in3);
  const auto d_out3 = device.Make(std::vector<short>(80));
  const LaunchRecord& record = device.Run("vectors", {{1}, {40}}, d_in, d_out, d_in2, d_out2, d_in3, d_out3);
  const auto out = device.Get(d_out);
  const auto out2 = device.Get(d_out2);
  const auto out3 = device.Get(d_out3);
  for (size_t t = 0; t < 40; ++t) {
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(out[4 * t + k], in[4 * t + 3 - k]);
    for (size_t k = 0; k < 2; ++k) EXPECT_EQ(out2[2 * t + k], in2[2 * t + 1 - k]);
    EXPECT_EQ(out3[2 * t], in3[4 * t] - in3[4 * t + 1]);
    EXPECT_EQ(out3[2 * t + 1], static_cast<short>(in3[4 * t + 2] * in3[4 * t + 3]));
  }
  // 16 bytes a lane: 16 sectors a warp; 4 bytes: 4. The second warp has 8 lanes.
  EXPECT_EQ(record.counters.global_load_sectors, (16u + 4) + (16 + 4) + (4 + 1));
}

TEST(EngineTest, ExtendsSubWords) {
  TestDevice device(Ptx());
  std::vector<signed char> s8(32);
  std::vector<unsigned char> u8(32);
  std::vector<short> s16(32);
  std::vector<unsigned short> u16(32);
  for (int t = 0; t < 32; ++t) {
    const auto k = static_cast<size_t>(t);
    s8[k] = static_cast<signed char>(-t * 3);
    u8[k] = static_cast<unsigned char>(-t * 3);
    s16[k] = static_cast<short>(-t * 1000);
    u16[k] = static_cast<unsigned short>(-t * 1000);
  }
  const auto a = device.Make(s8);
  const auto b = device.Make(u8);
  const auto c = device.Make(s16);
  const auto d = device.Make(u16);
  const auto d_out = device.Make(std::vector<long long>(128));
  device.Run("sub_words", {{1}, {32}}, a, b, c, d, d_out);
  const auto out = device.Get(d_out);
  for (size_t t = 0; t < 32; ++t) {
    EXPECT_EQ(out[4 * t], s8[t]);
    EXPECT_EQ(out[4 * t + 1], u8[t]);
    EXPECT_EQ(out[4 * t + 2], s16[t]);
    EXPECT_EQ(out[4 * t + 3], u16[t]);
  }
}

TEST(EngineTest, ResolvesGenericAddresses) {
  TestDevice device(Ptx());
  std::vector<int> in(100);
  std::iota(in.begin(), in.end(), 1000);
  const auto d_in = device.Make(in);
  const auto d_out = device.Make(std::vector<int>(64));
  device.Run("generic_addresses", {{1}, {64}}, d_in, d_out);
  const auto out = device.Get(d_out);
  for (int t = 0; t < 64; ++t) {
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += t % 3 == 0 ? 1000 + t + k : t % 3 == 1 ? 100 + (t & ~7) + k : t * k;
    EXPECT_EQ(out[static_cast<size_t>(t)], sum) << t;
  }
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

TEST(EngineTest, Shuffles) {
  TestDevice device(Ptx());
  const std::vector<int> in = RandomInts(32, 0, 1000);
  const auto d_in = device.Make(in), d_out = device.Make(std::vector<int>(32));
  device.Run("shuffles", {{1}, {32}}, d_in, d_out);
  const auto out = device.Get(d_out);
  std::vector<int> v = in;
  for (size_t d = 16; d > 0; d /= 2) {
    std::vector<int> w = v;
    for (size_t t = 0; t < 32; ++t) w[t] += t + d < 32 ? v[t + d] : v[t];
    v = w;
  }
  for (size_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], v[t] + (t < 16 ? in[t ^ 3] : in[t ^ 5])) << t;
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
    // t / 4 is 0 and 1 below 8; t / 8 is 1 to 3 from there on.
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

TEST(EngineTest, ExitReleasesABarrier) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(96));
  device.Run("exit_before_barrier", {{1}, {96}}, d_out, 40);
  const auto out = device.Get(d_out);
  EXPECT_EQ(out[0], 1);
  EXPECT_GE(out[39], 2);
  EXPECT_EQ(out[40], 0);
}

TEST(EngineTest, ReducesAtBarriers) {
  TestDevice device(Ptx());
  std::vector<int> in(70, 1);
  in[3] = 0;
  in[65] = 200;
  const auto d_in = device.Make(in), d_out = device.Make(std::vector<int>(210));
  device.Run("barrier_reductions", {{1}, {70}}, d_in, d_out);
  const auto out = device.Get(d_out);
  for (size_t t = 0; t < 70; ++t) {
    EXPECT_EQ(out[3 * t], 69);
    EXPECT_EQ(out[3 * t + 1], 0);
    EXPECT_NE(out[3 * t + 2], 0);
  }
}

TEST(EngineTest, KnowsNamedBarriers) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<int>(32));
  device.Run("named_barriers", {{1}, {64}}, d_out);
  const auto out = device.Get(d_out);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[static_cast<size_t>(t)], (31 - t) * 11);
}

TEST(EngineTest, PrintsInBlockOrder) {
  for (const int threads : {1, 3}) {
    DeviceOptions options;
    options.threads = threads;
    TestDevice device(Ptx(), options);
    device.Run("prints", {{5}, {2}}, 3);
    std::string expected;
    for (int b = 0; b < 5; ++b) {
      for (int t = 0; t < 2; ++t) {
        char line[100];
        std::snprintf(line, sizeof line, "block %d thread %u: %5.2f %s %c %llx %%\n", b, t, 1.5, "text", 'a' + t,
                      (1ull << 40) + static_cast<unsigned long long>(t));
        expected += line;
      }
    }
    EXPECT_EQ(device.printed(), expected);
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

TEST(EngineTest, ClocksGoOn) {
  TestDevice device(Ptx());
  const auto d_out = device.Make(std::vector<long long>(32));
  device.Run("clocks", {{1}, {32}}, d_out);
  EXPECT_GT(device.Get(d_out)[0], 50);
}

TEST(EngineTest, SameCountersOnAnyNumberOfThreads) {
  std::vector<Counters> seen;
  std::vector<unsigned> in(5000);
  std::iota(in.begin(), in.end(), 1u);
  for (const int threads : {1, 2, 4}) {
    DeviceOptions options;
    options.threads = threads;
    TestDevice device(Ptx(), options);
    const auto d_in = device.Make(in);
    const auto d_out = device.Make(std::vector<unsigned>(5000));
    seen.push_back(device.Run("divergent_loops", {{40}, {128}}, d_in, d_out, 5000u).counters);
  }
  EXPECT_TRUE(seen[0] == seen[1]);
  EXPECT_TRUE(seen[0] == seen[2]);
  EXPECT_GT(seen[0].divergent_branches, 0u);
}

}  // namespace
}  // namespace lockstep::vgpu
