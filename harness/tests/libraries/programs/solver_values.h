// What the programs for cuSOLVER's values share: the functions by types, matrices in full, in double precision, and
// matrices with eigenvalues above zero.
#pragma once

#include <cusolverDn.h>

#include <algorithm>
#include <string>

#include "numbers.h"

static cusolverDnHandle_t handle;

template <typename T>
static constexpr cudaDataType kRealData = sizeof(typename Type<T>::Real) == 4 ? CUDA_R_32F : CUDA_R_64F;

// The names of functions by types.
template <typename T>
struct Solver;
#define LOCKSTEP_NAME(S, name, as)                    \
  template <typename... A>                            \
  static int as(A... arguments) {                     \
    return cusolverDn##S##name(handle, arguments...); \
  }
#define LOCKSTEP_BOTH(S, name, as) LOCKSTEP_NAME(S, name, as) LOCKSTEP_NAME(S, name##_bufferSize, as##_size)
#define LOCKSTEP_SOLVER(T, S, orthogonal, symmetric)       \
  template <>                                              \
  struct Solver<T> {                                       \
    LOCKSTEP_BOTH(S, getrf, getrf)                         \
    LOCKSTEP_NAME(S, getrs, getrs)                         \
    LOCKSTEP_BOTH(S, geqrf, geqrf)                         \
    LOCKSTEP_BOTH(S, orthogonal##gqr, orgqr)               \
    LOCKSTEP_BOTH(S, orthogonal##mqr, ormqr)               \
    LOCKSTEP_BOTH(S, potrf, potrf)                         \
    LOCKSTEP_NAME(S, potrs, potrs)                         \
    LOCKSTEP_BOTH(S, potri, potri)                         \
    LOCKSTEP_NAME(S, potrfBatched, potrf_batched)          \
    LOCKSTEP_NAME(S, potrsBatched, potrs_batched)          \
    LOCKSTEP_BOTH(S, gesvd, gesvd)                         \
    LOCKSTEP_BOTH(S, gesvdj, gesvdj)                       \
    LOCKSTEP_BOTH(S, gesvdjBatched, gesvdj_batched)        \
    LOCKSTEP_BOTH(S, symmetric##evd, syevd)                \
    LOCKSTEP_BOTH(S, symmetric##evj, syevj)                \
    LOCKSTEP_BOTH(S, symmetric##evjBatched, syevj_batched) \
    LOCKSTEP_BOTH(S, symmetric##gvd, sygvd)                \
  };
LOCKSTEP_SOLVER(float, S, or, sy)
LOCKSTEP_SOLVER(double, D, or, sy)
LOCKSTEP_SOLVER(cuComplex, C, un, he)
LOCKSTEP_SOLVER(cuDoubleComplex, Z, un, he)

// Memory of the device for one function.
template <typename T>
struct Room {
  T* device = nullptr;
  explicit Room(size_t count) { cudaMalloc(&device, (count + 1) * sizeof(T)); }
  ~Room() { cudaFree(device); }
  Room(const Room&) = delete;
  std::vector<T> down(size_t count) const {
    std::vector<T> copy(count);
    cudaMemcpy(copy.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
    return copy;
  }
};

// A matrix in full, in double precision.
struct Full {
  int rows, columns;
  std::vector<Z> elements;
  Full(int rows, int columns) : rows(rows), columns(columns), elements(rows * columns) {}
  Z& operator()(int row, int column) { return elements[row + column * rows]; }
  Z operator()(int row, int column) const { return elements[row + column * rows]; }
};
template <typename T>
Full full(const std::vector<T>& array, int rows, int columns, int leading) {
  Full matrix(rows, columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) matrix(row, column) = Type<T>::wide(array[row + column * leading]);
  }
  return matrix;
}
static Full operator*(const Full& a, const Full& b) {
  Full product(a.rows, b.columns);
  for (int row = 0; row < a.rows; ++row) {
    for (int column = 0; column < b.columns; ++column) {
      for (int k = 0; k < a.columns; ++k) product(row, column) += a(row, k) * b(k, column);
    }
  }
  return product;
}
static Full adjoint(const Full& a, bool conjugate = true) {
  Full turned(a.columns, a.rows);
  for (int row = 0; row < a.rows; ++row) {
    for (int column = 0; column < a.columns; ++column) {
      turned(column, row) = conjugate ? std::conj(a(row, column)) : a(row, column);
    }
  }
  return turned;
}
static Full turned(const Full& a, cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? a : adjoint(a, operation == CUBLAS_OP_C);
}
static Full unit(int n) {
  Full matrix(n, n);
  for (int i = 0; i < n; ++i) matrix(i, i) = 1;
  return matrix;
}
static void compare(const Full& found, const Full& expected) {
  for (size_t i = 0; i < found.elements.size(); ++i) compare(found.elements[i], expected.elements[i], found.rows);
}
// The first rows and columns; upper: only their upper triangle.
static Full part(const Full& a, int rows, int columns, bool upper = false) {
  Full some(rows, columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = upper ? row : 0; column < columns; ++column) some(row, column) = a(row, column);
  }
  return some;
}

static constexpr int kM = 13, kN = 9, kLead = 16, kColumns = 4;
static const cublasOperation_t kOperations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
static const cublasFillMode_t kFills[] = {CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_LOWER};

static void expect_info(const Room<int>& info, int expected = 0) { compare(info.down(1)[0], expected); }

// A positive definite matrix: a random matrix times its adjoint, plus a diagonal.
template <typename T>
Full definite(Array<T>& a, int n, int leading, int offset = 0) {
  Full random(n, n);
  for (Z& element : random.elements) element = Z(random_number(), Type<T>::kComplex ? random_number() : 0);
  Full matrix = random * adjoint(random);
  for (int i = 0; i < n; ++i) matrix(i, i) += 2;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a.host[offset + i + j * leading] = Type<T>::narrow(matrix(i, j));
  }
  a.up();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) matrix(i, j) = Type<T>::wide(a.host[offset + i + j * leading]);
  }
  return matrix;
}

template <typename T>
Full triangle(const std::vector<T>& array, cublasFillMode_t fill, int n, int leading) {
  const Full all = full(array, n, n, leading);
  return fill == CUBLAS_FILL_MODE_UPPER ? part(all, n, n, true) : adjoint(part(adjoint(all), n, n, true));
}
// A whole Hermitian matrix, made from the triangle that is stored.
template <typename T>
Full hermitian(const std::vector<T>& array, cublasFillMode_t fill, int n, int leading) {
  Full whole = triangle(array, fill, n, leading);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (i != j && (fill == CUBLAS_FILL_MODE_UPPER) == (i > j)) whole(i, j) = std::conj(whole(j, i));
    }
  }
  return whole;
}
