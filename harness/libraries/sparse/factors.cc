// Incomplete factors of matrices in CSR, which overwrite A's values: L and U (csrilu02), or L of L L^H in the lower
// triangle (csric02).
#include <cmath>
#include <map>

#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

using Z = std::complex<double>;

// The answer of zeroPivot.
struct Pivot {
  int position = -1;
};

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

struct csrilu02Info {
  std::shared_ptr<Pivot> pivot = std::make_shared<Pivot>();
};
struct csric02Info {
  std::shared_ptr<Pivot> pivot = std::make_shared<Pivot>();
};

namespace lockstep::libraries::sparse {
namespace {

struct Arguments {
  Function f;
  int rows, count;
  cusparseMatDescr_t description;
  void* values;
  const int *offsets, *indices;
  std::shared_ptr<Pivot> pivot;
  cudaDataType type;
  bool is_lu;

  cusparseStatus_t Check() const {
    if (f.handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({{rows >= 0 && count >= 0, "a size is negative"}, NotNull(description)}));
    return description->type == CUSPARSE_MATRIX_TYPE_GENERAL ? CUSPARSE_STATUS_SUCCESS
                                                             : CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  }

  struct Work {
    const char* function;
    cusparseSpMatDescr a;
    bool is_lu;
    std::shared_ptr<Pivot> pivot;
    Entries entries;
    std::vector<std::map<int64_t, size_t>> lines;  // each row's places by columns

    bool Read(Memory& memory, Access access) {
      if (!ReadEntries(function, memory, a, 0, &entries) ||
          !memory.Touch(Values(access, "the values of matrix A", ValuesOf(a, 0, entries), a.type, entries.count()))) {
        return false;
      }
      lines.assign(static_cast<size_t>(a.rows), {});
      for (size_t i = 0; i < entries.row.size(); ++i) lines[static_cast<size_t>(entries.row[i])][entries.column[i]] = i;
      return true;
    }
    void Zero(int64_t row) const {
      if (pivot->position < 0) pivot->position = static_cast<int>(row) + a.base;
    }
    void FindMissing() const {
      pivot->position = -1;
      for (int64_t row = 0; row < a.rows; ++row) {
        if (lines[static_cast<size_t>(row)].count(row) == 0) Zero(row);
      }
    }

    void Factor() const {
      FindMissing();
      auto values = LoadAll<Z>(a.type, ValuesOf(a, 0, entries), entries.count());
      for (size_t row = 0; row < lines.size(); ++row) is_lu ? FactorLu(row, &values) : FactorCholesky(row, &values);
      for (size_t i = 0; i < values.size(); ++i) {
        // The upper triangle stays as it is.
        if (is_lu || entries.column[i] <= entries.row[i]) {
          Store(a.type, ValuesOf(a, 0, entries), static_cast<int64_t>(i), values[i]);
        }
      }
    }
    void FactorLu(size_t row, std::vector<Z>* values) const {
      for (const auto& [column, place] : lines[row]) {
        if (column >= static_cast<int64_t>(row)) break;
        const auto& above = lines[static_cast<size_t>(column)];
        const auto diagonal = above.find(column);
        (*values)[place] /= diagonal == above.end() ? Z(0) : (*values)[diagonal->second];
        for (auto at = above.upper_bound(column); at != above.end(); ++at) {
          const auto here = lines[row].find(at->first);
          if (here != lines[row].end()) (*values)[here->second] -= (*values)[place] * (*values)[at->second];
        }
      }
      const auto diagonal = lines[row].find(static_cast<int64_t>(row));
      if (diagonal != lines[row].end() && (*values)[diagonal->second] == Z(0)) Zero(static_cast<int64_t>(row));
    }
    void FactorCholesky(size_t row, std::vector<Z>* values) const {
      for (const auto& [column, place] : lines[row]) {
        if (column > static_cast<int64_t>(row)) break;
        const auto& above = lines[static_cast<size_t>(column)];
        Z sum = (*values)[place];
        for (const auto& [k, left] : lines[row]) {
          if (k >= column) break;
          const auto right = above.find(k);
          if (right != above.end()) sum -= (*values)[left] * std::conj((*values)[right->second]);
        }
        if (column < static_cast<int64_t>(row)) {
          const auto diagonal = above.find(column);
          (*values)[place] = sum / (diagonal == above.end() ? Z(0) : (*values)[diagonal->second]);
        } else {
          if (!(sum.real() > 0)) Zero(column);
          (*values)[place] = std::sqrt(sum.real());
        }
      }
    }
  };

  cusparseStatus_t Do(bool factors) const {
    LOCKSTEP_RETURN_UNLESS_OK(Check());
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(pivot.get())}));
    const auto work = std::make_shared<Work>(
        Work{f.name,
             {CUSPARSE_FORMAT_CSR, rows, rows, count, const_cast<int*>(offsets), const_cast<int*>(indices), values,
              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, description->base, type},
             is_lu,
             pivot,
             {},
             {}});
    Call call = f.Begin(factors ? MultiplyAdds(type, count) : 0, ArithmeticOf(type));
    call.more_memory = [work, factors](Memory& memory) {
      return work->Read(memory, factors ? Access::kReadWrite : Access::kRead);
    };
    call.run = [work, factors] { factors ? work->Factor() : work->FindMissing(); };
    return Function::Do(std::move(call));
  }
};

template <typename Info>
cusparseStatus_t Create(Info** info) {
  if (info == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *info = new Info;
  return CUSPARSE_STATUS_SUCCESS;
}

// Waits for the work that looked for a zero pivot.
template <typename Info>
cusparseStatus_t ZeroPivot(const Function& f, const Info* info, int* position) {
  if (f.handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(info), NotNull(position)}));
  const auto pivot = info->pivot;
  Call call = f.Begin();
  call.waits = true;
  if (f.on_device()) call.memory = {Elements(Access::kWrite, "the position", position, 1)};
  call.run = [=] { *position = pivot->position; };
  LOCKSTEP_RETURN_UNLESS_OK(Function::Do(std::move(call)));
  return pivot->position < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

}  // namespace
}  // namespace lockstep::libraries::sparse

#define ARGUMENTS(TYPE, LU)                                                                                     \
  Arguments {                                                                                                   \
    {__func__, handle}, rows, count, description, const_cast<void*>(static_cast<const void*>(values)), offsets, \
        indices, info == nullptr ? nullptr : info->pivot, TYPE, LU                                              \
  }
// csrilu02 or csric02 of a type.
#define LOCKSTEP_FACTORS(S, T, TYPE, name, LU)                                                                         \
  cusparseStatus_t cusparse##S##name##_bufferSize(cusparseHandle_t handle, int rows, int count,                        \
                                                  const cusparseMatDescr_t description, T* values, const int* offsets, \
                                                  const int* indices, name##Info_t info, int* bytes) {                 \
    return BufferSize(ARGUMENTS(TYPE, LU), bytes);                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##S##name##_bufferSizeExt(                                                                  \
      cusparseHandle_t handle, int rows, int count, const cusparseMatDescr_t description, T* values,                   \
      const int* offsets, const int* indices, name##Info_t info, size_t* bytes) {                                      \
    return BufferSize(ARGUMENTS(TYPE, LU), bytes);                                                                     \
  }                                                                                                                    \
  cusparseStatus_t cusparse##S##name##_analysis(                                                                       \
      cusparseHandle_t handle, int rows, int count, const cusparseMatDescr_t description, const T* values,             \
      const int* offsets, const int* indices, name##Info_t info, cusparseSolvePolicy_t, void*) {                       \
    return ARGUMENTS(TYPE, LU).Do(false);                                                                              \
  }                                                                                                                    \
  cusparseStatus_t cusparse##S##name(cusparseHandle_t handle, int rows, int count,                                     \
                                     const cusparseMatDescr_t description, T* values, const int* offsets,              \
                                     const int* indices, name##Info_t info, cusparseSolvePolicy_t, void*) {            \
    return ARGUMENTS(TYPE, LU).Do(true);                                                                               \
  }
#define LOCKSTEP_ALL_FACTORS(name, LU)                 \
  LOCKSTEP_FACTORS(S, float, CUDA_R_32F, name, LU)     \
  LOCKSTEP_FACTORS(D, double, CUDA_R_64F, name, LU)    \
  LOCKSTEP_FACTORS(C, cuComplex, CUDA_C_32F, name, LU) \
  LOCKSTEP_FACTORS(Z, cuDoubleComplex, CUDA_C_64F, name, LU)

extern "C" {

cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t* info) { return Create(info); }
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t* info) { return Create(info); }
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info) {
  delete info;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info) {
  delete info;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int* position) {
  return ZeroPivot({__func__, handle}, info, position);
}
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int* position) {
  return ZeroPivot({__func__, handle}, info, position);
}
LOCKSTEP_ALL_FACTORS(csrilu02, true)
LOCKSTEP_ALL_FACTORS(csric02, false)

}  // extern "C"
