// points: 100 + 10
// Thrust's policies with a stream, one for each call; the product by for_each_n over a counting iterator.
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>

#include <cmath>

#include "libraries.h"

// In a separate stream, with a policy that waits only if necessary.
class Stream {
 public:
  Stream() { cudaStreamCreate(&stream_); }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  auto policy() const { return thrust::cuda::par_nosync.on(stream_); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_;
};

int libraries1_sum(const int* d_in, unsigned n) {
  Stream stream;
  return thrust::reduce(thrust::cuda::par.on(stream.get()), d_in, d_in + n);
}

float libraries2_norm(const float* d_in, unsigned n) {
  Stream stream;
  const auto square = [] __device__(double x) -> double { return x * x; };
  return std::sqrt(
      thrust::transform_reduce(thrust::cuda::par.on(stream.get()), d_in, d_in + n, square, 0.0, thrust::plus<double>()));
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  Stream stream;
  thrust::inclusive_scan(stream.policy(), d_in, d_in + n, d_out, thrust::plus<>{});
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  Stream stream;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, stream.get());
  const float one = 1.0f, zero = 0.0f;
  const int m = rows, n = columns;
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_T, m, n, &one, d_in, n, &zero, d_in, n, d_out, m);
  cublasDestroy(handle);
}

struct MultiplyOne {
  cufftComplex* spectra;
  const cufftComplex* filter;
  int half, n;
  __host__ __device__ void operator()(int i) const {
    const cufftComplex a = spectra[i], b = filter[i % half];
    spectra[i].x = (a.x * b.x - a.y * b.y) / n;
    spectra[i].y = (a.y * b.x + a.x * b.y) / n;
  }
};

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  Stream stream;
  const int half = n / 2 + 1;
  cufftComplex* d_filter_spectrum;
  cudaMallocAsync(&d_filter_spectrum, sizeof(cufftComplex) * half * (count + 1), stream.get());
  cufftComplex* d_spectra = d_filter_spectrum + half;
  cufftHandle plan[3];
  cufftPlan1d(plan + 0, n, CUFFT_R2C, 1);
  cufftPlan1d(plan + 1, n, CUFFT_R2C, count);
  cufftPlan1d(plan + 2, n, CUFFT_C2R, count);
  for (auto each : plan) cufftSetStream(each, stream.get());
  cufftExecR2C(plan[0], (cufftReal*)d_filter, d_filter_spectrum);
  cufftExecR2C(plan[1], (cufftReal*)d_signals, d_spectra);
  thrust::for_each_n(stream.policy(), thrust::make_counting_iterator(0), half * count,
                     MultiplyOne{d_spectra, d_filter_spectrum, half, int(n)});
  cufftExecC2R(plan[2], d_spectra, d_out);
  cudaStreamSynchronize(stream.get());
  for (auto each : plan) cufftDestroy(each);
  cudaFreeAsync(d_filter_spectrum, stream.get());
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
