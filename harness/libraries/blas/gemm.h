// Products of matrices: a single function for all of cuBLAS's, plain or batched.
#pragma once

#include "libraries/blas/number.h"
#include "libraries/matrix/product.h"

namespace lockstep::libraries::blas {

// The matrices of a batch: at a fixed stride, or at pointers in device memory.
struct Operand {
  const void* matrix = nullptr;
  int64_t stride = 0;  // elements
  const void* const* pointers = nullptr;

  const void* At(int64_t index, uint32_t element) const {
    return pointers != nullptr ? pointers[index] : static_cast<const char*>(matrix) + index * stride * element;
  }
};

struct Gemm {
  ProductTypes types;
  ProductShape shape;
  const void *alpha, *beta;
  Operand a, b, c;
  int64_t count = 1;
};

cublasStatus_t Multiply(const Function& f, const Gemm& gemm);

// The compute type of cublasSgemm and the like, from the handle's math mode.
cublasComputeType_t ComputeOfSingle(cublasHandle_t handle);

}  // namespace lockstep::libraries::blas
