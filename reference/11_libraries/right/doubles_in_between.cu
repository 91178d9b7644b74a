// points: 100 + 10
// Double precision where numbers are added up or multiplied. A macro calls each of CUB's algorithms twice.
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/iterator/transform_iterator.h>

#include <cmath>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

#define TWICE(function, ...)                     \
  do {                                           \
    size_t bytes_ = 0;                           \
    void* d_temporary_ = nullptr;                \
    function(d_temporary_, bytes_, __VA_ARGS__); \
    cudaMalloc(&d_temporary_, bytes_);           \
    function(d_temporary_, bytes_, __VA_ARGS__); \
    cudaFree(d_temporary_);                      \
  } while (0)

struct Identity {
  __device__ int operator()(int x) const { return x; }
};
struct Square {
  __device__ double operator()(float x) const { return static_cast<double>(x) * x; }
};

template <typename Out, typename In, typename Function>
static Out SumOf(const In* d_in, unsigned n, Function function) {
  Out* d_sum;
  cudaMalloc(&d_sum, sizeof(Out));
  const auto first = thrust::make_transform_iterator(d_in, function);
  TWICE(cub::DeviceReduce::Sum, first, d_sum, n);
  Out sum;
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(d_sum);
  return sum;
}

int libraries1_sum(const int* d_in, unsigned n) { return SumOf<int>(d_in, n, Identity()); }

float libraries2_norm(const float* d_in, unsigned n) {
  return static_cast<float>(std::sqrt(SumOf<double>(d_in, n, Square())));
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) { TWICE(cub::DeviceScan::InclusiveSum, d_in, d_out, n); }

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  // B is not read, but its leading dimension is checked.
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, d_in, columns, &zero, nullptr, rows, d_out, rows);
  cublasDestroy(handle);
}

// The product is rounded once, when it is divided by n.
struct Multiply {
  cufftComplex* spectra;
  unsigned all, half;
  double n;
  __device__ void operator()(unsigned i) const {
    const cuDoubleComplex product =
        cuCmul(cuComplexFloatToDouble(spectra[i]), cuComplexFloatToDouble(spectra[all + i % half]));
    spectra[i] = make_cuFloatComplex(product.x / n, product.y / n);
  }
};

// The filter's spectrum comes after the others.
void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  const unsigned half = n / 2 + 1, all = count * half;
  cufftComplex* d_spectra;
  cudaMalloc(&d_spectra, (all + half) * sizeof(cufftComplex));
  cufftHandle signals, filter, back;
  cufftPlan1d(&signals, n, CUFFT_R2C, count);
  cufftPlan1d(&filter, n, CUFFT_R2C, 1);
  cufftPlan1d(&back, n, CUFFT_C2R, count);
  cufftExecR2C(signals, const_cast<float*>(d_signals), d_spectra);
  cufftExecR2C(filter, const_cast<float*>(d_filter), d_spectra + all);
  cub::DeviceFor::Bulk(all, Multiply{d_spectra, all, half, static_cast<double>(n)});
  cufftExecC2R(back, d_spectra, d_out);
  cufftDestroy(back);
  cufftDestroy(filter);
  cufftDestroy(signals);
  cudaFree(d_spectra);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
