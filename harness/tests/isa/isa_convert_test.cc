// cvt: the handlers on host instructions against exact integer arithmetic, and both against the definition.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"
#include "vgpu/isa/convert.h"

namespace lockstep::vgpu {
namespace isa_convert_test {

struct Element {
  std::string name;
  Number number;
};
const std::vector<Element> kIntegers = {{"u8", Number::kU8},   {"u16", Number::kU16}, {"u32", Number::kU32},
                                        {"u64", Number::kU64}, {"s8", Number::kS8},   {"s16", Number::kS16},
                                        {"s32", Number::kS32}, {"s64", Number::kS64}};
const std::vector<Element> kFloats = {
    {"f16", Number::kF16}, {"bf16", Number::kBF16}, {"f32", Number::kF32}, {"f64", Number::kF64}};

uint64_t MaskOf(int bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1; }

uint64_t RandomBits(std::mt19937_64& random, const Element& element) {
  const uint64_t any = random();
  switch (random() % 6) {
    case 0:
      return MaskOf(BytesOf(element.number)) >> (any % 3);
    case 1:
      return any % 5;
    case 2:  // a float of moderate size
      if (element.number == Number::kF32) return Bits(static_cast<float>(static_cast<int64_t>(any) >> (any % 64)) / 4);
      if (element.number == Number::kF64) return Bits(static_cast<double>(static_cast<int64_t>(any) >> (any % 64)) / 4);
      return any >> (any % 64);
    default:
      return any;
  }
}

// Runs the handler that the selector picks and compares with ConvertElement.
void CheckAgainstExact(const std::string& text, const Conversion& conversion) {
  LaneMachine machine(text);
  ASSERT_TRUE(machine.supported()) << text;
  std::mt19937_64 random(1);
  const Element from{"", conversion.from};
  const int to_bytes = std::max(BytesOf(conversion.to), 2);
  for (int round = 0; round < 60; ++round) {
    uint64_t in[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      in[lane] = RandomBits(random, from) & MaskOf(BytesOf(conversion.from));
      machine.SetSource(0, lane, in[lane]);
    }
    machine.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      ASSERT_EQ(machine.Destination(0, lane), ConvertElement(conversion, in[lane]) & MaskOf(to_bytes))
          << text << std::hex << " " << in[lane];
    }
  }
}

TEST(ConvertTest, IntegersToIntegers) {
  for (const Element& to : kIntegers) {
    for (const Element& from : kIntegers) {
      for (const bool sat : {false, true}) {
        CheckAgainstExact(std::string("cvt.") + (sat ? "sat." : "") + to.name + "." + from.name,
                          {.to = to.number, .from = from.number, .sat = sat});
      }
    }
  }
}

struct Mode {
  std::string name;
  Rounding rounding;
  int host;
};
const std::vector<Mode> kModes = {{"rn", Rounding::kNearestEven, FE_TONEAREST},
                                  {"rz", Rounding::kTowardZero, FE_TOWARDZERO},
                                  {"rm", Rounding::kDown, FE_DOWNWARD},
                                  {"rp", Rounding::kUp, FE_UPWARD}};

TEST(ConvertTest, IntegersToFloats) {
  for (const Element& to : kFloats) {
    for (const Element& from : kIntegers) {
      for (const Mode& mode : kModes) {
        CheckAgainstExact("cvt." + mode.name + "." + to.name + "." + from.name,
                          {.to = to.number, .from = from.number, .rounding = mode.rounding});
      }
    }
  }
}

TEST(ConvertTest, FloatsToIntegers) {
  for (const Element& to : kIntegers) {
    for (const Element& from : kFloats) {
      for (const Mode& mode : kModes) {
        CheckAgainstExact("cvt." + mode.name + "i." + to.name + "." + from.name,
                          {.to = to.number, .from = from.number, .rounding = mode.rounding});
      }
    }
    CheckAgainstExact("cvt.rpi.ftz." + to.name + ".f32",
                      {.to = to.number, .from = Number::kF32, .rounding = Rounding::kUp, .ftz = true});
  }
}

TEST(ConvertTest, FloatsToFloats) {
  for (const Element& to : kFloats) {
    for (const Element& from : kFloats) {
      const bool same = to.number == from.number;
      const bool widens =
          (to.number == Number::kF64 && !same) || (to.number == Number::kF32 && BytesOf(from.number) == 2);
      for (const Mode& mode : kModes) {
        const std::string rounding = same ? mode.name + "i." : widens ? "" : mode.name + ".";
        CheckAgainstExact("cvt." + rounding + to.name + "." + from.name,
                          {.to = to.number, .from = from.number, .rounding = mode.rounding, .to_integral = same});
      }
    }
  }
}

// As seen on an H200.
TEST(ConvertTest, NansKeepTheirPayloadWhereF64OrBf16TakesPart) {
  EXPECT_EQ(Evaluate("cvt.f64.f32", {0x7fffffff}), 0x7fffffffe0000000u);
  EXPECT_EQ(Evaluate("cvt.f64.f32", {0xffc12345}), 0xfff82468a0000000u);
  EXPECT_EQ(Evaluate("cvt.f64.f32", {0x7fa00000}), 0x7ffc000000000000u);
  EXPECT_EQ(Evaluate("cvt.ftz.f64.f32", {0xffc12345}), 0x7fffffffe0000000u);
  EXPECT_EQ(Evaluate("cvt.f64.f16", {0x7d00}), 0x7ffc000000000000u);
  EXPECT_EQ(Evaluate("cvt.rn.f32.f64", {0x7ff0000000000001}), 0x7fc00000u);
  EXPECT_EQ(Evaluate("cvt.rp.f32.f64", {0xfff8000000000001}), 0xffc00000u);
  EXPECT_EQ(Evaluate("cvt.rn.f16.f64", {0xfff8000000000001}), 0xfe00u);
  EXPECT_EQ(Evaluate("cvt.rn.bf16.f64", {0x7ff0000000000001}), 0x7fc0u);
  EXPECT_EQ(Evaluate("cvt.rni.f64.f64", {0x7ff0000000000001}), 0x7ff8000000000001u);
  EXPECT_EQ(Evaluate("cvt.f32.bf16", {0x7fa0}), 0x7fa00000u);
  EXPECT_EQ(Evaluate("cvt.rna.tf32.f32", {0xffc12345}), 0xffc12000u);
  EXPECT_EQ(Evaluate("cvt.f32.f16", {0xfe01}), 0x7fffffffu);
  EXPECT_EQ(Evaluate("cvt.rn.f16.f32", {0xffc12345}), 0x7fffu);
  EXPECT_EQ(Evaluate("cvt.rn.relu.f16.f32", {0xffc12345}), 0x7fffu);
}

// f64 to f32 around the least normal number: rounded as if 2^64 times as large, where nothing is subnormal; then
// results below the least normal number are flushed. An H200 does the same.
TEST(ConvertTest, FlushesAfterRounding) {
  int flushed = 0;
  for (const Mode& mode : kModes) {
    const std::string text = "cvt." + mode.name + ".ftz.";
    for (int k = -40; k <= 40; ++k) {
      for (const double sign : {1.0, -1.0}) {
        const double x = sign * (0x1p-126 + k * 0x1p-153);
        std::fesetround(mode.host);
        const volatile double large = x * 0x1p64;
        const volatile float rounded = static_cast<float>(large);
        std::fesetround(FE_TONEAREST);
        const bool tiny = std::fabs(rounded) < 0x1p-62f;
        const float expected = tiny ? std::copysign(0.0f, rounded) : rounded * 0x1p-64f;
        EXPECT_EQ(Evaluate(text + "f32.f64", {Bits(x)}), Bits(expected)) << mode.name << " " << k << " " << sign;
        EXPECT_EQ(Evaluate(text + "sat.f32.f64", {Bits(x)}), Bits(sign < 0 ? 0.0f : expected)) << mode.name << " " << k;
        flushed += tiny;
      }
    }
  }
  EXPECT_GT(flushed, 200);
}

}  // namespace isa_convert_test
}  // namespace lockstep::vgpu
