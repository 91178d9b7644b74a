#include "libraries/rand/distributions.h"

#include <bit>
#include <cmath>

#include "vgpu/isa/special_unit.h"

namespace lockstep::libraries {

namespace {

constexpr float kFloatStep = 0x1p-32f, kFloatTurn = kFloatStep * 6.2831855f;
constexpr double kDoubleStep = 0x1p-53;
constexpr double kMrgStep = 2.3283065498378288e-10;  // of L'Ecuyer's paper: 1 / (first modulus + 1)
constexpr long double kPi = 3.14159265358979323846264338327950288L;

uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }

template <typename Function>
float OfUnit(float operand) {
  uint32_t bits = BitsOf(operand);
  vgpu::special_unit::Evaluate<Function, 1>(&bits, &bits);
  return std::bit_cast<float>(bits);
}

// __sincosf's: the angle in revolutions, cut, then the special function unit.
template <typename Function>
float OfAngle(float angle) {
  const double turns = static_cast<double>(angle) * double{0.15915494f};
  const auto nearest = static_cast<float>(turns);
  return OfUnit<Function>(static_cast<double>(nearest) > turns ? std::bit_cast<float>(BitsOf(nearest) - 1) : nearest);
}

// logf of a normal number as CUDA computes it: with x = 2^k (1 + f), 2/3 <= 1 + f < 4/3, k ln 2 + f + f^2 P(f). The
// coefficients are those that a compiled logf holds.
float DeviceLog(float x) {
  constexpr uint32_t kTwoThirds = 0x3f2aaaab, kExponent = 0xff800000;
  constexpr float kPolynomial[] = {-0x1.0aa04ep-3f, 0x1.2073ecp-3f,  -0x1.f19b98p-4f, 0x1.1e52aap-3f, -0x1.55b172p-3f,
                                   0x1.99da16p-3f,  -0x1.fffe44p-3f, 0x1.5554fp-2f,   -0.5f};
  const uint32_t shift = (BitsOf(x) - kTwoThirds) & kExponent;
  const float exponent = static_cast<float>(static_cast<int32_t>(shift)) * 0x1p-23f;
  const float f = std::bit_cast<float>(BitsOf(x) - shift) - 1;
  float sum = 0;
  for (const float coefficient : kPolynomial) sum = std::fma(sum, f, coefficient);
  return std::fma(exponent, 0x1.62e43p-1f, std::fma(f * sum, f, f));
}

// expf as CUDA computes it: 2^k by the bits of a sum rounded down, the rest by the special function unit.
float DeviceExp(float x) {
  const float place = std::fma(x, 0x1.77313ap-8f, 0.5f);
  const float within = place > 0 ? std::fmin(place, 1.0f) : 0.0f;
  const auto sum = static_cast<float>(std::floor(static_cast<double>(within) * 252 + 12582913));
  float rest = std::fma(x, 0x1.715476p+0f, -(sum - 12583039));
  rest = std::fma(x, 0x1.4ae0cp-26f, rest);
  return OfUnit<vgpu::special_unit::Power>(rest) * std::bit_cast<float>(BitsOf(sum) << 23);
}

// Box and Muller, Ann. Math. Statist. 29 (1958), with a GPU's functions. In double precision logarithm, sine and cosine
// are rounded once, from a wider type.
Pair<float> BoxMuller(float uniform, float angle) {
  const float radius = std::sqrt(-2.0f * DeviceLog(uniform));
  return {OfAngle<vgpu::special_unit::Sine>(angle) * radius, OfAngle<vgpu::special_unit::Cosine>(angle) * radius};
}
Pair<double> BoxMuller(double uniform, double half_turns) {
  const double radius = std::sqrt(-2.0 * static_cast<double>(std::log(static_cast<long double>(uniform))));
  const long double angle = kPi * half_turns;
  return {static_cast<double>(std::sin(angle)) * radius, static_cast<double>(std::cos(angle)) * radius};
}

// The x that a normal variable exceeds with probability p, 0 < p <= 1/2: an approximation (M. Abramowitz, I. Stegun,
// 26.2.23), then Halley's steps.
long double UpperQuantile(long double p) {
  const long double t = std::sqrt(-2 * std::log(p));
  long double x =
      t - (2.515517L + t * (0.802853L + t * 0.010328L)) / (1 + t * (1.432788L + t * (0.189269L + t * 0.001308L)));
  const long double half_root = std::sqrt(0.5L);
  for (int step = 0; step < 3; ++step) {
    // Near the median the difference from it is what has digits.
    const long double error = p > 0.25L ? (0.5L - p) - std::erf(x * half_root) / 2 : std::erfc(x * half_root) / 2 - p;
    const long double newton = error * std::sqrt(2 * kPi) * std::exp(x * x / 2);
    x += newton / (1 + newton * x / 2);
  }
  return x;
}

// The quantile of p, or of 1 - p.
template <typename T>
T Quantile(T p, bool is_upper) {
  if (p == T{0.5}) return is_upper ? -T{0} : T{0};  // signed as an H100's
  const auto x = static_cast<T>(UpperQuantile(p));
  return is_upper ? x : -x;
}

}  // namespace

float UniformOf(uint32_t word) { return static_cast<float>(word) * kFloatStep + kFloatStep / 2; }
double UniformOf(uint32_t low, uint32_t high) {
  return static_cast<double>(low ^ (uint64_t{high} << 21)) * kDoubleStep + kDoubleStep / 2;
}
Pair<float> NormalsOf(uint32_t radius, uint32_t angle) {
  return BoxMuller(UniformOf(radius), std::fma(static_cast<float>(angle), kFloatTurn, kFloatTurn / 2));
}
Pair<double> NormalsOf(uint32_t radius_low, uint32_t radius_high, uint32_t angle_low, uint32_t angle_high) {
  return BoxMuller(UniformOf(radius_low, radius_high), 2 * UniformOf(angle_low, angle_high));
}

uint32_t BitsOfMrg(uint32_t value) { return static_cast<uint32_t>(value * 1.000000048662); }
float UniformOfMrg(uint32_t value) { return static_cast<float>(value * kMrgStep); }
double UniformDoubleOfMrg(uint32_t value) { return value * kMrgStep; }
Pair<float> NormalsOfMrg(uint32_t radius, uint32_t angle) {
  return BoxMuller(UniformOfMrg(radius), UniformOfMrg(angle) * 6.2831855f);
}
Pair<double> NormalDoublesOfMrg(uint32_t radius, uint32_t angle) {
  return BoxMuller(UniformDoubleOfMrg(radius), UniformDoubleOfMrg(angle) * 2);
}

double UniformDoubleOfWord(uint32_t word) { return word * 0x1p-32 + 0x1p-32; }
double UniformDoubleOfMersenne(uint32_t word) { return word * 0x1p-32 + 0x1p-33; }
double UniformDoubleOfWord(uint64_t word) { return static_cast<double>(word >> 11) * kDoubleStep + kDoubleStep / 2; }

float NormalOfWord(uint32_t word) {
  const bool is_upper = word > 0x80000000u;
  return Quantile(UniformOf(is_upper ? ~word : word), is_upper);
}
double NormalDoubleOfWord(uint32_t word) {
  const bool is_upper = word > 0x80000000u;
  return Quantile((is_upper ? ~word : word) * 0x1p-32 + 0x1p-33, is_upper);
}
double NormalDoubleOfWord(uint64_t word) {
  word >>= 11;
  const bool is_upper = word > uint64_t{1} << 52;
  const uint64_t nearer = is_upper ? (uint64_t{1} << 53) - 1 - word : word;
  return Quantile(static_cast<double>(nearer) * kDoubleStep + kDoubleStep / 2, is_upper);
}

template <typename T>
T Scaled(T normal, T mean, T deviation, bool is_log) {
  const T scaled = std::fma(normal, deviation, mean);
  if (!is_log) return scaled;
  if constexpr (sizeof(T) == sizeof(float)) return DeviceExp(scaled);
  return static_cast<T>(std::exp(static_cast<long double>(scaled)));
}
template float Scaled(float normal, float mean, float deviation, bool is_log);
template double Scaled(double normal, double mean, double deviation, bool is_log);

}  // namespace lockstep::libraries
