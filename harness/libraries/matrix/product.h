// C = alpha op(A) op(B) + beta C in the combinations of types that cuBLAS and cuBLASLt have, on OpenBLAS. Matrices are
// column-major.
//
// Products of 16-bit floats, or of 8-bit integers into floats, use single precision and are rounded once, so they
// are at least as exact as a tensor core's; 8-bit integers into 32-bit ones give exact sums. Before products with
// CUBLAS_COMPUTE_32F_FAST_TF32 the inputs are rounded to 10 bits of mantissa, to the nearest, ties to even: an H100's
// cublasGemmEx turns 1 + 2^-11 into 1, 1 + 2^-11 + 2^-20 into 1 + 2^-10 and 1 + 3 * 2^-11 into 1 + 2^-9. On it
// CUBLAS_COMPUTE_32F_FAST_16F and _16BF round like TF32: 10^6 becomes 999936, which half precision can't represent.
#pragma once

#include <cublas_api.h>
#include <library_types.h>

#include <cstdint>

#include "vgpu/model/library_time.h"

namespace lockstep::libraries {

struct ProductTypes {
  cudaDataType a, b, c;
  cublasComputeType_t compute;
};

struct ProductShape {
  cublasOperation_t transa, transb;
  int64_t m, n, k;  // op(A) is m × k
  int64_t lda, ldb, ldc;
  int64_t a_rows() const { return transa == CUBLAS_OP_N ? m : k; }
  int64_t a_columns() const { return transa == CUBLAS_OP_N ? k : m; }
  int64_t b_rows() const { return transb == CUBLAS_OP_N ? k : n; }
  int64_t b_columns() const { return transb == CUBLAS_OP_N ? n : k; }
};

using ProductFunction = void (*)(const ProductShape& shape, const void* alpha, const void* a, const void* b,
                                 const void* beta, void* c);

struct Product {
  uint32_t a_bytes, b_bytes, c_bytes, scalar_bytes;
  cudaDataType scalar;
  vgpu::Arithmetic arithmetic;
  double multiply_add;   // operations
  bool aligned = false;  // of 8-bit integers: addresses and leading dimensions of A and B are multiples of 4
  ProductFunction run;
};

// Call before the first use of OpenBLAS: makes it single-threaded, because with several threads the order of additions,
// and so its results, would depend on their number.
void StartOpenBlas();

// nullptr: unsupported product.
const Product* FindProduct(const ProductTypes& types);

// Whether a scalar of the product's type, in host memory, is 0.
bool IsZero(const Product& product, const void* scalar);

}  // namespace lockstep::libraries
