// Transforms of one dimension: Stockham's, one pass for each prime factor of the length.
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "vgpu/device/library_operation.h"

namespace lockstep::vgpu {

namespace {

using Complex = std::complex<double>;

// e^(sign 2 pi i k / n) for all k.
std::vector<Complex> RootsOf(int64_t n, double sign) {
  std::vector<Complex> roots(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[static_cast<size_t>(k)] = {std::cos(angle), sign * std::sin(angle)};
  }
  return roots;
}

// After the pass of a factor, runs of `before` * factor numbers are transformed.
void Pass(const std::vector<Complex>& from, std::vector<Complex>& to, const std::vector<Complex>& roots, int64_t before,
          int64_t factor) {
  const auto n = static_cast<int64_t>(from.size());
  const int64_t each = n / factor, whole = before * factor;
  const int64_t turn = n / whole;  // roots[k * turn] is a root of order `whole`
  for (int64_t j = 0; j < each; ++j) {
    const int64_t k = j % before;
    for (int64_t q = 0; q < factor; ++q) {
      Complex sum = 0;
      for (int64_t r = 0; r < factor; ++r) {
        sum +=
            from[static_cast<size_t>(j + r * each)] * roots[static_cast<size_t>(r * (k + q * before) % whole * turn)];
      }
      to[static_cast<size_t>((j - k) * factor + k + q * before)] = sum;
    }
  }
}

// The numbers of one transform, in their memory layout.
template <typename T>
class Numbers {
 public:
  Numbers(const LibraryOperand& side, FourierForm form, int64_t layer)
      : form_(form),
        stride_(side.leading),
        first_(reinterpret_cast<T*>(side.address) + layer * side.stride * (form == FourierForm::kReal ? 1 : 2)) {}

  void Read(std::vector<Complex>& to) const {
    const auto n = static_cast<int64_t>(to.size());
    for (int64_t i = 0; i < n; ++i) {
      Complex& number = to[static_cast<size_t>(i)];
      if (form_ == FourierForm::kReal) {
        number = first_[i * stride_];
        continue;
      }
      const bool is_mirrored = form_ == FourierForm::kHalf && i > n / 2;
      const T* const at = first_ + 2 * (is_mirrored ? n - i : i) * stride_;
      number = {at[0], is_mirrored ? -at[1] : at[1]};
      // A number that is its own mirror image is treated as real.
      if (form_ == FourierForm::kHalf && (i == 0 || 2 * i == n)) number.imag(0);
    }
  }

  void Write(const std::vector<Complex>& from) const {
    const auto n = static_cast<int64_t>(from.size());
    const int64_t count = form_ == FourierForm::kHalf ? n / 2 + 1 : n;
    for (int64_t i = 0; i < count; ++i) {
      const Complex& number = from[static_cast<size_t>(i)];
      if (form_ == FourierForm::kReal) {
        first_[i * stride_] = static_cast<T>(number.real());
      } else {
        first_[2 * i * stride_] = static_cast<T>(number.real());
        first_[2 * i * stride_ + 1] = static_cast<T>(number.imag());
      }
    }
  }

 private:
  FourierForm form_;
  int64_t stride_;
  T* first_;
};

}  // namespace

template <typename T>
void DoFourier(const LibraryOperation& op) {
  const std::vector<int64_t> factors = FourierFactors(op.n);
  const std::vector<Complex> roots = RootsOf(op.n, op.is_inverse ? 1 : -1);
  std::vector<Complex> numbers(static_cast<size_t>(op.n)), others(static_cast<size_t>(op.n));
  for (int64_t layer = 0; layer < op.batch; ++layer) {
    Numbers<T>(op.operands[0], op.in, layer).Read(numbers);
    int64_t before = 1;
    for (const int64_t factor : factors) {
      Pass(numbers, others, roots, before, factor);
      std::swap(numbers, others);
      before *= factor;
    }
    Numbers<T>(op.operands[2], op.out, layer).Write(numbers);
  }
}

template void DoFourier<float>(const LibraryOperation& operation);
template void DoFourier<double>(const LibraryOperation& operation);

}  // namespace lockstep::vgpu
