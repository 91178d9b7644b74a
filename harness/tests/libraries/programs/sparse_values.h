// What the programs for cuSPARSE's values share: random matrices in all formats, each also as a dense copy, dense
// vectors and matrices, and factors in host or device memory.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cusparse.h>

#include <string>

#include "numbers.h"

static cusparseHandle_t handle;

static const cusparseOperation_t kOperations[] = {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                                                  CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
// Real matrices have no conjugates: these are refused.
template <typename T>
static constexpr int kOperationCount = Type<T>::kComplex ? 3 : 2;
static const char* const kOperationNames[] = {"N", "T", "C"};
static const cusparseFormat_t kFormats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO};
static const char* format_name(cusparseFormat_t format) {
  return format == CUSPARSE_FORMAT_CSR ? "csr" : format == CUSPARSE_FORMAT_CSC ? "csc" : "coo";
}

template <typename T>
T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T) + 1);
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <typename T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}

// The properties of a test matrix.
struct Form {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  bool wide = false;  // 64-bit indices
  int base = 0;
};

// A matrix with about a third of its elements, stored in a format; `keep` says which elements it may have.
template <typename T>
struct Sparse {
  int rows, columns;
  std::vector<Z> dense;
  std::vector<int64_t> first, second;  // offsets and indices, or the indices of both
  std::vector<T> values;
  void *device_first = nullptr, *device_second = nullptr;
  T* device_values = nullptr;
  cusparseSpMatDescr_t descriptor = nullptr;

  template <typename Keep>
  Sparse(Form form, int rows, int columns, Keep keep) : rows(rows), columns(columns), dense(rows * columns) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const double chance = random_number();
        const double real = random_number(), imaginary = random_number();
        const T value = Type<T>::narrow(row == column ? Z(real + 4) : Z(real, imaginary));
        if (keep(row, column, chance)) dense[row + column * rows] = Type<T>::wide(value);
      }
    }
    store(form);
  }
  Sparse(Form form, int rows, int columns)
      : Sparse(form, rows, columns, [](int, int, double chance) { return chance < -0.3; }) {}
  Z at(int row, int column) const { return dense[row + column * rows]; }
  Z turned(int operation, int row, int column) const {
    if (operation == 0) return at(row, column);
    return operation == 1 ? at(column, row) : std::conj(at(column, row));
  }
  void store(Form form) {
    const bool by_columns = form.format == CUSPARSE_FORMAT_CSC;
    const int outer = by_columns ? columns : rows, inner = by_columns ? rows : columns;
    for (int i = 0; i < outer; ++i) {
      if (form.format != CUSPARSE_FORMAT_COO) first.push_back(values.size() + form.base);
      for (int j = 0; j < inner; ++j) {
        const Z value = by_columns ? at(j, i) : at(i, j);
        if (value == Z(0)) continue;
        if (form.format == CUSPARSE_FORMAT_COO) first.push_back(i + form.base);
        second.push_back(j + form.base);
        values.push_back(Type<T>::narrow(value));
      }
    }
    if (form.format != CUSPARSE_FORMAT_COO) first.push_back(values.size() + form.base);
    device_values = upload(values);
    if (form.wide) {
      device_first = upload(first), device_second = upload(second);
    } else {
      device_first = upload(std::vector<int>(first.begin(), first.end()));
      device_second = upload(std::vector<int>(second.begin(), second.end()));
    }
    const auto index = form.wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    const auto base = form.base == 1 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
    const int64_t count = values.size();
    if (form.format == CUSPARSE_FORMAT_CSR) {
      call(cusparseCreateCsr(&descriptor, rows, columns, count, device_first, device_second, device_values, index,
                             index, base, kData<T>));
    } else if (form.format == CUSPARSE_FORMAT_CSC) {
      call(cusparseCreateCsc(&descriptor, rows, columns, count, device_first, device_second, device_values, index,
                             index, base, kData<T>));
    } else {
      call(cusparseCreateCoo(&descriptor, rows, columns, count, device_first, device_second, device_values, index, base,
                             kData<T>));
    }
  }
  ~Sparse() {
    cusparseDestroySpMat(descriptor);
    cudaFree(device_first);
    cudaFree(device_second);
    cudaFree(device_values);
  }
  Sparse(const Sparse&) = delete;
};

// A factor in host or device memory, as the handle's pointer mode requires.
template <typename T>
struct Factor {
  T host, *device;
  explicit Factor(Z value) : host(Type<T>::narrow(value)), device(upload(std::vector<T>(1, host))) {}
  ~Factor() { cudaFree(device); }
  Factor(const Factor&) = delete;
  const T* get() const {
    cusparsePointerMode_t mode;
    cusparseGetPointerMode(handle, &mode);
    return mode == CUSPARSE_POINTER_MODE_HOST ? &host : device;
  }
  Z value() const { return Type<T>::wide(host); }
};

struct Buffer {
  void* device = nullptr;
  size_t size = 0;
  void* get() {
    if (device == nullptr) cudaMalloc(&device, size + 1);
    return device;
  }
  ~Buffer() { cudaFree(device); }
};

template <typename T>
struct DenseVector {
  Array<T> array;
  cusparseDnVecDescr_t descriptor = nullptr;
  explicit DenseVector(int size) : array(size) { call(cusparseCreateDnVec(&descriptor, size, array.device, kData<T>)); }
  ~DenseVector() { cusparseDestroyDnVec(descriptor); }
};

// Rows and columns in either order, with room between them.
template <typename T>
struct DenseMatrix {
  int rows, columns, leading;
  cusparseOrder_t order;
  Array<T> array;
  cusparseDnMatDescr_t descriptor = nullptr;
  DenseMatrix(int rows, int columns, cusparseOrder_t order, int batches = 1)
      : rows(rows),
        columns(columns),
        leading((order == CUSPARSE_ORDER_COL ? rows : columns) + 2),
        order(order),
        array(size() * batches) {
    call(cusparseCreateDnMat(&descriptor, rows, columns, leading, array.device, kData<T>, order));
    if (batches > 1) call(cusparseDnMatSetStridedBatch(descriptor, batches, size()));
  }
  int size() const { return leading * (order == CUSPARSE_ORDER_COL ? columns : rows); }
  int place(int row, int column) const {
    return order == CUSPARSE_ORDER_COL ? row + column * leading : column + row * leading;
  }
  Z at(int row, int column, int batch = 0) const { return array.at(batch * size() + place(row, column)); }
  ~DenseMatrix() { cusparseDestroyDnMat(descriptor); }
};

static constexpr int kM = 23, kN = 17, kK = 6;

template <typename Body>
void each_form(cusparseFormat_t format, Body body) {
  for (const bool wide : {false, true}) {
    for (const int base : {0, 1}) {
      for (const cusparsePointerMode_t mode : {CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE}) {
        call(cusparseSetPointerMode(handle, mode));
        body(Form{format, wide, base});
        if (bad_status == 0) continue;
        std::printf("status %d of %s with %d-bit indices from %d in pointer mode %d\n", bad_status, format_name(format),
                    wide ? 64 : 32, base, mode);
        bad_status = 0;
        worst = 0;
      }
    }
  }
  call(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
}
