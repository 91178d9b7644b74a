// y = alpha op(A) x + beta y.
#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

struct Arguments {
  Function f;
  cusparseOperation_t op;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnVecDescr_t x;
  const void* beta;
  cusparseDnVecDescr_t y;
  cudaDataType compute;
  cusparseSpMVAlg_t algorithm;

  bool plain() const { return op == CUSPARSE_OPERATION_NON_TRANSPOSE; }

  bool IsAlgorithm() const {
    if (algorithm == CUSPARSE_SPMV_ALG_DEFAULT) return true;
    if (a->format == CUSPARSE_FORMAT_COO) {
      return algorithm == CUSPARSE_SPMV_COO_ALG1 || algorithm == CUSPARSE_SPMV_COO_ALG2;
    }
    return algorithm == CUSPARSE_SPMV_CSR_ALG1 || algorithm == CUSPARSE_SPMV_CSR_ALG2;
  }

  cusparseStatus_t Check() const {
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha), NotNull(a), NotNull(x), NotNull(beta), NotNull(y)}));
    const int64_t rows = plain() ? a->rows : a->columns, columns = plain() ? a->columns : a->rows;
    LOCKSTEP_RETURN_UNLESS_OK(f.Check(
        {IsOperation(op, CUDA_C_32F),
         {algorithm >= CUSPARSE_SPMV_ALG_DEFAULT && algorithm <= CUSPARSE_SPMV_COO_ALG2, "the algorithm is unknown"},
         {x->size == columns, "vector x has not as many elements as op(A) has columns"},
         {y->size == rows, "vector y has not as many elements as op(A) has rows"}}));
    if (!IsFormat(*a)) return f.Missing("this format or width of indices");
    if (!IsProduct(a->type, x->type, y->type, compute)) return f.Missing("this combination of types");
    LOCKSTEP_RETURN_UNLESS_OK(
        f.Check({IsOperation(op, a->type), {IsAlgorithm(), "the algorithm is none of the matrix's format"}}));
    if (a->batches != 1) return f.Missing("a batch");
    return CUSPARSE_STATUS_SUCCESS;
  }
};

// Everything the work needs: the program may destroy the descriptors before it runs.
template <typename Wide>
struct Work {
  const char* function;
  cusparseOperation_t op;
  cusparseSpMatDescr a;
  cusparseDnVecDescr x, y;
  Factor<Wide> alpha, beta;
  Entries entries;

  bool plain() const { return op == CUSPARSE_OPERATION_NON_TRANSPOSE; }
  const std::vector<int64_t>& from() const { return plain() ? entries.column : entries.row; }
  const std::vector<int64_t>& to() const { return plain() ? entries.row : entries.column; }

  bool Touch(Memory& memory) {
    entries = Entries();
    // If alpha is 0, neither A nor x is read, even if they hold NaNs.
    if (!alpha.IsZero()) {
      if (!ReadEntries(function, memory, a, 0, &entries) ||
          !memory.Touch(
              Values(Access::kRead, "the values of matrix A", ValuesOf(a, 0, entries), a.type, entries.count())) ||
          !TouchUsed(memory, Access::kRead, "vector x", x.values, x.type, Marks(from(), x.size))) {
        return false;
      }
    }
    return memory.Touch(
        Values(beta.IsZero() ? Access::kWrite : Access::kReadWrite, "vector y", y.values, y.type, y.size));
  }

  void Run() const {
    const Wide scale = alpha(), keep = beta();
    std::vector<Wide> sums(static_cast<size_t>(y.size));
    const bool conjugates = op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    const auto values = LoadAll<Wide>(a.type, ValuesOf(a, 0, entries), entries.count());
    OfType(x.type, [&](auto t) {
      const auto* const vector = static_cast<const typename decltype(t)::type*>(x.values);
      for (size_t i = 0; i < values.size(); ++i) {
        sums[static_cast<size_t>(to()[i])] +=
            (conjugates ? Conjugate(values[i]) : values[i]) * Widen<Wide>(vector[from()[i]]);
      }
    });
    for (int64_t i = 0; i < y.size; ++i) {
      const Wide added = scale == Wide(0) ? Wide(0) : scale * sums[static_cast<size_t>(i)];
      Store(y.type, y.values, i, keep == Wide(0) ? added : added + keep * Load<Wide>(y.type, y.values, i));
    }
  }
};

cusparseStatus_t Multiply(const Arguments& m) {
  LOCKSTEP_RETURN_UNLESS_OK(m.Check());
  if (m.y->size == 0) return CUSPARSE_STATUS_SUCCESS;
  return InWide(m.compute, [&](auto wide) {
    using Wide = typename decltype(wide)::type;
    auto work = std::make_shared<Work<Wide>>(
        Work<Wide>{m.f.name, m.op, *m.a, *m.x, *m.y, {m.f, m.compute, m.alpha}, {m.f, m.compute, m.beta}, {}});
    return DoScaled(m.f.Begin(MultiplyAdds(m.compute, static_cast<double>(m.a->count)), ArithmeticOf(m.compute)), work);
  });
}

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

#define ARGUMENTS \
  Arguments { {__func__, handle}, op, alpha, a, x, beta, y, compute, algorithm }

extern "C" {

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         size_t* bytes) {
  const Arguments m = ARGUMENTS;
  return BufferSize(m, bytes);
}

cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         void*) {
  const Arguments m = ARGUMENTS;
  return m.Check();
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm, void*) {
  return Multiply(ARGUMENTS);
}

}  // extern "C"
