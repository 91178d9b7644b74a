#include <cub/device/device_reduce.cuh>

#include "at_limit.h"
#include "reduction.h"

namespace limits {
namespace {

// Reads all elements and stores nothing: no reduction can be faster. The fastest of eleven such kernels at every size
// except the smallest, where all are alike. The store is never executed, which the compiler can't know.
__global__ void read_kernel(const int4* d_in, size_t n, int* d_out) {
  constexpr int kLoads = 4;
  int kept = 0;
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x * kLoads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x * kLoads + threadIdx.x; i < n; i += step) {
    int4 four[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) four[k] = i + k * blockDim.x < n ? __ldcs(d_in + i + k * blockDim.x) : int4{};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) kept |= four[k].x & four[k].y & four[k].z & four[k].w;
  }
  if (kept == 0x12345678) *d_out = kept;
}

}  // namespace

void Reduction() {
  int multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  for (const int power : {20, 22, 24, 25, 28}) {
    const size_t n = size_t{1} << power;
    const std::string size = "2^" + std::to_string(power);
    const double bytes = static_cast<double>(n) * sizeof(int);
    Rotation<int> buffers(n);
    std::vector<int> values(n);
    unsigned state = 1, expected = 0;
    for (int& value : values) {
      state = state * 1664525 + 1013904223;
      value = static_cast<int>(state >> 8) - (1 << 23);
      expected += static_cast<unsigned>(value);
    }
    buffers.Fill(values);
    int *d_sum = nullptr, *d_work = nullptr;
    CHECK(cudaMalloc(&d_sum, sizeof(int)));
    CHECK(cudaMalloc(&d_work, WorkInts(n) * sizeof(int)));
    const auto right = [&](const char* what) {
      int sum = 0;
      CHECK(cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost));
      Require(static_cast<unsigned>(sum) == expected, what);
      CHECK(cudaMemset(d_sum, 0, sizeof sum));
    };
    const auto reference = [&](size_t call) {
      reduce8_shuffle(buffers.in(call), d_sum, static_cast<unsigned>(n), d_work);
    };
    size_t temporary_bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, temporary_bytes, buffers.in(0), d_sum, static_cast<int>(n)));
    void* d_temporary = nullptr;
    CHECK(cudaMalloc(&d_temporary, temporary_bytes));
    const auto library = [&](size_t call) {
      CHECK(cub::DeviceReduce::Sum(d_temporary, temporary_bytes, buffers.in(call), d_sum, static_cast<int>(n)));
    };
    const auto read = [&](size_t call) {
      read_kernel<<<multiprocessors * 4, 512>>>(reinterpret_cast<const int4*>(buffers.in(call)), n / 4, d_sum);
    };
    Compare("reduction", size, bytes,
            {{"reference", reference, right}, {"cub::DeviceReduce::Sum", library, right}, {"read", read}});
    for (void* memory : {static_cast<void*>(d_sum), static_cast<void*>(d_work), d_temporary}) CHECK(cudaFree(memory));
  }
}

}  // namespace limits
