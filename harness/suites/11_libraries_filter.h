// The expected filtered signal, its error bound, and explanations of wrong ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/model/text.h"

namespace lockstep::suites {

inline double NormOf(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

using Spectrum = std::vector<std::complex<double>>;

// The Fourier transform of every stride-th number from `first` on, combined from p transforms of every p-th of these,
// where p is the smallest prime factor. Fast if there is no large prime factor. roots[k] = exp(-2 pi i k / n) for the
// whole length n.
inline Spectrum TransformOf(const Spectrum& numbers, const Spectrum& roots, uint64_t first = 0, uint64_t stride = 1) {
  const uint64_t n = numbers.size() / stride;
  if (n == 1) return {numbers[first]};
  uint64_t p = 2;
  while (n % p != 0) ++p;
  Spectrum result(n);
  for (uint64_t part = 0; part < p; ++part) {
    const Spectrum inner = TransformOf(numbers, roots, first + part * stride, stride * p);
    uint64_t at = 0, turn = 0;
    for (std::complex<double>& number : result) {
      number += inner[at] * roots[turn];
      if (++at == inner.size()) at = 0;
      if ((turn += part * stride) >= roots.size()) turn -= roots.size();
    }
  }
  return result;
}

// Computed in double precision: by definition unless that takes more than kMostSteps steps, else by transforms.
inline std::vector<double> Convolve(std::span<const float> signal, std::span<const float> filter) {
  constexpr uint64_t kMostSteps = 1 << 25;
  const uint64_t n = signal.size();
  std::vector<double> result(n);
  if (n > 0 && n * static_cast<uint64_t>(n - std::ranges::count(filter, 0.0f)) > kMostSteps) {
    Spectrum roots(n);
    const double turn = 2 * std::numbers::pi / static_cast<double>(n);
    for (uint64_t k = 0; k < n; ++k) roots[k] = std::polar(1.0, -turn * static_cast<double>(k));
    Spectrum product = TransformOf({signal.begin(), signal.end()}, roots);
    const Spectrum other = TransformOf({filter.begin(), filter.end()}, roots);
    for (uint64_t k = 0; k < n; ++k) product[k] *= other[k] / static_cast<double>(n);
    const Spectrum back = TransformOf(product, roots);
    for (uint64_t i = 0; i < n; ++i) result[i] = back[(n - i) % n].real();
    return result;
  }
  for (uint64_t k = 0; k < n; ++k) {
    const auto weight = static_cast<double>(filter[k]);
    if (weight == 0) continue;
    for (uint64_t i = k; i < n; ++i) result[i] += weight * static_cast<double>(signal[i - k]);
    for (uint64_t i = 0; i < k; ++i) result[i] += weight * static_cast<double>(signal[n + i - k]);
  }
  return result;
}

// The error bound of a convolution by transforms in single precision. With u = 2^-24 a transform of length n has a
// relative error, in the Euclidean norm, of at most 7 u log2(n) (Higham, Accuracy and Stability, theorem 24.2), also
// for primes up to 7. The product of two spectra has twice that error, and the inverse transform adds it a third time.
// So each element is within 3 * 7 u log2(n) |signal| |filter|, plus a few u for the multiplications.
inline double BoundOf(uint64_t n, double signal_norm, double filter_norm) {
  constexpr double kHalfUnit = 0x1p-24;
  return (21 * std::log2(static_cast<double>(n)) + 8) * kHalfUnit * signal_norm * filter_norm;
}

// Compares one signal's result with those of common mistakes.
class FilterExplainer {
 public:
  FilterExplainer(std::span<const float> signal, std::span<const float> filter, std::span<const double> expected,
                  std::span<const float> found, double bound)
      : signal_(signal), filter_(filter), expected_(expected), found_(found), bound_(bound), n_(signal.size()) {}

  std::string Explain() const {
    if (std::all_of(found_.begin(), found_.end(), IsUnwritten)) {
      return "nothing was written to d_out: what did the calls return? The plan and the function have to be of one "
             "type";
    }
    if (std::any_of(found_.begin(), found_.end(), IsUnwritten)) {
      return "a part of d_out was not written: the plan's length is n, for the transform back too";
    }
    if (std::any_of(found_.begin(), found_.end(), [](float value) { return std::isnan(value); })) {
      return "that is not a number: was memory read that nothing had written?";
    }
    if (std::all_of(found_.begin(), found_.end(), [](float value) { return value == 0; })) return "all elements are 0";
    const auto n = static_cast<double>(n_);
    const auto right = [&](uint64_t i) { return expected_[i]; };
    if (Is(right, n)) return "each element is n times too large: cuFFT divides by n in neither direction; you must";
    if (Is(right, 1 / n)) return "each element is n times too small: divide by n once";
    if (Is(right, std::sqrt(n)) || Is(right, 1 / std::sqrt(n))) return "divide by n once, not by its root";
    if (Is(right, n * n)) return "each element is n * n times too large: divide by n, do not multiply";
    if (Is([&](uint64_t i) { return Signal(i); })) return "that is the signal: nothing was filtered";
    for (const double scale : {1.0, n, 1 / n}) {
      const std::string also = scale == 1 ? "" : "; and the factor of n is not right either";
      if (std::string hint = ExplainScaled(scale); !hint.empty()) return hint + also;
    }
    if (std::string hint = ExplainDifference(); !hint.empty()) return hint;
    return n_ % 2 != 0
               ? "n is odd here: a spectrum of n real numbers has n / 2 + 1 complex ones, for odd n too, and the "
                 "transform back needs to know n"
               : "";
  }

 private:
  static constexpr uint64_t kTried = 2048;  // the longest signal whose guesses take n * n steps

  static bool IsUnwritten(float value) {
    const float poison = judge::DeviceArray<float>::FillValue();
    return std::memcmp(&value, &poison, sizeof value) == 0;
  }

  double Signal(uint64_t i) const { return static_cast<double>(signal_[i % n_]); }
  double Filter(uint64_t i) const { return static_cast<double>(filter_[i % n_]); }

  // Whether scale times the candidate matches everywhere, and differs from the expected result.
  template <class Candidate>
  bool Is(Candidate candidate, double scale = 1) const {
    bool differs = false;
    for (uint64_t i = 0; i < n_; ++i) {
      const double value = scale * candidate(i);
      if (!(std::abs(static_cast<double>(found_[i]) - value) <= 4 * bound_ * std::max(scale, 1e-3))) return false;
      differs |= std::abs(value - expected_[i]) > bound_;
    }
    return differs;
  }
  bool IsList(const std::vector<double>& list, double scale) const {
    return Is([&](uint64_t i) { return list[i]; }, scale);
  }

  std::string ExplainScaled(double scale) const {
    if (Is([&](uint64_t i) { return expected_[(n_ - i) % n_]; }, scale)) {
      return "the result runs backward: of three transforms the last is the inverse";
    }
    if (Is([&](uint64_t i) { return expected_[(i + 1) % n_]; }, scale) ||
        Is([&](uint64_t i) { return expected_[(i + n_ - 1) % n_]; }, scale)) {
      return "the result is off by one place";
    }
    if (Is([&](uint64_t i) { return Signal(i) * Filter(i); }, scale)) {
      return "signal and filter were multiplied, not their spectra";
    }
    if (Is([&](uint64_t i) { return Signal(i) + Filter(i); }, scale)) {
      return "the spectra were added: multiply them";
    }
    if (n_ > kTried) return "";
    std::vector<double> correlation(n_), linear(n_), itself(n_);
    for (uint64_t i = 0; i < n_; ++i) {
      for (uint64_t k = 0; k < n_; ++k) {
        correlation[i] += Filter(k) * Signal(i + k);
        if (k <= i) linear[i] += Filter(k) * Signal(i - k);
        itself[i] += Signal(k) * Signal(n_ + i - k);
      }
    }
    if (IsList(correlation, scale)) {
      return "that is the correlation, with d_signal[i + k]: neither of the spectra is to be conjugated";
    }
    if (Is([&](uint64_t i) { return correlation[(n_ - i) % n_]; }, scale)) {
      return "that is the correlation, backward: the signal's spectrum was conjugated";
    }
    if (IsList(linear, scale)) {
      return "that is the linear convolution: what falls off the end has to come in again at the beginning. Do not "
             "pad with zeros";
    }
    if (IsList(itself, scale)) return "that is the signal filtered by itself: the second transform is the filter's";
    if (IsList(ByParts(), scale)) {
      return "real and imaginary parts were multiplied apart: (a + bi)(c + di) = (ac - bd) + (ad + bc)i, as cuCmulf "
             "does";
    }
    return "";
  }

  using Complex = std::complex<double>;

  // The result of multiplying real and imaginary parts separately.
  std::vector<double> ByParts() const {
    const uint64_t half = n_ / 2 + 1;
    std::vector<Complex> product(half);
    for (uint64_t k = 0; k < half; ++k) {
      Complex signal = 0, filter = 0;
      for (uint64_t i = 0; i < n_; ++i) {
        signal += Signal(i) * Root(i * k, -1);
        filter += Filter(i) * Root(i * k, -1);
      }
      product[k] = {signal.real() * filter.real(), signal.imag() * filter.imag()};
    }
    std::vector<double> result(n_);
    for (uint64_t i = 0; i < n_; ++i) {
      for (uint64_t k = 0; k < n_; ++k) {
        Complex number = k < half ? product[k] : std::conj(product[n_ - k]);
        if (k == 0 || 2 * k == n_) number.imag(0);
        result[i] += (number * Root(i * k, 1)).real() / static_cast<double>(n_);
      }
    }
    return result;
  }
  Complex Root(uint64_t turns, int sign) const {
    const double angle = 2 * std::numbers::pi * static_cast<double>(turns % n_) / static_cast<double>(n_);
    return {std::cos(angle), sign * std::sin(angle)};
  }

  // If one number of the spectrum is missing, the difference is a wave of one frequency.
  std::string ExplainDifference() const {
    const double first = static_cast<double>(found_[0]) - expected_[0];
    if (std::abs(first) <= bound_) return "";
    bool constant = true, alternates = n_ % 2 == 0;
    for (uint64_t i = 0; i < n_; ++i) {
      const double difference = static_cast<double>(found_[i]) - expected_[i];
      constant &= std::abs(difference - first) <= 2 * bound_;
      alternates &= std::abs(difference - (i % 2 == 0 ? first : -first)) <= 2 * bound_;
    }
    if (constant) return "every element is off by the same: number 0 of the spectrum has no part in the product";
    if (alternates) {
      return "the error changes its sign from element to element: the spectrum's last number has no part in the "
             "product. There are n / 2 + 1 of them";
    }
    return "";
  }

  std::span<const float> signal_, filter_;
  std::span<const double> expected_;
  std::span<const float> found_;
  double bound_;
  uint64_t n_;
};

}  // namespace lockstep::suites
