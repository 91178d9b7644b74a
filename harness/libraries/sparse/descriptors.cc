// Creates, reads and changes descriptors. They store their arguments unchecked, null pointers included, as NVIDIA's do.
#include "libraries/sparse/elements.h"

namespace lockstep::libraries::sparse {
namespace {

bool IsIndex(cusparseIndexType_t type) {
  return type == CUSPARSE_INDEX_16U || type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I;
}
bool IsBase(cusparseIndexBase_t base) { return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE; }

// Returns success if all conditions are true.
cusparseStatus_t Require(std::initializer_list<bool> conditions) {
  for (const bool holds : conditions) {
    if (!holds) return CUSPARSE_STATUS_INVALID_VALUE;
  }
  return CUSPARSE_STATUS_SUCCESS;
}

// Whether a matrix of this shape can have `count` elements.
bool HasRoom(int64_t rows, int64_t columns, int64_t count) {
  int64_t places = 0;
  return __builtin_mul_overflow(rows, columns, &places) || count <= places;
}

// Descriptors of constant memory have the same type.
template <typename T>
void* Mutable(const T* pointer) {
  return const_cast<void*>(static_cast<const void*>(pointer));
}

template <typename Made>
cusparseStatus_t CreateMatrix(Made** made, const cusparseSpMatDescr& matrix) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({made != nullptr, matrix.rows >= 0, matrix.columns >= 0, matrix.count >= 0}));
  LOCKSTEP_RETURN_UNLESS_OK(Require({HasRoom(matrix.rows, matrix.columns, matrix.count), IsIndex(matrix.first_index),
                                     IsIndex(matrix.second_index), IsBase(matrix.base), IsType(matrix.type)}));
  if (matrix.first_index != matrix.second_index) return CUSPARSE_STATUS_NOT_SUPPORTED;
  *made = new cusparseSpMatDescr(matrix);
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Pointer>
cusparseStatus_t GetMatrix(const cusparseSpMatDescr* matrix, cusparseFormat_t format, int64_t* rows, int64_t* columns,
                           int64_t* count, Pointer* first, Pointer* second, Pointer* values,
                           cusparseIndexType_t* first_index, cusparseIndexType_t* second_index,
                           cusparseIndexBase_t* base, cudaDataType* type) {
  LOCKSTEP_RETURN_UNLESS_OK(
      Require({matrix != nullptr && matrix->format == format, rows != nullptr, columns != nullptr, count != nullptr,
               first != nullptr, second != nullptr, values != nullptr, first_index != nullptr, second_index != nullptr,
               base != nullptr, type != nullptr}));
  *rows = matrix->rows;
  *columns = matrix->columns;
  *count = matrix->count;
  *first = matrix->first;
  *second = matrix->second;
  *values = matrix->values;
  *first_index = matrix->first_index;
  *second_index = matrix->second_index;
  *base = matrix->base;
  *type = matrix->type;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t SetPointers(cusparseSpMatDescr* matrix, cusparseFormat_t format, void* first, void* second,
                             void* values) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({matrix != nullptr && matrix->format == format}));
  matrix->first = first;
  matrix->second = second;
  matrix->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Made>
cusparseStatus_t CreateVector(Made** made, const cusparseSpVecDescr& vector) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({made != nullptr, vector.size >= 0, vector.count >= 0, vector.count <= vector.size,
                                     IsIndex(vector.index), IsBase(vector.base), IsType(vector.type)}));
  *made = new cusparseSpVecDescr(vector);
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Pointer>
cusparseStatus_t GetVector(const cusparseSpVecDescr* vector, int64_t* size, int64_t* count, Pointer* indices,
                           Pointer* values, cusparseIndexType_t* index, cusparseIndexBase_t* base, cudaDataType* type) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({vector != nullptr, size != nullptr, count != nullptr, indices != nullptr,
                                     values != nullptr, index != nullptr, base != nullptr, type != nullptr}));
  *size = vector->size;
  *count = vector->count;
  *indices = vector->indices;
  *values = vector->values;
  *index = vector->index;
  *base = vector->base;
  *type = vector->type;
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Made>
cusparseStatus_t CreateDense(Made** made, const cusparseDnVecDescr& vector) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({made != nullptr, vector.size >= 0, IsType(vector.type)}));
  *made = new cusparseDnVecDescr(vector);
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Pointer>
cusparseStatus_t GetDense(const cusparseDnVecDescr* vector, int64_t* size, Pointer* values, cudaDataType* type) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({vector != nullptr, size != nullptr, values != nullptr, type != nullptr}));
  *size = vector->size;
  *values = vector->values;
  *type = vector->type;
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Made>
cusparseStatus_t CreateDense(Made** made, const cusparseDnMatDescr& matrix) {
  const bool by_columns = matrix.order == CUSPARSE_ORDER_COL;
  LOCKSTEP_RETURN_UNLESS_OK(Require({made != nullptr, matrix.rows >= 0, matrix.columns >= 0, IsType(matrix.type),
                                     by_columns || matrix.order == CUSPARSE_ORDER_ROW,
                                     matrix.leading >= (by_columns ? matrix.rows : matrix.columns)}));
  *made = new cusparseDnMatDescr(matrix);
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Pointer>
cusparseStatus_t GetDense(const cusparseDnMatDescr* matrix, int64_t* rows, int64_t* columns, int64_t* leading,
                          Pointer* values, cudaDataType* type, cusparseOrder_t* order) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({matrix != nullptr, rows != nullptr, columns != nullptr, leading != nullptr,
                                     values != nullptr, type != nullptr, order != nullptr}));
  *rows = matrix->rows;
  *columns = matrix->columns;
  *leading = matrix->leading;
  *values = matrix->values;
  *type = matrix->type;
  *order = matrix->order;
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename Descriptor>
cusparseStatus_t Destroy(const Descriptor* descriptor) {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
template <typename Descriptor, typename Field, typename Value>
cusparseStatus_t Get(const Descriptor* descriptor, Field field, Value* value) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({descriptor != nullptr, value != nullptr}));
  *value = descriptor->*field;
  return CUSPARSE_STATUS_SUCCESS;
}
template <typename Descriptor>
cusparseStatus_t SetValues(Descriptor* descriptor, void* values) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({descriptor != nullptr}));
  descriptor->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace
}  // namespace lockstep::libraries::sparse

using namespace lockstep::libraries::sparse;

// The functions of a format with offsets: Csr or Csc.
#define LOCKSTEP_OFFSETS(Name, FORMAT)                                                                                 \
  cusparseStatus_t cusparseCreate##Name(cusparseSpMatDescr_t* made, int64_t rows, int64_t columns, int64_t count,      \
                                        void* offsets, void* indices, void* values, cusparseIndexType_t offset,        \
                                        cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type) {      \
    return CreateMatrix(                                                                                               \
        made, {CUSPARSE_FORMAT_##FORMAT, rows, columns, count, offsets, indices, values, offset, index, base, type});  \
  }                                                                                                                    \
  cusparseStatus_t cusparseCreateConst##Name(cusparseConstSpMatDescr_t* made, int64_t rows, int64_t columns,           \
                                             int64_t count, const void* offsets, const void* indices,                  \
                                             const void* values, cusparseIndexType_t offset,                           \
                                             cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type) { \
    return CreateMatrix(made, {CUSPARSE_FORMAT_##FORMAT, rows, columns, count, Mutable(offsets), Mutable(indices),     \
                               Mutable(values), offset, index, base, type});                                           \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Name##Get(cusparseSpMatDescr_t matrix, int64_t* rows, int64_t* columns, int64_t* count,   \
                                       void** offsets, void** indices, void** values, cusparseIndexType_t* offset,     \
                                       cusparseIndexType_t* index, cusparseIndexBase_t* base, cudaDataType* type) {    \
    return GetMatrix(matrix, CUSPARSE_FORMAT_##FORMAT, rows, columns, count, offsets, indices, values, offset, index,  \
                     base, type);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparseConst##Name##Get(                                                                           \
      cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* columns, int64_t* count, const void** offsets,         \
      const void** indices, const void** values, cusparseIndexType_t* offset, cusparseIndexType_t* index,              \
      cusparseIndexBase_t* base, cudaDataType* type) {                                                                 \
    return GetMatrix(matrix, CUSPARSE_FORMAT_##FORMAT, rows, columns, count, offsets, indices, values, offset, index,  \
                     base, type);                                                                                      \
  }                                                                                                                    \
  cusparseStatus_t cusparse##Name##SetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices,              \
                                               void* values) {                                                         \
    return SetPointers(matrix, CUSPARSE_FORMAT_##FORMAT, offsets, indices, values);                                    \
  }

extern "C" {

LOCKSTEP_OFFSETS(Csr, CSR)
LOCKSTEP_OFFSETS(Csc, CSC)

cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* made, int64_t rows, int64_t columns, int64_t count,
                                   void* row_indices, void* column_indices, void* values, cusparseIndexType_t index,
                                   cusparseIndexBase_t base, cudaDataType type) {
  return CreateMatrix(
      made, {CUSPARSE_FORMAT_COO, rows, columns, count, row_indices, column_indices, values, index, index, base, type});
}
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t* made, int64_t rows, int64_t columns, int64_t count,
                                        const void* row_indices, const void* column_indices, const void* values,
                                        cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type) {
  return CreateMatrix(made, {CUSPARSE_FORMAT_COO, rows, columns, count, Mutable(row_indices), Mutable(column_indices),
                             Mutable(values), index, index, base, type});
}
cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t matrix, int64_t* rows, int64_t* columns, int64_t* count,
                                void** row_indices, void** column_indices, void** values, cusparseIndexType_t* index,
                                cusparseIndexBase_t* base, cudaDataType* type) {
  return GetMatrix(matrix, CUSPARSE_FORMAT_COO, rows, columns, count, row_indices, column_indices, values, index, index,
                   base, type);
}
cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* columns, int64_t* count,
                                     const void** row_indices, const void** column_indices, const void** values,
                                     cusparseIndexType_t* index, cusparseIndexBase_t* base, cudaDataType* type) {
  return GetMatrix(matrix, CUSPARSE_FORMAT_COO, rows, columns, count, row_indices, column_indices, values, index, index,
                   base, type);
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* rows, void* columns, void* values) {
  return SetPointers(matrix, CUSPARSE_FORMAT_COO, rows, columns, values);
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) { return Destroy(matrix); }
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t* format) {
  return Get(matrix, &cusparseSpMatDescr::format, format);
}
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix, cusparseIndexBase_t* base) {
  return Get(matrix, &cusparseSpMatDescr::base, base);
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values) {
  return Get(matrix, &cusparseSpMatDescr::values, values);
}
cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t matrix, const void** values) {
  return Get(matrix, &cusparseSpMatDescr::values, values);
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) { return SetValues(matrix, values); }
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* columns,
                                      int64_t* count) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({matrix != nullptr, rows != nullptr, columns != nullptr, count != nullptr}));
  *rows = matrix->rows;
  *columns = matrix->columns;
  *count = matrix->count;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t matrix, int* count) {
  return Get(matrix, &cusparseSpMatDescr::batches, count);
}
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t matrix, int count, int64_t stride) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({matrix != nullptr && matrix->format == CUSPARSE_FORMAT_COO}));
  LOCKSTEP_RETURN_UNLESS_OK(Require({count > 0, stride == 0 || stride >= matrix->count}));
  matrix->batches = count;
  matrix->first_stride = matrix->second_stride = stride;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t matrix, int count, int64_t offsets, int64_t values) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({matrix != nullptr && matrix->format == CUSPARSE_FORMAT_CSR}));
  LOCKSTEP_RETURN_UNLESS_OK(
      Require({count > 0, offsets == 0 || offsets > matrix->rows, values == 0 || values >= matrix->count}));
  matrix->batches = count;
  matrix->first_stride = offsets;
  matrix->second_stride = values;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute,
                                           void* data, size_t size) {
  LOCKSTEP_RETURN_UNLESS_OK(
      Require({matrix != nullptr, data != nullptr, size == sizeof(int), attribute <= CUSPARSE_SPMAT_DIAG_TYPE}));
  *static_cast<int*>(data) = attribute == CUSPARSE_SPMAT_FILL_MODE ? int{matrix->fill} : int{matrix->diagonal};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute, void* data,
                                           size_t size) {
  LOCKSTEP_RETURN_UNLESS_OK(
      Require({matrix != nullptr, data != nullptr, size == sizeof(int), attribute <= CUSPARSE_SPMAT_DIAG_TYPE}));
  const int value = *static_cast<const int*>(data);
  if (attribute == CUSPARSE_SPMAT_FILL_MODE) {
    matrix->fill = static_cast<cusparseFillMode_t>(value);
  } else {
    matrix->diagonal = static_cast<cusparseDiagType_t>(value);
  }
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* made, int64_t size, int64_t count, void* indices,
                                     void* values, cusparseIndexType_t index, cusparseIndexBase_t base,
                                     cudaDataType type) {
  return CreateVector(made, {size, count, indices, values, index, base, type});
}
cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t* made, int64_t size, int64_t count,
                                          const void* indices, const void* values, cusparseIndexType_t index,
                                          cusparseIndexBase_t base, cudaDataType type) {
  return CreateVector(made, {size, count, Mutable(indices), Mutable(values), index, base, type});
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) { return Destroy(vector); }
cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t vector, int64_t* size, int64_t* count, void** indices,
                                  void** values, cusparseIndexType_t* index, cusparseIndexBase_t* base,
                                  cudaDataType* type) {
  return GetVector(vector, size, count, indices, values, index, base, type);
}
cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t vector, int64_t* size, int64_t* count,
                                       const void** indices, const void** values, cusparseIndexType_t* index,
                                       cusparseIndexBase_t* base, cudaDataType* type) {
  return GetVector(vector, size, count, indices, values, index, base, type);
}
cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t vector, cusparseIndexBase_t* base) {
  return Get(vector, &cusparseSpVecDescr::base, base);
}
cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t vector, void** values) {
  return Get(vector, &cusparseSpVecDescr::values, values);
}
cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t vector, const void** values) {
  return Get(vector, &cusparseSpVecDescr::values, values);
}
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t vector, void* values) { return SetValues(vector, values); }

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* made, int64_t size, void* values, cudaDataType type) {
  return CreateDense(made, cusparseDnVecDescr{size, values, type});
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* made, int64_t size, const void* values,
                                          cudaDataType type) {
  return CreateDense(made, cusparseDnVecDescr{size, Mutable(values), type});
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) { return Destroy(vector); }
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t* size, void** values, cudaDataType* type) {
  return GetDense(vector, size, values, type);
}
cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t vector, int64_t* size, const void** values,
                                       cudaDataType* type) {
  return GetDense(vector, size, values, type);
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
  return Get(vector, &cusparseDnVecDescr::values, values);
}
cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t vector, const void** values) {
  return Get(vector, &cusparseDnVecDescr::values, values);
}
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) { return SetValues(vector, values); }

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* made, int64_t rows, int64_t columns, int64_t leading,
                                     void* values, cudaDataType type, cusparseOrder_t order) {
  return CreateDense(made, cusparseDnMatDescr{rows, columns, leading, values, type, order});
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* made, int64_t rows, int64_t columns,
                                          int64_t leading, const void* values, cudaDataType type,
                                          cusparseOrder_t order) {
  return CreateDense(made, cusparseDnMatDescr{rows, columns, leading, Mutable(values), type, order});
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) { return Destroy(matrix); }
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t matrix, int64_t* rows, int64_t* columns, int64_t* leading,
                                  void** values, cudaDataType* type, cusparseOrder_t* order) {
  return GetDense(matrix, rows, columns, leading, values, type, order);
}
cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t matrix, int64_t* rows, int64_t* columns,
                                       int64_t* leading, const void** values, cudaDataType* type,
                                       cusparseOrder_t* order) {
  return GetDense(matrix, rows, columns, leading, values, type, order);
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void** values) {
  return Get(matrix, &cusparseDnMatDescr::values, values);
}
cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t matrix, const void** values) {
  return Get(matrix, &cusparseDnMatDescr::values, values);
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values) { return SetValues(matrix, values); }
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int count, int64_t stride) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({matrix != nullptr}));
  const int64_t lines = matrix->order == CUSPARSE_ORDER_COL ? matrix->columns : matrix->rows;
  LOCKSTEP_RETURN_UNLESS_OK(Require({count > 0, stride == 0 || stride >= matrix->leading * lines}));
  matrix->batches = count;
  matrix->stride = stride;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t matrix, int* count, int64_t* stride) {
  LOCKSTEP_RETURN_UNLESS_OK(Require({matrix != nullptr, count != nullptr, stride != nullptr}));
  *count = matrix->batches;
  *stride = matrix->stride;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // extern "C"
