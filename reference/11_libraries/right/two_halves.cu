// points: 100 + 10
// The norm as the root of a vector's product with itself, and a sum in two halves. What was taken goes onto a list of
// what is to be given back at the end.
#include <cublas_v2.h>
#include <cufft.h>

#include <cmath>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <functional>
#include <vector>

#include "libraries.h"

namespace {

// What is to be done at the end, the last first.
class AtTheEnd {
 public:
  ~AtTheEnd() {
    while (!todo_.empty()) {
      todo_.back()();
      todo_.pop_back();
    }
  }
  void operator()(std::function<void()> what) { todo_.push_back(std::move(what)); }

 private:
  std::vector<std::function<void()>> todo_;
};

template <typename T>
T* Allocate(size_t bytes, AtTheEnd& at_the_end) {
  T* d = nullptr;
  cudaMalloc(&d, bytes);
  at_the_end([d] { cudaFree(d); });
  return d;
}

cufftHandle MakePlan(unsigned n, cufftType type, unsigned count, AtTheEnd& at_the_end) {
  cufftHandle plan;
  cufftPlan1d(&plan, static_cast<int>(n), type, static_cast<int>(count));
  at_the_end([plan] { cufftDestroy(plan); });
  return plan;
}

cublasHandle_t MakeHandle(AtTheEnd& at_the_end) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  at_the_end([handle] { cublasDestroy(handle); });
  return handle;
}

struct Multiply {
  cufftComplex* spectra;
  unsigned half, all;
  float n;
  __device__ void operator()(unsigned i) const {
    const cufftComplex product = cuCmulf(spectra[i], spectra[all + i % half]);
    spectra[i] = cufftComplex{product.x / n, product.y / n};
  }
};

}  // namespace

// Two halves, the sums side by side.
int libraries1_sum(const int* d_in, unsigned n) {
  AtTheEnd at_the_end;
  const unsigned first = n / 2, second = n - first;
  size_t bytes = 0;
  int* const d_sums = Allocate<int>(2 * sizeof(int), at_the_end);
  cub::DeviceReduce::Sum(nullptr, bytes, d_in, d_sums, second);
  void* const d_temporary = Allocate<void>(bytes, at_the_end);
  cub::DeviceReduce::Sum(d_temporary, bytes, d_in, d_sums, first);
  cub::DeviceReduce::Sum(d_temporary, bytes, d_in + first, d_sums + 1, second);
  unsigned sums[2];
  cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost);
  return static_cast<int>(sums[0] + sums[1]);
}

float libraries2_norm(const float* d_in, unsigned n) {
  AtTheEnd at_the_end;
  float square = 0;
  cublasSdot(MakeHandle(at_the_end), static_cast<int>(n), d_in, 1, d_in, 1, &square);
  return std::sqrt(square);
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  AtTheEnd at_the_end;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in, d_out, static_cast<int>(n));
  void* const d_temporary = Allocate<void>(bytes, at_the_end);
  cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, static_cast<int>(n));
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows * columns == 0) return;
  AtTheEnd at_the_end;
  const float one = 1, zero = 0;
  cublasSgeam(MakeHandle(at_the_end), CUBLAS_OP_N, CUBLAS_OP_T, rows, columns, &zero, d_out, rows, &one, d_in, columns,
              d_out, rows);
}

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  AtTheEnd at_the_end;
  const unsigned half = n / 2 + 1, all = half * count;
  auto* const d_spectra = Allocate<cufftComplex>((all + half) * sizeof(cufftComplex), at_the_end);
  cufftExecR2C(MakePlan(n, CUFFT_R2C, 1, at_the_end), const_cast<float*>(d_filter), d_spectra + all);
  cufftExecR2C(MakePlan(n, CUFFT_R2C, count, at_the_end), const_cast<float*>(d_signals), d_spectra);
  cub::DeviceFor::Bulk(all, Multiply{d_spectra, half, all, static_cast<float>(n)});
  cufftExecC2R(MakePlan(n, CUFFT_C2R, count, at_the_end), d_spectra, d_out);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
