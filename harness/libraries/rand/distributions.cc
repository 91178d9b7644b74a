#include "libraries/rand/distributions.h"

#include <bit>
#include <cmath>

#include "libraries/rand/device_math.h"
#include "vgpu/isa/special_unit.h"

namespace lockstep::libraries {

namespace {

constexpr float kFloatStep = 0x1p-32f, kFloatTurn = kFloatStep * 6.2831855f;
constexpr double kDoubleStep = 0x1p-53;
constexpr double kMrgStep = 2.3283065498378288e-10;  // from L'Ecuyer's paper: 1 / (first modulus + 1)

uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }

template <typename Function>
float OfUnit(float operand) {
  uint32_t bits = BitsOf(operand);
  vgpu::special_unit::Evaluate<Function, 1>(&bits, &bits);
  return std::bit_cast<float>(bits);
}

// As in __sincosf: the angle in revolutions, truncated, goes to the special function unit.
template <typename Function>
float OfAngle(float angle) {
  const double turns = static_cast<double>(angle) * double{0.15915494f};
  const auto nearest = static_cast<float>(turns);
  return OfUnit<Function>(static_cast<double>(nearest) > turns ? std::bit_cast<float>(BitsOf(nearest) - 1) : nearest);
}

// Box and Muller, Ann. Math. Statist. 29 (1958), with a GPU's functions.
Pair<float> BoxMuller(float uniform, float angle) {
  const float radius = std::sqrt(-2.0f * DeviceLog(uniform));
  return {OfAngle<vgpu::special_unit::Sine>(angle) * radius, OfAngle<vgpu::special_unit::Cosine>(angle) * radius};
}
Pair<double> BoxMuller(double uniform, double half_turns) {
  const double radius = std::sqrt(-2.0 * DeviceLog(uniform));
  Pair<double> results;
  DeviceSinCosPi(half_turns, &results.first, &results.second);
  return {results.first * radius, results.second * radius};
}

// The normal variable's quantile of p, or of 1 - p.
template <typename T>
T Quantile(T p, bool is_upper) {
  constexpr T kRootOf2 = static_cast<T>(0x1.6a09e667f3bcdp+0);
  return (is_upper ? kRootOf2 : -kRootOf2) * DeviceInverseErfc(p + p);
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
  return DeviceExp(scaled);
}
template float Scaled(float normal, float mean, float deviation, bool is_log);
template double Scaled(double normal, double mean, double deviation, bool is_log);

}  // namespace lockstep::libraries
