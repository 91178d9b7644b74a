// What cuBLAS computes: every family of functions on random numbers, in all four types, in both widths of sizes, with
// factors and results in host and in device memory, against sums in double precision by the definition. Prints a line
// for each family, "gemv S ok", and the same on a GPU.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <functional>

#include "numbers.h"

using Dense = std::function<Z(int row, int column)>;

static cublasHandle_t handle;

// A factor in host or device memory, as the handle's pointer mode requires.
template <typename T>
struct Factor {
  T host;
  T* device = nullptr;
  explicit Factor(T value) : host(value) {
    cudaMalloc(&device, sizeof(T));
    cudaMemcpy(device, &host, sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Factor() { cudaFree(device); }
  Factor(const Factor&) = delete;
  T* get() {
    cublasPointerMode_t mode;
    cublasGetPointerMode(handle, &mode);
    return mode == CUBLAS_POINTER_MODE_HOST ? &host : device;
  }
  T value() {
    T result = host;
    if (get() == device) cudaMemcpy(&result, device, sizeof(T), cudaMemcpyDeviceToHost);
    return result;
  }
};

static constexpr int kM = 13, kN = 9, kK = 7, kLead = 17, kOrder = 11;
static const cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const cublasFillMode_t kFills[] = {CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_LOWER};

static Z turned(const Dense& matrix, cublasOperation_t operation, int row, int column) {
  if (operation == CUBLAS_OP_N) return matrix(row, column);
  return operation == CUBLAS_OP_T ? matrix(column, row) : std::conj(matrix(column, row));
}
template <typename T>
Dense general(const std::vector<T>& matrix, int leading = kLead) {
  return [=](int row, int column) { return Type<T>::wide(matrix[row + column * leading]); };
}
static bool stored(cublasFillMode_t fill, int row, int column) {
  return fill == CUBLAS_FILL_MODE_UPPER ? row <= column : row >= column;
}
// Whole matrices of stored triangles.
static Dense symmetric(const Dense& triangle, cublasFillMode_t fill, bool hermitian) {
  return [=](int row, int column) {
    if (row == column && hermitian) return Z(triangle(row, column).real());
    if (stored(fill, row, column)) return triangle(row, column);
    return hermitian ? std::conj(triangle(column, row)) : triangle(column, row);
  };
}
static Dense triangular(const Dense& triangle, cublasFillMode_t fill, bool unit) {
  return [=](int row, int column) {
    if (row == column && unit) return Z(1);
    return stored(fill, row, column) ? triangle(row, column) : Z(0);
  };
}
template <typename T>
Dense packed(const std::vector<T>& elements, cublasFillMode_t fill, int n) {
  return [=](int row, int column) {
    if (!stored(fill, row, column)) return Z(0);
    const int before =
        fill == CUBLAS_FILL_MODE_UPPER ? column * (column + 1) / 2 : column * n - column * (column - 1) / 2 - column;
    return Type<T>::wide(elements[before + row]);
  };
}
template <typename T>
Dense banded(const std::vector<T>& elements, int lower, int upper, int leading) {
  return [=](int row, int column) {
    if (row - column > lower || column - row > upper) return Z(0);
    return Type<T>::wide(elements[upper + row - column + column * leading]);
  };
}
static int place(int i, int n, int increment) { return increment > 0 ? i * increment : (n - 1 - i) * -increment; }

// Calls body(function) for the functions of both widths, in both pointer modes.
template <typename F, typename G, typename Body>
void each(F narrow, G wide, Body body) {
  for (const cublasPointerMode_t mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE}) {
    cublasSetPointerMode(handle, mode);
    body(narrow);
    body(wide);
  }
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
}

// y = alpha op(matrix) x + beta y by its definition, compared with what `run` makes of it.
template <typename T, typename Run>
void product_with_vector(const Dense& matrix, cublasOperation_t operation, int rows, int columns, Run run) {
  const int to = operation == CUBLAS_OP_N ? rows : columns, from = operation == CUBLAS_OP_N ? columns : rows;
  for (const int increment : {1, -2}) {
    Array<T> x(64), y(64);
    Factor<T> alpha(Type<T>::narrow({0.75, -0.5})), beta(Type<T>::narrow({-1.25, 0.25}));
    call(run(alpha.get(), x.device, increment, beta.get(), y.device, increment));
    const auto result = y.down();
    for (int i = 0; i < to; ++i) {
      Z sum = 0;
      for (int j = 0; j < from; ++j) sum += turned(matrix, operation, i, j) * x.at(place(j, from, increment));
      const size_t at = place(i, to, increment);
      compare(Type<T>::wide(result[at]), Type<T>::wide(alpha.host) * sum + Type<T>::wide(beta.host) * y.at(at), from);
    }
  }
}

#include "blas_values_matrices.h"
#include "blas_values_types.h"
#include "blas_values_vectors.h"

int main() {
  call(cublasCreate(&handle));
  vectors_of_all_types();
  matrices_of_all_types();
  typed_products();
  batches_of_factors();
  std::printf("left %d\n", cudaDeviceSynchronize());
  cublasDestroy(handle);
}
