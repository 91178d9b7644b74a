// points: 100 + 10
// Memory by cudaMallocAsync in a stream, plans that share one work area from the caller, spectra that are transformed
// in two streams, and results of cuBLAS that stay on the device.
#include <cublas_v2.h>
#include <cufft.h>

#include <algorithm>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

namespace {

class Stream {
 public:
  Stream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

  template <typename T>
  T* Take(size_t count) const {
    void* at = nullptr;
    cudaMallocAsync(&at, std::max<size_t>(count, 1) * sizeof(T), stream_);
    return static_cast<T*>(at);
  }
  void Give(void* at) const { cudaFreeAsync(at, stream_); }

  template <typename T>
  T Fetch(const T* d_value) const {
    T value;
    cudaMemcpyAsync(&value, d_value, sizeof value, cudaMemcpyDeviceToHost, stream_);
    cudaStreamSynchronize(stream_);
    return value;
  }

 private:
  cudaStream_t stream_;
};

// A plan without memory of its own.
cufftHandle PlanOf(int n, cufftType type, int count, cudaStream_t stream, size_t* bytes) {
  cufftHandle plan;
  size_t work = 0;
  cufftCreate(&plan);
  cufftSetAutoAllocation(plan, 0);
  cufftMakePlan1d(plan, n, type, count, &work);
  cufftSetStream(plan, stream);
  *bytes = std::max(*bytes, work);
  return plan;
}

struct Multiply {
  cufftComplex* spectra;
  const cufftComplex* filter;
  unsigned half;
  float scale;
  __device__ void operator()(unsigned i) const {
    const cufftComplex a = spectra[i], b = filter[i % half];
    spectra[i] = make_cuComplex((a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale);
  }
};

}  // namespace

int libraries1_sum(const int* d_in, unsigned n) {
  const Stream stream;
  int* const d_sum = stream.Take<int>(1);
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, d_in, d_sum, n, stream);
  char* const d_temporary = stream.Take<char>(bytes);
  cub::DeviceReduce::Sum(d_temporary, bytes, d_in, d_sum, n, stream);
  const int sum = stream.Fetch(d_sum);
  stream.Give(d_temporary);
  stream.Give(d_sum);
  return sum;
}

float libraries2_norm(const float* d_in, unsigned n) {
  const Stream stream;
  float* const d_norm = stream.Take<float>(1);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, stream);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  cublasSnrm2(handle, static_cast<int>(n), d_in, 1, d_norm);
  const float norm = stream.Fetch(d_norm);
  cublasDestroy(handle);
  stream.Give(d_norm);
  return norm;
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  const Stream stream;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in, d_out, n, stream);
  char* const d_temporary = stream.Take<char>(bytes);
  cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, n, stream);
  stream.Give(d_temporary);
}

// The factors are in device memory, as an earlier computation may leave them.
void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  const Stream stream;
  const float factors[2] = {1, 0};
  float* const d_factors = stream.Take<float>(2);
  cudaMemcpyAsync(d_factors, factors, sizeof factors, cudaMemcpyHostToDevice, stream);
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSetStream(handle, stream);
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_T, rows, columns, d_factors, d_in, columns, d_factors + 1, d_in, columns,
              d_out, rows);
  cublasDestroy(handle);
  stream.Give(d_factors);
}

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  const unsigned half = n / 2 + 1;
  const Stream stream, other;
  cufftComplex* const d_spectra = stream.Take<cufftComplex>(size_t(count) * half);
  cufftComplex* const d_filter_spectrum = other.Take<cufftComplex>(half);
  size_t bytes = 0, bytes_of_filter = 0;
  const cufftHandle there = PlanOf(n, CUFFT_R2C, count, stream, &bytes);
  const cufftHandle back = PlanOf(n, CUFFT_C2R, count, stream, &bytes);
  const cufftHandle filter = PlanOf(n, CUFFT_R2C, 1, other, &bytes_of_filter);
  char* const d_area = stream.Take<char>(bytes);
  char* const d_area_of_filter = other.Take<char>(bytes_of_filter);
  cufftSetWorkArea(there, d_area);
  cufftSetWorkArea(back, d_area);
  cufftSetWorkArea(filter, d_area_of_filter);
  cufftExecR2C(filter, const_cast<float*>(d_filter), d_filter_spectrum);
  cufftExecR2C(there, const_cast<float*>(d_signals), d_spectra);
  cudaEvent_t ready;
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  cudaEventRecord(ready, other);
  cudaStreamWaitEvent(stream, ready, 0);
  cub::DeviceFor::Bulk(count * half, Multiply{d_spectra, d_filter_spectrum, half, 1.0f / n}, stream);
  cufftExecC2R(back, d_spectra, d_out);
  cudaEventDestroy(ready);
  for (const cufftHandle plan : {there, back, filter}) cufftDestroy(plan);
  // This stream has waited for the other one's work.
  for (void* d_memory : {(void*)d_area, (void*)d_spectra, (void*)d_area_of_filter, (void*)d_filter_spectrum}) {
    stream.Give(d_memory);
  }
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
