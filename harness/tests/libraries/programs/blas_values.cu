// What cuBLAS computes: every family of functions on random numbers, in all four types, in both widths of sizes, with
// factors and results in host and in device memory, against sums in double precision by the definition. Prints a line
// for each family, "gemv S ok", and the same on a GPU.
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <vector>

using Z = std::complex<double>;
using Dense = std::function<Z(int row, int column)>;

static cublasHandle_t handle;

template <typename T>
struct Type;
template <>
struct Type<float> {
  using Real = float;
  static constexpr double kExact = 1e-5;
  static constexpr bool kComplex = false;
  static Z wide(float value) { return value; }
  static float narrow(Z value) { return static_cast<float>(value.real()); }
};
template <>
struct Type<double> {
  using Real = double;
  static constexpr double kExact = 1e-13;
  static constexpr bool kComplex = false;
  static Z wide(double value) { return value; }
  static double narrow(Z value) { return value.real(); }
};
template <>
struct Type<cuComplex> {
  using Real = float;
  static constexpr double kExact = 2e-5;
  static constexpr bool kComplex = true;
  static Z wide(cuComplex value) { return {value.x, value.y}; }
  static cuComplex narrow(Z value) { return {static_cast<float>(value.real()), static_cast<float>(value.imag())}; }
};
template <>
struct Type<cuDoubleComplex> {
  using Real = double;
  static constexpr double kExact = 2e-13;
  static constexpr bool kComplex = true;
  static Z wide(cuDoubleComplex value) { return {value.x, value.y}; }
  static cuDoubleComplex narrow(Z value) { return {value.real(), value.imag()}; }
};

// The same numbers on every machine.
static double random_number() {
  static unsigned long long state = 88172645463325252ull;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<double>(state >> 11) / 9007199254740992.0 * 2 - 1;
}

template <typename T>
struct Array {
  std::vector<T> host;
  T* device = nullptr;
  explicit Array(size_t count) : host(count) {
    for (T& value : host) value = Type<T>::narrow(Z(random_number(), random_number()));
    cudaMalloc(&device, count * sizeof(T));
    up();
  }
  ~Array() { cudaFree(device); }
  Array(const Array&) = delete;
  void up() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  std::vector<T> down() const {
    std::vector<T> copy(host.size());
    cudaMemcpy(copy.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return copy;
  }
  Z at(size_t i) const { return Type<T>::wide(host[i]); }
};

// A factor, where the handle's pointer mode wants it.
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

static double worst = 0;
static int bad_status = 0;
static void call(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS && bad_status == 0) bad_status = status;
}
static void compare(Z found, Z expected, double size = 1) {
  const double off = std::abs(found - expected) / (1 + size + std::abs(expected));
  if (!(off <= worst)) worst = off;
}
static void tell(const char* family, const char* letter, double allowed) {
  if (bad_status != 0) {
    std::printf("%s %s status %d\n", family, letter, bad_status);
  } else if (worst <= allowed) {
    std::printf("%s %s ok\n", family, letter);
  } else {
    std::printf("%s %s off by %g\n", family, letter, worst);
  }
  worst = 0;
  bad_status = 0;
}

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

// f(function) for the functions of both widths, in both pointer modes.
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
