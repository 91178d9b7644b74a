// What a cublasHandle_t points to.
#pragma once

#pragma GCC visibility push(default)
#include <cublas_v2.h>
#pragma GCC visibility pop

#include <algorithm>

#include "libraries/library.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
};
