#include <cublas_v2.h>

#include "at_limit.h"
#include "transpose.h"

namespace limits {
namespace {

// Element (x, y) of the input is its index, as bits.
__global__ void index_kernel(float* d_out, size_t n) {
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x)
    d_out[i] = __uint_as_float(static_cast<unsigned>(i) & 0x3fffffff);
}

__global__ void count_wrong_kernel(const float* d_out, unsigned width, unsigned height, unsigned* d_wrong) {
  const size_t n = static_cast<size_t>(width) * height;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x) {
    const size_t from = i % height * width + i / height;
    if (__float_as_uint(d_out[i]) != (static_cast<unsigned>(from) & 0x3fffffff)) atomicAdd(d_wrong, 1);
  }
}

}  // namespace

void Transpose() {
  cublasHandle_t cublas;
  if (cublasCreate(&cublas) != CUBLAS_STATUS_SUCCESS) Require(false, "cublasCreate");
  unsigned* d_wrong = nullptr;
  CHECK(cudaMalloc(&d_wrong, sizeof *d_wrong));
  const std::pair<unsigned, unsigned> shapes[] = {{1024, 1024},   {2048, 2048},  {4096, 4096}, {8192, 8192},
                                                  {16384, 16384}, {12288, 5120}, {8191, 8191}, {5003, 12007}};
  for (const auto& [width, height] : shapes) {
    const size_t n = static_cast<size_t>(width) * height;
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    const double bytes = 2.0 * static_cast<double>(n) * sizeof(float);
    Rotation<float> buffers(n);
    for (size_t i = 0; i < buffers.sets(); ++i) index_kernel<<<1024, 256>>>(const_cast<float*>(buffers.in(i)), n);
    const auto right = [&, w = width, h = height](const char* what) {
      unsigned wrong = 0;
      CHECK(cudaMemset(d_wrong, 0, sizeof wrong));
      count_wrong_kernel<<<1024, 256>>>(buffers.out(0), w, h, d_wrong);
      CHECK(cudaMemcpy(&wrong, d_wrong, sizeof wrong, cudaMemcpyDeviceToHost));
      Require(wrong == 0, what);
      CHECK(cudaMemset(buffers.out(0), 0, n * sizeof(float)));
    };
    const auto reference = [&, w = width, h = height](size_t call) {
      transpose5_wide(buffers.in(call), buffers.out(call), w, h);
    };
    const auto library = [&, w = static_cast<int>(width), h = static_cast<int>(height)](size_t call) {
      const float one = 1, zero = 0;
      cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_N, h, w, &one, buffers.in(call), w, &zero, buffers.out(call), h,
                  buffers.out(call), h);
    };
    const auto copy = [&](size_t call) {
      CHECK(cudaMemcpyAsync(buffers.out(call), buffers.in(call), n * sizeof(float), cudaMemcpyDeviceToDevice));
    };
    Compare("transpose", size, bytes,
            {{"reference", reference, right}, {"cublasSgeam", library, right}, {"copy", copy}});
  }
  CHECK(cudaFree(d_wrong));
  cublasDestroy(cublas);
}

}  // namespace limits
