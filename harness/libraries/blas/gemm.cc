// Products of matrices: a single function for all of cuBLAS's, plain or batched.
#include <cuda_fp16.h>

#include <array>
#include <cstring>

#include "libraries/blas/number.h"
#include "libraries/blas/openblas.h"
#include "libraries/matrix/product.h"

namespace lockstep::libraries::blas {

namespace {

// The matrices of a batch: at a fixed stride, or at pointers in device memory.
struct Operand {
  const void* matrix = nullptr;
  int64_t stride = 0;  // elements
  const void* const* pointers = nullptr;

  const void* At(int64_t index, uint32_t element) const {
    return pointers != nullptr ? pointers[index] : static_cast<const char*>(matrix) + index * stride * element;
  }
};

struct Gemm {
  ProductTypes types;
  ProductShape shape;
  const void *alpha, *beta;
  Operand a, b, c;
  int64_t count = 1;
};

// A factor of any type, of at most 16 bytes.
class AnyScalar {
 public:
  AnyScalar(const Function& f, const Product& product, const void* pointer)
      : product_(product), device_(f.on_device() ? pointer : nullptr) {
    if (device_ == nullptr) std::memcpy(bytes_.data(), pointer, product.scalar_bytes);
  }
  const void* Get() const { return device_ != nullptr ? device_ : bytes_.data(); }
  bool IsKnownZero() const { return device_ == nullptr && IsZero(product_, bytes_.data()); }
  void AddTo(Call& call, const char* name) const {
    if (device_ == nullptr) return;
    call.memory.push_back(
        {Access::kRead, name, device_, product_.scalar_bytes, 1, product_.scalar_bytes, product_.scalar_bytes});
  }

 private:
  const Product& product_;
  const void* device_;
  std::array<unsigned char, 16> bytes_ = {};
};

// The pointers to a batch's matrices, which are in device memory themselves.
void AddPointers(Call& call, const Operand& operand, const char* what, int64_t count) {
  if (operand.pointers != nullptr) call.memory.push_back(Elements(Access::kRead, what, operand.pointers, count));
}

// The compute type of cublasSgemm and the like, from the handle's math mode.
cublasComputeType_t ComputeOfSingle(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_COMPUTE_32F;
  switch (handle->math & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) {
    case CUBLAS_TF32_TENSOR_OP_MATH:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case CUBLAS_TENSOR_OP_MATH:
      return CUBLAS_COMPUTE_32F_FAST_16F;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

cublasStatus_t Multiply(const Function& f, const Gemm& gemm) {
  const ProductShape& s = gemm.shape;
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({IsOperation(s.transa),
               IsOperation(s.transb),
               IsSize(s.m),
               IsSize(s.n),
               IsSize(s.k),
               {s.lda >= std::max<int64_t>(1, s.a_rows()), "lda is smaller than the rows of A, or than 1"},
               {s.ldb >= std::max<int64_t>(1, s.b_rows()), "ldb is smaller than the rows of B, or than 1"},
               {s.ldc >= std::max<int64_t>(1, s.m), "ldc is smaller than m, or than 1"},
               {gemm.count >= 0, "the batch's size is negative"}}));
  const Product* const product = FindProduct(gemm.types);
  if (product == nullptr) return f.Missing("this combination of types");
  if (s.m == 0 || s.n == 0 || gemm.count == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsGiven(gemm.alpha), IsGiven(gemm.beta)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, s.m, s.n, s.k, s.lda, s.ldb, s.ldc);
  constexpr int64_t kAlignment = 4;
  if (product->aligned && (s.lda % kAlignment != 0 || s.ldb % kAlignment != 0 ||
                           reinterpret_cast<uintptr_t>(gemm.a.matrix) % kAlignment != 0 ||
                           reinterpret_cast<uintptr_t>(gemm.b.matrix) % kAlignment != 0)) {
    lockstep_say(f.name, "8-bit matrices and their leading dimensions must be multiples of 4 bytes");
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const AnyScalar alpha(f, *product, gemm.alpha), beta(f, *product, gemm.beta);
  Call call = f.Begin(product->multiply_add * static_cast<double>(s.m) * static_cast<double>(s.n) *
                          static_cast<double>(s.k) * static_cast<double>(gemm.count),
                      product->arithmetic);
  alpha.AddTo(call, "alpha");
  beta.AddTo(call, "beta");
  const bool reads = s.k > 0 && !alpha.IsKnownZero();
  if (gemm.c.pointers == nullptr && reads)
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({HasMemory(gemm.a.matrix), HasMemory(gemm.b.matrix), HasMemory(gemm.c.matrix)}));
  if (reads) {
    AddPointers(call, gemm.a, "the pointers to matrices A", gemm.count);
    AddPointers(call, gemm.b, "the pointers to matrices B", gemm.count);
  }
  AddPointers(call, gemm.c, "the pointers to matrices C", gemm.count);
  call.more_memory = [=](Memory& memory) {
    const Access access = IsZero(*product, beta.Get()) ? Access::kWrite : Access::kReadWrite;
    for (int64_t i = 0; i < gemm.count; ++i) {
      if (reads && (!memory.Touch(Matrix(Access::kRead, "matrix A", gemm.a.At(i, product->a_bytes), product->a_bytes,
                                         s.a_rows(), s.a_columns(), s.lda)) ||
                    !memory.Touch(Matrix(Access::kRead, "matrix B", gemm.b.At(i, product->b_bytes), product->b_bytes,
                                         s.b_rows(), s.b_columns(), s.ldb)))) {
        return false;
      }
      if (!memory.Touch(
              Matrix(access, "matrix C", gemm.c.At(i, product->c_bytes), product->c_bytes, s.m, s.n, s.ldc))) {
        return false;
      }
    }
    return true;
  };
  call.run = [=] {
    ProductShape shape = s;
    if (!reads) shape.k = 0;
    for (int64_t i = 0; i < gemm.count; ++i) {
      product->run(shape, alpha.Get(), reads ? gemm.a.At(i, product->a_bytes) : nullptr,
                   reads ? gemm.b.At(i, product->b_bytes) : nullptr, beta.Get(),
                   const_cast<void*>(gemm.c.At(i, product->c_bytes)));
    }
  };
  return Function::Do(std::move(call));
}

const void* const* Pointers(const void* array) { return static_cast<const void* const*>(array); }
Operand Each(const void* pointers) { return {nullptr, 0, Pointers(pointers)}; }

// The types of cublasSgemm and its like.
ProductTypes TypesOf(const float*, cublasHandle_t handle) {
  return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, ComputeOfSingle(handle)};
}
ProductTypes TypesOf(const double*, cublasHandle_t) { return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F}; }
ProductTypes TypesOf(const cuComplex*, cublasHandle_t handle) {
  return {CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, ComputeOfSingle(handle)};
}
ProductTypes TypesOf(const cuDoubleComplex*, cublasHandle_t) {
  return {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
}
ProductTypes TypesOf(const __half*, cublasHandle_t) { return {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F}; }

bool IsAlgorithm(cublasGemmAlgo_t algorithm) {
  return (algorithm >= CUBLAS_GEMM_DEFAULT && algorithm <= CUBLAS_GEMM_ALGO23) ||
         (algorithm >= CUBLAS_GEMM_DEFAULT_TENSOR_OP && algorithm <= CUBLAS_GEMM_ALGO15_TENSOR_OP) ||
         algorithm == CUBLAS_GEMM_AUTOTUNE;
}
// Each group is a batch; factors and sizes are in host memory, an element for each group.
template <typename I>
cublasStatus_t MultiplyGroups(const Function& f, const ProductTypes& types, const cublasOperation_t* transa,
                              const cublasOperation_t* transb, const I* m, const I* n, const I* k, const void* alpha,
                              const void* a, const I* lda, const void* b, const I* ldb, const void* beta, const void* c,
                              const I* ldc, I groups, const I* sizes) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{groups >= 0, "the number of groups is negative"}}));
  if (f.on_device()) return f.Missing("factors in device memory");
  const Product* const product = FindProduct(types);
  if (product == nullptr) return f.Missing("this combination of types");
  const auto factor = [&](const void* all, I group) {
    return static_cast<const char*>(all) + static_cast<int64_t>(group) * product->scalar_bytes;
  };
  for (I group = 0, first = 0; group < groups; first += sizes[group++]) {
    const auto batch = [&](const void* all) { return Operand{nullptr, 0, Pointers(all) + first}; };
    const ProductShape shape = {transa[group], transb[group], m[group],   n[group],
                                k[group],      lda[group],    ldb[group], ldc[group]};
    LOCKSTEP_RETURN_UNLESS_OK(Multiply(
        f, {types, shape, factor(alpha, group), factor(beta, group), batch(a), batch(b), batch(c), sizes[group]}));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t MultiplyBy(cublasGemmAlgo_t algorithm, const Function& f, const Gemm& gemm) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{IsAlgorithm(algorithm), "there is no such algorithm"}}));
  return Multiply(f, gemm);
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries;
using namespace lockstep::libraries::blas;

#define SHAPE {transa, transb, m, n, k, lda, ldb, ldc}
#define FUNCTION {__func__, handle}
#define SINGLE(S, T, I, _, gemm, version)                                                                         \
  cublasStatus_t cublas##S##gemm##version##_(cublasHandle_t handle, cublasOperation_t transa,                     \
                                             cublasOperation_t transb, I m, I n, I k, const T* alpha, const T* a, \
                                             I lda, const T* b, I ldb, const T* beta, T* c, I ldc) {              \
    return Multiply(FUNCTION, {TypesOf(alpha, handle), SHAPE, alpha, beta, {a}, {b}, {c}});                       \
  }
#define BATCHED(S, T, I, _, gemm)                                                                               \
  cublasStatus_t cublas##S##gemm##Batched##_(                                                                   \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, I m, I n, I k, const T* alpha, \
      const T* const a[], I lda, const T* const b[], I ldb, const T* beta, T* const c[], I ldc, I count) {      \
    return Multiply(FUNCTION, {TypesOf(alpha, handle), SHAPE, alpha, beta, Each(a), Each(b), Each(c), count});  \
  }
#define STRIDED(S, T, I, _, gemm)                                                                                   \
  cublasStatus_t cublas##S##gemm##StridedBatched##_(                                                                \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, I m, I n, I k, const T* alpha,     \
      const T* a, I lda, long long stridea, const T* b, I ldb, long long strideb, const T* beta, T* c, I ldc,       \
      long long stridec, I count) {                                                                                 \
    return Multiply(FUNCTION,                                                                                       \
                    {TypesOf(alpha, handle), SHAPE, alpha, beta, {a, stridea}, {b, strideb}, {c, stridec}, count}); \
  }
#define PRODUCTS(S, T, I, _) SINGLE(S, T, I, _, gemm, _v2) BATCHED(S, T, I, _, gemm) STRIDED(S, T, I, _, gemm)
#define HALF_PRODUCTS(S, T, I, _) SINGLE(S, T, I, _, gemm, ) BATCHED(S, T, I, _, gemm) STRIDED(S, T, I, _, gemm)
// gemm3m saves one of four multiplications in NVIDIA's library: only the speed differs.
#define OF_THREE(S, T, I, _) SINGLE(S, T, I, _, gemm3m, )
#define OF_THREE_BATCHED(I, _) BATCHED(C, cuComplex, I, _, gemm3m) STRIDED(C, cuComplex, I, _, gemm3m)
#define EXTENDED(I, _)                                                                                                \
  cublasStatus_t cublasGemmEx##_(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, I m, I n, \
                                 I k, const void* alpha, const void* a, cudaDataType atype, I lda, const void* b,     \
                                 cudaDataType btype, I ldb, const void* beta, void* c, cudaDataType ctype, I ldc,     \
                                 cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {                           \
    return MultiplyBy(algorithm, FUNCTION, {{atype, btype, ctype, compute}, SHAPE, alpha, beta, {a}, {b}, {c}});      \
  }                                                                                                                   \
  cublasStatus_t cublasGemmBatchedEx##_(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,    \
                                        I m, I n, I k, const void* alpha, const void* const a[], cudaDataType atype,  \
                                        I lda, const void* const b[], cudaDataType btype, I ldb, const void* beta,    \
                                        void* const c[], cudaDataType ctype, I ldc, I count,                          \
                                        cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {                    \
    return MultiplyBy(algorithm, FUNCTION,                                                                            \
                      {{atype, btype, ctype, compute}, SHAPE, alpha, beta, Each(a), Each(b), Each(c), count});        \
  }                                                                                                                   \
  cublasStatus_t cublasGemmStridedBatchedEx##_(                                                                       \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, I m, I n, I k, const void* alpha,    \
      const void* a, cudaDataType atype, I lda, long long stridea, const void* b, cudaDataType btype, I ldb,          \
      long long strideb, const void* beta, void* c, cudaDataType ctype, I ldc, long long stridec, I count,            \
      cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {                                                      \
    return MultiplyBy(                                                                                                \
        algorithm, FUNCTION,                                                                                          \
        {{atype, btype, ctype, compute}, SHAPE, alpha, beta, {a, stridea}, {b, strideb}, {c, stridec}, count});       \
  }
#define GROUP_SHAPE(I) \
  const cublasOperation_t transa[], const cublasOperation_t transb[], const I m[], const I n[], const I k[]
#define GROUPED(S, T, I, _)                                                                                          \
  cublasStatus_t cublas##S##gemmGroupedBatched##_(                                                                   \
      cublasHandle_t handle, GROUP_SHAPE(I), const T alpha[], const T* const a[], const I lda[], const T* const b[], \
      const I ldb[], const T beta[], T* const c[], const I ldc[], I groups, const I sizes[]) {                       \
    return MultiplyGroups<I>(FUNCTION, TypesOf(alpha, handle), transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, \
                             c, ldc, groups, sizes);                                                                 \
  }
#define GROUPED_EX(I, _)                                                                                               \
  cublasStatus_t cublasGemmGroupedBatchedEx##_(                                                                        \
      cublasHandle_t handle, GROUP_SHAPE(I), const void* alpha, const void* const a[], cudaDataType atype,             \
      const I lda[], const void* const b[], cudaDataType btype, const I ldb[], const void* beta, void* const c[],      \
      cudaDataType ctype, const I ldc[], I groups, const I sizes[], cublasComputeType_t compute) {                     \
    return MultiplyGroups<I>(FUNCTION, {atype, btype, ctype, compute}, transa, transb, m, n, k, alpha, a, lda, b, ldb, \
                             beta, c, ldc, groups, sizes);                                                             \
  }
// Factors in single precision, matrices of any type.
#define OF_SINGLE(S, T, I, _)                                                                                         \
  cublasStatus_t cublas##S##gemmEx##_(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, I m, \
                                      I n, I k, const T* alpha, const void* a, cudaDataType atype, I lda,             \
                                      const void* b, cudaDataType btype, I ldb, const T* beta, void* c,               \
                                      cudaDataType ctype, I ldc) {                                                    \
    return Multiply(FUNCTION, {{atype, btype, ctype, CUBLAS_COMPUTE_32F}, SHAPE, alpha, beta, {a}, {b}, {c}});        \
  }

extern "C" {
LOCKSTEP_ALL_TYPES(PRODUCTS)
LOCKSTEP_BOTH_WIDTHS(HALF_PRODUCTS, H, __half)
LOCKSTEP_COMPLEX_TYPES(OF_THREE)
OF_THREE_BATCHED(int, )
OF_THREE_BATCHED(int64_t, _64)
EXTENDED(int, )
EXTENDED(int64_t, _64)
LOCKSTEP_REAL_TYPES(GROUPED)
GROUPED_EX(int, )
GROUPED_EX(int64_t, _64)
LOCKSTEP_BOTH_WIDTHS(OF_SINGLE, S, float)
LOCKSTEP_BOTH_WIDTHS(OF_SINGLE, C, cuComplex)
}
