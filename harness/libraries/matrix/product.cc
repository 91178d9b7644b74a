#include "libraries/matrix/product.h"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "libraries/matrix/elements.h"

namespace lockstep::libraries {
namespace {

using vgpu::Arithmetic;

CBLAS_TRANSPOSE Of(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? CblasNoTrans : operation == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
blasint B(int64_t value) { return static_cast<blasint>(value); }

// f(element) of each element, column after column, without gaps.
template <typename To, typename From, typename F>
std::vector<To> Converted(const void* matrix, int64_t rows, int64_t columns, int64_t leading, F f) {
  const From* const from = static_cast<const From*>(matrix);
  std::vector<To> to(static_cast<size_t>(rows * columns));
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < rows; ++row) to[row + column * rows] = f(from[row + column * leading]);
  }
  return to;
}

// op(A) op(B) of matrices without gaps.
std::vector<float> Multiplied(const ProductShape& s, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> product(static_cast<size_t>(s.m * s.n));
  cblas_sgemm(CblasColMajor, Of(s.transa), Of(s.transb), B(s.m), B(s.n), B(s.k), 1, a.data(),
              B(std::max<int64_t>(1, s.a_rows())), b.data(), B(std::max<int64_t>(1, s.b_rows())), 0, product.data(),
              B(std::max<int64_t>(1, s.m)));
  return product;
}

// Sets each element of C to value(its sum in `product`, its old value).
template <typename C, typename Sum, typename Value>
void Combine(const ProductShape& s, const std::vector<Sum>& product, void* c, Value value) {
  C* const to = static_cast<C*>(c);
  for (int64_t column = 0; column < s.n; ++column) {
    for (int64_t row = 0; row < s.m; ++row) {
      C& element = to[row + column * s.ldc];
      element = value(product[row + column * s.m], element);
    }
  }
}

template <typename A, typename C, typename Factor>
void Narrow(const ProductShape& s, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  const float scale = Load(*static_cast<const Factor*>(alpha)), keep = Load(*static_cast<const Factor*>(beta));
  std::vector<float> product(static_cast<size_t>(s.m * s.n));
  if (scale != 0 && s.k > 0) {
    const auto load = [](A element) { return Load(element); };
    product = Multiplied(s, Converted<float, A>(a, s.a_rows(), s.a_columns(), s.lda, load),
                         Converted<float, A>(b, s.b_rows(), s.b_columns(), s.ldb, load));
  }
  Combine<C>(s, product, c, [&](float sum, C before) {
    return Store<C>(keep == 0 ? scale * sum : scale * sum + keep * Load(before));
  });
}

// Sums of products of bytes are exact in double precision up to k = 2^39; beyond 32 bits they wrap around.
void Integers(const ProductShape& s, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  const auto scale = static_cast<uint32_t>(*static_cast<const int32_t*>(alpha));
  const auto keep = static_cast<uint32_t>(*static_cast<const int32_t*>(beta));
  std::vector<double> product(static_cast<size_t>(s.m * s.n));
  if (scale != 0 && s.k > 0) {
    const auto load = [](int8_t element) { return static_cast<double>(element); };
    const auto left = Converted<double, int8_t>(a, s.a_rows(), s.a_columns(), s.lda, load);
    const auto right = Converted<double, int8_t>(b, s.b_rows(), s.b_columns(), s.ldb, load);
    cblas_dgemm(CblasColMajor, Of(s.transa), Of(s.transb), B(s.m), B(s.n), B(s.k), 1, left.data(), B(s.a_rows()),
                right.data(), B(s.b_rows()), 0, product.data(), B(s.m));
  }
  Combine<int32_t>(s, product, c, [&](double sum, int32_t before) {
    const auto exact = static_cast<uint32_t>(static_cast<int64_t>(sum));
    return static_cast<int32_t>(scale * exact + (keep == 0 ? 0 : keep * static_cast<uint32_t>(before)));
  });
}

void Single(const ProductShape& s, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  cblas_sgemm(CblasColMajor, Of(s.transa), Of(s.transb), B(s.m), B(s.n), B(s.k), *static_cast<const float*>(alpha),
              static_cast<const float*>(a), B(s.lda), static_cast<const float*>(b), B(s.ldb),
              *static_cast<const float*>(beta), static_cast<float*>(c), B(s.ldc));
}
void Double(const ProductShape& s, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  cblas_dgemm(CblasColMajor, Of(s.transa), Of(s.transb), B(s.m), B(s.n), B(s.k), *static_cast<const double*>(alpha),
              static_cast<const double*>(a), B(s.lda), static_cast<const double*>(b), B(s.ldb),
              *static_cast<const double*>(beta), static_cast<double*>(c), B(s.ldc));
}
void SingleComplex(const ProductShape& s, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  cblas_cgemm(CblasColMajor, Of(s.transa), Of(s.transb), B(s.m), B(s.n), B(s.k), alpha, a, B(s.lda), b, B(s.ldb), beta,
              c, B(s.ldc));
}
void DoubleComplex(const ProductShape& s, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  cblas_zgemm(CblasColMajor, Of(s.transa), Of(s.transb), B(s.m), B(s.n), B(s.k), alpha, a, B(s.lda), b, B(s.ldb), beta,
              c, B(s.ldc));
}

// A product of rounded inputs. kNumbers: floats per element; the two of a complex one are rounded like two rows.
template <ProductFunction kProduct, int kNumbers, float (*kRound)(float)>
void Rounded(const ProductShape& s, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  const auto left = Converted<float, float>(a, s.a_rows() * kNumbers, s.a_columns(), s.lda * kNumbers, kRound);
  const auto right = Converted<float, float>(b, s.b_rows() * kNumbers, s.b_columns(), s.ldb * kNumbers, kRound);
  ProductShape without_gaps = s;
  without_gaps.lda = std::max<int64_t>(1, s.a_rows());
  without_gaps.ldb = std::max<int64_t>(1, s.b_rows());
  kProduct(without_gaps, alpha, left.data(), right.data(), beta, c);
}

// The compute type without suffixes such as _PEDANTIC.
cublasComputeType_t Plain(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUBLAS_COMPUTE_16F;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      return CUBLAS_COMPUTE_32F;
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return CUBLAS_COMPUTE_64F;
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUBLAS_COMPUTE_32I;
    default:
      return compute;
  }
}

struct Row {
  cudaDataType ab, c;
  cublasComputeType_t compute;
  Product product;
};
constexpr double kReal = 2, kComplex = 8;
constexpr Row kRows[] = {
    {CUDA_R_16F,
     CUDA_R_16F,
     CUBLAS_COMPUTE_16F,
     {2, 2, 2, 2, CUDA_R_16F, Arithmetic::kHalf, kReal, false, Narrow<Float16, Float16, Float16>}},
    {CUDA_R_16F,
     CUDA_R_16F,
     CUBLAS_COMPUTE_32F,
     {2, 2, 2, 4, CUDA_R_32F, Arithmetic::kHalf, kReal, false, Narrow<Float16, Float16, float>}},
    {CUDA_R_16F,
     CUDA_R_32F,
     CUBLAS_COMPUTE_32F,
     {2, 2, 4, 4, CUDA_R_32F, Arithmetic::kHalf, kReal, false, Narrow<Float16, float, float>}},
    {CUDA_R_16BF,
     CUDA_R_16BF,
     CUBLAS_COMPUTE_32F,
     {2, 2, 2, 4, CUDA_R_32F, Arithmetic::kHalf, kReal, false, Narrow<BFloat16, BFloat16, float>}},
    {CUDA_R_16BF,
     CUDA_R_32F,
     CUBLAS_COMPUTE_32F,
     {2, 2, 4, 4, CUDA_R_32F, Arithmetic::kHalf, kReal, false, Narrow<BFloat16, float, float>}},
    {CUDA_R_8I,
     CUDA_R_32F,
     CUBLAS_COMPUTE_32F,
     {1, 1, 4, 4, CUDA_R_32F, Arithmetic::kInt8, kReal, true, Narrow<int8_t, float, float>}},
    {CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, {1, 1, 4, 4, CUDA_R_32I, Arithmetic::kInt8, kReal, true, Integers}},
    {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, {4, 4, 4, 4, CUDA_R_32F, Arithmetic::kFloat32, kReal, false, Single}},
    {CUDA_R_32F,
     CUDA_R_32F,
     CUBLAS_COMPUTE_32F_FAST_TF32,
     {4, 4, 4, 4, CUDA_R_32F, Arithmetic::kTensorFloat32, kReal, false, Rounded<Single, 1, RoundToTf32>}},
    {CUDA_R_32F,
     CUDA_R_32F,
     CUBLAS_COMPUTE_32F_FAST_16F,
     {4, 4, 4, 4, CUDA_R_32F, Arithmetic::kHalf, kReal, false, Rounded<Single, 1, RoundToTf32>}},
    {CUDA_R_32F,
     CUDA_R_32F,
     CUBLAS_COMPUTE_32F_FAST_16BF,
     {4, 4, 4, 4, CUDA_R_32F, Arithmetic::kHalf, kReal, false, Rounded<Single, 1, RoundToTf32>}},
    {CUDA_R_64F,
     CUDA_R_64F,
     CUBLAS_COMPUTE_64F,
     {8, 8, 8, 8, CUDA_R_64F, Arithmetic::kTensorFloat64, kReal, false, Double}},
    {CUDA_C_32F,
     CUDA_C_32F,
     CUBLAS_COMPUTE_32F,
     {8, 8, 8, 8, CUDA_C_32F, Arithmetic::kFloat32, kComplex, false, SingleComplex}},
    {CUDA_C_32F,
     CUDA_C_32F,
     CUBLAS_COMPUTE_32F_FAST_TF32,
     {8, 8, 8, 8, CUDA_C_32F, Arithmetic::kTensorFloat32, kComplex, false, Rounded<SingleComplex, 2, RoundToTf32>}},
    {CUDA_C_32F,
     CUDA_C_32F,
     CUBLAS_COMPUTE_32F_FAST_16F,
     {8, 8, 8, 8, CUDA_C_32F, Arithmetic::kHalf, kComplex, false, Rounded<SingleComplex, 2, RoundToTf32>}},
    {CUDA_C_32F,
     CUDA_C_32F,
     CUBLAS_COMPUTE_32F_FAST_16BF,
     {8, 8, 8, 8, CUDA_C_32F, Arithmetic::kHalf, kComplex, false, Rounded<SingleComplex, 2, RoundToTf32>}},
    {CUDA_C_64F,
     CUDA_C_64F,
     CUBLAS_COMPUTE_64F,
     {16, 16, 16, 16, CUDA_C_64F, Arithmetic::kTensorFloat64, kComplex, false, DoubleComplex}},
};

}  // namespace

void StartOpenBlas() {
  static const bool started = (openblas_set_num_threads(1), true);
  (void)started;
}

const Product* FindProduct(const ProductTypes& types) {
  if (types.a != types.b) return nullptr;
  // Narrow inputs need no rounding for the fast compute types.
  const bool narrow = types.a == CUDA_R_16F || types.a == CUDA_R_16BF || types.a == CUDA_R_8I;
  const bool fast = types.compute == CUBLAS_COMPUTE_32F_FAST_TF32 || types.compute == CUBLAS_COMPUTE_32F_FAST_16F ||
                    types.compute == CUBLAS_COMPUTE_32F_FAST_16BF;
  const cublasComputeType_t compute = narrow && fast ? CUBLAS_COMPUTE_32F : Plain(types.compute);
  for (const Row& row : kRows) {
    if (row.ab == types.a && row.c == types.c && row.compute == compute) return &row.product;
  }
  return nullptr;
}

bool IsZero(const Product& product, const void* scalar) {
  std::array<unsigned char, 16> bytes = {};
  std::memcpy(bytes.data(), scalar, product.scalar_bytes);
  // A number is 0 or -0 if no bit but its sign is set.
  const uint32_t number = product.scalar == CUDA_C_32F ? 4 : product.scalar == CUDA_C_64F ? 8 : product.scalar_bytes;
  if (product.scalar != CUDA_R_32I) {
    for (uint32_t at = number - 1; at < product.scalar_bytes; at += number) bytes[at] &= 0x7f;
  }
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; });
}

}  // namespace lockstep::libraries
