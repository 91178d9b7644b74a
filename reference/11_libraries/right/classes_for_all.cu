// points: 100 + 10
// Classes for handles, plans and memory. The norm is cuBLAS's, which scales the filter too.
#include <cublas_v2.h>
#include <cufft.h>

#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

namespace {

class Blas {
 public:
  Blas() { cublasCreate(&handle_); }
  ~Blas() { cublasDestroy(handle_); }
  Blas(const Blas&) = delete;
  operator cublasHandle_t() const { return handle_; }

 private:
  cublasHandle_t handle_;
};

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) { cudaMalloc(&at_, count * sizeof(T)); }
  ~Buffer() { cudaFree(at_); }
  Buffer(const Buffer&) = delete;
  operator T*() const { return at_; }

 private:
  T* at_ = nullptr;
};

class Plan {
 public:
  Plan(unsigned n, cufftType type, unsigned count) { cufftPlan1d(&handle_, int(n), type, int(count)); }
  ~Plan() { cufftDestroy(handle_); }
  Plan(const Plan&) = delete;
  operator cufftHandle() const { return handle_; }

 private:
  cufftHandle handle_;
};

struct Multiply {
  cufftComplex* spectra;
  const cufftComplex* filter;
  unsigned half;
  __device__ void operator()(unsigned i) const { spectra[i] = cuCmulf(spectra[i], filter[i % half]); }
};

}  // namespace

int libraries1_sum(const int* d_in, unsigned n) {
  Buffer<int> d_sum(1);
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, d_in, (int*)d_sum, n);
  Buffer<char> d_temporary(bytes);
  cub::DeviceReduce::Sum((void*)(char*)d_temporary, bytes, d_in, (int*)d_sum, n);
  int sum;
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  return sum;
}

float libraries2_norm(const float* d_in, unsigned n) {
  float norm;
  cublasSnrm2(Blas(), int(n), d_in, 1, &norm);
  return norm;
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in, d_out, n);
  Buffer<char> d_temporary(bytes);
  cub::DeviceScan::InclusiveSum((void*)(char*)d_temporary, bytes, d_in, d_out, n);
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  const float one = 1, zero = 0;
  const int r = int(rows), c = int(columns);
  cublasSgeam(Blas(), CUBLAS_OP_N, CUBLAS_OP_T, r, c, &zero, nullptr, r, &one, d_in, c, d_out, r);
}

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  const unsigned half = n / 2 + 1;
  Buffer<cufftComplex> spectra(size_t(half) * count), filter(half);
  cufftExecR2C(Plan(n, CUFFT_R2C, count), const_cast<float*>(d_signals), spectra);
  cufftExecR2C(Plan(n, CUFFT_R2C, 1), const_cast<float*>(d_filter), filter);
  // The filter is scaled, which is less than all signals are.
  const float scale = 1.0f / float(n);
  cublasSscal(Blas(), int(2 * half), &scale, reinterpret_cast<float*>(static_cast<cufftComplex*>(filter)), 1);
  cub::DeviceFor::Bulk(half * count, Multiply{spectra, filter, half});
  cufftExecC2R(Plan(n, CUFFT_C2R, count), spectra, d_out);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
