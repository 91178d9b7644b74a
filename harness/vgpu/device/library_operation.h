// Work of cuBLAS's or cuFFT's as data: what it computes, and on which memory. So a program whose device is in another
// process, the judge's, can ask for it; the judge checks every number, and does the work.
//
// harness/libraries/blas and fft do the same for other programs, with OpenBLAS and Eigen. Not here: a grade may not
// depend on how OpenBLAS orders additions on this processor, and the judge stays small (docs/concepts/scope.md).
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
  kDgmm,  // C = A diag(x), or diag(x) A where A is transposed
  kGemm,  // C = alpha op(A) op(B) + beta C, of m rows and n columns, k in between; `batch` times
  kFft,   // C = the transform of A: `batch` transforms of n numbers
};

// Level 1 of BLAS: vectors alone.
inline bool IsOfVectors(LibraryKind kind) { return kind <= LibraryKind::kAmin; }

// A vector or a matrix. Its place in a LibraryOperation says which: x or A, y or B, C.
struct LibraryOperand {
  uint64_t address = 0;
  int64_t leading = 1;  // a matrix's leading dimension, a vector's increment, the stride of a transform's numbers
  int64_t stride = 0;   // from one of a batch to the next, in numbers
  bool transposed = false;
};

// A factor: a value, or where it is in device memory.
struct LibraryFactor {
  double value = 0;
  uint64_t address = 0;
};

enum class FourierForm : uint8_t {
  kComplex,
  kReal,
  kHalf,  // of real numbers' transform: the rest is its conjugate, backwards
};

struct LibraryOperation {
  LibraryKind kind = LibraryKind::kScal;
  bool is_double = false;
  std::array<LibraryOperand, 3> operands;
  LibraryFactor alpha, beta;
  uint64_t result = 0;  // of reductions, in device memory
  int64_t m = 0, n = 0, k = 0, batch = 1;
  FourierForm in = FourierForm::kComplex, out = FourierForm::kComplex;
  bool is_inverse = false;
};

inline constexpr int64_t kLongestTransform = int64_t{1} << 22;  // some 200 MB of room
inline constexpr int64_t kLargestPrime = 127;                   // in a transform's length
// Of one call, as CostOf counts: some seconds of a processor's time.
inline constexpr double kMostLibraryCost = 4e9;

// Why the operation can't be done at all, as a sentence: a size or stride that no call may have. "" where it can.
std::string WhyNot(const LibraryOperation& operation);
// "cublasSgeam": by what the operation is, not by what a program says.
std::string NameOf(const LibraryOperation& operation);
// Floating-point operations, as they are usually counted.
double OperationsOf(const LibraryOperation& operation);
// Of the work here, in operations and what else takes as long.
double CostOf(const LibraryOperation& operation);

// Touches what the operation does, then does it; nothing where a touch is refused. WhyNot has to be "".
LaunchResult DoOperation(Device& device, const std::string& call_site, const LibraryOperation& operation);

// The transforms of DoOperation: numbers are in double precision on their way.
template <typename T>
void DoFourier(const LibraryOperation& operation);
// The prime factors of a transform's length, up to kLargestPrime.
std::vector<int64_t> FourierFactors(int64_t length);

}  // namespace lockstep::vgpu
