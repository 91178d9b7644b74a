// Atomics on global and shared memory, with and without contention, with and without a use of the old value.
#include "cases.h"

namespace gpu_cases {
namespace {

constexpr unsigned kBlocks = 8, kThreads = 128;

// Each group of 1 << shift neighbouring threads shares a counter; counters are `stride` words apart.
__global__ void global_add_kernel(int* out, unsigned shift, unsigned stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[(i >> shift) * stride], static_cast<int>(i));
}

__global__ void global_add_return_kernel(int* out, int* old, unsigned shift) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  old[i] = atomicAdd(&out[i >> shift], static_cast<int>(i));
}

__global__ void global_float_add_kernel(float* out, unsigned shift) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&out[i >> shift], static_cast<float>(i));
}

__global__ void global_exchange_kernel(unsigned long long* out, unsigned long long* old) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  old[i] = atomicExch(&out[i], i);
}

__global__ void global_cas_kernel(unsigned* out, unsigned* old) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  old[i] = atomicCAS(&out[i], 0u, i);
}

// One counter for all; every thread adds the same. The compiler may let one lane add for its warp.
__global__ void global_count_kernel(int* out) { atomicAdd(out, 1); }

__global__ void shared_add_kernel(int* out, unsigned shift, unsigned stride) {
  __shared__ int s_count[32 * 128];
  for (unsigned k = threadIdx.x; k < 32 * 128; k += blockDim.x) s_count[k] = 0;
  __syncthreads();
  atomicAdd(&s_count[(threadIdx.x >> shift) * stride], static_cast<int>(threadIdx.x));
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s_count[threadIdx.x];
}

__global__ void shared_max_return_kernel(int* out, unsigned shift) {
  __shared__ int s_count[128];
  s_count[threadIdx.x] = 0;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicMax(&s_count[threadIdx.x >> shift], static_cast<int>(threadIdx.x));
}

// For timing: many adds per thread.
__global__ void global_histogram_kernel(const unsigned* index, int* out, unsigned bins, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&out[index[i] % bins], 1);
  }
}

__global__ void shared_histogram_kernel(const unsigned* index, int* out, unsigned n) {
  __shared__ int s_count[256];
  s_count[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&s_count[index[i] % 256], 1);
  }
  __syncthreads();
  atomicAdd(&out[threadIdx.x], s_count[threadIdx.x]);
}

const Registration registration([] {
  for (const unsigned shift : {0u, 1u, 5u}) {
    const std::string text = std::to_string(1 << shift);
    Add("atomic global add shared by " + text, kCounting,
        [shift](const Memory& m) { global_add_kernel<<<kBlocks, kThreads>>>(m.Out<int>(), shift, 1); });
    Add("atomic global add, old value, shared by " + text, kCounting, [shift](const Memory& m) {
      global_add_return_kernel<<<kBlocks, kThreads>>>(m.Out<int>(), m.Out<int>() + 4096, shift);
    });
    Add("atomic global float add shared by " + text, kCounting,
        [shift](const Memory& m) { global_float_add_kernel<<<kBlocks, kThreads>>>(m.out, shift); });
    Add("atomic shared add shared by " + text, kCounting,
        [shift](const Memory& m) { shared_add_kernel<<<kBlocks, kThreads>>>(m.Out<int>(), shift, 1); });
    Add("atomic shared max, old value, shared by " + text, kCounting,
        [shift](const Memory& m) { shared_max_return_kernel<<<kBlocks, kThreads>>>(m.Out<int>(), shift); });
  }
  for (const unsigned stride : {2u, 8u, 32u}) {
    const std::string text = std::to_string(stride);
    Add("atomic global add stride " + text, kCounting,
        [stride](const Memory& m) { global_add_kernel<<<kBlocks, kThreads>>>(m.Out<int>(), 0, stride); });
    Add("atomic shared add stride " + text, kCounting,
        [stride](const Memory& m) { shared_add_kernel<<<kBlocks, kThreads>>>(m.Out<int>(), 0, stride); });
  }
  Add("atomic global exchange 8 bytes", kCounting, [](const Memory& m) {
    global_exchange_kernel<<<kBlocks, kThreads>>>(m.Out<unsigned long long>(), m.Out<unsigned long long>() + 4096);
  });
  Add("atomic global compare and swap", kCounting,
      [](const Memory& m) { global_cas_kernel<<<kBlocks, kThreads>>>(m.Out<unsigned>(), m.Out<unsigned>() + 4096); });
  Add("atomic global count", kCounting,
      [](const Memory& m) { global_count_kernel<<<kBlocks, kThreads>>>(m.Out<int>()); });

  Add("atomics, one address a warp", kTiming,
      [](const Memory& m) { global_add_kernel<<<(1 << 22) / 256, 256>>>(m.Out<int>(), 5, 1); });
  Add("atomics, one address a thread", kTiming,
      [](const Memory& m) { global_add_kernel<<<(1 << 22) / 256, 256>>>(m.Out<int>(), 0, 1); });
  Add("atomics, one address", kTiming,
      [](const Memory& m) { global_add_kernel<<<(1 << 20) / 256, 256>>>(m.Out<int>(), 31, 1); });
  for (const unsigned bins : {256u, 65536u}) {
    Add("histogram, global, " + std::to_string(bins) + " bins", kTiming,
        [bins](const Memory& m) { global_histogram_kernel<<<2112, 256>>>(m.index, m.Out<int>(), bins, kIndices); });
  }
  Add("histogram, shared, 256 bins", kTiming,
      [](const Memory& m) { shared_histogram_kernel<<<1056, 256>>>(m.index, m.Out<int>(), kIndices); });
});

}  // namespace
}  // namespace gpu_cases
