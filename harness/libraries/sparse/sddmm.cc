// C = alpha op(A) op(B) + beta C, where A and B are dense, computed only at the stored entries of the sparse C.
#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

using Z = std::complex<double>;

struct Arguments {
  Function f;
  cusparseOperation_t op_a, op_b;
  const void* alpha;
  cusparseConstDnMatDescr_t a, b;
  const void* beta;
  cusparseSpMatDescr_t c;
  cudaDataType compute;

  cusparseStatus_t Check() const {
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(alpha), NotNull(a), NotNull(b), NotNull(beta), NotNull(c)}));
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsOperation(op_a, a->type), IsOperation(op_b, b->type)}));
    if (op_a == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE || op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
      return f.Missing("the conjugate of a matrix");
    }
    const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE, plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
    LOCKSTEP_RETURN_UNLESS_OK(
        f.Check({{(plain_a ? a->columns : a->rows) == (plain_b ? b->rows : b->columns) &&
                      c->rows == (plain_a ? a->rows : a->columns) && c->columns == (plain_b ? b->columns : b->rows),
                  "the matrices' sizes don't fit"}}));
    if (c->format != CUSPARSE_FORMAT_CSR || !IsFormat(*c)) return f.Missing("this format or width of indices");
    if (a->type != compute || b->type != compute || c->type != compute || !IsBlasType(compute)) {
      return f.Missing("this combination of types");
    }
    return f.Check({{a->batches == c->batches && b->batches == c->batches, "the batches are of different sizes"}});
  }
};

struct Work {
  const char* function;
  bool plain_a, plain_b;
  cusparseDnMatDescr a, b;
  cusparseSpMatDescr c;
  Factor<Z> alpha, beta;
  std::vector<Entries> all;  // by matrix of the batch

  bool Touch(Memory& memory) {
    all.resize(static_cast<size_t>(c.batches));
    for (int batch = 0; batch < c.batches; ++batch) {
      Entries& entries = all[static_cast<size_t>(batch)];
      if (!ReadEntries(function, memory, c, batch, &entries) ||
          !TouchLines(memory, Access::kRead, "matrix A", a, batch, Marks(entries.row, c.rows), plain_a) ||
          !TouchLines(memory, Access::kRead, "matrix B", b, batch, Marks(entries.column, c.columns), !plain_b) ||
          !memory.Touch(Values(beta.IsZero() ? Access::kWrite : Access::kReadWrite, "the values of matrix C",
                               ValuesOf(c, batch, entries), c.type, entries.count()))) {
        return false;
      }
    }
    return true;
  }
  void Run() const {
    for (int batch = 0; batch < c.batches; ++batch) RunOne(batch, all[static_cast<size_t>(batch)]);
  }
  void RunOne(int batch, const Entries& entries) const {
    const Z scale = alpha(), keep = beta();
    void* const values = ValuesOf(c, batch, entries);
    for (int64_t i = 0; i < entries.count(); ++i) {
      const int64_t row = entries.row[static_cast<size_t>(i)], column = entries.column[static_cast<size_t>(i)];
      Z sum = 0;
      for (int64_t k = 0; k < (plain_a ? a.columns : a.rows); ++k) {
        sum += Load<Z>(a.type, a.values, plain_a ? Place(a, batch, row, k) : Place(a, batch, k, row)) *
               Load<Z>(b.type, b.values, plain_b ? Place(b, batch, k, column) : Place(b, batch, column, k));
      }
      const Z added = scale * sum;
      Store(c.type, values, i, keep == Z(0) ? added : added + keep * Load<Z>(c.type, values, i));
    }
  }
};

cusparseStatus_t Multiply(const Arguments& m) {
  LOCKSTEP_RETURN_UNLESS_OK(m.Check());
  const bool plain_a = m.op_a == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const auto work = std::make_shared<Work>(Work{m.f.name,
                                                plain_a,
                                                m.op_b == CUSPARSE_OPERATION_NON_TRANSPOSE,
                                                *m.a,
                                                *m.b,
                                                *m.c,
                                                {m.f, m.compute, m.alpha},
                                                {m.f, m.compute, m.beta},
                                                {}});
  const double products = static_cast<double>(m.c->count) * static_cast<double>(plain_a ? m.a->columns : m.a->rows);
  return DoScaled(m.f.Begin(MultiplyAdds(m.compute, products), ArithmeticOf(m.compute)), work);
}

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

#define ARGUMENTS \
  Arguments { {__func__, handle}, op_a, op_b, alpha, a, b, beta, c, compute }

extern "C" {

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                          cusparseSDDMMAlg_t, size_t* bytes) {
  const Arguments m = ARGUMENTS;
  return BufferSize(m, bytes);
}
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                          cusparseSDDMMAlg_t, void*) {
  return ARGUMENTS.Check();
}
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                               const void* alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void* beta, cusparseSpMatDescr_t c, cudaDataType compute, cusparseSDDMMAlg_t,
                               void*) {
  return Multiply(ARGUMENTS);
}

}  // extern "C"
