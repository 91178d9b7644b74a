// Names, costs and limits of operations.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "vgpu/device/library_operation.h"

namespace lockstep::vgpu {

namespace {

using Kind = LibraryKind;

constexpr int64_t kMostElements = int64_t{1} << 31;  // along a dimension, which is an int in the API

// Whether the operation has a matrix among its operands.
bool IsMatrix(Kind kind) { return kind > Kind::kAmin && kind != Kind::kFft; }

// The rows of a matrix in storage.
int64_t StoredRows(const LibraryOperand& operand, int64_t rows, int64_t columns) {
  return operand.transposed ? columns : rows;
}

// Which operands may be transposed; for dgmm the flag of x selects the side.
bool MayBeTransposed(Kind kind, size_t operand) {
  switch (kind) {
    case Kind::kGemv:
      return operand == 0;
    case Kind::kDgmm:
      return operand == 1;
    case Kind::kGeam:
    case Kind::kGemm:
      return operand < 2;
    default:
      return false;
  }
}

std::string WhyNotTransform(const LibraryOperation& op) {
  if (op.n < 1 || op.n > kLongestTransform) return "a transform of such a length";
  int64_t rest = op.n;
  for (const int64_t factor : FourierFactors(op.n)) rest /= factor;
  if (rest > 1) return "a length with a prime factor above 127";
  if (op.batch > 1 && std::min(op.operands[0].stride, op.operands[2].stride) < 1) return "such a stride or distance";
  for (const LibraryOperand* side : {&op.operands[0], &op.operands[2]}) {
    if (side->leading < 1 || side->leading > kMostElements || side->stride < 0 || side->stride > kMostElements) {
      return "such a stride or distance";
    }
  }
  const bool fits = op.in == FourierForm::kReal   ? op.out == FourierForm::kHalf && !op.is_inverse
                    : op.in == FourierForm::kHalf ? op.out == FourierForm::kReal && op.is_inverse
                                                  : op.out == FourierForm::kComplex;
  return fits ? "" : "a transform of such types";
}

}  // namespace

std::string WhyNot(const LibraryOperation& op) {
  for (const int64_t size : {op.m, op.n, op.k, op.batch}) {
    if (size < 0 || size > kMostElements) return "such a size";
  }
  for (size_t k = 0; k < op.operands.size(); ++k) {
    if (op.operands[k].transposed && !MayBeTransposed(op.kind, k)) return "such a transposed operand";
  }
  if (op.batch != 1 && op.kind != Kind::kGemm && op.kind != Kind::kFft) return "such a batch";
  if (op.kind == Kind::kFft) {
    if (const std::string why = WhyNotTransform(op); !why.empty()) return why;
  } else {
    for (const LibraryOperand& operand : op.operands) {
      if (std::abs(operand.leading) > kMostElements || std::abs(operand.stride) > kMostElements) {
        return "such a leading dimension, increment or stride";
      }
    }
  }
  // Overlapping columns would alias a matrix's elements: no library accepts them.
  if (IsMatrix(op.kind)) {
    const auto& [a, b, c] = op.operands;
    const bool of_vectors = op.kind == Kind::kGemv || op.kind == Kind::kGer || op.kind == Kind::kDgmm;
    const int64_t first = op.kind == Kind::kGemm   ? StoredRows(a, op.m, op.k)
                          : op.kind == Kind::kGeam ? StoredRows(a, op.m, op.n)
                                                   : op.m;
    const int64_t second = op.kind == Kind::kGemm ? StoredRows(b, op.k, op.n) : StoredRows(b, op.m, op.n);
    const bool has_result = op.kind != Kind::kGemv && op.kind != Kind::kGer;
    if (a.leading < first || (!of_vectors && b.leading < second) || (has_result && c.leading < op.m)) {
      return "a leading dimension that is smaller than the rows";
    }
  }
  return CostOf(op) > kMostLibraryCost ? "so much work in one call" : "";
}

std::string NameOf(const LibraryOperation& op) {
  static constexpr const char* kNames[] = {"scal", "copy", "swap", "axpy", "dot",  "nrm2", "asum",
                                           "amax", "amin", "gemv", "ger",  "geam", "dgmm", "gemm"};
  const char* const type = op.is_double ? "D" : "S";
  if (op.kind == Kind::kFft) {
    const char* const forms = op.in == FourierForm::kReal   ? (op.is_double ? "D2Z" : "R2C")
                              : op.in == FourierForm::kHalf ? (op.is_double ? "Z2D" : "C2R")
                                                            : (op.is_double ? "Z2Z" : "C2C");
    return std::string("cufftExec") + forms;
  }
  const bool is_index = op.kind == Kind::kAmax || op.kind == Kind::kAmin;
  return std::string("cublas") + (is_index ? "I" : "") +
         (is_index && !op.is_double ? "s"
          : is_index                ? "d"
                                    : type) +
         kNames[static_cast<size_t>(op.kind)] + (op.kind == Kind::kGemm && op.batch != 1 ? "StridedBatched" : "");
}

double OperationsOf(const LibraryOperation& op) {
  const auto m = static_cast<double>(op.m), n = static_cast<double>(op.n), k = static_cast<double>(op.k);
  const auto batch = static_cast<double>(op.batch);
  switch (op.kind) {
    case Kind::kGemv:
    case Kind::kGer:
    case Kind::kGeam:
      return 2 * m * n;
    case Kind::kDgmm:
      return m * n;
    case Kind::kGemm:
      return 2 * m * n * std::max(k, 1.0) * batch;
    case Kind::kFft: {
      const double half = op.in == FourierForm::kComplex ? 1 : 0.5;
      return half * 5 * n * std::log2(std::max(n, 2.0)) * batch;  // by the usual count
    }
    default:
      return 2 * n;
  }
}

double CostOf(const LibraryOperation& op) {
  constexpr double kPart = 50;  // cost of each non-contiguous piece of memory
  const auto n = static_cast<double>(op.n), batch = static_cast<double>(op.batch);
  if (op.kind == Kind::kFft) {
    double each = 0;
    for (const int64_t factor : FourierFactors(op.n)) each += 4 * static_cast<double>(factor);
    const bool is_dense = op.operands[0].leading == 1 && op.operands[2].leading == 1;
    return batch * (n * each + 2 * kPart * (is_dense ? 1 : n));
  }
  const double parts =
      IsOfVectors(op.kind) ? n : batch * (2 * n + static_cast<double>(op.k) + static_cast<double>(op.m));
  return OperationsOf(op) + kPart * parts;
}

std::vector<int64_t> FourierFactors(int64_t length) {
  std::vector<int64_t> factors;
  for (int64_t factor = 2; factor <= kLargestPrime; ++factor) {
    for (; length % factor == 0; length /= factor) factors.push_back(factor);
  }
  return factors;
}

}  // namespace lockstep::vgpu
