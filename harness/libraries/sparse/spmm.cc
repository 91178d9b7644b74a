// C = alpha op(A) op(B) + beta C, where B and C are dense, in batches.
#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

struct Arguments {
  Function f;
  cusparseOperation_t op_a, op_b;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnMatDescr_t b;
  const void* beta;
  cusparseDnMatDescr_t c;
  cudaDataType compute;
  cusparseSpMMAlg_t algorithm;

  bool IsAlgorithm() const {
    if (algorithm == CUSPARSE_SPMM_ALG_DEFAULT) return true;
    if (a->format == CUSPARSE_FORMAT_COO) {
      return algorithm == CUSPARSE_SPMM_COO_ALG1 || algorithm == CUSPARSE_SPMM_COO_ALG2 ||
             algorithm == CUSPARSE_SPMM_COO_ALG3 || algorithm == CUSPARSE_SPMM_COO_ALG4;
    }
    return algorithm == CUSPARSE_SPMM_CSR_ALG1 || algorithm == CUSPARSE_SPMM_CSR_ALG2 ||
           algorithm == CUSPARSE_SPMM_CSR_ALG3;
  }

  cusparseStatus_t Check() const {
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha), NotNull(a), NotNull(b), NotNull(beta), NotNull(c)}));
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsOperation(op_a, a->type), IsOperation(op_b, b->type)}));
    const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE, plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    LOCKSTEP_RETURN_UNLESS_OK(f.Check(
        {{(plain_a ? a->columns : a->rows) == (plain_b ? b->rows : b->columns),
          "op(B) has not as many rows as op(A) has columns"},
         {c->rows == (plain_a ? a->rows : a->columns), "matrix C has not as many rows as op(A)"},
         {c->columns == (plain_b ? b->columns : b->rows), "matrix C has not as many columns as op(B)"},
         {a->batches == c->batches && b->batches == c->batches, "the matrices' batches are of different sizes"}}));
    if (!IsFormat(*a)) return f.Missing("this format or width of indices");
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({{IsAlgorithm(), "the algorithm is none of the matrix's format"}}));
    if (algorithm == CUSPARSE_SPMM_CSR_ALG3 && (!plain_a || a->format != CUSPARSE_FORMAT_CSR)) {
      return f.Missing("this operation by CUSPARSE_SPMM_CSR_ALG3");
    }
    if (!IsProduct(a->type, b->type, c->type, compute)) return f.Missing("this combination of types");
    return CUSPARSE_STATUS_SUCCESS;
  }
};

template <typename Wide>
struct Work {
  const char* function;
  cusparseOperation_t op_a, op_b;
  cusparseSpMatDescr a;
  cusparseDnMatDescr b, c;
  Factor<Wide> alpha, beta;
  std::vector<Entries> batches;

  bool Touch(Memory& memory) {
    const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE, plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    batches.assign(static_cast<size_t>(c.batches), {});
    for (int batch = 0; batch < c.batches; ++batch) {
      Entries& entries = batches[static_cast<size_t>(batch)];
      if (!alpha.IsZero()) {
        if (!ReadEntries(function, memory, a, batch, &entries) ||
            !memory.Touch(Values(Access::kRead, "the values of matrix A", ValuesOf(a, batch, entries), a.type,
                                 entries.count())) ||
            !TouchLines(memory, Access::kRead, "matrix B", b, batch,
                        Marks(plain_a ? entries.column : entries.row, plain_b ? b.rows : b.columns), plain_b)) {
          return false;
        }
      }
      if (!memory.Touch(Block(beta.IsZero() ? Access::kWrite : Access::kReadWrite, "matrix C", c, batch, 0, c.rows, 0,
                              c.columns))) {
        return false;
      }
    }
    return true;
  }

  void Run() const {
    for (int batch = 0; batch < c.batches; ++batch) RunOne(batch, batches[static_cast<size_t>(batch)]);
  }

  void RunOne(int batch, const Entries& entries) const {
    const Wide scale = alpha(), keep = beta();
    const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE, plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    const std::vector<int64_t>& to = plain_a ? entries.row : entries.column;
    const std::vector<int64_t>& from = plain_a ? entries.column : entries.row;
    auto values = LoadAll<Wide>(a.type, ValuesOf(a, batch, entries), entries.count());
    if (op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
      for (Wide& value : values) value = Conjugate(value);
    }
    const bool conjugates = op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    std::vector<Wide> sums(static_cast<size_t>(c.rows));
    for (int64_t column = 0; column < c.columns; ++column) {
      sums.assign(sums.size(), Wide(0));
      OfType(b.type, [&](auto t) {
        const auto* const right = static_cast<const typename decltype(t)::type*>(b.values);
        for (size_t i = 0; i < values.size(); ++i) {
          const Wide value =
              Widen<Wide>(right[plain_b ? Place(b, batch, from[i], column) : Place(b, batch, column, from[i])]);
          sums[static_cast<size_t>(to[i])] += values[i] * (conjugates ? Conjugate(value) : value);
        }
      });
      for (int64_t row = 0; row < c.rows; ++row) {
        const int64_t at = Place(c, batch, row, column);
        const Wide added = scale == Wide(0) ? Wide(0) : scale * sums[static_cast<size_t>(row)];
        Store(c.type, c.values, at, keep == Wide(0) ? added : added + keep * Load<Wide>(c.type, c.values, at));
      }
    }
  }
};

cusparseStatus_t Multiply(const Arguments& m) {
  LOCKSTEP_RETURN_UNLESS_OK(m.Check());
  if (m.c->rows == 0 || m.c->columns == 0) return CUSPARSE_STATUS_SUCCESS;
  return InWide(m.compute, [&](auto wide) {
    using Wide = typename decltype(wide)::type;
    auto work = std::make_shared<Work<Wide>>(Work<Wide>{
        m.f.name, m.op_a, m.op_b, *m.a, *m.b, *m.c, {m.f, m.compute, m.alpha}, {m.f, m.compute, m.beta}, {}});
    const double products = static_cast<double>(m.a->count) * static_cast<double>(m.c->columns) * m.c->batches;
    return DoScaled(m.f.Begin(MultiplyAdds(m.compute, products), ArithmeticOf(m.compute)), work);
  });
}

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

#define ARGUMENTS \
  Arguments { {__func__, handle}, op_a, op_b, alpha, a, b, beta, c, compute, algorithm }

extern "C" {

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, size_t* bytes) {
  const Arguments m = ARGUMENTS;
  return BufferSize(m, bytes);
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, void*) {
  const Arguments m = ARGUMENTS;
  return m.Check();
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void*) {
  return Multiply(ARGUMENTS);
}

}  // extern "C"
