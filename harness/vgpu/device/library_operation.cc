#include "vgpu/device/library_operation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace lockstep::vgpu {

namespace {

using Kind = LibraryKind;

// The sizes of a matrix.
struct Extent {
  int64_t rows = 0, columns = 0;
};
Extent Stored(const LibraryOperand& operand, int64_t rows, int64_t columns) {
  return operand.transposed ? Extent{columns, rows} : Extent{rows, columns};
}

bool IsReduction(Kind kind) { return kind >= Kind::kDot && kind <= Kind::kAmin; }

struct Arguments {
  const LibraryOperation& op;
  const LibraryOperand &a = op.operands[0], &b = op.operands[1], &c = op.operands[2];

  // gemv: the rows and columns of op(A).
  int64_t rows() const { return a.transposed ? op.n : op.m; }
  int64_t columns() const { return a.transposed ? op.m : op.n; }
  // dgmm: elements of the diagonal.
  int64_t diagonal() const { return b.transposed ? op.m : op.n; }
};

// Computes directly on device memory.
class Doing {
 public:
  Doing(LibraryLaunch& launch, const LibraryOperation& op)
      : launch_(launch), op_(op), args_{op}, element_(op.is_double ? sizeof(double) : sizeof(float)) {}

  bool Touch() const {
    const auto& [op, a, b, c] = args_;
    if (!TouchFactor("alpha", op.alpha) || !TouchFactor("beta", op.beta)) return false;
    const bool uses_beta = !IsZero(op.beta);
    switch (op.kind) {
      case Kind::kScal:
        return Vector("vector x", a, op.n, true, true);
      case Kind::kCopy:
        return Vector("vector x", a, op.n, true, false) && Vector("vector y", b, op.n, false, true);
      case Kind::kSwap:
        return Vector("vector x", a, op.n, true, true) && Vector("vector y", b, op.n, true, true);
      case Kind::kAxpy:
        return Vector("vector x", a, op.n, true, false) && Vector("vector y", b, op.n, true, true);
      case Kind::kDot:
        return Vector("vector x", a, op.n, true, false) && Vector("vector y", b, op.n, true, false) && Result();
      case Kind::kNrm2:
      case Kind::kAsum:
      case Kind::kAmax:
      case Kind::kAmin:
        return Vector("vector x", a, op.n, true, false) && Result();
      case Kind::kGemv:
        return Matrix("matrix A", a, {op.m, op.n}, 0, true, false) &&
               Vector("vector x", b, args_.columns(), true, false) &&
               Vector("vector y", c, args_.rows(), uses_beta, true);
      case Kind::kGer:
        return Vector("vector x", b, op.m, true, false) && Vector("vector y", c, op.n, true, false) &&
               Matrix("matrix A", a, {op.m, op.n}, 0, true, true);
      case Kind::kGeam:
        return (IsZero(op.alpha) || Matrix("matrix A", a, Stored(a, op.m, op.n), 0, true, false)) &&
               (!uses_beta || Matrix("matrix B", b, Stored(b, op.m, op.n), 0, true, false)) &&
               Matrix("matrix C", c, {op.m, op.n}, 0, false, true);
      case Kind::kDgmm:
        return Matrix("matrix A", a, {op.m, op.n}, 0, true, false) &&
               Vector("vector x", b, args_.diagonal(), true, false) &&
               Matrix("matrix C", c, {op.m, op.n}, 0, false, true);
      case Kind::kGemm:
        for (int64_t layer = 0; layer < op.batch; ++layer) {
          const bool reads = !IsZero(op.alpha) && op.k > 0;
          if (reads && !Matrix("matrix A", a, Stored(a, op.m, op.k), layer, true, false)) return false;
          if (reads && !Matrix("matrix B", b, Stored(b, op.k, op.n), layer, true, false)) return false;
          if (!Matrix("matrix C", c, {op.m, op.n}, layer, uses_beta, true)) return false;
        }
        return true;
      case Kind::kFft:
        return Numbers("the input", a, op.in, true) && Numbers("the output", c, op.out, false);
    }
    return false;
  }

  void Do() const { op_.is_double ? DoWith<double>() : DoWith<float>(); }

 private:
  // Whether a factor is 0; one in device memory is read now. geam and gemm do not read operands scaled by an alpha of
  // 0, and nothing that a beta of 0 scales is read. The other operations declare their operands read whatever alpha is.
  bool IsZero(const LibraryFactor& factor) const {
    return element_ == sizeof(double) ? ValueOf<double>(factor) == 0 : ValueOf<float>(factor) == 0;
  }

  // A complex number needs only the alignment of its parts.
  bool Touch(MemoryRows rows) const {
    rows.alignment = std::min(rows.element, element_);
    return launch_.Touch(rows);
  }
  bool TouchFactor(const char* what, const LibraryFactor& factor) const {
    return factor.address == 0 || Touch({what, factor.address, element_, 1, element_, element_, true, false});
  }
  bool Result() const {
    const uint32_t bytes = op_.kind == Kind::kAmax || op_.kind == Kind::kAmin ? sizeof(int) : element_;
    return Touch({"the result", op_.result, bytes, 1, bytes, bytes, false, true});
  }
  bool Vector(const char* what, const LibraryOperand& x, int64_t n, bool reads, bool writes) const {
    if (n <= 0) return true;
    const auto apart = static_cast<uint64_t>(std::abs(x.leading)) * element_;
    return Touch(
        {what, x.address, element_, apart == 0 ? 1 : static_cast<uint64_t>(n), apart, element_, reads, writes});
  }
  bool Matrix(const char* what, const LibraryOperand& a, Extent extent, int64_t layer, bool reads, bool writes) const {
    if (extent.rows == 0 || extent.columns == 0) return true;
    const uint64_t first = a.address + static_cast<uint64_t>(layer * a.stride) * element_;
    return Touch({what, first, static_cast<uint64_t>(extent.rows) * element_, static_cast<uint64_t>(extent.columns),
                  static_cast<uint64_t>(a.leading) * element_, element_, reads, writes});
  }
  bool Numbers(const char* what, const LibraryOperand& side, FourierForm form, bool reads) const {
    const uint32_t number = form == FourierForm::kReal ? element_ : 2 * element_;
    const auto count = static_cast<uint64_t>(form == FourierForm::kHalf ? op_.n / 2 + 1 : op_.n);
    const auto apart = static_cast<uint64_t>(side.leading) * number;
    for (int64_t layer = 0; layer < op_.batch; ++layer) {
      const uint64_t first = side.address + static_cast<uint64_t>(layer * side.stride) * number;
      if (!Touch({what, first, number, count, apart, number, reads, !reads})) return false;
    }
    return true;
  }

  template <typename T>
  static T ValueOf(const LibraryFactor& factor) {
    return factor.address != 0 ? *reinterpret_cast<const T*>(factor.address) : static_cast<T>(factor.value);
  }
  // A vector of n elements; with a negative increment the last comes first.
  template <typename T>
  static T& At(const LibraryOperand& x, int64_t i, int64_t n) {
    return reinterpret_cast<T*>(x.address)[(x.leading < 0 ? i - (n - 1) : i) * x.leading];
  }
  template <typename T>
  static T& At(const LibraryOperand& a, int64_t layer, int64_t i, int64_t j) {
    const int64_t at = a.transposed ? j + i * a.leading : i + j * a.leading;
    return reinterpret_cast<T*>(a.address)[layer * a.stride + at];
  }

  template <typename T>
  void DoWith() const {
    const auto& [op, a, b, c] = args_;
    if (op.kind == Kind::kFft) return DoFourier<T>(op);
    if (IsReduction(op.kind)) return Reduce<T>();
    const T alpha = ValueOf<T>(op.alpha), beta = ValueOf<T>(op.beta);
    if (IsOfVectors(op.kind)) return DoVectors<T>(alpha);
    // A factor of 0 gives 0, whatever the operand holds.
    const auto added = [&](double sum, const T& old) {
      const double scaled = alpha == 0 ? 0 : alpha * sum;
      return static_cast<T>(beta == 0 ? scaled : scaled + static_cast<double>(beta) * old);
    };
    if (op.kind == Kind::kGemv) {
      for (int64_t i = 0; i < args_.rows(); ++i) {
        double sum = 0;
        for (int64_t j = 0; alpha != 0 && j < args_.columns(); ++j) {
          sum += static_cast<double>(At<T>(a, 0, i, j)) * At<T>(b, j, args_.columns());
        }
        T& y = At<T>(c, i, args_.rows());
        y = added(sum, y);
      }
      return;
    }
    for (int64_t layer = 0; layer < op.batch; ++layer) {
      for (int64_t j = 0; j < op.n; ++j) {
        for (int64_t i = 0; i < op.m; ++i) DoElement<T>(layer, i, j, alpha, beta, added);
      }
    }
  }

  template <typename T, typename Added>
  void DoElement(int64_t layer, int64_t i, int64_t j, T alpha, T beta, const Added& added) const {
    const auto& [op, a, b, c] = args_;
    switch (op.kind) {
      case Kind::kGer:
        At<T>(a, 0, i, j) += alpha * At<T>(b, i, op.m) * At<T>(c, j, op.n);
        break;
      case Kind::kGeam: {
        const T first = alpha == 0 ? T(0) : alpha * At<T>(a, 0, i, j);
        At<T>(c, 0, i, j) = beta == 0 ? first : first + beta * At<T>(b, 0, i, j);
        break;
      }
      case Kind::kDgmm:
        At<T>(c, 0, i, j) = At<T>(a, 0, i, j) * At<T>(b, b.transposed ? i : j, args_.diagonal());
        break;
      default: {  // kGemm
        double sum = 0;
        for (int64_t e = 0; alpha != 0 && e < op.k; ++e) {
          sum += static_cast<double>(At<T>(a, layer, i, e)) * At<T>(b, layer, e, j);
        }
        T& result = At<T>(c, layer, i, j);
        result = added(sum, result);
        break;
      }
    }
  }

  template <typename T>
  void DoVectors(T alpha) const {
    const auto& [op, a, b, c] = args_;
    for (int64_t i = 0; i < op.n; ++i) {
      T& x = At<T>(a, i, op.n);
      switch (op.kind) {
        case Kind::kScal:
          x *= alpha;
          break;
        case Kind::kCopy:
          At<T>(b, i, op.n) = x;
          break;
        case Kind::kSwap:
          std::swap(x, At<T>(b, i, op.n));
          break;
        default:  // kAxpy
          At<T>(b, i, op.n) += alpha * x;
          break;
      }
    }
  }

  template <typename T>
  void Reduce() const {
    const auto& [op, a, b, c] = args_;
    if (op.kind == Kind::kAmax || op.kind == Kind::kAmin) {
      int64_t found = 0;
      double best = 0;
      for (int64_t i = 0; i < op.n; ++i) {
        const double value = std::abs(static_cast<double>(At<T>(a, i, op.n)));
        if (i == 0 || (op.kind == Kind::kAmax ? value > best : value < best)) {
          best = value;
          found = i + 1;
        }
      }
      *reinterpret_cast<int*>(op.result) = static_cast<int>(found);
      return;
    }
    double sum = 0, largest = 0;
    if (op.kind == Kind::kNrm2) {  // elements are divided by the largest, as their squares may overflow or underflow
      for (int64_t i = 0; i < op.n; ++i) largest = std::max(largest, std::abs(static_cast<double>(At<T>(a, i, op.n))));
    }
    for (int64_t i = 0; i < op.n; ++i) {
      const auto x = static_cast<double>(At<T>(a, i, op.n));
      if (op.kind == Kind::kDot) sum += x * At<T>(b, i, op.n);
      if (op.kind == Kind::kAsum) sum += std::abs(x);
      if (op.kind == Kind::kNrm2 && (largest > 0 || std::isnan(x))) sum += x / largest * (x / largest);
    }
    if (op.kind == Kind::kNrm2) sum = std::isinf(largest) ? largest : std::sqrt(sum) * largest;
    *reinterpret_cast<T*>(op.result) = static_cast<T>(sum);
  }

  LibraryLaunch& launch_;
  const LibraryOperation& op_;
  const Arguments args_;
  const uint32_t element_;
};

}  // namespace

LaunchResult DoOperation(Device& device, const std::string& call_site, const LibraryOperation& op) {
  LibraryLaunch launch(
      device, {NameOf(op), call_site, OperationsOf(op), op.is_double ? Arithmetic::kFloat64 : Arithmetic::kFloat32});
  const Doing doing(launch, op);
  if (doing.Touch()) doing.Do();
  return launch.End();
}

}  // namespace lockstep::vgpu
