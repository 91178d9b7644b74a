// What cuSPARSE returns for unusual arguments, call by call: sparse_statuses.h100.txt is what an H100 printed.
#include <cusparse.h>

#include <cstdio>
#include <initializer_list>

#include "tell.h"

static cusparseHandle_t handle;
static int *offsets, *indices;  // device memory: offsets of 4 rows with 2 elements each, their columns
static float *values, *x, *y;   // of 64 elements, ones

static const auto N = CUSPARSE_OPERATION_NON_TRANSPOSE, T = CUSPARSE_OPERATION_TRANSPOSE;
static const auto kNone = (cusparseOperation_t)9;
static const auto I32 = CUSPARSE_INDEX_32I, I64 = CUSPARSE_INDEX_64I, I16 = CUSPARSE_INDEX_16U;
static const auto B0 = CUSPARSE_INDEX_BASE_ZERO;
static const auto F = CUDA_R_32F, D = CUDA_R_64F;
static const auto COL = CUSPARSE_ORDER_COL, ROW = CUSPARSE_ORDER_ROW;
static const float one = 1, zero = 0;

static void handles() {
  int value = -1;
  cusparsePointerMode_t mode;
  cudaStream_t stream;
  TELL(cusparseCreate(nullptr));
  TELL(cusparseDestroy(nullptr));
  TELL_VALUE(cusparseGetVersion(handle, &value), value / 1000);
  TELL_VALUE(cusparseGetVersion(nullptr, &value), value / 1000);
  TELL(cusparseGetVersion(handle, nullptr));
  TELL_VALUE(cusparseGetProperty(MAJOR_VERSION, &value), value);
  TELL_VALUE(cusparseGetProperty((libraryPropertyType)7, &value), value);
  TELL(cusparseGetProperty(MAJOR_VERSION, nullptr));
  TELL_VALUE(cusparseGetPointerMode(handle, &mode), mode);
  TELL(cusparseGetPointerMode(handle, nullptr));
  TELL(cusparseGetPointerMode(nullptr, &mode));
  TELL(cusparseSetPointerMode(handle, (cusparsePointerMode_t)5));
  TELL(cusparseSetPointerMode(nullptr, CUSPARSE_POINTER_MODE_HOST));
  TELL_VALUE(cusparseGetStream(handle, &stream), stream == nullptr);
  TELL(cusparseGetStream(handle, nullptr));
  TELL(cusparseSetStream(nullptr, nullptr));
  TELL(cusparseLoggerForceDisable());
  TELL(cusparseLoggerSetLevel(0));
  TELL(cusparseLoggerSetLevel(77));
  TELL(cusparseLoggerSetMask(0));
  TELL(cusparseLoggerSetCallback(nullptr));
  for (int status = 0; status < 14; ++status) {
    std::printf("%d %s: %s\n", status, cusparseGetErrorName((cusparseStatus_t)status),
                cusparseGetErrorString((cusparseStatus_t)status));
  }
}

static void old_descriptions() {
  cusparseMatDescr_t old;
  TELL(cusparseCreateMatDescr(nullptr));
  TELL(cusparseCreateMatDescr(&old));
  TELL(cusparseGetMatType(old));
  TELL(cusparseGetMatFillMode(old));
  TELL(cusparseGetMatDiagType(old));
  TELL(cusparseGetMatIndexBase(old));
  TELL(cusparseSetMatType(old, (cusparseMatrixType_t)7));
  TELL(cusparseSetMatType(old, CUSPARSE_MATRIX_TYPE_SYMMETRIC));
  TELL(cusparseGetMatType(old));
  TELL(cusparseSetMatFillMode(old, (cusparseFillMode_t)7));
  TELL(cusparseSetMatFillMode(old, CUSPARSE_FILL_MODE_UPPER));
  TELL(cusparseGetMatFillMode(old));
  TELL(cusparseSetMatDiagType(old, (cusparseDiagType_t)7));
  TELL(cusparseSetMatDiagType(old, CUSPARSE_DIAG_TYPE_UNIT));
  TELL(cusparseGetMatDiagType(old));
  TELL(cusparseSetMatIndexBase(old, (cusparseIndexBase_t)7));
  TELL(cusparseSetMatIndexBase(old, CUSPARSE_INDEX_BASE_ONE));
  TELL(cusparseGetMatIndexBase(old));
  TELL(cusparseSetMatType(nullptr, CUSPARSE_MATRIX_TYPE_GENERAL));
  TELL(cusparseDestroyMatDescr(old));
  TELL(cusparseDestroyMatDescr(nullptr));
}

static void vectors() {
  cusparseSpVecDescr_t sparse;
  cusparseDnVecDescr_t dense;
  cusparseConstDnVecDescr_t constant;
  int64_t size = -1, count = -1;
  void *first = nullptr, *second = nullptr;
  const void* read = nullptr;
  cusparseIndexType_t index;
  cusparseIndexBase_t base;
  cudaDataType type;
  TELL(cusparseCreateSpVec(nullptr, 8, 2, indices, values, I32, B0, F));
  TELL(cusparseCreateSpVec(&sparse, -1, 2, indices, values, I32, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, -2, indices, values, I32, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 9, indices, values, I32, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, nullptr, values, I32, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, indices, nullptr, I32, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 0, nullptr, nullptr, I32, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, indices, values, I16, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, indices, values, (cusparseIndexType_t)9, B0, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, indices, values, I32, (cusparseIndexBase_t)5, F));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, indices, values, I32, B0, (cudaDataType)99));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, indices, values, I32, B0, CUDA_R_8U));
  TELL(cusparseCreateSpVec(&sparse, 8, 2, indices, values, I32, B0, F));
  TELL_VALUE(cusparseSpVecGet(sparse, &size, &count, &first, &second, &index, &base, &type), count);
  TELL(cusparseSpVecGet(sparse, nullptr, &count, &first, &second, &index, &base, &type));
  TELL(cusparseSpVecGet(nullptr, &size, &count, &first, &second, &index, &base, &type));
  TELL_VALUE(cusparseSpVecGetIndexBase(sparse, &base), base);
  TELL(cusparseSpVecSetValues(sparse, nullptr));
  TELL(cusparseSpVecSetValues(sparse, x));
  TELL_VALUE(cusparseSpVecGetValues(sparse, &first), first == x);
  TELL(cusparseSpVecGetValues(sparse, nullptr));
  TELL(cusparseDestroySpVec(sparse));
  TELL(cusparseDestroySpVec(nullptr));
  TELL(cusparseCreateDnVec(nullptr, 8, values, F));
  TELL(cusparseCreateDnVec(&dense, -1, values, F));
  TELL(cusparseCreateDnVec(&dense, 8, nullptr, F));
  TELL(cusparseCreateDnVec(&dense, 0, nullptr, F));
  TELL(cusparseCreateDnVec(&dense, 8, values, (cudaDataType)99));
  TELL(cusparseCreateDnVec(&dense, 8, values, CUDA_R_8U));
  TELL(cusparseCreateDnVec(&dense, 8, values, F));
  TELL_VALUE(cusparseDnVecGet(dense, &size, &first, &type), size);
  TELL(cusparseDnVecGet(dense, &size, nullptr, &type));
  TELL(cusparseDnVecSetValues(dense, nullptr));
  TELL(cusparseDnVecSetValues(dense, y));
  TELL_VALUE(cusparseDnVecGetValues(dense, &first), first == y);
  TELL(cusparseDestroyDnVec(dense));
  TELL(cusparseDestroyDnVec(nullptr));
  TELL(cusparseCreateConstDnVec(&constant, 8, values, F));
  TELL_VALUE(cusparseConstDnVecGetValues(constant, &read), read == values);
  TELL(cusparseDestroyDnVec(constant));
}

static void matrices() {
  cusparseSpMatDescr_t a, coo;
  cusparseDnMatDescr_t dense;
  int64_t rows = -1, columns = -1, count = -1, leading = -1;
  void *first = nullptr, *second = nullptr, *third = nullptr;
  cusparseIndexType_t index, other;
  cusparseIndexBase_t base;
  cusparseFormat_t format;
  cusparseOrder_t order;
  cudaDataType type;
  int batches = -1;
  cusparseFillMode_t fill = (cusparseFillMode_t)9;
  cusparseDiagType_t diagonal = (cusparseDiagType_t)9;
  TELL(cusparseCreateCsr(nullptr, 4, 4, 8, offsets, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, -1, 4, 8, offsets, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, -1, 8, offsets, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, -1, offsets, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 17, offsets, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, nullptr, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, nullptr, values, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, nullptr, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 0, nullptr, nullptr, nullptr, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 0, 0, 0, nullptr, nullptr, nullptr, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 0, 4, 0, offsets, nullptr, nullptr, I32, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, I64, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, I32, I64, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, I16, I16, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, (cusparseIndexType_t)9, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, I32, I32, (cusparseIndexBase_t)5, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, I32, I32, B0, CUDA_R_8U));
  TELL(cusparseCreateCsc(&a, 4, 4, 8, nullptr, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCoo(&a, 4, 4, 8, nullptr, indices, values, I32, B0, F));
  TELL(cusparseCreateCoo(&a, 4, 4, 17, indices, indices, values, I32, B0, F));
  TELL(cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, I32, I32, B0, F));
  TELL(cusparseCreateCoo(&coo, 4, 4, 8, indices, indices, values, I32, B0, F));
  TELL_VALUE(cusparseCsrGet(a, &rows, &columns, &count, &first, &second, &third, &index, &other, &base, &type), count);
  TELL(cusparseCsrGet(a, nullptr, &columns, &count, &first, &second, &third, &index, &other, &base, &type));
  TELL(cusparseCscGet(a, &rows, &columns, &count, &first, &second, &third, &index, &other, &base, &type));
  TELL(cusparseCooGet(a, &rows, &columns, &count, &first, &second, &third, &index, &base, &type));
  TELL_VALUE(cusparseCooGet(coo, &rows, &columns, &count, &first, &second, &third, &index, &base, &type),
             first == indices);
  TELL_VALUE(cusparseSpMatGetFormat(a, &format), format);
  TELL_VALUE(cusparseSpMatGetFormat(coo, &format), format);
  TELL_VALUE(cusparseSpMatGetIndexBase(a, &base), base);
  TELL_VALUE(cusparseSpMatGetSize(a, &rows, &columns, &count), count);
  TELL(cusparseSpMatGetSize(nullptr, &rows, &columns, &count));
  TELL_VALUE(cusparseSpMatGetValues(a, &third), third == values);
  TELL(cusparseSpMatSetValues(a, nullptr));
  TELL(cusparseSpMatSetValues(a, x));
  TELL_VALUE(cusparseSpMatGetStridedBatch(a, &batches), batches);
  TELL(cusparseCsrSetStridedBatch(a, 0, 5, 8));
  TELL(cusparseCsrSetStridedBatch(a, -1, 5, 8));
  TELL(cusparseCsrSetStridedBatch(a, 2, 4, 8));
  TELL(cusparseCsrSetStridedBatch(a, 2, 5, 7));
  TELL(cusparseCsrSetStridedBatch(a, 2, 0, 8));
  TELL(cusparseCsrSetStridedBatch(a, 2, 0, 0));
  TELL(cusparseCsrSetStridedBatch(a, 2, 5, 8));
  TELL_VALUE(cusparseSpMatGetStridedBatch(a, &batches), batches);
  TELL(cusparseCooSetStridedBatch(coo, 0, 8));
  TELL(cusparseCooSetStridedBatch(coo, 2, 7));
  TELL(cusparseCooSetStridedBatch(coo, 2, 8));
  TELL(cusparseCooSetStridedBatch(a, 2, 8));
  TELL(cusparseCsrSetStridedBatch(coo, 2, 5, 8));
  TELL(cusparseCsrSetPointers(a, offsets, indices, values));
  TELL(cusparseCsrSetPointers(a, nullptr, indices, values));
  TELL(cusparseCsrSetPointers(coo, offsets, indices, values));
  TELL(cusparseCscSetPointers(a, offsets, indices, values));
  TELL(cusparseCooSetPointers(coo, nullptr, indices, values));
  TELL(cusparseCooSetPointers(a, indices, indices, values));
  TELL_VALUE(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), fill);
  TELL_VALUE(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal), diagonal);
  fill = CUSPARSE_FILL_MODE_UPPER;
  diagonal = CUSPARSE_DIAG_TYPE_UNIT;
  TELL(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, 1));
  TELL(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, nullptr, sizeof fill));
  TELL(cusparseSpMatSetAttribute(a, (cusparseSpMatAttribute_t)9, &fill, sizeof fill));
  TELL(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  TELL(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
  fill = (cusparseFillMode_t)9;
  diagonal = (cusparseDiagType_t)9;
  TELL_VALUE(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), fill);
  TELL_VALUE(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal), diagonal);
  fill = (cusparseFillMode_t)9;
  TELL(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
  TELL(cusparseDestroySpMat(a));
  TELL(cusparseDestroySpMat(coo));
  TELL(cusparseDestroySpMat(nullptr));
  TELL(cusparseCreateDnMat(nullptr, 4, 4, 4, values, F, COL));
  TELL(cusparseCreateDnMat(&dense, -1, 4, 4, values, F, COL));
  TELL(cusparseCreateDnMat(&dense, 4, -1, 4, values, F, COL));
  TELL(cusparseCreateDnMat(&dense, 4, 2, 3, values, F, COL));
  TELL(cusparseCreateDnMat(&dense, 2, 4, 3, values, F, ROW));
  TELL(cusparseCreateDnMat(&dense, 4, 2, 3, values, F, ROW));
  TELL(cusparseCreateDnMat(&dense, 4, 4, 4, nullptr, F, COL));
  TELL(cusparseCreateDnMat(&dense, 0, 0, 0, nullptr, F, COL));
  TELL(cusparseCreateDnMat(&dense, 4, 4, 4, values, F, (cusparseOrder_t)9));
  TELL(cusparseCreateDnMat(&dense, 4, 4, 4, values, CUDA_R_8U, COL));
  TELL(cusparseCreateDnMat(&dense, 4, 4, 4, values, F, COL));
  TELL_VALUE(cusparseDnMatGet(dense, &rows, &columns, &leading, &first, &type, &order), leading);
  TELL(cusparseDnMatSetStridedBatch(dense, 0, 16));
  TELL(cusparseDnMatSetStridedBatch(dense, 2, 15));
  TELL(cusparseDnMatSetStridedBatch(dense, 2, 0));
  TELL(cusparseDnMatSetStridedBatch(dense, 2, 16));
  TELL_VALUE(cusparseDnMatGetStridedBatch(dense, &batches, &leading), leading);
  TELL(cusparseDnMatSetValues(dense, nullptr));
  TELL(cusparseDnMatSetValues(dense, x));
  TELL(cusparseDestroyDnMat(dense));
  TELL(cusparseDestroyDnMat(nullptr));
}

static void products() {
  cusparseSpMatDescr_t a, wide, csc, coo;
  cusparseDnVecDescr_t v, w, five, doubles;
  cusparseDnMatDescr_t b, c, narrow, by_rows;
  cusparseCreateCsr(&a, 4, 4, 8, offsets, indices, values, I32, I32, B0, F);
  cusparseCreateCsr(&wide, 4, 4, 8, offsets, indices, values, I64, I64, B0, F);
  cusparseCreateCsc(&csc, 4, 4, 8, offsets, indices, values, I32, I32, B0, F);
  cusparseCreateCoo(&coo, 4, 4, 8, indices, indices, values, I32, B0, F);
  cusparseCreateDnVec(&v, 4, x, F);
  cusparseCreateDnVec(&w, 4, y, F);
  cusparseCreateDnVec(&five, 5, y, F);
  cusparseCreateDnVec(&doubles, 4, y, D);
  cusparseCreateDnMat(&b, 4, 3, 4, x, F, COL);
  cusparseCreateDnMat(&c, 4, 3, 4, y, F, COL);
  cusparseCreateDnMat(&narrow, 4, 2, 4, y, F, COL);
  cusparseCreateDnMat(&by_rows, 4, 3, 3, y, F, ROW);
  const auto DEF = CUSPARSE_SPMV_ALG_DEFAULT;
  const auto MM = CUSPARSE_SPMM_ALG_DEFAULT;
  size_t size = 0;
  void* buffer;
  cudaMalloc(&buffer, 1 << 20);
  TELL(cusparseSpMV_bufferSize(handle, N, &one, a, v, &zero, w, F, DEF, &size));
  TELL(cusparseSpMV_bufferSize(nullptr, N, &one, a, v, &zero, w, F, DEF, &size));
  TELL(cusparseSpMV_bufferSize(handle, N, &one, a, v, &zero, w, F, DEF, nullptr));
  TELL(cusparseSpMV_bufferSize(handle, N, nullptr, a, v, &zero, w, F, DEF, &size));
  TELL(cusparseSpMV_bufferSize(handle, N, &one, nullptr, v, &zero, w, F, DEF, &size));
  TELL(cusparseSpMV_bufferSize(handle, N, &one, a, five, &zero, w, F, DEF, &size));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, T, &one, a, v, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, kNone, &one, a, v, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(nullptr, N, &one, a, v, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, nullptr, a, v, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, nullptr, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, nullptr, v, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, nullptr, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, nullptr, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, five, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, five, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, doubles, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, D, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, D, CUSPARSE_SPMV_COO_ALG1, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, CUDA_R_16F, DEF, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, F, CUSPARSE_SPMV_CSR_ALG1, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, F, CUSPARSE_SPMV_CSR_ALG2, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, F, CUSPARSE_SPMV_COO_ALG1, buffer));
  TELL(cusparseSpMV(handle, N, &one, coo, v, &zero, w, F, CUSPARSE_SPMV_CSR_ALG1, buffer));
  TELL(cusparseSpMV(handle, N, &one, coo, v, &zero, w, F, CUSPARSE_SPMV_COO_ALG1, buffer));
  TELL(cusparseSpMV(handle, N, &one, csc, v, &zero, w, F, CUSPARSE_SPMV_CSR_ALG1, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, F, CUSPARSE_SPMV_SELL_ALG1, buffer));
  TELL(cusparseSpMV(handle, N, &one, a, v, &zero, w, F, (cusparseSpMVAlg_t)99, buffer));
  TELL(cusparseSpMV_bufferSize(handle, N, &one, wide, v, &zero, w, F, DEF, &size));
  TELL(cusparseSpMV_preprocess(handle, N, &one, a, v, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMV_preprocess(handle, N, &one, a, five, &zero, w, F, DEF, buffer));
  TELL(cusparseSpMM_bufferSize(handle, N, N, &one, a, b, &zero, c, F, MM, &size));
  TELL(cusparseSpMM_bufferSize(handle, N, N, &one, a, b, &zero, c, F, MM, nullptr));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, c, F, MM, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, narrow, F, MM, buffer));
  TELL(cusparseSpMM(handle, N, T, &one, a, b, &zero, c, F, MM, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, by_rows, F, MM, buffer));
  TELL(cusparseSpMM(handle, kNone, N, &one, a, b, &zero, c, F, MM, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, c, D, MM, buffer));
  TELL(cusparseSpMM(handle, N, N, nullptr, a, b, &zero, c, F, MM, buffer));
  TELL(cusparseSpMM(nullptr, N, N, &one, a, b, &zero, c, F, MM, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, nullptr, b, &zero, c, F, MM, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, c, F, CUSPARSE_SPMM_COO_ALG1, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, c, F, CUSPARSE_SPMM_CSR_ALG1, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, c, F, CUSPARSE_SPMM_CSR_ALG2, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, c, F, CUSPARSE_SPMM_CSR_ALG3, buffer));
  TELL(cusparseSpMM(handle, T, N, &one, a, b, &zero, c, F, CUSPARSE_SPMM_CSR_ALG3, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, csc, b, &zero, c, F, CUSPARSE_SPMM_CSR_ALG1, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, coo, b, &zero, c, F, CUSPARSE_SPMM_COO_ALG2, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, coo, b, &zero, c, F, CUSPARSE_SPMM_CSR_ALG1, buffer));
  TELL(cusparseSpMM(handle, N, N, &one, a, b, &zero, c, F, (cusparseSpMMAlg_t)99, buffer));
  TELL(cusparseSparseToDense(handle, a, c, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
  TELL(cusparseSparseToDense(nullptr, a, c, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
  TELL(cusparseXcsr2coo(handle, offsets, -1, 4, indices, B0));
  TELL(cusparseXcsr2coo(handle, offsets, 8, -1, indices, B0));
  TELL(cusparseXcsr2coo(nullptr, offsets, 8, 4, indices, B0));
  TELL(cusparseXcoo2csr(handle, indices, -1, 4, offsets, B0));
  TELL(cusparseXcoo2csr(nullptr, indices, 8, 4, offsets, B0));
  cusparseSpSVDescr_t plan;
  TELL(cusparseSpSV_createDescr(nullptr));
  TELL(cusparseSpSV_createDescr(&plan));
  TELL(cusparseSpSV_bufferSize(handle, N, &one, a, v, w, F, CUSPARSE_SPSV_ALG_DEFAULT, plan, &size));
  TELL(cusparseSpSV_bufferSize(handle, N, &one, csc, v, w, F, CUSPARSE_SPSV_ALG_DEFAULT, plan, &size));
  TELL(cusparseSpSV_bufferSize(handle, N, &one, a, v, w, F, CUSPARSE_SPSV_ALG_DEFAULT, nullptr, &size));
  TELL(cusparseSpSV_destroyDescr(plan));
  TELL(cusparseSpSV_destroyDescr(nullptr));
  cusparseSpGEMMDescr_t product;
  TELL(cusparseSpGEMM_createDescr(nullptr));
  TELL(cusparseSpGEMM_createDescr(&product));
  TELL(cusparseSpGEMM_workEstimation(handle, T, N, &one, a, a, &zero, wide, F, CUSPARSE_SPGEMM_DEFAULT, product, &size,
                                     nullptr));
  TELL(cusparseSpGEMM_workEstimation(handle, N, N, &one, coo, a, &zero, a, F, CUSPARSE_SPGEMM_DEFAULT, product, &size,
                                     nullptr));
  TELL(cusparseSpGEMM_destroyDescr(product));
  csrilu02Info_t info;
  TELL(cusparseCreateCsrilu02Info(nullptr));
  TELL(cusparseCreateCsrilu02Info(&info));
  TELL(cusparseDestroyCsrilu02Info(info));
  for (cusparseSpMatDescr_t matrix : {a, wide, csc, coo}) cusparseDestroySpMat(matrix);
  for (cusparseDnVecDescr_t vector : {v, w, five, doubles}) cusparseDestroyDnVec(vector);
  for (cusparseDnMatDescr_t matrix : {b, c, narrow, by_rows}) cusparseDestroyDnMat(matrix);
  cudaFree(buffer);
}

int main() {
  const int host_offsets[] = {0, 2, 4, 6, 8}, host_indices[] = {0, 1, 1, 2, 2, 3, 0, 3};
  float ones[64];
  for (float& number : ones) number = 1;
  cudaMalloc(&offsets, sizeof ones);
  cudaMalloc(&indices, sizeof ones);
  cudaMemset(offsets, 0, sizeof ones);
  cudaMemset(indices, 0, sizeof ones);
  cudaMemcpy(offsets, host_offsets, sizeof host_offsets, cudaMemcpyHostToDevice);
  cudaMemcpy(indices, host_indices, sizeof host_indices, cudaMemcpyHostToDevice);
  for (float** array : {&values, &x, &y}) {
    cudaMalloc(array, sizeof ones);
    cudaMemcpy(*array, ones, sizeof ones, cudaMemcpyHostToDevice);
  }
  TELL(cusparseCreate(&handle));
  handles();
  old_descriptions();
  vectors();
  matrices();
  products();
  TELL(cusparseDestroy(handle));
  for (void* memory : {(void*)offsets, (void*)indices, (void*)values, (void*)x, (void*)y}) cudaFree(memory);
}
