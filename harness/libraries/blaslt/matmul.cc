// D = epilogue(alpha op(A) op(B) + beta C): the products of cuBLASLt, and its heuristics, which know one algorithm.
//
// Each product of a batch is computed as in cuBLAS (libraries/matrix), into a matrix of the type of its sums. The rest,
// up to a single rounding to D's type, is done element by element in double precision.
#include <cmath>
#include <complex>
#include <cstring>

#include "libraries/blaslt/descriptors.h"
#include "libraries/library.h"
#include "libraries/matrix/elements.h"
#include "libraries/matrix/product.h"

namespace lockstep::libraries::blaslt {
namespace {

using Value = std::complex<double>;

uint32_t BytesOf(int type) {
  switch (type) {
    case CUDA_R_8I:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 0;
  }
}

template <typename T>
T At(const void* array, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(array) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <typename T>
void Put(void* array, int64_t index, const T& value) {
  std::memcpy(static_cast<char*>(array) + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

Value Load(int type, const void* array, int64_t index) {
  switch (type) {
    case CUDA_R_16F:
      return At<Float16>(array, index).Load();
    case CUDA_R_16BF:
      return At<BFloat16>(array, index).Load();
    case CUDA_R_32F:
      return At<float>(array, index);
    case CUDA_R_32I:
      return At<int32_t>(array, index);
    case CUDA_R_64F:
      return At<double>(array, index);
    case CUDA_C_32F:
      return At<std::complex<float>>(array, index);
    default:
      return At<Value>(array, index);
  }
}

void Store(int type, void* array, int64_t index, const Value& value) {
  const auto single = static_cast<float>(value.real());
  switch (type) {
    case CUDA_R_16F:
      return Put(array, index, Float16::Store(single));
    case CUDA_R_16BF:
      return Put(array, index, BFloat16::Store(single));
    case CUDA_R_32F:
      return Put(array, index, single);
    case CUDA_R_32I:
      return Put(array, index, static_cast<int32_t>(static_cast<int64_t>(value.real())));
    case CUDA_R_64F:
      return Put(array, index, value.real());
    case CUDA_C_32F:
      return Put(array, index, std::complex<float>(value));
    default:
      return Put(array, index, value);
  }
}

// The type of a product's sums.
cudaDataType SumOf(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF ? CUDA_R_32F : type; }

struct Problem {
  Matmul matmul;
  Layout a, b, c, d;
  int64_t m = 0, n = 0, k = 0;
  const Product* product = nullptr;
  cudaDataType sum = CUDA_R_32F;

  bool reads_bias() const { return (matmul.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
  cudaDataType bias_type() const { return static_cast<cudaDataType>(matmul.bias_type < 0 ? d.type : matmul.bias_type); }
};

// A matrix in row order is its transpose in column order.
cublasOperation_t InColumns(const Layout& layout, int32_t operation, bool* is_possible) {
  if (layout.order == CUBLASLT_ORDER_COL) return static_cast<cublasOperation_t>(operation);
  if (operation == CUBLAS_OP_N) return CUBLAS_OP_T;
  if (operation == CUBLAS_OP_C && (layout.type == CUDA_C_32F || layout.type == CUDA_C_64F)) *is_possible = false;
  return CUBLAS_OP_N;
}

bool IsWellFormed(const Layout& layout) {
  const bool columns = layout.order == CUBLASLT_ORDER_COL;
  const auto least = static_cast<int64_t>(columns ? layout.rows : layout.columns);
  return layout.leading >= least && layout.batch_count >= 1;
}

// Fills in the problem from its descriptors; `missing` gets the name of what is not supported.
cublasStatus_t Resolve(Problem& p, const char** missing) {
  const Matmul& matmul = p.matmul;
  const bool ta = matmul.transa != CUBLAS_OP_N, tb = matmul.transb != CUBLAS_OP_N;
  p.m = static_cast<int64_t>(p.d.rows);
  p.n = static_cast<int64_t>(p.d.columns);
  p.k = static_cast<int64_t>(ta ? p.a.rows : p.a.columns);
  const auto rows = [](const Layout& layout, bool turned) {
    return static_cast<int64_t>(turned ? layout.columns : layout.rows);
  };
  if (rows(p.a, ta) != p.m || rows(p.b, tb) != p.k || rows(p.b, !tb) != p.n || p.c.rows != p.d.rows ||
      p.c.columns != p.d.columns || !IsWellFormed(p.a) || !IsWellFormed(p.b) || !IsWellFormed(p.c) ||
      !IsWellFormed(p.d) || p.a.batch_count != p.d.batch_count || p.b.batch_count != p.d.batch_count ||
      p.c.batch_count != p.d.batch_count) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  constexpr uint32_t kKnown =
      CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU | CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_GELU;
  for (const Layout* layout : {&p.a, &p.b, &p.c, &p.d}) {
    if (layout->order != CUBLASLT_ORDER_COL && layout->order != CUBLASLT_ORDER_ROW) *missing = "this order of elements";
    if (layout->plane_offset != 0) *missing = "planar complex matrices";
    if (layout->batch_mode != 0) *missing = "batches of pointers";
    if (layout->rows > INT32_MAX || layout->columns > INT32_MAX || layout->leading > INT32_MAX) {
      *missing = "sizes beyond 31 bits";
    }
  }
  bool is_possible = true;
  InColumns(p.a, matmul.transa, &is_possible);
  InColumns(p.b, matmul.transb, &is_possible);
  if (!is_possible) *missing = "conjugates of matrices in row order";
  if ((matmul.epilogue & ~kKnown) != 0) *missing = "this epilogue";
  if (matmul.pointers != CUBLASLT_POINTER_MODE_HOST && matmul.pointers != CUBLASLT_POINTER_MODE_DEVICE) {
    *missing = "vectors of factors";
  }
  if (matmul.transc != CUBLAS_OP_N || matmul.fill != CUBLAS_FILL_MODE_FULL) *missing = "this form of C";
  const auto a = static_cast<cudaDataType>(p.a.type), b = static_cast<cudaDataType>(p.b.type);
  const auto c = static_cast<cudaDataType>(p.c.type);
  const auto compute = static_cast<cublasComputeType_t>(matmul.compute);
  const Product* const whole = FindProduct({a, b, c, compute});
  if (p.c.type != p.d.type || whole == nullptr || whole->scalar != matmul.scale) *missing = "this combination of types";
  const bool acts = matmul.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  if (acts && (c == CUDA_R_32I || c == CUDA_C_32F || c == CUDA_C_64F)) *missing = "an epilogue of these types";
  if (p.reads_bias() && BytesOf(p.bias_type()) == 0) *missing = "this type of bias";
  if (*missing != nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  p.sum = SumOf(c);
  const bool half = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
  p.product = FindProduct({a, b, p.sum, half ? CUBLAS_COMPUTE_32F : compute});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Describe(const char* function, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t a,
                        cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        Problem* problem) {
  if (matmul == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  problem->matmul = Of(matmul);
  problem->a = Of(a);
  problem->b = Of(b);
  problem->c = Of(c);
  problem->d = Of(d);
  const char* missing = nullptr;
  const cublasStatus_t status = Resolve(*problem, &missing);
  if (missing != nullptr && status == CUBLAS_STATUS_NOT_SUPPORTED) lockstep_refuse("cuBLASLt", function, missing);
  if (status == CUBLAS_STATUS_INVALID_VALUE) lockstep_say(function, "the matrices' sizes do not fit each other");
  return status;
}

// The distance, in elements, from the matrix's first element to this one.
int64_t Offset(const Layout& layout, int64_t row, int64_t column) {
  return layout.order == CUBLASLT_ORDER_COL ? row + column * layout.leading : column + row * layout.leading;
}

Range RangeOf(Access access, const char* what, const void* matrix, const Layout& layout, int64_t batch) {
  const bool columns = layout.order == CUBLASLT_ORDER_COL;
  const uint32_t element = BytesOf(static_cast<int>(layout.type));
  return Matrix(access, what, static_cast<const char*>(matrix) + batch * layout.batch_stride * element, element,
                static_cast<int64_t>(columns ? layout.rows : layout.columns),
                static_cast<int64_t>(columns ? layout.columns : layout.rows), layout.leading);
}

double Activated(uint32_t epilogue, double value) {
  if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) return value > 0 || std::isnan(value) ? value : 0;
  if ((epilogue & CUBLASLT_EPILOGUE_GELU) == 0) return value;
  constexpr double kSlope = 0.7978845608028654, kCube = 0.044715;  // sqrt(2 / pi); the approximation by tanh
  return 0.5 * value * (1 + std::tanh(kSlope * (value + kCube * value * value * value)));
}

struct Operands {
  const void *alpha, *a, *b, *beta, *c;
  void* d;
};

void Multiply(const Problem& p, const Operands& o, int64_t batch, std::vector<char>& sums) {
  const auto at = [&](const Layout& layout, const void* matrix) {
    return static_cast<const char*>(matrix) + batch * layout.batch_stride * BytesOf(static_cast<int>(layout.type));
  };
  const Value alpha = Load(p.matmul.scale, o.alpha, 0), beta = Load(p.matmul.scale, o.beta, 0);
  bool is_possible = true;
  const ProductShape shape = {InColumns(p.a, p.matmul.transa, &is_possible),
                              InColumns(p.b, p.matmul.transb, &is_possible),
                              p.m,
                              p.n,
                              alpha == 0.0 ? 0 : p.k,
                              std::max<int64_t>(1, p.a.leading),
                              std::max<int64_t>(1, p.b.leading),
                              p.m};
  alignas(16) char one[16] = {}, none[16] = {};
  Store(p.product->scalar, one, 0, 1.0);
  p.product->run(shape, one, at(p.a, o.a), at(p.b, o.b), none, sums.data());
  char* const to = const_cast<char*>(at(p.d, o.d));
  for (int64_t column = 0; column < p.n; ++column) {
    for (int64_t row = 0; row < p.m; ++row) {
      Value value = alpha == 0.0 ? 0.0 : alpha * Load(p.sum, sums.data(), row + column * p.m);
      if (beta != 0.0) value += beta * Load(static_cast<int>(p.c.type), at(p.c, o.c), Offset(p.c, row, column));
      if (p.reads_bias()) value += Load(p.bias_type(), p.matmul.bias, row + batch * p.matmul.bias_stride);
      if (p.matmul.epilogue != CUBLASLT_EPILOGUE_DEFAULT) value = Activated(p.matmul.epilogue, value.real());
      Store(static_cast<int>(p.d.type), to, Offset(p.d, row, column), value);
    }
  }
}

// A factor in host memory is read now.
struct HostOrDeviceScalar {
  alignas(16) char bytes[16] = {};
};
HostOrDeviceScalar Keep(const void* scalar, uint32_t bytes) {
  HostOrDeviceScalar kept;
  std::memcpy(kept.bytes, scalar, bytes);
  return kept;
}

cublasStatus_t Run(const char* function, const Problem& p, const Operands& o, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return CUBLAS_STATUS_SUCCESS;
  const bool on_device = p.matmul.pointers == CUBLASLT_POINTER_MODE_DEVICE;
  const uint32_t bytes = BytesOf(p.matmul.scale);
  const HostOrDeviceScalar alpha = on_device ? HostOrDeviceScalar() : Keep(o.alpha, bytes);
  const HostOrDeviceScalar beta = on_device ? HostOrDeviceScalar() : Keep(o.beta, bytes);
  Call call;
  call.function = function;
  call.stream = stream;
  call.operations = p.product->multiply_add * static_cast<double>(p.m) * static_cast<double>(p.n) *
                    static_cast<double>(p.k) * p.d.batch_count;
  call.arithmetic = p.product->arithmetic;
  if (on_device) {
    call.memory.push_back({Access::kRead, "alpha", o.alpha, bytes, 1, bytes, bytes});
    call.memory.push_back({Access::kRead, "beta", o.beta, bytes, 1, bytes, bytes});
  }
  // By value: the call may be done later, by a graph.
  const auto operands = [=](const HostOrDeviceScalar& by, const HostOrDeviceScalar& before) {
    Operands resolved = o;
    if (!on_device) {
      resolved.alpha = by.bytes;
      resolved.beta = before.bytes;
    }
    return resolved;
  };
  call.more_memory = [=](Memory& memory) {
    const Operands now = operands(alpha, beta);
    const bool reads = p.k > 0 && Load(p.matmul.scale, now.alpha, 0) != 0.0;
    const bool adds = Load(p.matmul.scale, now.beta, 0) != 0.0;
    const uint32_t bias = BytesOf(p.bias_type());
    for (int64_t batch = 0; batch < p.d.batch_count; ++batch) {
      const char* const biases = static_cast<const char*>(p.matmul.bias) + batch * p.matmul.bias_stride * bias;
      const auto length = static_cast<uint64_t>(p.m) * bias;
      if ((reads && (!memory.Touch(RangeOf(Access::kRead, "matrix A", o.a, p.a, batch)) ||
                     !memory.Touch(RangeOf(Access::kRead, "matrix B", o.b, p.b, batch)))) ||
          (adds && !memory.Touch(RangeOf(Access::kRead, "matrix C", o.c, p.c, batch))) ||
          (p.reads_bias() && !memory.Touch({Access::kRead, "the bias", biases, length, 1, length, bias})) ||
          !memory.Touch(RangeOf(Access::kWrite, "matrix D", o.d, p.d, batch))) {
        return false;
      }
    }
    return true;
  };
  call.run = [=] {
    const Operands now = operands(alpha, beta);
    std::vector<char> sums(static_cast<size_t>(p.m * p.n) * BytesOf(p.sum));
    for (int64_t batch = 0; batch < p.d.batch_count; ++batch) Multiply(p, now, batch, sums);
  };
  return Perform(std::move(call)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace
}  // namespace lockstep::libraries::blaslt

using namespace lockstep::libraries;
using namespace lockstep::libraries::blaslt;

extern "C" {

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t alayout, const void* b, cublasLtMatrixLayout_t blayout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t clayout, void* d,
                              cublasLtMatrixLayout_t dlayout, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Problem problem;
  if (const auto status = Describe(__func__, matmul, alayout, blayout, clayout, dlayout, &problem)) return status;
  if (problem.reads_bias() && problem.matmul.bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  StartOpenBlas();
  return Run(__func__, problem, {alpha, a, b, beta, c, d}, stream);
}

// Returns one algorithm, which needs no workspace, for each product that cublasLtMatmul supports.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[], int* count) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (preference == nullptr || requested < 1 || results == nullptr || count == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  *count = 0;
  Problem problem;
  if (const auto status = Describe(__func__, matmul, a, b, c, d, &problem)) return status;
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (algorithm == nullptr || result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  Problem problem;
  if (const auto status = Describe(__func__, matmul, a, b, c, d, &problem)) return status;
  *result = {};
  result->algo = *algorithm;
  result->wavesCount = 1;
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
