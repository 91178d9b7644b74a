// Arithmetic of the random CUDA C++ programs, with one result for any operands: what C++ leaves undefined (overflow of
// signed numbers, wide shifts, division by zero, conversions out of range) is decided here, the same for both sides.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define HD __host__ __device__

// Takes the first text when nvcc compiles for the GPU, the second when it compiles for the host.
#ifdef __CUDA_ARCH__
#define COSIM_BOTH(device, host) device
#else
#define COSIM_BOTH(device, host) host
#endif

// A table in constant or global memory, and a copy on the host: NAME(index).
#ifdef __CUDACC__
#define COSIM_TABLE(space, type, name, count, ...)       \
  space const type name##_device[count] = {__VA_ARGS__}; \
  static const type name##_host[count] = {__VA_ARGS__};  \
  HD inline type name(unsigned index) { return COSIM_BOTH(name##_device, name##_host)[index % (count)]; }
#else
#define COSIM_TABLE(space, type, name, count, ...)      \
  static const type name##_host[count] = {__VA_ARGS__}; \
  inline type name(unsigned index) { return name##_host[index % (count)]; }
#undef __noinline__
#define __noinline__ __attribute__((noinline))
#undef __forceinline__
#define __forceinline__ inline
#endif

namespace cosim {

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned;
using i64 = long long;
using u64 = unsigned long long;
using i128 = __int128;
using u128 = unsigned __int128;
using f32 = float;
using f64 = double;

// The unsigned type in which integers are computed: at least 32 bits, since narrower ones are promoted to int.
template <int kBytes>
struct ReckonedOf {
  using Type = u32;
};
template <>
struct ReckonedOf<8> {
  using Type = u64;
};
template <>
struct ReckonedOf<16> {
  using Type = u128;
};
template <typename T>
using Reckoned = typename ReckonedOf<sizeof(T)>::Type;

template <typename T>
constexpr bool kFloating = std::is_same<T, f32>::value || std::is_same<T, f64>::value;
template <typename T>
constexpr bool kSigned = T(-1) < T(0);
template <typename T>
constexpr int kBits = 8 * sizeof(T);
template <typename T>
constexpr T kGreatest = kSigned<T> ? T((Reckoned<T>(1) << (kBits<T> - 1)) - 1) : T(-1);
template <typename T>
constexpr T kLeast = kSigned<T> ? T(-kGreatest<T> - 1) : T(0);

template <typename T>
HD constexpr T Add(T a, T b) {
  if constexpr (kFloating<T>)
    return a + b;
  else
    return T(Reckoned<T>(a) + Reckoned<T>(b));
}
template <typename T>
HD constexpr T Sub(T a, T b) {
  if constexpr (kFloating<T>)
    return a - b;
  else
    return T(Reckoned<T>(a) - Reckoned<T>(b));
}
template <typename T>
HD constexpr T Mul(T a, T b) {
  if constexpr (kFloating<T>)
    return a * b;
  else
    return T(Reckoned<T>(a) * Reckoned<T>(b));
}
template <typename T>
HD constexpr T Neg(T a) {
  if constexpr (kFloating<T>)
    return -a;
  else
    return T(Reckoned<T>(0) - Reckoned<T>(a));
}
template <typename T>
HD constexpr bool Divides(T a, T b) {
  return b != 0 && !(kSigned<T> && b == T(-1) && a == kLeast<T>);
}
template <typename T>
HD constexpr T Div(T a, T b) {
  if constexpr (kFloating<T>)
    return a / b;
  else
    return Divides(a, b) ? T(a / b) : a;
}
template <typename T>
HD constexpr T Rem(T a, T b) {
  return Divides(a, b) ? T(a % b) : b;
}
template <typename T>
HD constexpr T Shl(T a, u32 count) {
  return T(Reckoned<T>(a) << (count % kBits<T>));
}
template <typename T>
HD constexpr T Shr(T a, u32 count) {
  return T(a >> (count % kBits<T>));
}
template <typename T>
HD constexpr T Rotate(T a, u32 count) {
  using U = Reckoned<T>;
  constexpr U mask = sizeof(T) < 4 ? (U(1) << (kBits<T> % kBits<U>)) - 1 : U(-1);
  const U bits = U(a) & mask;
  return T(bits << (count % kBits<T>) | bits >> ((kBits<T> - count % kBits<T>) % kBits<T>));
}

// Converts to an integer: rounds towards zero, saturates out of range, and gives 0 for a NaN.
template <typename T, typename F>
HD T Whole(F value) {
  const F least = F(kLeast<T>), beyond = F(kGreatest<T> / 2 + 1) * 2;
  if (!(value == value)) return 0;
  if (value <= least) return kLeast<T>;
  if (value >= beyond) return kGreatest<T>;
  return T(value);
}

// Converts any type to any other.
template <typename T, typename F>
HD T To(F value) {
  if constexpr (kFloating<F> && !kFloating<T>)
    return Whole<T>(value);
  else
    return T(value);
}

HD inline f32 F32(u32 bits) {
  f32 value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
HD inline f64 F64(u64 bits) {
  f64 value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
// Processors differ in which NaN an operation gives.
HD inline u32 Bits(f32 value) {
  u32 bits = 0x7fffffff;
  if (value == value) memcpy(&bits, &value, sizeof value);
  return bits;
}
HD inline u64 Bits(f64 value) {
  u64 bits = 0x7fffffffffffffff;
  if (value == value) memcpy(&bits, &value, sizeof value);
  return bits;
}

HD inline f32 Root(f32 value) { return sqrtf(value); }
HD inline f64 Root(f64 value) { return sqrt(value); }
HD inline f32 Fused(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
HD inline f64 Fused(f64 a, f64 b, f64 c) { return fma(a, b, c); }
HD inline f32 Magnitude(f32 value) { return fabsf(value); }
HD inline f64 Magnitude(f64 value) { return fabs(value); }
HD inline f32 Floor(f32 value) { return floorf(value); }
HD inline f64 Floor(f64 value) { return floor(value); }
HD inline f32 Ceiling(f32 value) { return ceilf(value); }
HD inline f64 Ceiling(f64 value) { return ceil(value); }
HD inline f32 Truncated(f32 value) { return truncf(value); }
HD inline f64 Truncated(f64 value) { return trunc(value); }
HD inline f32 Nearest(f32 value) { return rintf(value); }
HD inline f64 Nearest(f64 value) { return rint(value); }
HD inline f32 Remainder(f32 a, f32 b) { return fmodf(a, b); }
HD inline f64 Remainder(f64 a, f64 b) { return fmod(a, b); }
HD inline f32 Scaled(f32 value, i32 by) { return ldexpf(value, by % 300); }
HD inline f64 Scaled(f64 value, i32 by) { return ldexp(value, by % 2200); }
// The sign of a NaN is unspecified.
HD inline f32 Signed(f32 value, f32 sign) { return sign == sign ? copysignf(value, sign) : value; }
HD inline f64 Signed(f64 value, f64 sign) { return sign == sign ? copysign(value, sign) : value; }

}  // namespace cosim
