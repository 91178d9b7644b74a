// A cuBLAS or cuFFT operation as data: the computation and its memory. So a program whose device is in another process,
// the judge, can request it; the judge validates every number and does the work.
//
// harness/libraries/blas and fft do the same for other programs, with OpenBLAS and Eigen. These are not used here: a
// grade must not depend on how OpenBLAS orders additions on this processor, and the judge stays small
// (docs/concepts/scope.md).
//
// Matrices are in column order: row i of column j of A is A[i + j * leading]. Numbers are float or double.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "vgpu/device/library_launch.h"

namespace lockstep::vgpu {

enum class LibraryKind : uint8_t {
  kScal,  // x = alpha x, of n elements
  kCopy,  // y = x
  kSwap,
  kAxpy,  // y += alpha x
  kDot,   // result = x y
  kNrm2,  // result = |x|
  kAsum,  // result = sum of |x[i]|
  kAmax,  // result = the first index of the largest |x[i]|, from 1; an int
  kAmin,
  kGemv,  // y = alpha op(A) x + beta y, A of m rows and n columns
  kGer,   // A += alpha x y^T
  kGeam,  // C = alpha op(A) + beta op(B), of m rows and n columns
  kDgmm,  // C = A diag(x), or diag(x) A if x is marked as transposed
  kGemm,  // C = alpha op(A) op(B) + beta C, of m rows and n columns, with inner dimension k; `batch` times
  kFft,   // C = the transform of A: `batch` transforms of n numbers
};

// BLAS level 1: only vectors.
inline bool IsOfVectors(LibraryKind kind) { return kind <= LibraryKind::kAmin; }

// A vector or a matrix. Their order in LibraryOperation: x, y; gemv and ger: A, x, y; dgmm: A, x, C; geam and gemm: A,
// B, C; transforms: the input, none, the output.
struct LibraryOperand {
  uint64_t address = 0;
  int64_t leading = 1;  // a matrix's leading dimension, a vector's increment, the stride between a transform's numbers
  int64_t stride = 0;   // between members of a batch, in numbers
  bool transposed = false;
};

// A factor: a value, or its device address.
struct LibraryFactor {
  double value = 0;
  uint64_t address = 0;
};

enum class FourierForm : uint8_t {
  kComplex,
  kReal,
  kHalf,  // of a real transform: the other half is its conjugate in reverse
};

struct LibraryOperation {
  LibraryKind kind = LibraryKind::kScal;
  bool is_double = false;
  std::array<LibraryOperand, 3> operands;
  LibraryFactor alpha, beta;
  uint64_t result = 0;  // of reductions, a device address
  int64_t m = 0, n = 0, k = 0, batch = 1;
  FourierForm in = FourierForm::kComplex, out = FourierForm::kComplex;
  bool is_inverse = false;
};

inline constexpr int64_t kLongestTransform = int64_t{1} << 22;  // takes about 200 MB
inline constexpr int64_t kLargestPrime = 127;                   // the largest prime factor of a transform's length
// Per call, in units of CostOf: some seconds of processor time.
inline constexpr double kMostLibraryCost = 4e9;

// Which value makes the operation invalid or unsupported, as a noun phrase ("such a size"); "" if none does.
std::string WhyNot(const LibraryOperation& operation);
// "cublasSgeam": derived from the operation, not from the program's text.
std::string NameOf(const LibraryOperation& operation);
// Floating-point operations, by the usual counting.
double OperationsOf(const LibraryOperation& operation);
// The cost of the work here, in operations and equally slow steps.
double CostOf(const LibraryOperation& operation);

// Declares the memory of the operation, then does it; does nothing if a range is refused. WhyNot must return "".
LaunchResult DoOperation(Device& device, const std::string& call_site, const LibraryOperation& operation);

// The transforms of DoOperation: computed in double precision.
template <typename T>
void DoFourier(const LibraryOperation& operation);
// The prime factors of a transform's length, up to kLargestPrime.
std::vector<int64_t> FourierFactors(int64_t length);

}  // namespace lockstep::vgpu
