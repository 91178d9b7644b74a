// Arithmetic as nvcc compiles it, through parser, decoder and engine, against the same expressions on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/device_support.h"
#include "vgpu/isa/half_format.h"

namespace lockstep::vgpu {
namespace {

constexpr int kCount = 1000;
constexpr TestDevice::Shape kShape{{8}, {128}};

std::vector<int32_t> Integers(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> values(kCount);
  for (int32_t& x : values) x = static_cast<int32_t>(random()) >> (random() % 28);
  values[0] = 0;
  values[1] = INT32_MIN;
  values[2] = INT32_MAX;
  values[3] = -1;
  return values;
}

std::vector<float> Floats(uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-20.0f, 20.0f);
  std::vector<float> values(kCount);
  for (float& x : values) x = uniform(random);
  return values;
}

TEST(IsaDeviceTest, Integers) {
  TestDevice device(ReadPtx("isa_device"));
  const std::vector<int32_t> a = Integers(1), b = Integers(2);
  using Expression = std::function<uint32_t(int32_t x, int32_t y, uint32_t u, uint32_t v)>;
  const auto byte = [](uint32_t x, int k) { return (x >> (8 * k)) & 0xff; };
  const auto reverse = [](uint32_t x) {
    uint32_t r = 0;
    for (int k = 0; k < 32; ++k) r |= ((x >> k) & 1) << (31 - k);
    return r;
  };
  // INT_MIN / -1 wraps on the device; through 64 bits it does here.
  const std::vector<Expression> expressions = {
      [](auto, auto, auto u, auto v) { return u * v + 7u; },
      [](auto x, auto y, auto, auto) { return static_cast<uint32_t>(int64_t{x} / (y | 1)); },
      [](auto x, auto y, auto, auto) { return static_cast<uint32_t>(int64_t{x} % (y | 1)); },
      [](auto, auto, auto u, auto v) { return u / (v | 1u); },
      [](auto, auto, auto u, auto v) { return u % (v | 1u); },
      [](auto, auto, auto u, auto v) { return static_cast<uint32_t>(uint64_t{u} * v >> 32); },
      [](auto x, auto y, auto, auto) { return static_cast<uint32_t>(int64_t{x} * y >> 32); },
      [](auto x, auto, auto u, auto) {
        return static_cast<uint32_t>(std::popcount(u) + 100 * std::countl_zero(u) +
                                     10000 * (x == 0 ? 0 : std::countr_zero(u) + 1));
      },
      [&](auto, auto, auto u, auto v) {
        return reverse(u) ^ (byte(u, 0) | byte(v, 0) << 8 | byte(u, 1) << 16 | byte(v, 1) << 24);
      },
      [](auto, auto, auto u, auto v) { return static_cast<uint32_t>(((uint64_t{v} << 32 | u) << (v & 31)) >> 32); },
      [](auto x, auto y, auto, auto) { return static_cast<uint32_t>(int64_t{std::max(x, y)} - std::min(x, y)); },
      [](auto, auto, auto u, auto v) { return (u << (v & 31)) | (v >> (u & 31)); },
      [](auto x, auto y, auto, auto) { return static_cast<uint32_t>((int64_t{x} * y) >> 17); },
      [](auto x, auto y, auto, auto) {
        return static_cast<uint32_t>(static_cast<int64_t>(static_cast<uint64_t>(int64_t{x}) << 20) / (y | 1));
      },
      [](auto, auto, auto u, auto v) { return static_cast<uint32_t>((uint64_t{u} << 32 | v) % 1000003u); },
      [](auto x, auto y, auto, auto) {
        return static_cast<uint32_t>((static_cast<__int128>(int64_t{x} * (1 << 30)) * (int64_t{y} * (1 << 29))) >> 64);
      },
      [](auto x, auto y, auto, auto) {
        return static_cast<uint32_t>(static_cast<int8_t>(x)) + static_cast<uint16_t>(y);
      },
      [](auto x, auto y, auto u, auto v) { return x > y && u < v           ? 1u
                                                  : x == y || (u & 1) != 0 ? 2u
                                                                           : 3u; },
  };
  const auto out = device.Make(std::vector<uint32_t>(expressions.size() * kCount));
  device.Run("integer_kernel", kShape, device.Make(a), device.Make(b), out, kCount);
  const std::vector<uint32_t> results = device.Get(out);
  for (size_t row = 0; row < expressions.size(); ++row) {
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(results[row * kCount + i],
                expressions[row](a[i], b[i], static_cast<uint32_t>(a[i]), static_cast<uint32_t>(b[i])))
          << "row " << row << " of " << a[i] << ", " << b[i];
    }
  }
}

// CUDA's documented error bounds, in units in the last place.
template <typename T>
struct Function {
  std::function<double(double)> exact;
  double ulps;
};

template <typename T>
void CheckFunctions(const char* kernel, const std::vector<Function<T>>& functions) {
  TestDevice device(ReadPtx("isa_device"));
  const std::vector<float> a = Floats(3);
  const auto out = device.Make(std::vector<T>(functions.size() * kCount));
  device.Run(kernel, kShape, device.Make(a), out, kCount);
  const std::vector<T> results = device.Get(out);
  for (size_t row = 0; row < functions.size(); ++row) {
    for (size_t i = 0; i < kCount; ++i) {
      const double exact = functions[row].exact(a[i]);
      const T nearest = static_cast<T>(exact);
      const double ulp = std::fabs(static_cast<double>(std::nextafter(nearest, T{INFINITY}) - nearest));
      ASSERT_LE(std::fabs(results[row * kCount + i] - exact), functions[row].ulps * ulp)
          << "row " << row << " of " << a[i];
    }
  }
}

TEST(IsaDeviceTest, SinglePrecisionFunctions) {
  CheckFunctions<float>(
      "float_kernel",
      {{[](double x) { return std::sin(x); }, 2},
       {[](double x) { return std::cos(x); }, 2},
       {[](double x) { return std::exp(x); }, 2},
       {[](double x) { return std::log(std::fabs(x)); }, 1.5},
       {[](double x) { return std::sqrt(std::fabs(x)); }, 0.5},
       {[](double x) { return std::pow(std::fabs(x), double{1.7f}); }, 4},
       {[](double x) { return std::tanh(x); }, 2},
       {[](double x) { return 1 / x; }, 0.5},
       {[](double x) { return std::floor(x) + std::ceil(x) * 2 + std::rint(x) * 4 + std::trunc(x) * 8; }, 0},
       {[](double x) { return std::atan2(x, 2.0); }, 3},
       {[](double x) { return std::erf(x); }, 2},
       {[](double x) { return std::cbrt(x); }, 1}});
}

// The host's double functions are themselves off by up to one unit.
TEST(IsaDeviceTest, DoublePrecisionFunctions) {
  CheckFunctions<double>("double_kernel", {{[](double x) { return std::sin(x); }, 3},
                                           {[](double x) { return std::exp(x); }, 2},
                                           {[](double x) { return std::log(std::fabs(x)); }, 2},
                                           {[](double x) { return std::pow(std::fabs(x), 1.7); }, 3},
                                           {[](double x) { return std::sqrt(std::fabs(x)); }, 0},
                                           {[](double x) { return 1 / x; }, 0},
                                           {[](double x) { return 1 / std::sqrt(std::fabs(x)); }, 2},
                                           {[](double x) { return std::tgamma(std::fabs(x)); }, 15}});
}

TEST(IsaDeviceTest, Halves) {
  TestDevice device(ReadPtx("isa_device"));
  const std::vector<float> a = Floats(4), b = Floats(5);
  const auto out = device.Make(std::vector<float>(6 * kCount));
  device.Run("half_kernel", kShape, device.Make(a), device.Make(b), out, kCount);
  const std::vector<float> results = device.Get(out);
  for (size_t i = 0; i < kCount; ++i) {
    const auto round = [](double x) { return Half::ToFloat(FromDouble<Half>(x)); };
    // Sums and products of f16 are exact in f64.
    const double x = round(a[i]), y = round(b[i]);
    EXPECT_EQ(results[i], round(x + y));
    EXPECT_EQ(results[kCount + i], round(x * y));
    EXPECT_EQ(results[2 * kCount + i], round(x * y + x));
    EXPECT_EQ(results[3 * kCount + i], round(y * x + x));
    EXPECT_EQ(results[4 * kCount + i], x < y ? 1.0f : 0.0f);
    EXPECT_EQ(results[5 * kCount + i], Bfloat::ToFloat(Bfloat::FromFloat(a[i])));
  }
}

}  // namespace
}  // namespace lockstep::vgpu
