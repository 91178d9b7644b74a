// Converts sparse matrices to dense ones and back.
#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

cusparseStatus_t Check(const Function& f, cusparseConstSpMatDescr_t sparse, cusparseConstDnMatDescr_t dense) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(sparse), NotNull(dense)}));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check(
      {{sparse->rows == dense->rows && sparse->columns == dense->columns, "the matrices are of different sizes"}}));
  if (!IsFormat(*sparse)) return f.Missing("this format or width of indices");
  if (sparse->type != dense->type || !IsBlasType(sparse->type)) return f.Missing("this combination of types");
  if (sparse->batches != 1 || dense->batches != 1) return f.Missing("a batch");
  return CUSPARSE_STATUS_SUCCESS;
}

struct Pair {
  const char* function;
  cusparseSpMatDescr sparse;
  cusparseDnMatDescr dense;
  Entries entries;

  Range Dense(Access access) const {
    return Block(access, "the dense matrix", dense, 0, 0, dense.rows, 0, dense.columns);
  }
};

cusparseStatus_t ToDense(const Function& f, cusparseConstSpMatDescr_t sparse, cusparseDnMatDescr_t dense) {
  LOCKSTEP_RETURN_UNLESS_OK(Check(f, sparse, dense));
  if (dense->rows == 0 || dense->columns == 0) return CUSPARSE_STATUS_SUCCESS;
  const auto pair = std::make_shared<Pair>(Pair{f.name, *sparse, *dense, {}});
  Call call = f.Begin();
  call.memory.push_back(pair->Dense(Access::kWrite));
  call.more_memory = [pair](Memory& memory) {
    return ReadEntries(pair->function, memory, pair->sparse, 0, &pair->entries) &&
           memory.Touch(Values(Access::kRead, "the sparse matrix's values", ValuesOf(pair->sparse, 0, pair->entries),
                               pair->sparse.type, pair->entries.count()));
  };
  call.run = [pair] {
    OfType(pair->sparse.type, [&](auto t) {
      using T = typename decltype(t)::type;
      T* const to = static_cast<T*>(pair->dense.values);
      const T* const from = static_cast<const T*>(ValuesOf(pair->sparse, 0, pair->entries));
      for (int64_t row = 0; row < pair->dense.rows; ++row) {
        for (int64_t column = 0; column < pair->dense.columns; ++column) {
          to[Place(pair->dense, 0, row, column)] = T();
        }
      }
      for (int64_t i = 0; i < pair->entries.count(); ++i) {
        const auto at = static_cast<size_t>(i);
        to[Place(pair->dense, 0, pair->entries.row[at], pair->entries.column[at])] = from[i];
      }
    });
  };
  return Function::Do(std::move(call));
}

// Calls visit(row, column, element), for CSC visit(column, row, element), for each non-zero in the format's order.
template <typename T, typename Visit>
void EachElement(const cusparseSpMatDescr& sparse, const cusparseDnMatDescr& dense, Visit visit) {
  const T* const elements = static_cast<const T*>(dense.values);
  const bool by_columns = sparse.format == CUSPARSE_FORMAT_CSC;
  for (int64_t outer = 0; outer < (by_columns ? dense.columns : dense.rows); ++outer) {
    for (int64_t inner = 0; inner < (by_columns ? dense.rows : dense.columns); ++inner) {
      const int64_t row = by_columns ? inner : outer, column = by_columns ? outer : inner;
      const T& element = elements[Place(dense, 0, row, column)];
      if (Widen<std::complex<double>>(element) != 0.0) visit(outer, inner, element);
    }
  }
}

// Counts the non-zeros, for the descriptor, from which the program reads the count next; and computes the offsets.
cusparseStatus_t Analyse(const Function& f, cusparseConstDnMatDescr_t dense, cusparseSpMatDescr_t sparse) {
  LOCKSTEP_RETURN_UNLESS_OK(Check(f, sparse, dense));
  const auto pair = std::make_shared<Pair>(Pair{f.name, *sparse, *dense, {}});
  Call call = f.Begin();
  call.waits = true;
  call.memory.push_back(pair->Dense(Access::kRead));
  const bool has_offsets = sparse->format != CUSPARSE_FORMAT_COO;
  const int64_t lines = sparse->format == CUSPARSE_FORMAT_CSC ? sparse->columns : sparse->rows;
  if (has_offsets) {
    call.memory.push_back(Indices(Access::kWrite, "the offsets", sparse->first, sparse->first_index, lines + 1));
  }
  call.run = [pair, sparse, has_offsets, lines] {
    std::vector<int64_t> counts(static_cast<size_t>(lines));
    int64_t count = 0;
    OfType(pair->sparse.type, [&](auto t) {
      EachElement<typename decltype(t)::type>(pair->sparse, pair->dense, [&](int64_t outer, int64_t, const auto&) {
        ++counts[static_cast<size_t>(outer)];
        ++count;
      });
    });
    sparse->count = count;
    if (!has_offsets) return;
    int64_t before = pair->sparse.base;
    for (int64_t i = 0; i <= lines; ++i) {
      StoreIndex(pair->sparse.first_index, pair->sparse.first, i, before);
      if (i < lines) before += counts[static_cast<size_t>(i)];
    }
  };
  return Function::Do(std::move(call));
}

cusparseStatus_t Convert(const Function& f, cusparseConstDnMatDescr_t dense, cusparseSpMatDescr_t sparse) {
  LOCKSTEP_RETURN_UNLESS_OK(Check(f, sparse, dense));
  const auto pair = std::make_shared<Pair>(Pair{f.name, *sparse, *dense, {}});
  Call call = f.Begin();
  call.memory = {pair->Dense(Access::kRead),
                 Indices(Access::kWrite, "the indices", sparse->second, sparse->second_index, sparse->count),
                 Values(Access::kWrite, "the sparse matrix's values", sparse->values, sparse->type, sparse->count)};
  const bool has_offsets = sparse->format != CUSPARSE_FORMAT_COO;
  if (!has_offsets) {
    call.memory.push_back(
        Indices(Access::kWrite, "the row indices", sparse->first, sparse->first_index, sparse->count));
  }
  call.run = [pair, has_offsets] {
    const cusparseSpMatDescr& to = pair->sparse;
    int64_t at = 0;
    OfType(to.type, [&](auto t) {
      using T = typename decltype(t)::type;
      EachElement<T>(to, pair->dense, [&](int64_t outer, int64_t inner, const T& element) {
        // There is no room for non-zeros added since the analysis.
        if (at >= to.count) return;
        if (!has_offsets) StoreIndex(to.first_index, to.first, at, outer + to.base);
        StoreIndex(to.second_index, to.second, at, inner + to.base);
        static_cast<T*>(to.values)[at++] = element;
      });
    });
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

extern "C" {

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t sparse,
                                                  cusparseDnMatDescr_t dense, cusparseSparseToDenseAlg_t,
                                                  size_t* bytes) {
  const Function f{__func__, handle};
  return AnswerBuffer(f, Check(f, sparse, dense), bytes);
}
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t sparse,
                                       cusparseDnMatDescr_t dense, cusparseSparseToDenseAlg_t, void*) {
  return ToDense({__func__, handle}, sparse, dense);
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t dense,
                                                  cusparseSpMatDescr_t sparse, cusparseDenseToSparseAlg_t,
                                                  size_t* bytes) {
  const Function f{__func__, handle};
  return AnswerBuffer(f, Check(f, sparse, dense), bytes);
}
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t dense,
                                                cusparseSpMatDescr_t sparse, cusparseDenseToSparseAlg_t, void*) {
  return Analyse({__func__, handle}, dense, sparse);
}
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t dense,
                                               cusparseSpMatDescr_t sparse, cusparseDenseToSparseAlg_t, void*) {
  return Convert({__func__, handle}, dense, sparse);
}

}  // extern "C"
