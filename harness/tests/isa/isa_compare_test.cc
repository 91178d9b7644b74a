// setp, set, selp, slct: every comparison of every type on ordered, equal and unordered operands.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"

namespace lockstep::vgpu {
namespace {

enum Relation { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

struct Comparison {
  std::string name;
  int holds;  // for which relations
};
const std::vector<Comparison> kIntegerComparisons = {{"eq", kEqual},   {"ne", kLess | kGreater},
                                                     {"lt", kLess},    {"le", kLess | kEqual},
                                                     {"gt", kGreater}, {"ge", kGreater | kEqual}};
const std::vector<Comparison> kUnsignedComparisons = {
    {"lo", kLess}, {"ls", kLess | kEqual}, {"hi", kGreater}, {"hs", kGreater | kEqual}};
const std::vector<Comparison> kFloatComparisons = {
    {"equ", kEqual | kUnordered},       {"neu", kLess | kGreater | kUnordered},
    {"ltu", kLess | kUnordered},        {"leu", kLess | kEqual | kUnordered},
    {"gtu", kGreater | kUnordered},     {"geu", kGreater | kEqual | kUnordered},
    {"num", kLess | kEqual | kGreater}, {"nan", kUnordered}};

template <typename T>
Relation RelationOf(T a, T b) {
  return a < b ? kLess : a == b ? kEqual : a > b ? kGreater : kUnordered;
}

// The value that an element's bits stand for, as something comparable.
using Reader = std::function<Relation(uint64_t a, uint64_t b)>;

template <typename T>
Relation Read(uint64_t a, uint64_t b) {
  if constexpr (std::is_same_v<T, float>) return RelationOf(AsFloat(a), AsFloat(b));
  if constexpr (std::is_same_v<T, double>) return RelationOf(AsDouble(a), AsDouble(b));
  return RelationOf(static_cast<T>(a), static_cast<T>(b));
}

void CheckType(const std::string& type, const std::vector<Comparison>& comparisons, const Reader& relation,
               const std::vector<uint64_t>& values) {
  for (const Comparison& comparison : comparisons) {
    LaneMachine plain("setp." + comparison.name + "." + type);
    ASSERT_TRUE(plain.supported()) << comparison.name << "." << type;
    std::mt19937 random(1);
    for (int round = 0; round < 20; ++round) {
      std::vector<uint64_t> a(kWarpSize), b(kWarpSize), c(kWarpSize);
      for (size_t lane = 0; lane < kWarpSize; ++lane) {
        a[lane] = values[random() % values.size()];
        b[lane] = values[random() % values.size()];
        c[lane] = random() & 1;
        plain.SetSource(0, static_cast<int>(lane), a[lane]);
        plain.SetSource(1, static_cast<int>(lane), b[lane]);
      }
      plain.Run();
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const size_t at = static_cast<size_t>(lane);
        const bool holds = (relation(a[at], b[at]) & comparison.holds) != 0;
        ASSERT_EQ(plain.Destination(0, lane), static_cast<uint64_t>(holds))
            << comparison.name << type << a[at] << " " << b[at];
        ASSERT_EQ(plain.Destination(1, lane), static_cast<uint64_t>(!holds));
      }
      for (const std::string op : {"and", "or", "xor"}) {
        LaneMachine combined("setp." + comparison.name + "." + op + "." + type);
        ASSERT_EQ(combined.sources(), 3u);
        for (int lane = 0; lane < kWarpSize; ++lane) {
          const size_t at = static_cast<size_t>(lane);
          combined.SetSource(0, lane, a[at]);
          combined.SetSource(1, lane, b[at]);
          combined.SetSource(2, lane, c[at]);
        }
        if (round % 2 == 1) combined.NegateSource(2);
        combined.Run(0x00ffff00);
        for (int lane = 0; lane < kWarpSize; ++lane) {
          const size_t at = static_cast<size_t>(lane);
          const bool holds = (relation(a[at], b[at]) & comparison.holds) != 0;
          const bool with = (c[at] != 0) != (round % 2 == 1);
          const auto apply = [&](bool t) { return op == "and" ? t && with : op == "or" ? t || with : t != with; };
          const bool active = lane >= 8 && lane < 24;
          ASSERT_EQ(combined.Destination(0, lane), static_cast<uint64_t>(active && apply(holds)));
          ASSERT_EQ(combined.Destination(1, lane), static_cast<uint64_t>(active && apply(!holds)));
        }
      }
    }
  }
}

TEST(CompareTest, Integers) {
  const std::vector<uint64_t> values = {0,
                                        1,
                                        2,
                                        0x7fff,
                                        0x8000,
                                        0xffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0xffffffff,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        0xffffffffffffffff};
  CheckType("s16", kIntegerComparisons, Read<int16_t>, values);
  CheckType("s32", kIntegerComparisons, Read<int32_t>, values);
  CheckType("s64", kIntegerComparisons, Read<int64_t>, values);
  for (const auto& comparisons : {kIntegerComparisons, kUnsignedComparisons}) {
    CheckType("u16", comparisons, Read<uint16_t>, values);
    CheckType("u32", comparisons, Read<uint32_t>, values);
    CheckType("u64", comparisons, Read<uint64_t>, values);
  }
  const std::vector<Comparison> equality(kIntegerComparisons.begin(), kIntegerComparisons.begin() + 2);
  CheckType("b16", equality, Read<uint16_t>, values);
  CheckType("b32", equality, Read<uint32_t>, values);
  CheckType("b64", equality, Read<uint64_t>, values);
}

TEST(CompareTest, Floats) {
  std::vector<uint64_t> singles, doubles;
  for (const double x : {0.0, -0.0, 1.0, -1.0, 1e-42, -1e-42, static_cast<double>(INFINITY),
                         -static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    singles.push_back(Bits(static_cast<float>(x)));
    doubles.push_back(Bits(x));
  }
  const std::vector<uint64_t> halves = {0, 0x8000, 0x3c00, 0xbc00, 1, 0x8001, 0x7c00, 0xfc00, 0x7e00};
  const std::vector<uint64_t> bfloats = {0, 0x8000, 0x3f80, 0xbf80, 1, 0x8001, 0x7f80, 0xff80, 0x7fc0};
  const auto half_value = [](uint64_t bits) {
    const double magnitude = (bits & 0x7c00) == 0        ? static_cast<double>(bits & 0x3ff) * 0x1p-24
                             : (bits & 0x7fff) == 0x7c00 ? static_cast<double>(INFINITY)
                             : (bits & 0x7fff) > 0x7c00  ? static_cast<double>(NAN)
                                                         : 1.0;
    return bits & 0x8000 ? -magnitude : magnitude;
  };
  for (const auto& comparisons : {kIntegerComparisons, kFloatComparisons}) {
    CheckType("f32", comparisons, Read<float>, singles);
    CheckType("f64", comparisons, Read<double>, doubles);
    CheckType(
        "f16", comparisons, [&](uint64_t a, uint64_t b) { return RelationOf(half_value(a), half_value(b)); }, halves);
    CheckType(
        "bf16", comparisons, [&](uint64_t a, uint64_t b) { return RelationOf(AsFloat(a << 16), AsFloat(b << 16)); },
        bfloats);
  }
}

TEST(CompareTest, FlushedSubnormalsAreZeros) {
  EXPECT_EQ(Evaluate("setp.eq.ftz.f32", {0x00000001, 0x80000001}), 1u);
  EXPECT_EQ(Evaluate("setp.eq.f32", {0x00000001, 0x80000001}), 0u);
  EXPECT_EQ(Evaluate("setp.gt.ftz.f16", {0x0001, 0}), 0u);
  EXPECT_EQ(Evaluate("set.gt.ftz.u32.f32", {1, 0}), 0u);
}

TEST(CompareTest, PairsGiveTwoPredicates) {
  LaneMachine machine("setp.lt.f16x2");
  machine.SetSourceInAllLanes(0, 0x3c00bc00);
  machine.SetSourceInAllLanes(1, 0x00000000);
  machine.Run();
  EXPECT_EQ(machine.Destination(0, 9), 1u);
  EXPECT_EQ(machine.Destination(1, 9), 0u);
}

TEST(CompareTest, ASecondPredicateMayBeMissing) {
  LaneMachine machine("setp.lt.s32");
  machine.DropDestination(1);
  machine.SetSourceInAllLanes(1, 1);
  machine.Run();
  EXPECT_EQ(machine.Destination(0, 0), 1u);
}

TEST(CompareTest, SelectsLaneByLane) {
  for (const std::string type : {"b16", "u32", "f32", "s64", "f64"}) {
    for (const bool negated : {false, true}) {
      LaneMachine machine("selp." + type);
      for (int lane = 0; lane < kWarpSize; ++lane) {
        machine.SetSource(0, lane, static_cast<uint64_t>(lane));
        machine.SetSource(1, lane, static_cast<uint64_t>(lane) + 100);
        machine.SetSource(2, lane, lane % 3 == 0);
        machine.SetDestination(0, lane, 7);
      }
      if (negated) machine.NegateSource(2);
      machine.Run(0xfffffff0);
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const uint64_t chosen = static_cast<uint64_t>((lane % 3 == 0) != negated ? lane : lane + 100);
        EXPECT_EQ(machine.Destination(0, lane), lane < 4 ? 7 : chosen) << type;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::vgpu
