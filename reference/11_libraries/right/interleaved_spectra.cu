// points: 100 + 10
// Strides: the numbers k of all spectra are neighbours, so that a product is a column of a matrix times one number of
// the filter. Has a main for trying it out.
#include <cublas_v2.h>
#include <cufft.h>

#include <cstdio>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

#define CHECK(call)                                                                         \
  do {                                                                                      \
    const int status = static_cast<int>(call);                                              \
    if (status != 0) std::printf("%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, status); \
  } while (0)

int libraries1_sum(const int* d_in, unsigned n) {
  int *d_sum, sum = 0;
  size_t bytes = 0;
  void* d_temporary = nullptr;
  CHECK(cudaMalloc(&d_sum, sizeof(int)));
  CHECK(cub::DeviceReduce::Reduce(nullptr, bytes, d_in, d_sum, n, cuda::std::plus<int>{}, 0));
  CHECK(cudaMalloc(&d_temporary, bytes));
  CHECK(cub::DeviceReduce::Reduce(d_temporary, bytes, d_in, d_sum, n, cuda::std::plus<int>{}, 0));
  CHECK(cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDefault));
  CHECK(cudaFree(d_temporary));
  CHECK(cudaFree(d_sum));
  return sum;
}

float libraries2_norm(const float* d_in, unsigned n) {
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  float norm = 0;
  CHECK(cublasSnrm2(handle, n, d_in, 1, &norm));
  CHECK(cublasDestroy(handle));
  return norm;
}

// The general scan, with the operation that InclusiveSum has.
void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  size_t bytes = 0;
  void* d_temporary = nullptr;
  CHECK(cub::DeviceScan::InclusiveScan(nullptr, bytes, d_in, d_out, cuda::std::plus<int>{}, n));
  CHECK(cudaMalloc(&d_temporary, bytes));
  CHECK(cub::DeviceScan::InclusiveScan(d_temporary, bytes, d_in, d_out, cuda::std::plus<int>{}, n));
  CHECK(cudaFree(d_temporary));
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  const float alpha[2] = {1, 0};
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  CHECK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, alpha, d_in, columns, alpha + 1, d_out, rows,
                    d_out, rows));
  CHECK(cublasDestroy(handle));
}

struct MultiplyColumns {
  cufftComplex* spectra;
  const cufftComplex* filter;
  unsigned count;
  float scale;
  __device__ void operator()(unsigned i) const {
    const cufftComplex a = spectra[i], b = filter[i / count];
    spectra[i] = {(a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale};
  }
};

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  int length = static_cast<int>(n), signals = static_cast<int>(count), half = length / 2 + 1;
  cufftComplex *d_spectra, *d_filter_spectrum;
  CHECK(cudaMalloc(&d_spectra, sizeof(cufftComplex) * half * count));
  CHECK(cudaMalloc(&d_filter_spectrum, sizeof(cufftComplex) * half));
  cufftHandle plans[3];
  CHECK(cufftPlanMany(&plans[0], 1, &length, &length, 1, length, &half, signals, 1, CUFFT_R2C, signals));
  CHECK(cufftPlanMany(&plans[1], 1, &length, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, 1));
  CHECK(cufftPlanMany(&plans[2], 1, &length, &half, signals, 1, &length, 1, length, CUFFT_C2R, signals));
  CHECK(cufftExecR2C(plans[0], const_cast<float*>(d_signals), d_spectra));
  CHECK(cufftExecR2C(plans[1], const_cast<float*>(d_filter), d_filter_spectrum));
  CHECK(cub::DeviceFor::Bulk(half * count, MultiplyColumns{d_spectra, d_filter_spectrum, count, 1.0f / n}));
  CHECK(cufftExecC2R(plans[2], d_spectra, d_out));
  for (cufftHandle plan : plans) CHECK(cufftDestroy(plan));
  CHECK(cudaFree(d_filter_spectrum));
  CHECK(cudaFree(d_spectra));
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}

int main() {
  const int h_in[] = {3, 1, 4, 1, 5};
  int* d_in;
  CHECK(cudaMalloc(&d_in, sizeof h_in));
  CHECK(cudaMemcpy(d_in, h_in, sizeof h_in, cudaMemcpyHostToDevice));
  std::printf("%d\n", libraries1_sum(d_in, 5));
  CHECK(cudaFree(d_in));
}
