// Discrete Fourier transforms in double precision, unnormalised, of arrays without gaps: what cuFFT's stand-in computes
// with, whatever the types and layouts in the program's memory are.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep::libraries::fft {

using Complex = std::complex<double>;

// Of one length. `from` and `to` are different arrays.
class Line {
 public:
  virtual ~Line() = default;
  // sign: that of the exponent, -1 forward and 1 inverse.
  virtual void Run(const Complex* from, Complex* to, int sign) = 0;
};
inline constexpr int64_t kLongestLine = int64_t{1} << 27;
std::unique_ptr<Line> MakeLine(int64_t length);
int64_t LargestPrimeFactor(int64_t n);

enum class Kind : uint8_t { kComplex, kRealToComplex, kComplexToReal };

// Of an array of one to three dimensions. Of complex numbers beside real ones only the first half is there: the last
// dimension has n / 2 + 1 of them.
class Transform {
 public:
  Transform(Kind kind, std::vector<int64_t> n);
  Kind kind() const { return kind_; }
  const std::vector<int64_t>& input_sizes() const { return input_sizes_; }
  const std::vector<int64_t>& output_sizes() const { return output_sizes_; }
  // From inputs in row order to outputs in row order, in two steps.
  void Begin(std::vector<Complex>* numbers, int sign);
  void End(std::vector<Complex>* numbers, int sign);
  // Whether a transform to real numbers begins with one along other dimensions than the last.
  bool BeginsBeforeLast() const;

 private:
  void AlongAllButLast(std::vector<Complex>* numbers, const std::vector<int64_t>& sizes, int sign);
  void AlongLast(std::vector<Complex>* numbers, int sign);
  Line& line(size_t dimension) { return *lines_[line_of_[dimension]]; }

  const Kind kind_;
  const std::vector<int64_t> n_;
  std::vector<int64_t> input_sizes_, output_sizes_;
  std::vector<std::unique_ptr<Line>> lines_;  // one for each length
  std::vector<size_t> line_of_;               // a dimension's
  std::vector<Complex> from_, to_;
};

}  // namespace lockstep::libraries::fft
