#include "vgpu/model/time_model.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/model/profile_named.h"
#include "vgpu/memory/coalescing.h"

namespace lockstep::vgpu {
namespace time_model_test {

// The first pass of a rung of the reduction ladder, put together by hand: what each warp of a block of 128 executes,
// with the addresses that it uses. Instruction counts are what nvcc makes of the loops, give or take a few.
class Rung {
 public:
  Rung(int rung, uint64_t n, uint64_t many_blocks = 64) {
    const uint64_t per_block = rung < 4 ? kBlock : 2 * kBlock;
    blocks_ = rung == 7 ? many_blocks : n / per_block;
    const uint64_t rounds = rung == 7 ? n / (many_blocks * 2 * kBlock) : 1;
    Everyone(18 + (rung == 7 ? 8 : 0));
    for (int w = 0; w < kWarps; ++w) {
      c_.global_load_requests += rounds * (rung < 4 ? 1 : 2);
      c_.warp_instructions += (rounds - 1) * 10;
    }
    Shared(kBlock, [](int t) { return t; }, 1);
    Barrier();
    if (rung <= 4) {
      for (int s = 1; s < kBlock; s *= 2) Step(rung, rung < 3 ? s : kBlock / 2 / s);
    } else {
      Everyone(rung == 5 ? 6 : 1);
      Shared(64, [](int t) { return t; }, 3);
      Barrier();
      for (int s = 32; s > 0; s /= 2) {
        Shared(32, [](int t) { return t; }, 3);
        c_.warp_instructions += 3;
      }
    }
    Everyone(4);
    c_.global_store_requests += 1;
    c_.global_store_sectors += 1;
    c_.global_store_sectors_ideal += 1;
    c_.global_store_bytes += 4;
    c_.global_store_footprint += 4;  // its share of a piece that other blocks fill too
    c_.strict_coalescing_bytes += 32;
    Scale(rounds, rung);
  }

  LaunchRecord Record() const {
    LaunchRecord record;
    record.grid = {static_cast<uint32_t>(blocks_), 1, 1};
    record.block = {kBlock, 1, 1};
    record.registers = 10;
    record.static_shared = 4 * kBlock;
    record.counters = counters_;
    return record;
  }

 private:
  static constexpr int kBlock = 128, kWarps = 4;

  void Everyone(uint64_t instructions) { c_.warp_instructions += kWarps * instructions; }
  void Barrier() { c_.barriers += kWarps; }

  // One step of rungs 1 to 4 with stride s.
  void Step(int rung, int s) {
    Everyone(rung == 1 ? 9 : 8);
    if (rung == 1) c_.integer_divisions += kWarps;
    if (rung == 2) c_.integer_multiplications += kWarps;
    if (rung == 1) {
      Shared(kBlock, [](int t) { return t; }, 3, 2 * s);
    } else if (rung == 2) {
      Shared(kBlock / (2 * s), [s](int t) { return 2 * s * t; }, 3);
    } else {
      Shared(s, [](int t) { return t; }, 3);
    }
    Barrier();
  }

  // The first `threads` threads, of which every `period`th is active, make `accesses` of 4 bytes at word(t).
  template <typename F>
  void Shared(int threads, F word, uint64_t accesses, int period = 1) {
    for (int w = 0; w < kWarps; ++w) {
      std::array<uint64_t, kWarpSize> address{};
      LaneMask mask = 0;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const int t = w * kWarpSize + lane;
        if (t >= threads || t % period != 0) continue;
        mask |= LaneMask{1} << lane;
        address[lane] = 4 * static_cast<uint64_t>(word(t));
      }
      if (mask == 0) continue;
      const Wavefronts wavefronts = CountWavefronts(address.data(), mask, 4);
      c_.shared_load_requests += accesses;
      c_.shared_wavefronts += accesses * wavefronts.actual;
      c_.shared_wavefronts_ideal += accesses * wavefronts.ideal;
      c_.warp_instructions += accesses + 3;
    }
  }

  void Scale(uint64_t rounds, int rung) {
    const uint64_t bytes = rounds * (rung < 4 ? 1 : 2) * kBlock * 4;
    c_.global_load_bytes = bytes;
    c_.global_load_footprint = bytes;
    c_.global_load_sectors = c_.global_load_sectors_ideal = c_.global_load_misses = bytes / 32;
    c_.strict_coalescing_bytes += bytes;
    for (const CounterInfo& counter : AllCounters()) counters_.*counter.field = c_.*counter.field * blocks_;
  }

  uint64_t blocks_ = 0;
  Counters c_;  // of one block
  Counters counters_;
};

double Microseconds(int rung, uint64_t n, const char* device, uint64_t many_blocks = 64) {
  return EstimateTime(Rung(rung, n, many_blocks).Record(), Profile(device)).microseconds;
}

TEST(TimeModelTest, IdleBlocksShortenNothing) {
  const LaunchRecord alone = Rung(7, 1 << 20, 1).Record();
  LaunchRecord many = alone;
  many.grid = {400, 1, 1};
  const double in_one = EstimateTime(alone, Profile("t4")).microseconds;
  const double shared = EstimateTime(many, Profile("t4")).microseconds;
  EXPECT_LT(shared, in_one / 4) << "as if all did the work";
  for (const auto& [busiest, least, most] : {std::tuple{2.0, shared, shared}, {400.0, 0.9 * in_one, 1.1 * in_one}}) {
    many.busiest_block = busiest;
    EXPECT_GE(EstimateTime(many, Profile("t4")).microseconds, least) << busiest;
    EXPECT_LE(EstimateTime(many, Profile("t4")).microseconds, most) << busiest;
  }
}

// The model does not distinguish work that a block's warps share from work that one of them does.
TEST(TimeModelTest, TheLongestWarpIsAsLongWithIdleOnesBesideIt) {
  LaunchRecord launch = Rung(7, 1 << 20, 64).Record();
  const double mean = static_cast<double>(launch.counters.warp_instructions) / (64 * 4);
  launch.longest_warp = static_cast<uint64_t>(mean);
  const double even = LongestWarpMicroseconds(launch, Profile("t4"));
  launch.longest_warp = static_cast<uint64_t>(2 * mean);
  const double twice = LongestWarpMicroseconds(launch, Profile("t4"));
  launch.longest_warp = static_cast<uint64_t>(4 * mean);
  const double four_times = LongestWarpMicroseconds(launch, Profile("t4"));
  EXPECT_NEAR(four_times - even, 3 * (twice - even), 0.05 * even);
  EXPECT_GT(twice, even);
}

TEST(TimeModelTest, LadderOnTheG80StaysNearThePublishedTimes) {
  // The published times cover all passes; the first pass takes nearly all of it.
  const double published_ms[] = {0, 8.054, 3.456, 1.722, 0.965, 0.536, 0.381, 0.268};
  double previous = 1e9;
  for (int rung = 1; rung <= 7; ++rung) {
    const double ms = Microseconds(rung, 1 << 22, "g80") / 1000;
    RecordProperty("rung" + std::to_string(rung), std::to_string(ms));
    EXPECT_LT(ms, previous) << "rung " << rung;
    EXPECT_LT(ms, published_ms[rung] * 1.4) << "rung " << rung;
    EXPECT_GT(ms, published_ms[rung] / 1.33) << "rung " << rung;
    previous = ms;
  }
}

TEST(TimeModelTest, LadderOnTheH200StaysNearTheMeasuredBandwidths) {
  const uint64_t n = uint64_t{1} << 28;
  const double measured_gb_s[] = {0, 490, 739, 848, 1688, 1695, 1695};
  for (int rung = 1; rung <= 6; ++rung) {
    const double gb_s = static_cast<double>(4 * n) / Microseconds(rung, n, "h200") / 1e3;
    EXPECT_NEAR(gb_s / measured_gb_s[rung], 1, 0.3) << "rung " << rung;
  }
  EXPECT_NEAR(static_cast<double>(4 * n) / Microseconds(7, n, "h200", 64) / 1e3, 174, 43);
  EXPECT_NEAR(static_cast<double>(4 * n) / Microseconds(7, n, "h200", 2112) / 1e3, 3938, 900);
}

// A kernel of n threads in blocks of 256, each of which reads and writes a float.
LaunchRecord Copy(uint64_t n) {
  LaunchRecord record;
  record.grid = {static_cast<uint32_t>(n / 256), 1, 1};
  record.block = {256, 1, 1};
  record.registers = 8;
  Counters& c = record.counters;
  c.warp_instructions = n / 32 * 12;
  c.global_load_requests = c.global_store_requests = n / 32;
  c.global_load_bytes = c.global_store_bytes = 4 * n;
  c.global_load_sectors = c.global_load_sectors_ideal = n / 8;
  c.global_load_misses = n / 8;
  c.global_store_sectors = c.global_store_sectors_ideal = n / 8;
  c.global_load_footprint = c.global_store_footprint = 4 * n;
  c.strict_coalescing_bytes = 8 * n;
  return record;
}

TEST(TimeModelTest, StrictCoalescingCostsWhatTheCourseMeasured) {
  // 3 M floats read, incremented and written: 356 us coalesced, 3494 us permuted or misaligned.
  LaunchRecord record = Copy(3 << 20);
  const TimeEstimate coalesced = EstimateTime(record, Profile("g80"));
  EXPECT_NEAR(coalesced.microseconds, 356, 60);
  EXPECT_STREQ(coalesced.bound_by, "dram");
  record.counters.strict_coalescing_bytes = uint64_t{3 << 20} * 2 * 32;
  EXPECT_NEAR(EstimateTime(record, Profile("g80")).microseconds, 3494, 900);
}

TEST(TimeModelTest, NaiveTransposeOnTheH200IsBoundByL2) {
  // 8192 x 8192 floats. Blocks of 32 x 8: each warp stores to 32 sectors; of 16 x 16: to 16.
  for (const auto& [sectors, gb_s] : {std::pair{32, 534.0}, {16, 1072.0}}) {
    const uint64_t n = uint64_t{1} << 26;
    LaunchRecord record = Copy(n);
    record.counters.global_store_sectors = n / 32 * static_cast<uint64_t>(sectors);
    const TimeEstimate estimate = EstimateTime(record, Profile("h200"));
    EXPECT_STREQ(estimate.bound_by, "l2");
    EXPECT_NEAR(static_cast<double>(8 * n) / estimate.microseconds / 1e3, gb_s, 0.15 * gb_s);
  }
}

TEST(TimeModelTest, MoreWorkNeverTakesLess) {
  for (const DeviceProfile* device : AllProfiles()) {
    double previous = 0;
    for (uint64_t n = 256; n <= uint64_t{1} << 26; n *= 2) {
      const double us = EstimateTime(Copy(n), *device).microseconds;
      EXPECT_GE(us, previous) << device->id << " " << n;
      previous = us;
    }
    const LaunchRecord base = Copy(1 << 20);
    for (const CounterInfo& counter : AllCounters()) {
      LaunchRecord more = base;
      more.counters.*counter.field += 1 << 20;
      // A kernel may take less time if only one of these grows: sectors without misses hit a cache, and atomics on
      // more lines wait less.
      const std::string name = counter.name;
      if (name.ends_with("_ideal") || name == "global_load_sectors" || name == "atomic_footprint") continue;
      EXPECT_GE(EstimateTime(more, *device).microseconds, EstimateTime(base, *device).microseconds)
          << device->id << " " << counter.name;
    }
  }
}

TEST(TimeModelTest, AtomicsOnOneAddressWaitForEachOther) {
  LaunchRecord spread = Copy(1 << 20);
  spread.counters.atomics = 1 << 15;
  spread.counters.atomic_sectors = 1 << 17;
  spread.counters.atomic_footprint = 1 << 22;
  LaunchRecord one = spread;
  one.counters.atomic_footprint = 64;
  EXPECT_GT(EstimateTime(one, Profile("h200")).microseconds, 10 * EstimateTime(spread, Profile("h200")).microseconds);
  EXPECT_STREQ(EstimateTime(one, Profile("h200")).bound_by, "l2");
}

TEST(TimeModelTest, WhatFitsInL2DoesNotComeFromDram) {
  // 4 M floats, read: 16 MiB; the bytes alone would take 3.6 us. Fetched ten times by blocks, they still come from L2.
  LaunchRecord record = Copy(1 << 22);
  record.counters.global_load_misses *= 10;
  const double small = EstimateTime(record, Profile("h200")).microseconds;
  record.counters.global_load_footprint = record.counters.global_store_footprint = uint64_t{1} << 30;
  EXPECT_GT(EstimateTime(record, Profile("h200")).microseconds, 10 * small);
}

TEST(TimeModelTest, PageSwitchesCostOnlyWhereNoCacheGathers) {
  LaunchRecord record = Copy(1 << 20);
  const double g80 = EstimateTime(record, Profile("g80")).microseconds;
  const double h200 = EstimateTime(record, Profile("h200")).microseconds;
  record.counters.page_switches = 1 << 20;
  EXPECT_NEAR(EstimateTime(record, Profile("g80")).microseconds - g80, (1 << 20) * 2.3e-3, 600);
  EXPECT_DOUBLE_EQ(EstimateTime(record, Profile("h200")).microseconds, h200);
}

TEST(TimeModelTest, EmptyAndOddLaunchesTakeTheOverhead) {
  LaunchRecord record;
  for (const DeviceProfile* device : AllProfiles()) {
    const TimeEstimate estimate = EstimateTime(record, *device);
    EXPECT_GE(estimate.microseconds, device->launch_overhead_us);
    EXPECT_LT(estimate.microseconds, device->launch_overhead_us + 2);
    EXPECT_STREQ(estimate.bound_by, "launch");
  }
  record.grid = {0, 1, 1};
  EXPECT_DOUBLE_EQ(EstimateTime(record, Profile("h200")).microseconds, Profile("h200").launch_overhead_us);
}

// A library's call has no grid: its time on a device follows from its bytes and operations.
TEST(TimeModelTest, LibrariesTakeTheTimeOfTheirBytesOrOperations) {
  constexpr double kBytes = 1e9, kBytesPerMicrosecond = 1e3;
  LaunchRecord record;
  record.grid = record.block = {0, 0, 0};
  record.library = {kBytes, 1e6, Arithmetic::kFloat32};
  for (const char* name : {"t4", "h200"}) {
    const DeviceProfile& device = Profile(name);
    const double rate = device.dram_gb_per_s * device.dram_efficiency * kBytesPerMicrosecond;
    EXPECT_DOUBLE_EQ(EstimateTime(record, device).microseconds, device.launch_overhead_us + kBytes / rate);
    EXPECT_STREQ(EstimateTime(record, device).bound_by, "dram");
  }
  record.library.operations = 1e15;
  EXPECT_STREQ(EstimateTime(record, Profile("t4")).bound_by, "issue");
}

}  // namespace time_model_test
}  // namespace lockstep::vgpu
