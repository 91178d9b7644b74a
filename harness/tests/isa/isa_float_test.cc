// f32, f64 and 16-bit float instructions: every rounding mode against the host's own rounding modes, special values,
// and the software floating point against the hardware.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"
#include "vgpu/core/half_format.h"
#include "vgpu/isa/soft_float.h"

namespace lockstep::vgpu {
namespace {

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

struct Mode {
  const char* name;
  int host;
};
constexpr Mode kModes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// The host's result in a rounding mode. volatile keeps the operation between the two calls.
template <typename T, typename F>
T InMode(int mode, F f, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T, typename F>
void CheckRoundings(const std::string& op, size_t sources, F f) {
  const std::string type = sizeof(T) == 4 ? ".f32" : ".f64";
  std::mt19937_64 random(sources);
  for (const Mode& mode : kModes) {
    const std::string text = op + "." + mode.name + type;
    LaneMachine machine(text);
    ASSERT_TRUE(machine.supported()) << text;
    for (int round = 0; round < 300; ++round) {
      T in[3][kWarpSize] = {};
      for (size_t k = 0; k < sources; ++k) {
        for (int lane = 0; lane < kWarpSize; ++lane) {
          in[k][lane] = RandomFloat<T>(random);
          machine.SetSource(k, lane, Bits(in[k][lane]));
        }
      }
      machine.Run();
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const T expected = InMode<T>(mode.host, f, in[0][lane], in[1][lane], in[2][lane]);
        const uint64_t bits = machine.Destination(0, lane);
        const T actual = sizeof(T) == 4 ? static_cast<T>(AsFloat(bits)) : static_cast<T>(AsDouble(bits));
        ExpectSame<T>(actual, expected,
                      text + " " + testing::PrintToString(in[0][lane]) + " " + testing::PrintToString(in[1][lane]) +
                          " " + testing::PrintToString(in[2][lane]));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

template <typename T>
void CheckAllRoundings() {
  CheckRoundings<T>("add", 2, [](T a, T b, T) { return a + b; });
  CheckRoundings<T>("sub", 2, [](T a, T b, T) { return a - b; });
  CheckRoundings<T>("mul", 2, [](T a, T b, T) { return a * b; });
  CheckRoundings<T>("fma", 3, [](T a, T b, T c) { return std::fma(a, b, c); });
  CheckRoundings<T>("mad", 3, [](T a, T b, T c) { return std::fma(a, b, c); });
  CheckRoundings<T>("div", 2, [](T a, T b, T) { return a / b; });
  CheckRoundings<T>("rcp", 1, [](T a, T, T) { return T{1} / a; });
  CheckRoundings<T>("sqrt", 1, [](T a, T, T) { return std::sqrt(a); });
}

TEST(FloatTest, SingleIsRoundedAsAsked) { CheckAllRoundings<float>(); }
TEST(FloatTest, DoubleIsRoundedAsAsked) { CheckAllRoundings<double>(); }

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

TEST(FloatTest, FlushesBeforeAndAfter) {
  const uint64_t subnormal = 0x80000001, smallest = Bits(0x1p-126f);
  EXPECT_EQ(Evaluate("mul.ftz.f32", {subnormal, Bits(1e30f)}), Bits(-0.0f));
  EXPECT_EQ(Evaluate("mul.ftz.f32", {smallest, Bits(0.5f)}), Bits(0.0f));
  EXPECT_EQ(Evaluate("mul.ftz.f32", {smallest, Bits(-0.5f)}), Bits(-0.0f));
  EXPECT_EQ(Evaluate("mul.f32", {smallest, Bits(0.5f)}), Bits(0x1p-127f));
  EXPECT_EQ(Evaluate("mul.rp.ftz.f32", {subnormal, Bits(1.0f)}), Bits(-0.0f));
  // Subnormal before it is rounded to as many bits as any number has, and after it.
  EXPECT_EQ(Evaluate("rcp.rp.ftz.f32", {0x7e800001}), Bits(0.0f));
  EXPECT_EQ(Evaluate("mul.rn.ftz.f32", {smallest, Bits(0x1.fffffep-1f)}), Bits(0.0f));
  EXPECT_EQ(Evaluate("mul.rn.ftz.f32x2", {smallest | smallest << 32, Bits(0x1.fffffep-1f) | Bits(1.0f) << 32}),
            smallest << 32);
  // Only before it.
  EXPECT_EQ(Evaluate("fma.rp.ftz.f32", {smallest, Bits(-0x1p-30f), smallest}), smallest);
  EXPECT_EQ(Evaluate("fma.rn.ftz.f32", {smallest, Bits(-0x1p-30f), smallest}), smallest);
  EXPECT_EQ(Evaluate("fma.rz.ftz.f32", {smallest, Bits(-0x1p-30f), smallest}), Bits(0.0f));
  EXPECT_EQ(Evaluate("rcp.rp.f32", {0x7e800001}), smallest);
  EXPECT_EQ(Evaluate("fma.rn.ftz.f32", {smallest, Bits(1.0f), Bits(-0x1.8p-126f)}), Bits(-0.0f));
}

// Around the least normal number, in units of 2^-172: products of two numbers near 2^-63 are whole, and so are sums
// with them. Rounding is to 24 bits, with no end of exponents, and then what is below 2^-126 flushes.
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
  // 2^-63 and what lies a few, or any number, of units in the last place beside it.
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

TEST(FloatTest, SaturatesToTheUnitInterval) {
  for (const char* text : {"add.sat.f32", "add.ftz.sat.f32", "add.rz.sat.f32"}) {
    EXPECT_EQ(Evaluate(text, {Bits(-3.0f), Bits(1.0f)}), Bits(0.0f)) << text;
    EXPECT_EQ(Evaluate(text, {Bits(0.25f), Bits(0.5f)}), Bits(0.75f)) << text;
    EXPECT_EQ(Evaluate(text, {Bits(INFINITY), Bits(0.5f)}), Bits(1.0f)) << text;
    EXPECT_EQ(Evaluate(text, {Bits(NAN), Bits(0.5f)}), Bits(0.0f)) << text;
    EXPECT_EQ(Evaluate(text, {Bits(-0.0f), Bits(-0.0f)}), Bits(0.0f)) << text;
  }
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

TEST(FloatTest, SineOfLargeNumbersHasNoFractionLeft) {
  EXPECT_EQ(Evaluate("sin.approx.f32", {Bits(0x1p30f)}), Bits(0.0f));
  EXPECT_EQ(Evaluate("sin.approx.f32", {Bits(-0x1p30f)}), Bits(-0.0f));
  EXPECT_EQ(Evaluate("cos.approx.f32", {Bits(-0x1p30f)}), Bits(1.0f));
  EXPECT_NEAR(AsFloat(Evaluate("sin.approx.f32", {Bits(-1.0f)})), -std::sin(1.0), 0x1p-20);
}

TEST(FloatTest, ApproximationsAreWithinTheirBounds) {
  struct Function {
    const char* text;
    double (*exact)(double);
    float low, high;
    double relative, absolute;
  };
  // Bounds of PTX ISA 9.0: relative ones, or absolute ones on the named ranges.
  const Function functions[] = {
      {"rcp.approx.f32", [](double x) { return 1 / x; }, 1e-30f, 1e30f, 0x1p-23, 0},
      {"sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 1e-30f, 1e30f, 0x1p-23, 0},
      {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 1e-30f, 1e30f, 0x1p-22, 0},
      {"sin.approx.f32", [](double x) { return std::sin(x); }, -3.14f, 3.14f, 0, 0x1p-20},
      {"cos.approx.f32", [](double x) { return std::cos(x); }, -3.14f, 3.14f, 0, 0x1p-20},
      {"lg2.approx.f32", [](double x) { return std::log2(x); }, 0.5f, 2.0f, 0, 0x1p-22},
      {"ex2.approx.f32", [](double x) { return std::exp2(x); }, -100.0f, 100.0f, 0x1p-22, 0},
      {"tanh.approx.f32", [](double x) { return std::tanh(x); }, -10.0f, 10.0f, 0x1p-11, 0},
  };
  for (const Function& function : functions) {
    LaneMachine machine(function.text);
    std::mt19937 random(2);
    std::uniform_real_distribution<float> uniform(function.low, function.high);
    for (int round = 0; round < 50; ++round) {
      float in[kWarpSize];
      for (int lane = 0; lane < kWarpSize; ++lane) machine.SetSource(0, lane, Bits(in[lane] = uniform(random)));
      machine.Run();
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const double exact = function.exact(in[lane]);
        EXPECT_LE(std::fabs(AsFloat(machine.Destination(0, lane)) - exact),
                  std::fabs(exact) * function.relative + function.absolute)
            << function.text << " " << in[lane];
      }
    }
  }
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
  // Every place between two numbers: the halves, and a hair beside them.
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

// The packed halves' arithmetic is rounded once: against exact software arithmetic, on random encodings.
template <typename Format>
void CheckArithmetic(const FloatFormat& format, const std::string& type) {
  std::mt19937 random(9);
  LaneMachine add("add." + type + "x2"), mul("mul." + type), fma("fma.rn." + type);
  for (int round = 0; round < 3000; ++round) {
    uint16_t in[3][kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      for (auto& row : in) row[lane] = static_cast<uint16_t>(random());
      for (size_t k = 0; k < 3; ++k) {
        if (k < 2) add.SetSource(k, lane, uint32_t{in[k][lane]} << 16 | in[k][lane]);
        if (k < 2) mul.SetSource(k, lane, in[k][lane]);
        fma.SetSource(k, lane, in[k][lane]);
      }
    }
    add.Run();
    mul.Run();
    fma.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const Exact a = Unpack(in[0][lane], format), b = Unpack(in[1][lane], format), c = Unpack(in[2][lane], format);
      const auto pack = [&](const Exact& x) { return Pack(x, format, Rounding::kNearestEven); };
      const uint64_t sum = pack(Add(a, b, Rounding::kNearestEven));
      ASSERT_EQ(add.Destination(0, lane), sum << 16 | sum) << type << " " << in[0][lane] << " + " << in[1][lane];
      ASSERT_EQ(mul.Destination(0, lane), pack(Multiply(a, b))) << type << " " << in[0][lane] << " * " << in[1][lane];
      ASSERT_EQ(fma.Destination(0, lane), pack(MultiplyAdd(a, b, c, Rounding::kNearestEven)))
          << type << " " << in[0][lane] << " * " << in[1][lane] << " + " << in[2][lane];
    }
  }
}

TEST(HalfTest, ArithmeticRoundsOnce) {
  CheckArithmetic<Half>(kHalfFormat, "f16");
  CheckArithmetic<Bfloat>(kBfloatFormat, "bf16");
}

TEST(HalfTest, ATieThatATinyAddendBreaks) {
  // 7 * 37 = 259 = 256 * (1 + 3/256): between two bf16 numbers; 2^-60 decides.
  EXPECT_EQ(Evaluate("fma.rn.bf16", {0x40e0, 0x4214, 0x2180}), 0x4382u);
  EXPECT_EQ(Evaluate("fma.rn.bf16", {0x40e0, 0x4214, 0xa180}), 0x4381u);
}

}  // namespace
}  // namespace lockstep::vgpu
