// C = alpha A B for sparse matrices in CSR. The compute step computes C and reports its number of entries; the copy
// step copies it to the memory that the program then allocates.
#include <map>

#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

using Z = std::complex<double>;

struct Result {
  Entries a, b;
  std::vector<int64_t> offsets, columns;
  std::vector<Z> values;
  int64_t products = 0;
};

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

struct cusparseSpGEMMDescr {
  std::shared_ptr<Result> result = std::make_shared<Result>();
};

namespace lockstep::libraries::sparse {
namespace {

constexpr Z kNoFactor = 0;

struct Arguments {
  Function f;
  cusparseOperation_t op_a, op_b;
  const void* alpha;
  cusparseConstSpMatDescr_t a, b;
  const void* beta;
  cusparseSpMatDescr_t c;
  cudaDataType compute;
  cusparseSpGEMMAlg_t algorithm;
  cusparseSpGEMMDescr_t descriptor;

  cusparseStatus_t Check() const {
    LOCKSTEP_RETURN_UNLESS_OK(
        f.Check({NotNull(alpha), NotNull(a), NotNull(b), NotNull(beta), NotNull(c), NotNull(descriptor)}));
    if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE) {
      return f.Missing("this operation");
    }
    for (const cusparseSpMatDescr* matrix : {a, b, static_cast<cusparseConstSpMatDescr_t>(c)}) {
      if (matrix->format != CUSPARSE_FORMAT_CSR || !IsFormat(*matrix)) {
        return f.Missing("this format or width of indices");
      }
      if (matrix->type != compute || !IsBlasType(compute)) return f.Missing("this combination of types");
      if (matrix->batches != 1) return f.Missing("a batch");
    }
    LOCKSTEP_RETURN_UNLESS_OK(f.Check(
        {{a->columns == b->rows && c->rows == a->rows && c->columns == b->columns, "the matrices' sizes don't fit"},
         {algorithm >= CUSPARSE_SPGEMM_DEFAULT && algorithm <= CUSPARSE_SPGEMM_ALG3, "the algorithm is unknown"}}));
    if (f.on_device()) return f.Missing("factors in device memory");
    return Load<Z>(compute, beta, 0) == Z(0) ? CUSPARSE_STATUS_SUCCESS : f.Missing("a beta other than 0");
  }

  // Reads A and B, and counts the products. Without `values`, reads only indices.
  Call Begin(const std::shared_ptr<Result>& result, bool values = true) const {
    Call call = f.Begin();
    call.waits = true;
    call.more_memory = [result, values, a = *a, b = *b, name = f.name](Memory& memory) {
      if (!ReadEntries(name, memory, a, 0, &result->a) || !ReadEntries(name, memory, b, 0, &result->b) ||
          (values && (!memory.Touch(Values(Access::kRead, "the values of matrix A", ValuesOf(a, 0, result->a), a.type,
                                           result->a.count())) ||
                      !memory.Touch(Values(Access::kRead, "the values of matrix B", ValuesOf(b, 0, result->b), b.type,
                                           result->b.count()))))) {
        return false;
      }
      std::vector<int64_t> lengths(static_cast<size_t>(b.rows));
      for (const int64_t row : result->b.row) ++lengths[static_cast<size_t>(row)];
      result->products = 0;
      for (const int64_t column : result->a.column) result->products += lengths[static_cast<size_t>(column)];
      return true;
    };
    return call;
  }

  // Without a buffer, returns its size; with one, does the step.
  template <typename Step>
  cusparseStatus_t Do(size_t* bytes, const void* buffer, Step step) const {
    LOCKSTEP_RETURN_UNLESS_OK(Check());
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(bytes)}));
    if (buffer != nullptr) return step();
    *bytes = kBufferBytes;
    return CUSPARSE_STATUS_SUCCESS;
  }

  cusparseStatus_t Estimate() const {
    Call call = Begin(descriptor->result);
    call.run = [] {};
    return Function::Do(std::move(call));
  }

  cusparseStatus_t Compute(bool values = true) const {
    const auto result = descriptor->result;
    Call call = Begin(result, values);
    call.run = [result, left = *a, right = *b, c = c, scale = Load<Z>(compute, alpha, 0)] {
      const auto a_values = LoadAll<Z>(left.type, ValuesOf(left, 0, result->a), result->a.count());
      const auto b_values = LoadAll<Z>(right.type, ValuesOf(right, 0, result->b), result->b.count());
      // The places where rows of B begin.
      std::vector<size_t> rows(static_cast<size_t>(right.rows) + 1);
      for (const int64_t row : result->b.row) ++rows[static_cast<size_t>(row) + 1];
      for (size_t i = 1; i < rows.size(); ++i) rows[i] += rows[i - 1];
      result->offsets.assign(1, 0);
      result->columns.clear();
      result->values.clear();
      size_t at = 0;
      for (int64_t row = 0; row < left.rows; ++row) {
        std::map<int64_t, Z> sums;
        for (; at < a_values.size() && result->a.row[at] == row; ++at) {
          const auto k = static_cast<size_t>(result->a.column[at]);
          for (size_t i = rows[k]; i < rows[k + 1]; ++i) sums[result->b.column[i]] += a_values[at] * b_values[i];
        }
        for (const auto& [column, sum] : sums) {
          result->columns.push_back(column);
          result->values.push_back(scale * sum);
        }
        result->offsets.push_back(static_cast<int64_t>(result->columns.size()));
      }
      c->count = static_cast<int64_t>(result->columns.size());
    };
    return Function::Do(std::move(call));
  }

  // Copies C to the program's memory: `places`, its offsets and indices; `values`. SpGEMMreuse copies these separately.
  cusparseStatus_t Copy(bool places = true, bool values = true) const {
    LOCKSTEP_RETURN_UNLESS_OK(Check());
    const auto result = descriptor->result;
    const auto count = static_cast<int64_t>(result->columns.size());
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({{!result->offsets.empty(), "there was no computation"}}));
    Call call = f.Begin(MultiplyAdds(compute, static_cast<double>(result->products)), ArithmeticOf(compute));
    if (places) {
      call.memory = {Indices(Access::kWrite, "the offsets of matrix C", c->first, c->first_index, c->rows + 1),
                     Indices(Access::kWrite, "the column indices of matrix C", c->second, c->second_index, count)};
    }
    if (values) call.memory.push_back(Values(Access::kWrite, "the values of matrix C", c->values, c->type, count));
    call.run = [result, places, values, c = *c] {
      for (size_t i = 0; places && i < result->offsets.size(); ++i) {
        StoreIndex(c.first_index, c.first, static_cast<int64_t>(i), result->offsets[i] + c.base);
      }
      for (size_t i = 0; i < result->columns.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        if (places) StoreIndex(c.second_index, c.second, at, result->columns[i] + c.base);
        if (values) Store(c.type, c.values, at, result->values[i]);
      }
    };
    return Function::Do(std::move(call));
  }
};

}  // namespace
}  // namespace lockstep::libraries::sparse

#define ARGUMENTS \
  Arguments { {__func__, handle}, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, descriptor }

extern "C" {

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descriptor) {
  if (descriptor == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *descriptor = new cusparseSpGEMMDescr;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descriptor, int64_t* count) {
  if (descriptor == nullptr || count == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *count = descriptor->result->products;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                               cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
                                               cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* buffer) {
  const Arguments m = ARGUMENTS;
  return m.Do(bytes, buffer, [&] { return m.Estimate(); });
}
cusparseStatus_t cusparseSpGEMM_estimateMemory(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                               cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
                                               cusparseSpGEMMDescr_t descriptor, float, size_t* bytes, void* buffer,
                                               size_t* compute_bytes) {
  const Arguments m = ARGUMENTS;
  return m.Do(bytes, buffer, [&] {
    LOCKSTEP_RETURN_UNLESS_OK(m.f.Check({NotNull(compute_bytes)}));
    *compute_bytes = kBufferBytes;
    return CUSPARSE_STATUS_SUCCESS;
  });
}
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor, size_t* bytes,
                                        void* buffer) {
  const Arguments m = ARGUMENTS;
  return m.Do(bytes, buffer, [&] { return m.Compute(); });
}
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                     const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor) {
  return ARGUMENTS.Copy();
}

// Only the last step has alpha and beta.
#define REUSE_ARGUMENTS                                                                                              \
  Arguments {                                                                                                        \
    {__func__, handle}, op_a, op_b, &kNoFactor, a, b, &kNoFactor, c, a == nullptr ? CUDA_R_32F : a->type, algorithm, \
        descriptor                                                                                                   \
  }

cusparseStatus_t cusparseSpGEMMreuse_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                                    cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,
                                                    cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
                                                    cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor,
                                                    size_t* bytes, void* buffer) {
  return REUSE_ARGUMENTS.Do(bytes, buffer, [] { return CUSPARSE_STATUS_SUCCESS; });
}
cusparseStatus_t cusparseSpGEMMreuse_nnz(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                         cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t algorithm,
                                         cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* buffer, size_t* bytes_3,
                                         void*, size_t* bytes_4, void*) {
  const Arguments m = REUSE_ARGUMENTS;
  LOCKSTEP_RETURN_UNLESS_OK(m.f.Check({NotNull(bytes_3), NotNull(bytes_4)}));
  *bytes_3 = *bytes_4 = kBufferBytes;
  return m.Do(bytes, buffer, [&] { return m.Compute(false); });
}
cusparseStatus_t cusparseSpGEMMreuse_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                          cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t algorithm,
                                          cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* buffer) {
  const Arguments m = REUSE_ARGUMENTS;
  return m.Do(bytes, buffer, [&] { return m.Copy(true, false); });
}
cusparseStatus_t cusparseSpGEMMreuse_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                             cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                                             cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                             cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
                                             cusparseSpGEMMDescr_t descriptor) {
  const Arguments m = ARGUMENTS;
  LOCKSTEP_RETURN_UNLESS_OK(m.Check());
  LOCKSTEP_RETURN_UNLESS_OK(m.Compute());
  return m.Copy(false);
}

}  // extern "C"
