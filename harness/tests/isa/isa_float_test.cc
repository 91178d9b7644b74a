// Floating point that cosim_test.cc does not compare with a GPU: the software floating point against the host, results
// around the least normal number, the bits of NaNs, every encoding of 16-bit floats.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "tests/isa/isa_test_support.h"
#include "vgpu/core/half_format.h"
#include "vgpu/isa/soft_float.h"

namespace lockstep::vgpu {
namespace isa_float_test {

// Random encodings with many specials, subnormals and numbers close together.
template <typename T>
T RandomFloat(std::mt19937_64& random) {
  using B = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int kFraction = sizeof(T) == 4 ? 23 : 52;
  const B sign = static_cast<B>(random() & 1) << (8 * sizeof(T) - 1);
  const B fraction = static_cast<B>(random()) & ((B{1} << kFraction) - 1);
  const B bias = sizeof(T) == 4 ? 127 : 1023;
  switch (random() % 10) {
    case 0: {
      const T specials[] = {0,
                            1,
                            std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::denorm_min(),
                            std::numeric_limits<T>::max()};
      return std::bit_cast<T>(static_cast<B>(std::bit_cast<B>(specials[random() % 7]) ^ sign));
    }
    case 1:  // subnormal
      return std::bit_cast<T>(static_cast<B>(sign | fraction));
    case 2:  // few bits
      return std::bit_cast<T>(
          static_cast<B>(sign | (bias + random() % 4) << kFraction | (fraction & ~((B{1} << (kFraction - 3)) - 1))));
    case 3:
    case 4:  // anything
      return std::bit_cast<T>(static_cast<B>(random()));
    default:  // of like size
      return std::bit_cast<T>(static_cast<B>(sign | (bias - 30 + random() % 60) << kFraction | fraction));
  }
}

// NaNs are equal here; FloatTest.NansAreTheDevices looks at their bits.
template <typename T>
void ExpectSame(T actual, T expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what;
  } else {
    EXPECT_EQ(Bits(actual), Bits(expected)) << what << ": " << actual << " instead of " << expected;
  }
}

TEST(FloatTest, SoftwareAgreesWithTheHost) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 200000; ++k) {
    const double a = RandomFloat<double>(random), b = RandomFloat<double>(random), c = RandomFloat<double>(random);
    const auto unpack = [](double x) { return Unpack(Bits(x), kDoubleFormat); };
    const auto round = [](const Exact& x) { return AsDouble(Pack(x, kDoubleFormat, Rounding::kNearestEven)); };
    ExpectSame(round(Add(unpack(a), unpack(b), Rounding::kNearestEven)), a + b, "add");
    ExpectSame(round(Multiply(unpack(a), unpack(b))), a * b, "mul");
    ExpectSame(round(Divide(unpack(a), unpack(b))), a / b, "div");
    ExpectSame(round(SquareRoot(unpack(a))), std::sqrt(a), "sqrt");
    ExpectSame(round(MultiplyAdd(unpack(a), unpack(b), unpack(c), Rounding::kNearestEven)), std::fma(a, b, c), "fma");
    if (HasFailure()) return;
  }
}

// Around the least normal number, in units of 2^-172: products of two numbers near 2^-63 are whole, and so are sums
// with them. Rounds to 24 bits with unlimited exponents, then flushes results below 2^-126.
float RoundAndFlush(__int128 exact, Rounding rounding, bool zero_is_negative) {
  constexpr int kLeast = 197 - 126;  // 2^-126 is 2^kLeast units
  if (exact == 0) return zero_is_negative ? -0.0f : 0.0f;
  const bool negative = exact < 0;
  unsigned __int128 magnitude = static_cast<unsigned __int128>(negative ? -exact : exact);
  int top = 127;
  while ((magnitude >> top) == 0) --top;
  if (top > 23) {
    const int drop = top - 23;
    const unsigned __int128 rest = magnitude & ((static_cast<unsigned __int128>(1) << drop) - 1);
    const unsigned __int128 half = static_cast<unsigned __int128>(1) << (drop - 1);
    magnitude -= rest;
    const bool odd = ((magnitude >> drop) & 1) != 0;
    const bool up = rounding == Rounding::kNearestEven ? rest > half || (rest == half && odd)
                    : rounding == Rounding::kUp        ? rest != 0 && !negative
                    : rounding == Rounding::kDown      ? rest != 0 && negative
                                                       : false;
    if (up) magnitude += static_cast<unsigned __int128>(1) << drop;
  }
  if (magnitude < static_cast<unsigned __int128>(1) << kLeast) return negative ? -0.0f : 0.0f;
  const float value = std::ldexp(static_cast<float>(magnitude >> (kLeast - 24)), -126 - 24);
  return negative ? -value : value;
}

__int128 Units(float x) { return static_cast<__int128>(std::ldexp(static_cast<double>(x), 149)) << 48; }

TEST(FloatTest, FlushesWhatIsTinyAfterRounding) {
  std::mt19937_64 random(9);
  const struct {
    const char* name;
    Rounding rounding;
  } modes[] = {{".rn", Rounding::kNearestEven},
               {".rz", Rounding::kTowardZero},
               {".rm", Rounding::kDown},
               {".rp", Rounding::kUp}};
  const auto sign = [&] { return random() % 2 == 0 ? 1.0f : -1.0f; };
  // 2^-63, and values that differ from it by a few, or by any number of, units in the last place.
  const auto factor = [&] {
    const int64_t steps =
        random() % 2 == 0 ? static_cast<int64_t>(random() % 9) - 4 : static_cast<int64_t>(random() >> 42);
    return sign() * std::bit_cast<float>(static_cast<uint32_t>(std::bit_cast<uint32_t>(0x1p-63f) + steps));
  };
  int kept = 0, flushed = 0;
  for (const auto& mode : modes) {
    for (const char* suffix : {".ftz.f32", ".ftz.sat.f32"}) {
      const bool saturates = std::string(suffix).find("sat") != std::string::npos;
      const auto named = [&](std::string name) { return name.append(mode.name).append(suffix); };
      LaneMachine multiply(named("mul")), fma(named("fma")), add(named("add")), subtract(named("sub"));
      for (int round = 0; round < 200; ++round) {
        float a[kWarpSize], b[kWarpSize], c[kWarpSize], d[kWarpSize];
        for (int lane = 0; lane < kWarpSize; ++lane) {
          a[lane] = factor();
          b[lane] = factor();
          // Mostly an addend that leaves about 2^-126, or nearly nothing.
          const int kind = static_cast<int>(random() % 4);
          const uint32_t least = std::bit_cast<uint32_t>(0x1p-126f);
          if (kind == 0) b[lane] *= std::ldexp(1.0f, -static_cast<int>(random() % 24));
          c[lane] =
              sign() * (kind == 1 ? 0x1p-125f : std::bit_cast<float>(least + static_cast<uint32_t>(random() % 5)));
          d[lane] = sign() * std::bit_cast<float>(least + static_cast<uint32_t>(random() % 0x1000000));
          for (LaneMachine* machine : {&multiply, &fma}) {
            machine->SetSource(0, lane, Bits(a[lane]));
            machine->SetSource(1, lane, Bits(b[lane]));
          }
          fma.SetSource(2, lane, Bits(c[lane]));
          for (LaneMachine* machine : {&add, &subtract}) {
            machine->SetSource(0, lane, Bits(c[lane]));
            machine->SetSource(1, lane, Bits(d[lane]));
          }
        }
        for (LaneMachine* machine : {&multiply, &fma, &add, &subtract}) machine->Run();
        for (int lane = 0; lane < kWarpSize; ++lane) {
          const __int128 product = static_cast<__int128>(std::ldexp(static_cast<double>(a[lane]), 87)) *
                                   static_cast<__int128>(std::ldexp(static_cast<double>(b[lane]), 110));
          const auto expect = [&](LaneMachine& machine, __int128 exact, bool negative_zero, const char* name) {
            float expected = RoundAndFlush(exact, mode.rounding, negative_zero);
            (std::fabs(expected) == 0x1p-126f ? kept : flushed) += expected == 0 || std::fabs(expected) == 0x1p-126f;
            if (saturates && !(expected > 0)) expected = 0;
            EXPECT_EQ(machine.Destination(0, lane), Bits(expected))
                << name << mode.name << suffix << " " << a[lane] << " " << b[lane] << " " << c[lane] << " " << d[lane];
          };
          const bool down = mode.rounding == Rounding::kDown;
          expect(multiply, product, (a[lane] < 0) != (b[lane] < 0), "mul");
          expect(fma, product + Units(c[lane]), down, "fma");
          expect(add, Units(c[lane]) + Units(d[lane]), down, "add");
          expect(subtract, Units(c[lane]) - Units(d[lane]), down, "sub");
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(kept, 1000);
  EXPECT_GT(flushed, 1000);
}

// As seen on an H200.
TEST(FloatTest, NansAreTheDevices) {
  const uint64_t single = 0x7fffffff, other = 0xffc12345;
  for (const char* text : {"add.f32", "mul.rz.f32", "min.f32", "max.NaN.f32", "div.approx.f32", "div.rp.f32"}) {
    EXPECT_EQ(Evaluate(text, {other, other}), single) << text;
  }
  for (const char* text : {"abs.f32", "neg.f32", "neg.ftz.f32", "sin.approx.f32", "sqrt.rn.f32", "cvt.rni.f32.f32"}) {
    EXPECT_EQ(Evaluate(text, {other}), single) << text;
  }
  const uint64_t first = 0xfff8000000000001, signaling = 0x7ff0000000000002, quieted = 0x7ff8000000000002;
  for (const char* text : {"add.f64", "sub.rz.f64", "mul.rp.f64", "div.rn.f64"}) {
    EXPECT_EQ(Evaluate(text, {first, Bits(1.0)}), first) << text;
    EXPECT_EQ(Evaluate(text, {Bits(1.0), signaling}), quieted) << text;
  }
  EXPECT_EQ(Evaluate("mul.f64", {first, signaling}), quieted);
  EXPECT_EQ(Evaluate("fma.rn.f64", {first, signaling, Bits(0.0)}), quieted);
  EXPECT_EQ(Evaluate("max.f64", {signaling, first}), first);
  EXPECT_EQ(Evaluate("abs.f64", {first}), first);
  EXPECT_EQ(Evaluate("neg.f64", {signaling}), quieted);
  EXPECT_EQ(Evaluate("sub.f64", {Bits(INFINITY + 0.0), Bits(INFINITY + 0.0)}), 0xfff8000000000000);
  EXPECT_EQ(Evaluate("rcp.approx.ftz.f64", {first}), 0x7fffffff00000000);
  EXPECT_EQ(Evaluate("neg.f16", {0xfe01}), 0x7fffu);
  EXPECT_EQ(Evaluate("abs.bf16x2", {0xffc1ff80}), 0x7fff7f80u);
}

template <typename Format>
double HalfValue(uint16_t encoded) {
  const FloatFormat& format = std::is_same_v<Format, Half> ? kHalfFormat : kBfloatFormat;
  return AsDouble(Pack(Unpack(encoded, format), kDoubleFormat, Rounding::kNearestEven));
}

template <typename Format>
void CheckEncodings(const FloatFormat& format) {
  for (uint32_t encoded = 0; encoded < 0x10000; ++encoded) {
    const auto bits = static_cast<uint16_t>(encoded);
    const double value = HalfValue<Format>(bits);
    const float single = Format::ToFloat(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(single));
      EXPECT_EQ(Format::FromFloat(single), Format::kNan);
      continue;
    }
    ASSERT_EQ(static_cast<double>(single), value) << encoded;
    ASSERT_EQ(Format::FromFloat(single), bits);
    ASSERT_EQ(FromDouble<Format>(value), bits);
  }
  // Every interval between two numbers: its middle, and just below and above it.
  for (uint32_t encoded = 0; encoded < Format::kExponent; ++encoded) {
    const double low = HalfValue<Format>(static_cast<uint16_t>(encoded));
    const double high = encoded + 1u == Format::kExponent
                            ? 2 * low - HalfValue<Format>(static_cast<uint16_t>(encoded - 1))
                            : HalfValue<Format>(static_cast<uint16_t>(encoded + 1));
    const double middle = low + (high - low) / 2;
    for (const double x : {middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      const uint64_t expected = Pack(Unpack(Bits(x), kDoubleFormat), format, Rounding::kNearestEven);
      ASSERT_EQ(FromDouble<Format>(x), expected) << encoded << " " << x;
      const float single = static_cast<float>(x);
      ASSERT_EQ(Format::FromFloat(single), Pack(Unpack(Bits(single), kSingleFormat), format, Rounding::kNearestEven));
    }
  }
}

TEST(HalfTest, EveryEncodingSurvives) {
  CheckEncodings<Half>(kHalfFormat);
  CheckEncodings<Bfloat>(kBfloatFormat);
}

}  // namespace isa_float_test
}  // namespace lockstep::vgpu
