#include <cublas_v2.h>

#include <cmath>

#include "at_limit.h"
#include "matmul.h"

namespace limits {
namespace {

// Small whole numbers: every sum of products is exact, in any order and with halves.
template <typename T>
__global__ void fill_kernel(T* d_out, size_t n, unsigned salt) {
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x)
    d_out[i] = static_cast<T>(static_cast<float>((i * 2654435761u + salt) >> 16 & 3));
}

__global__ void count_different_kernel(const float* d_a, const float* d_b, size_t n, unsigned* d_wrong) {
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x)
    if (d_a[i] != d_b[i]) atomicAdd(d_wrong, 1);
}

template <typename T>
struct Product {
  explicit Product(unsigned n) : size(size_t{n} * n) {
    CHECK(cudaMalloc(&d_a, size * sizeof(T)));
    CHECK(cudaMalloc(&d_b, size * sizeof(T)));
    CHECK(cudaMalloc(&d_c, size * sizeof(float)));
    CHECK(cudaMalloc(&d_right, size * sizeof(float)));
    CHECK(cudaMalloc(&d_wrong, sizeof *d_wrong));
    fill_kernel<<<1024, 256>>>(d_a, size, 1u);
    fill_kernel<<<1024, 256>>>(d_b, size, 77u);
  }
  ~Product() {
    for (void* memory : {static_cast<void*>(d_a), static_cast<void*>(d_b)}) cudaFree(memory);
    for (void* memory : {static_cast<void*>(d_c), static_cast<void*>(d_right), static_cast<void*>(d_wrong)})
      cudaFree(memory);
  }
  // Ends the program if d_c is not what the library wrote to d_right.
  void Check(const char* what) const {
    unsigned wrong = 0;
    CHECK(cudaMemset(d_wrong, 0, sizeof wrong));
    count_different_kernel<<<1024, 256>>>(d_c, d_right, size, d_wrong);
    CHECK(cudaMemcpy(&wrong, d_wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    Require(wrong == 0, what);
    CHECK(cudaMemset(d_c, 0, size * sizeof(float)));
  }

  size_t size;
  T *d_a = nullptr, *d_b = nullptr;
  float *d_c = nullptr, *d_right = nullptr;
  unsigned* d_wrong = nullptr;
};

// cuBLAS stores matrices by columns, we store them by rows: so it gets the factors in the opposite order.
template <typename T>
void ByLibrary(cublasHandle_t cublas, const Product<T>& p, float* d_c, int n) {
  constexpr cudaDataType kType = sizeof(T) == 2 ? CUDA_R_16F : CUDA_R_32F;
  constexpr cublasComputeType_t kCompute = sizeof(T) == 2 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_PEDANTIC;
  const float one = 1, zero = 0;
  const auto status = cublasGemmEx(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, p.d_b, kType, n, p.d_a, kType, n,
                                   &zero, d_c, CUDA_R_32F, n, kCompute, CUBLAS_GEMM_DEFAULT);
  Require(status == CUBLAS_STATUS_SUCCESS, "cublasGemmEx");
}

}  // namespace

void Matmul() {
  cublasHandle_t cublas;
  Require(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  for (const unsigned n : {1024u, 4096u, 1023u}) {
    const std::string size = std::to_string(n);
    const double operations = 2.0 * n * n * n;
    {
      const Product<float> p(n);
      ByLibrary(cublas, p, p.d_right, static_cast<int>(n));
      const auto rung = [&](auto launcher) {
        return [&, launcher](size_t) { launcher(p.d_a, p.d_b, p.d_c, n, n, n); };
      };
      const auto right = [&](const char* what) { p.Check(what); };
      Compare("matrix product", size, operations,
              {{"rung 1", rung(matmul1_naive), right},
               {"rung 2", rung(matmul2_tiled), right},
               {"rung 3", rung(matmul3_registers), right},
               {"reference", rung(matmul4_vectors), right},
               {"cublasGemmEx", [&](size_t) { ByLibrary(cublas, p, p.d_c, static_cast<int>(n)); }, right}});
    }
    const Product<__half> p(n);
    ByLibrary(cublas, p, p.d_right, static_cast<int>(n));
    const auto right = [&](const char* what) { p.Check(what); };
    Compare("matrix product of halves", size, operations,
            {{"reference", [&](size_t) { matmul5_tensor(p.d_a, p.d_b, p.d_c, n, n, n); }, right},
             {"cublasGemmEx", [&](size_t) { ByLibrary(cublas, p, p.d_c, static_cast<int>(n)); }, right}});
  }
  cublasDestroy(cublas);
}

}  // namespace limits
