// What the programs that compare values share: types of numbers, random arrays on the device, and a line for each
// family of functions, "gemv S ok".
#pragma once

#include <cuComplex.h>
#include <cuda_runtime.h>
#include <library_types.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

using Z = std::complex<double>;

template <typename T>
struct Type;
template <>
struct Type<float> {
  using Real = float;
  static constexpr double kExact = 1e-5;
  static constexpr bool kComplex = false;
  static Z wide(float value) { return value; }
  static float narrow(Z value) { return static_cast<float>(value.real()); }
};
template <>
struct Type<double> {
  using Real = double;
  static constexpr double kExact = 1e-13;
  static constexpr bool kComplex = false;
  static Z wide(double value) { return value; }
  static double narrow(Z value) { return value.real(); }
};
template <>
struct Type<cuComplex> {
  using Real = float;
  static constexpr double kExact = 2e-5;
  static constexpr bool kComplex = true;
  static Z wide(cuComplex value) { return {value.x, value.y}; }
  static cuComplex narrow(Z value) { return {static_cast<float>(value.real()), static_cast<float>(value.imag())}; }
};
template <>
struct Type<cuDoubleComplex> {
  using Real = double;
  static constexpr double kExact = 2e-13;
  static constexpr bool kComplex = true;
  static Z wide(cuDoubleComplex value) { return {value.x, value.y}; }
  static cuDoubleComplex narrow(Z value) { return {value.real(), value.imag()}; }
};

template <typename T>
static constexpr cudaDataType kData = CUDA_R_32F;
template <>
constexpr cudaDataType kData<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kData<cuComplex> = CUDA_C_32F;
template <>
constexpr cudaDataType kData<cuDoubleComplex> = CUDA_C_64F;

// Runs a family for all four types.
#define LOCKSTEP_EACH(family) \
  family<float>("S");         \
  family<double>("D");        \
  family<cuComplex>("C");     \
  family<cuDoubleComplex>("Z")

// The same numbers on every machine.
static double random_number() {
  static unsigned long long state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<double>(state >> 11) / 9007199254740992.0 * 2 - 1;
}

template <typename T>
struct Array {
  std::vector<T> host;
  T* device = nullptr;
  explicit Array(size_t count) : host(count) {
    for (T& value : host) value = Type<T>::narrow(Z(random_number(), random_number()));
    cudaMalloc(&device, count * sizeof(T));
    up();
  }
  ~Array() { cudaFree(device); }
  Array(const Array&) = delete;
  void up() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  std::vector<T> down() const {
    std::vector<T> copy(host.size());
    cudaMemcpy(copy.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return copy;
  }
  Z at(size_t i) const { return Type<T>::wide(host[i]); }
};

static double worst = 0;
static int bad_status = 0;
static void call(int status) {
  if (status != 0 && bad_status == 0) bad_status = status;
}
static void compare(Z found, Z expected, double size = 1) {
  const double off = std::abs(found - expected) / (1 + size + std::abs(expected));
  if (!(off <= worst)) worst = off;
}
static void tell(const char* family, const char* letter, double allowed) {
  if (bad_status != 0) {
    std::printf("%s %s status %d\n", family, letter, bad_status);
  } else if (worst <= allowed) {
    std::printf("%s %s ok\n", family, letter);
  } else {
    std::printf("%s %s off by %g\n", family, letter, worst);
  }
  worst = 0;
  bad_status = 0;
}
