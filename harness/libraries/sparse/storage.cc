// Converts between forms of storage: by rows to by columns, offsets to indices and back.
#include <algorithm>
#include <array>
#include <numeric>

#include "libraries/sparse/checks.h"

namespace lockstep::libraries::sparse {
namespace {

cusparseSpMatDescr Csr(int rows, int columns, int count, const void* offsets, const void* indices, const void* values,
                       cusparseIndexBase_t base, cudaDataType type) {
  return {CUSPARSE_FORMAT_CSR,
          rows,
          columns,
          count,
          const_cast<void*>(offsets),
          const_cast<void*>(indices),
          const_cast<void*>(values),
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_32I,
          base,
          type};
}

struct Turn {
  Function f;
  int rows, columns, count;
  const void* values;
  const int *offsets, *indices;
  void* to_values;
  int *to_offsets, *to_indices;
  cudaDataType type;
  cusparseAction_t action;
  cusparseIndexBase_t base;

  cusparseStatus_t Check() const {
    return f.Check({{rows >= 0 && columns >= 0 && count >= 0, "a size is negative"},
                    {action == CUSPARSE_ACTION_SYMBOLIC || action == CUSPARSE_ACTION_NUMERIC, "the action is unknown"},
                    {base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE, "the base is unknown"}});
  }

  cusparseStatus_t Do() const {
    LOCKSTEP_RETURN_UNLESS_OK(Check());
    const bool numeric = action == CUSPARSE_ACTION_NUMERIC;
    if (numeric && type == CUDA_C_16F) return f.Missing("this type");
    const auto matrix = Csr(rows, columns, count, offsets, indices, values, base, type);
    const auto entries = std::make_shared<Entries>();
    Call call = f.Begin();
    call.memory = {Elements(Access::kWrite, "the offsets of columns", to_offsets, int64_t{columns} + 1),
                   Elements(Access::kWrite, "the row indices", to_indices, count)};
    if (numeric) {
      call.memory.push_back(Values(Access::kRead, "the values", values, type, count));
      call.memory.push_back(Values(Access::kWrite, "the values by columns", to_values, type, count));
    }
    call.more_memory = [matrix, entries, name = f.name](Memory& memory) {
      return ReadEntries(name, memory, matrix, 0, entries.get());
    };
    call.run = [turn = *this, entries, numeric] { turn.Run(*entries, numeric); };
    return Function::Do(std::move(call));
  }

  void Run(const Entries& entries, bool numeric) const {
    std::vector<int> next(static_cast<size_t>(columns) + 1);
    for (const int64_t column : entries.column) ++next[static_cast<size_t>(column) + 1];
    for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (size_t i = 0; i < next.size(); ++i) to_offsets[i] = next[i] + base;
    const uint32_t bytes = Bytes(type);
    for (size_t i = 0; i < entries.row.size(); ++i) {
      const int at = next[static_cast<size_t>(entries.column[i])]++;
      to_indices[at] = static_cast<int>(entries.row[i]) + base;
      if (!numeric) continue;
      const void* const from = Offset(values, static_cast<int64_t>(i) + entries.first, bytes);
      std::copy_n(static_cast<const char*>(from), bytes, static_cast<char*>(Offset(to_values, at, bytes)));
    }
  }
};

// The older functions return another status for a null handle.
template <typename... Conditions>
cusparseStatus_t CheckOld(const Function& f, Conditions... conditions) {
  return f.handle == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : f.Check({conditions...});
}

// Sorts by one index, then by the other; equal entries keep their order. order: an array permuted with the entries.
cusparseStatus_t Sort(const Function& f, int rows, int columns, int count, int* first, int* second, int* order) {
  LOCKSTEP_RETURN_UNLESS_OK(
      CheckOld(f, Function::Condition{rows >= 0 && columns >= 0 && count >= 0, "a size is negative"}));
  if (count == 0) return CUSPARSE_STATUS_SUCCESS;
  Call call = f.Begin();
  call.memory = {Elements(Access::kReadWrite, "the indices to sort by", first, count),
                 Elements(Access::kReadWrite, "the other indices", second, count)};
  if (order != nullptr) call.memory.push_back(Elements(Access::kReadWrite, "the permutation", order, count));
  call.run = [=] {
    std::vector<std::array<int, 3>> entries;
    for (int i = 0; i < count; ++i) entries.push_back({first[i], second[i], order == nullptr ? 0 : order[i]});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return std::pair(a[0], a[1]) < std::pair(b[0], b[1]); });
    for (int i = 0; i < count; ++i) {
      first[i] = entries[static_cast<size_t>(i)][0];
      second[i] = entries[static_cast<size_t>(i)][1];
      if (order != nullptr) order[i] = entries[static_cast<size_t>(i)][2];
    }
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries;
using namespace lockstep::libraries::sparse;

#define TURN                                                                                                     \
  Turn {                                                                                                         \
    {__func__, handle}, rows, columns, count, values, offsets, indices, to_values, to_offsets, to_indices, type, \
        action, base                                                                                             \
  }

extern "C" {

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int rows, int columns, int count,
                                               const void* values, const int* offsets, const int* indices,
                                               void* to_values, int* to_offsets, int* to_indices, cudaDataType type,
                                               cusparseAction_t action, cusparseIndexBase_t base, cusparseCsr2CscAlg_t,
                                               size_t* bytes) {
  const Turn turn = TURN;
  return BufferSize(turn, bytes);
}

cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int columns, int count, const void* values,
                                    const int* offsets, const int* indices, void* to_values, int* to_offsets,
                                    int* to_indices, cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void*) {
  return TURN.Do();
}

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int count, int rows, int* row_indices,
                                  cusparseIndexBase_t base) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(CheckOld(f, Function::Condition{count >= 0 && rows >= 0, "a size is negative"}));
  if (count == 0 || rows == 0) return CUSPARSE_STATUS_SUCCESS;
  Call call = f.Begin();
  call.memory = {Elements(Access::kRead, "the offsets", offsets, int64_t{rows} + 1),
                 Elements(Access::kWrite, "the row indices", row_indices, count)};
  call.more_memory = [=, name = f.name](Memory& memory) {
    for (int row = 0, before = 0; row <= rows; ++row) {
      const int offset = offsets[row] - base;
      if (offset < before || offset > count) {
        return IndexIsOutside(name, memory, "the offsets", row, offset, int64_t{count} + 1);
      }
      before = offset;
    }
    return true;
  };
  call.run = [=] {
    for (int row = 0; row < rows; ++row) {
      for (int i = offsets[row] - base; i < offsets[row + 1] - base; ++i) row_indices[i] = row + base;
    }
  };
  return Function::Do(std::move(call));
}

// The row indices must be sorted.
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* row_indices, int count, int rows, int* offsets,
                                  cusparseIndexBase_t base) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(CheckOld(f, Function::Condition{count >= 0 && rows >= 0, "a size is negative"}));
  Call call = f.Begin();
  call.memory = {Elements(Access::kRead, "the row indices", row_indices, count),
                 Elements(Access::kWrite, "the offsets", offsets, int64_t{rows} + 1)};
  call.run = [=] {
    int at = 0;
    for (int row = 0; row <= rows; ++row) {
      while (at < count && row_indices[at] - base < row) ++at;
      offsets[row] = at + base;
    }
  };
  return Function::Do(std::move(call));
}

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int count, int* order) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(CheckOld(f, Function::Condition{count >= 0, "a size is negative"}));
  Call call = f.Begin();
  call.memory = {Elements(Access::kWrite, "the permutation", order, count)};
  call.run = [=] { std::iota(order, order + count, 0); };
  return Function::Do(std::move(call));
}

cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int rows, int columns, int count, const int*,
                                                const int*, size_t* bytes) {
  const Function f{__func__, handle};
  const Function::Condition are_sizes = {rows >= 0 && columns >= 0 && count >= 0, "a size is negative"};
  return AnswerBuffer(f, CheckOld(f, are_sizes), bytes);
}
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int rows, int columns, int count, int* row_indices,
                                       int* column_indices, int* order, void*) {
  return Sort({__func__, handle}, rows, columns, count, row_indices, column_indices, order);
}
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int rows, int columns, int count, int* row_indices,
                                          int* column_indices, int* order, void*) {
  return Sort({__func__, handle}, rows, columns, count, column_indices, row_indices, order);
}

}  // extern "C"
