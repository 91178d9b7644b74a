// 128-bit integers and the functions of nvcc's libraries, through parser, decoder and engine, against the host.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace isa_device_test {

constexpr int kCount = 1000;
constexpr TestDevice::Shape kShape{{8}, {128}};

std::vector<float> Floats(uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-20.0f, 20.0f);
  std::vector<float> values(kCount);
  for (float& x : values) x = uniform(random);
  return values;
}

// Any number of significant bits, with the extremes among them.
std::vector<unsigned __int128> WideIntegers(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<unsigned __int128> values(count);
  for (unsigned __int128& x : values) {
    x = static_cast<unsigned __int128>(random()) << 64 | random();
    x >>= random() % 128;
    if (random() % 4 == 0) x = ~x;
    if (random() % 8 == 0) x = ~static_cast<unsigned __int128>(0) << (random() % 128);
  }
  for (size_t k = 0; k < 6; ++k) values[k] = k - 2;
  values[6] = static_cast<unsigned __int128>(1) << 127;
  values[7] = values[6] - 1;
  return values;
}

TEST(IsaDeviceTest, WideIntegers) {
  using Signed = __int128;
  using Unsigned = unsigned __int128;
  constexpr int kWideCount = 8192;
  TestDevice device(ReadPtx("isa_device_wide"));
  std::vector<Unsigned> a = WideIntegers(kWideCount, 6), b = WideIntegers(kWideCount, 7);
  std::swap(b[2], b[7]);
  a[100] = 770, b[100] = 2;
  const auto divisor = [](Unsigned v) -> Signed {
    const Signed y = static_cast<Signed>(v);
    return y == 0 || y == -1 ? 7 : y;
  };
  using Expression = std::function<Unsigned(Unsigned u, Unsigned v)>;
  const std::vector<Expression> expressions = {
      [](auto u, auto v) { return u + v; },
      [](auto u, auto v) { return u - v; },
      [](auto u, auto v) { return u * v; },
      [](auto u, auto v) { return u / (v == 0 ? 3 : v); },
      [](auto u, auto v) { return u % (v == 0 ? 3 : v); },
      [&](auto u, auto v) { return static_cast<Unsigned>(static_cast<Signed>(u) / divisor(v)); },
      [&](auto u, auto v) { return static_cast<Unsigned>(static_cast<Signed>(u) % divisor(v)); },
      [](auto u, auto v) { return u << static_cast<int>(v & 127); },
      [](auto u, auto v) { return u >> static_cast<int>(v & 127); },
      [](auto u, auto v) { return static_cast<Unsigned>(static_cast<Signed>(u) >> static_cast<int>(v & 127)); },
      [](auto u, auto) { return ~u + 1; },
      [](auto u, auto v) {
        const Signed x = static_cast<Signed>(u), y = static_cast<Signed>(v);
        return Unsigned{(u < v ? 1u : 0u) | (x < y ? 2u : 0u) | (u == v ? 4u : 0u) | (x <= y ? 8u : 0u)};
      },
      [](auto u, auto) { return u / 1000000007u; },
      [](auto u, auto) { return u % 1000000007u; },
      [](auto u, auto) { return static_cast<Unsigned>(static_cast<Signed>(u) / 10); },
      [](auto u, auto v) { return u / static_cast<uint64_t>(v | 1); },
      [](auto u, auto v) { return u - v + (u * 3 - v / 5) % 1009; },
  };
  const auto out = device.Make(std::vector<Unsigned>(expressions.size() * kWideCount));
  device.Run("wide_kernel", {{kWideCount / 128}, {128}}, device.Make(a), device.Make(b), out, kWideCount);
  const std::vector<Unsigned> results = device.Get(out);
  const auto high = [](Unsigned x) { return static_cast<uint64_t>(x >> 64); };
  for (size_t row = 0; row < expressions.size(); ++row) {
    for (size_t i = 0; i < kWideCount; ++i) {
      const Unsigned expected = expressions[row](a[i], b[i]), found = results[row * kWideCount + i];
      ASSERT_TRUE(found == expected) << std::hex << "row " << std::dec << row << std::hex << " of " << high(a[i]) << ":"
                                     << static_cast<uint64_t>(a[i]) << ", " << high(b[i]) << ":"
                                     << static_cast<uint64_t>(b[i]) << ": expected " << high(expected) << ":"
                                     << static_cast<uint64_t>(expected) << ", found " << high(found) << ":"
                                     << static_cast<uint64_t>(found);
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

}  // namespace isa_device_test
}  // namespace lockstep::vgpu
