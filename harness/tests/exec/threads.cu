// The benchmarks' kernels, and two whose blocks wait for each other or share memory.
#include "../../dev/bench/interpreter_bench.cu"

extern "C" __global__ void histogram(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&out[in[i] % 64], in[i]);
}

// Each block waits for the one before it.
extern "C" __global__ void chain(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    volatile unsigned* flag = out + n;
    while (blockIdx.x > 0 && flag[blockIdx.x - 1] != 77) {
    }
    __threadfence();
    flag[blockIdx.x] = 77;
  }
  __syncthreads();
  if (i < n) out[i] = in[i] + blockIdx.x;
}
