// Discrete Fourier transforms in double precision, unnormalised, of contiguous arrays: the core of our cuFFT
// replacement, for all types and layouts in the program's memory.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep::libraries::fft {

using Complex = std::complex<double>;

// For one length. `from` and `to` must differ.
class Line {
 public:
  virtual ~Line() = default;
  // sign of the exponent: -1 forward, 1 inverse.
  virtual void Run(const Complex* from, Complex* to, int sign) = 0;
};
inline constexpr int64_t kLongestLine = int64_t{1} << 27;
std::unique_ptr<Line> MakeLine(int64_t length);
int64_t LargestPrimeFactor(int64_t n);

enum class Kind : uint8_t { kComplex, kRealToComplex, kComplexToReal };

// For an array of one to three dimensions. Complex sides of real transforms have only the first half: n / 2 + 1 numbers
// in the last dimension.
class Transform {
 public:
  Transform(Kind kind, std::vector<int64_t> n);
  Kind kind() const { return kind_; }
  const std::vector<int64_t>& input_sizes() const { return input_sizes_; }
  const std::vector<int64_t>& output_sizes() const { return output_sizes_; }
  // From inputs in row order to outputs in row order, in two steps.
  void Begin(std::vector<Complex>* numbers, int sign);
  void End(std::vector<Complex>* numbers, int sign);
  // Whether a transform to real numbers begins with dimensions other than the last.
  bool BeginsBeforeLast() const;

 private:
  void AlongAllButLast(std::vector<Complex>* numbers, const std::vector<int64_t>& sizes, int sign);
  void AlongLast(std::vector<Complex>* numbers, int sign);
  Line& line(size_t dimension) { return *lines_[line_of_[dimension]]; }

  const Kind kind_;
  const std::vector<int64_t> n_;
  std::vector<int64_t> input_sizes_, output_sizes_;
  std::vector<std::unique_ptr<Line>> lines_;  // one for each length
  std::vector<size_t> line_of_;               // by dimension
  std::vector<Complex> from_, to_;
};

}  // namespace lockstep::libraries::fft
