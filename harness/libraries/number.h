// Maps CUDA's complex types to std::complex, to compute with them; other types stay. The real types of complex ones.
#pragma once

#include <cuComplex.h>

#include <complex>
#include <type_traits>

namespace lockstep::libraries {

template <typename T>
struct RealOf {
  using type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T>
using Real = typename RealOf<T>::type;
template <typename T>
inline constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

template <typename T>
T Conjugate(const T& value) {
  if constexpr (kIsComplex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

template <typename T>
struct NumberOf {
  using type = T;
};
template <>
struct NumberOf<cuComplex> {
  using type = std::complex<float>;
};
template <>
struct NumberOf<cuDoubleComplex> {
  using type = std::complex<double>;
};

// The same pointer, converted from cuComplex to std::complex.
template <typename T>
auto N(T* pointer) {
  using Number = typename NumberOf<std::remove_const_t<T>>::type;
  return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const Number, Number>*>(pointer);
}
// The same for arrays of pointers.
template <typename T>
auto NN(T* const* pointers) {
  return reinterpret_cast<decltype(N(static_cast<T*>(nullptr))) const*>(pointers);
}

}  // namespace lockstep::libraries
