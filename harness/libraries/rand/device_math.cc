#include "libraries/rand/device_math.h"

#include <bit>
#include <cmath>
#include <initializer_list>

#include "vgpu/isa/special_unit.h"

namespace lockstep::libraries {

namespace {

namespace unit = vgpu::special_unit;

uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t BitsOf(double value) { return std::bit_cast<uint64_t>(value); }

// Horner's scheme; the coefficient of the highest power comes first.
template <typename T>
T Polynomial(T x, std::initializer_list<T> coefficients) {
  T sum = *coefficients.begin();
  for (const T* next = coefficients.begin() + 1; next != coefficients.end(); ++next) sum = std::fma(sum, x, *next);
  return sum;
}

template <typename Function>
float OfUnit(float operand) {
  uint32_t bits = BitsOf(operand);
  unit::Evaluate<Function, 1>(&bits, &bits);
  return std::bit_cast<float>(bits);
}
// The special function unit reads and writes only the upper half of a double.
template <typename Function>
double OfUnit(double operand) {
  auto upper = static_cast<uint32_t>(BitsOf(operand) >> 32);
  unit::Evaluate<Function, 1>(&upper, &upper);
  return std::bit_cast<double>(uint64_t{upper} << 32);
}

double Reciprocal(double x) {
  const double start = OfUnit<unit::ReciprocalOfUpperHalf>(x);
  const double error = std::fma(-x, start, 1.0);
  return std::fma(std::fma(error, error, error), start, start);
}
double RootReciprocal(double x) {
  const double start = OfUnit<unit::RootReciprocalOfUpperHalf>(x);
  const double error = std::fma(x, -(start * start), 1.0);
  return std::fma(std::fma(0.375, error, 0.5), error * start, start);
}

constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;

// The faster logarithm in the inverse of erfc: with x = 2^(2k) m, 1/2 <= m < 2.
double ShortLog(double x) {
  const auto upper = static_cast<uint32_t>(BitsOf(x) >> 32);
  const auto exponent = static_cast<int32_t>(upper >> 20 & 2046) - 1022;
  const double m = std::bit_cast<double>((BitsOf(x) & 0x801fffffffffffff) | 0x3fe0000000000000);
  const double above = m - 1, inverse = Reciprocal(m + 1), start = above * inverse;
  const double rest = std::fma(-start, above, std::fma(-2.0, start, above));
  const double ratio = std::fma(rest, inverse, start), square = ratio * ratio;
  const double sum =
      Polynomial(square, {0x1.5c5c218c775c9p-4, 0x1.55cf59cdc5d89p-5, 0x1.efd18cf6ebb9cp-5, 0x1.10682edcb8d1bp-4,
                          0x1.3b1dd3ac7fc96p-4, 0x1.745cb459b54a6p-4, 0x1.c71c741a0669fp-4, 0x1.249249209112ep-3,
                          0x1.99999999a06c1p-3, 0x1.5555555555535p-2});
  const double log = std::fma(square * sum, ratio, ratio);
  return std::fma(static_cast<double>(exponent), kLn2, log + log);
}

}  // namespace

// With x = 2^k (1 + f), 2/3 <= 1 + f < 4/3, the result is k ln 2 + f + f^2 P(f).
float DeviceLog(float x) {
  constexpr uint32_t kTwoThirds = 0x3f2aaaab, kExponent = 0xff800000;
  const uint32_t shift = (BitsOf(x) - kTwoThirds) & kExponent;
  const float exponent = static_cast<float>(static_cast<int32_t>(shift)) * 0x1p-23f;
  const float f = std::bit_cast<float>(BitsOf(x) - shift) - 1;
  const float sum = Polynomial(f, {-0x1.0aa04ep-3f, 0x1.2073ecp-3f, -0x1.f19b98p-4f, 0x1.1e52aap-3f, -0x1.55b172p-3f,
                                   0x1.99da16p-3f, -0x1.fffe44p-3f, 0x1.5554fp-2f, -0.5f});
  return std::fma(exponent, 0x1.62e43p-1f, std::fma(f * sum, f, f));
}

// With x = 2^k m, the result is k ln 2 plus a series in (m - 1) / (m + 1), each computed as a sum of two doubles.
double DeviceLog(double x) {
  const auto upper = static_cast<uint32_t>(BitsOf(x) >> 32);
  const uint32_t fraction = (upper & 0x800fffff) | 0x3ff00000;
  const bool is_upper = fraction >= 0x3ff6a09f;
  const double exponent = static_cast<int32_t>(upper >> 20) - 1023 + (is_upper ? 1 : 0);
  const double m =
      std::bit_cast<double>(uint64_t{fraction - (is_upper ? 0x100000 : 0)} << 32 | (BitsOf(x) & 0xffffffff));
  const double above = m - 1, inverse = Reciprocal(m + 1), start = above * inverse;
  const double ratio = std::fma(above, inverse, start), square = ratio * ratio;
  const double sum =
      Polynomial(square, {0x1.1380b3ae80f1ep-20, 0x1.0ee258b7a8b04p-18, 0x1.3b2669f02676fp-16, 0x1.745cba9ab0956p-14,
                          0x1.c71c72d1b5154p-12, 0x1.24924923be72dp-9, 0x1.999999999a3c4p-7, 0x1.5555555555554p-4});
  const double left = above - ratio, rest = inverse * std::fma(-ratio, above, left + left);
  const double tail = std::fma(square * sum, ratio, rest);
  const double high = std::fma(exponent, kLn2, ratio);
  const double lost = std::fma(-exponent, kLn2, high) - ratio;
  return high + std::fma(exponent, kLn2Rest, tail - lost);
}

// The integral power of 2 comes from the bits of a sum rounded down, the rest from the special function unit.
float DeviceExp(float x) {
  const float place = std::fma(x, 0x1.77313ap-8f, 0.5f);
  const float within = place > 0 ? std::fmin(place, 1.0f) : 0.0f;
  const auto sum = static_cast<float>(std::floor(static_cast<double>(within) * 252 + 12582913));
  float rest = std::fma(x, 0x1.715476p+0f, -(sum - 12583039));
  rest = std::fma(x, 0x1.4ae0cp-26f, rest);
  return OfUnit<unit::Power>(rest) * std::bit_cast<float>(BitsOf(sum) << 23);
}

double DeviceExp(double x) {
  constexpr double kShifter = 0x1.8p+52;
  const double sum = std::fma(x, 0x1.71547652b82fep+0, kShifter);
  const auto power = static_cast<int32_t>(BitsOf(sum));
  const double rest = std::fma(sum - kShifter, -kLn2Rest, std::fma(sum - kShifter, -kLn2, x));
  const double result =
      Polynomial(rest, {0x1.ade1569ce2bdfp-26, 0x1.28af3fca213eap-22, 0x1.71dee62401315p-19, 0x1.a01997c89eb71p-16,
                        0x1.a01a014761f65p-13, 0x1.6c16c1852b7afp-10, 0x1.1111111122322p-7, 0x1.55555555502a1p-5,
                        0x1.5555555555511p-3, 0x1.000000000000bp-1, 1.0, 1.0});
  const float size = std::fabs(std::bit_cast<float>(static_cast<uint32_t>(BitsOf(x) >> 32)));
  if (size < std::bit_cast<float>(0x4086232bu)) return std::bit_cast<double>(BitsOf(result) + (uint64_t(power) << 52));
  if (size >= std::bit_cast<float>(0x40874800u)) return x < 0 ? 0 : x + HUGE_VAL;
  const int32_t half = power / 2;
  return std::bit_cast<double>(BitsOf(result) + (uint64_t(half) << 52)) *
         std::bit_cast<double>(uint64_t(power - half + 1023) << 52);
}

void DeviceSinCosPi(double x, double* sine, double* cosine) {
  const double quarters = std::nearbyint(x + x);
  const auto quarter = static_cast<int64_t>(quarters);
  const double turn = std::fma(-quarters, 0.5, x);
  const double angle = std::fma(turn, 0x1.921fb54442d18p+1, turn * 0x1.1a62633145c07p-53), square = angle * angle;
  double cos = Polynomial(square, {-0x1.8ff8320fd8164p-37, 0x1.1eea7c1ef8528p-29, -0x1.27e4f8e06e6d9p-22,
                                   0x1.a01a019ddbce9p-16, -0x1.6c16c16c15d47p-10, 0x1.5555555555551p-5, -0.5, 1.0});
  double sin = Polynomial(square, {0x1.5db65f9785ebap-33, -0x1.ae5f12cb0d246p-26, 0x1.71de369ace392p-19,
                                   -0x1.a01a019db62a1p-13, 0x1.1111111110818p-7, -0x1.5555555555554p-3, 0.0});
  sin = std::fma(sin, angle, angle);
  if ((quarter & 1) != 0) {
    const double before = sin;
    sin = cos, cos = -before;
  }
  if ((quarter & 2) != 0) sin = -sin, cos = -cos;
  *sine = x == std::trunc(x) ? x * 0.0 : sin;
  *cosine = cos + 0.0;
}

float DeviceInverseErfc(float x) {
  const float mirrored = 2.0f - x;
  if (x >= 0x1.bda512p-9f && x <= 0x1.ff212ep+0f) {
    const float log = -OfUnit<unit::Logarithm>(mirrored * x);
    const float sum =
        Polynomial(log, {-0x1.14c6ep-32f, 0x1.43ec8ap-27f, -0x1.02dfb4p-23f, 0x1.d1f08cp-23f, 0x1.0e8554p-17f,
                         -0x1.09b69ap-15f, -0x1.95fd42p-11f, 0x1.6b804ep-8f, 0x1.495c1ep-3f, 0x1.c5bf88p-1f});
    return std::fma(sum, -x, sum);
  }
  const bool is_upper = x > 1;
  const float log = -OfUnit<unit::Logarithm>(is_upper ? mirrored : x), root = OfUnit<unit::RootReciprocal>(log);
  const float sum = Polynomial(root, {-0x1.f8e7e2p+5f, 0x1.fdf052p+6f, -0x1.c86c38p+6f, 0x1.e29b36p+5f, -0x1.5ca366p+4f,
                                      0x1.9dea08p+2f, -0x1.d53c0ap+0f, -0x1.f0e3e8p-6f, 0x1.aa6eeap-1f});
  const float size = root * log;
  return sum * (is_upper ? -size : size);
}

double DeviceInverseErfc(double x) {
  const double mirrored = 2.0 - x;
  if (x >= 0x1.fa4d2ad8f904dp-11 && x <= 0x1.ffc0b65aa4e0ep+0) {
    const double sum =
        Polynomial(-3.125 - ShortLog(mirrored * x),
                   {-0x1.135d2e746e627p-68, -0x1.8ddf93324d327p-63, 0x1.7b83eef0b7c9fp-60,  0x1.9ba72cd589b91p-57,
                    -0x1.33689090a6b96p-53, 0x1.82e11898132ep-56,   0x1.de4acfd9e26bap-48,  -0x1.6d33eed66c487p-45,
                    -0x1.6f2167040d8e2p-44, 0x1.72a22c2d77e2p-39,   -0x1.c8859c4e5c0afp-37, -0x1.dc583d118a561p-35,
                    0x1.20f47ccf46b3cp-30,  -0x1.1a9e38dc84d6p-28,  -0x1.f36cd6d3d46a9p-26, 0x1.c6b4f5d03b787p-22,
                    -0x1.6e8a5434ae8a2p-20, -0x1.d1d1f7b8736f6p-17, 0x1.879c2a212f024p-13,  -0x1.845769484fca8p-11,
                    -0x1.8b6c33114f909p-8,  0x1.ebd80d9b13e28p-3,   0x1.a755e7c99ae86p+0});
    return std::fma(sum, -x, sum);
  }
  const bool is_upper = x >= 1;
  const double least = is_upper ? mirrored : x;
  const double root = RootReciprocal(-ShortLog(least));
  const double above =
      Polynomial(root, {0x1.be9222591afabp-1, 0x1.0a0e7333839aap+1, 0x1.8768cf7e57d5cp+1, 0x1.b77e7e28da583p+1,
                        0x1.34f26a4f99cf9p+0, 0x1.1f674adb019edp-3, 0x1.5ddae9506431dp-8, 0x1.ada49aa32489cp-15});
  const double below =
      Polynomial(root, {1.0, 0x1.1e90ff51c2197p+1, 0x1.11ea3a7cf382p+2, 0x1.1a0e4a4749594p+2, 0x1.d4e977d38c14dp+1,
                        0x1.37fd567ec0d5fp+0, 0x1.1fb9d7f676033p-3, 0x1.5ddcdf98946e4p-8, 0x1.ada42d79d8dbbp-15});
  const double size = above / (root * below);
  return is_upper ? -size : size;
}

}  // namespace lockstep::libraries
