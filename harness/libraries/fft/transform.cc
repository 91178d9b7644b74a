// The time of Eigen's transform grows with the square of the length's largest prime factor, and its accesses are
// scattered. So lengths with a large prime factor become a convolution with a chirp (Bluestein 1970), which takes two
// transforms of a power of 2. Long ones become transforms of a matrix's columns and rows (Bailey 1990).
#include "libraries/fft/transform.h"

#include <algorithm>
#include <cmath>
#include <eigen3/unsupported/Eigen/FFT>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>

namespace lockstep::libraries::fft {
namespace {

constexpr int64_t kLargestFactor = 31;
constexpr int64_t kLong = 32768;  // numbers that a processor's caches hold
constexpr int64_t kTogether = 8;  // columns processed at a time, to use all of each cache line

// exp(-2 pi i turn / turns)
Complex Root(int64_t turn, int64_t turns) {
  const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(turn) / turns;
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

// Length 1, which Eigen's transform doesn't support.
class Copy : public Line {
 public:
  void Run(const Complex* from, Complex* to, int) override { *to = *from; }
};

class Smooth : public Line {
 public:
  explicit Smooth(int64_t length) : length_(length) { fft_.SetFlag(fft_.Unscaled); }
  void Run(const Complex* from, Complex* to, int sign) override {
    if (sign < 0) {
      fft_.fwd(to, from, length_);
    } else {
      fft_.inv(to, from, length_);
    }
  }

 private:
  const int64_t length_;
  Eigen::FFT<double> fft_;
};

// A length that is rows times columns.
class Long : public Line {
 public:
  Long(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), along_columns_(rows), along_rows_(columns), matrix_(rows * columns) {
    const int64_t length = rows * columns;
    for (int64_t turn = 0; turn < length; turn += kFine) coarse_.push_back(Root(turn, length));
    for (int64_t turn = 0; turn < kFine; ++turn) fine_.push_back(Root(turn, length));
    from_.resize(kTogether * std::max(rows, columns));
    to_.resize(from_.size());
  }
  void Run(const Complex* from, Complex* to, int sign) override {
    for (int64_t first = 0; first < columns_; first += kTogether) {
      const int64_t count = std::min(kTogether, columns_ - first);
      for (int64_t row = 0; row < rows_; ++row) {
        for (int64_t i = 0; i < count; ++i) from_[i * rows_ + row] = from[row * columns_ + first + i];
      }
      for (int64_t i = 0; i < count; ++i) along_columns_.Run(from_.data() + i * rows_, to_.data() + i * rows_, sign);
      for (int64_t row = 0; row < rows_; ++row) {
        for (int64_t i = 0; i < count; ++i) {
          const int64_t turn = row * (first + i);
          const Complex root = coarse_[turn / kFine] * fine_[turn % kFine];
          matrix_[row * columns_ + first + i] = to_[i * rows_ + row] * (sign < 0 ? root : std::conj(root));
        }
      }
    }
    for (int64_t first = 0; first < rows_; first += kTogether) {
      const int64_t count = std::min(kTogether, rows_ - first);
      for (int64_t i = 0; i < count; ++i) {
        along_rows_.Run(matrix_.data() + (first + i) * columns_, to_.data() + i * columns_, sign);
      }
      for (int64_t column = 0; column < columns_; ++column) {
        for (int64_t i = 0; i < count; ++i) to[column * rows_ + first + i] = to_[i * columns_ + column];
      }
    }
  }

 private:
  static constexpr int64_t kFine = 1024;

  const int64_t rows_, columns_;
  Smooth along_columns_, along_rows_;
  std::vector<Complex> coarse_, fine_;  // a root of unity is the product of one of each
  std::vector<Complex> matrix_, from_, to_;
};

// j k = (j² + k² - (k - j)²) / 2: the sum of x[j] w^(j k) is w^(k²/2) times the convolution of x[j] w^(j²/2) with
// w^(-j²/2).
class Bluestein : public Line {
 public:
  explicit Bluestein(int64_t length)
      : length_(length), padded_(Padded(length)), inner_(MakeLine(padded_)), chirp_(length) {
    for (int64_t j = 0; j < length; ++j) {
      chirp_[j] = Root(j * j % (2 * length), 2 * length);
    }
    a_.resize(padded_);
    b_.resize(padded_);
    for (int64_t j = 0; j < length; ++j) {
      const Complex value = std::conj(chirp_[j]) / static_cast<double>(padded_);
      a_[j] = value;
      if (j > 0) a_[padded_ - j] = value;
    }
    filter_.resize(padded_);
    inner_->Run(a_.data(), filter_.data(), -1);
  }
  void Run(const Complex* from, Complex* to, int sign) override {
    // The inverse transform is the forward one of the conjugates, conjugated.
    const auto turned = [sign](Complex value) { return sign < 0 ? value : std::conj(value); };
    std::fill(a_.begin(), a_.end(), Complex(0));
    for (int64_t j = 0; j < length_; ++j) a_[j] = turned(from[j]) * chirp_[j];
    inner_->Run(a_.data(), b_.data(), -1);
    for (int64_t j = 0; j < padded_; ++j) b_[j] *= filter_[j];
    inner_->Run(b_.data(), a_.data(), 1);
    for (int64_t k = 0; k < length_; ++k) to[k] = turned(a_[k] * chirp_[k]);
  }

 private:
  static int64_t Padded(int64_t length) {
    int64_t padded = 1;
    while (padded < 2 * length - 1) padded *= 2;
    return padded;
  }

  const int64_t length_, padded_;
  const std::unique_ptr<Line> inner_;
  std::vector<Complex> chirp_, filter_, a_, b_;
};

int64_t Product(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> Half(std::vector<int64_t> n) {
  n.back() = n.back() / 2 + 1;
  return n;
}

}  // namespace

int64_t LargestPrimeFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t factor = 2; factor * factor <= n; ++factor) {
    for (; n % factor == 0; n /= factor) largest = factor;
  }
  return std::max(largest, n);
}

std::unique_ptr<Line> MakeLine(int64_t length) {
  if (length == 1) return std::make_unique<Copy>();
  if (LargestPrimeFactor(length) > kLargestFactor) return std::make_unique<Bluestein>(length);
  if (length > kLong) {
    auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(length)));
    while (length % rows != 0) --rows;
    return std::make_unique<Long>(rows, length / rows);
  }
  return std::make_unique<Smooth>(length);
}

Transform::Transform(Kind kind, std::vector<int64_t> n)
    : kind_(kind),
      n_(std::move(n)),
      input_sizes_(kind == Kind::kComplexToReal ? Half(n_) : n_),
      output_sizes_(kind == Kind::kRealToComplex ? Half(n_) : n_) {
  for (size_t d = 0; d < n_.size(); ++d) {
    const auto same = std::find(n_.begin(), n_.begin() + d, n_[d]);
    if (same != n_.begin() + d) {
      line_of_.push_back(line_of_[same - n_.begin()]);
    } else {
      line_of_.push_back(lines_.size());
      lines_.push_back(MakeLine(n_[d]));
    }
  }
  const int64_t longest = *std::max_element(n_.begin(), n_.end());
  from_.resize(kTogether * longest);
  to_.resize(kTogether * longest);
}

void Transform::Begin(std::vector<Complex>* numbers, int sign) {
  if (kind_ == Kind::kComplexToReal) {
    AlongAllButLast(numbers, input_sizes_, sign);
  } else {
    AlongLast(numbers, sign);
  }
}

void Transform::End(std::vector<Complex>* numbers, int sign) {
  if (kind_ == Kind::kComplexToReal) {
    AlongLast(numbers, sign);
  } else {
    AlongAllButLast(numbers, output_sizes_, sign);
  }
}

bool Transform::BeginsBeforeLast() const {
  return kind_ == Kind::kComplexToReal && Product(n_) > *std::max_element(n_.begin(), n_.end());
}

void Transform::AlongAllButLast(std::vector<Complex>* numbers, const std::vector<int64_t>& sizes, int sign) {
  const int64_t all = Product(sizes);
  int64_t inner = sizes.back();
  for (size_t d = sizes.size() - 1; d-- > 0; inner *= sizes[d]) {
    const int64_t length = sizes[d];
    if (length == 1) continue;
    for (int64_t outer = 0; outer < all; outer += inner * length) {
      for (int64_t first = outer; first < outer + inner; first += kTogether) {
        const int64_t count = std::min(kTogether, outer + inner - first);
        Complex* const start = numbers->data() + first;
        for (int64_t k = 0; k < length; ++k) {
          for (int64_t i = 0; i < count; ++i) from_[i * length + k] = start[k * inner + i];
        }
        for (int64_t i = 0; i < count; ++i) line(d).Run(from_.data() + i * length, to_.data() + i * length, sign);
        for (int64_t k = 0; k < length; ++k) {
          for (int64_t i = 0; i < count; ++i) start[k * inner + i] = to_[i * length + k];
        }
      }
    }
  }
}

void Transform::AlongLast(std::vector<Complex>* numbers, int sign) {
  const int64_t length = n_.back(), read = input_sizes_.back(), written = output_sizes_.back();
  const int64_t rows = Product(input_sizes_) / read;
  std::vector<Complex> results(rows * written);
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(numbers->data() + row * read, read, from_.data());
    if (kind_ == Kind::kComplexToReal) {
      // For a real result the first and the middle number are real, and the second half has the first's conjugates.
      from_[0] = from_[0].real();
      if (length % 2 == 0) from_[length / 2] = from_[length / 2].real();
      for (int64_t k = 1; 2 * k < length; ++k) from_[length - k] = std::conj(from_[k]);
    }
    line(n_.size() - 1).Run(from_.data(), to_.data(), sign);
    std::copy_n(to_.data(), written, results.data() + row * written);
  }
  numbers->swap(results);
}

}  // namespace lockstep::libraries::fft
