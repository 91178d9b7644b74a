// Kernels for engine_test: control flow, calls, memory, synchronisation as nvcc compiles them.
#include <cstdio>

extern "C" __global__ void reduce_interleaved(const int* in, int* out, unsigned n) {
  extern __shared__ int sdata[];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  sdata[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__constant__ int table[64];
__device__ int counter_variable = 41;
__device__ const char* const message = "constant";
extern "C" __global__ void module_variables(int* out) {
  out[threadIdx.x] = table[threadIdx.x] + table[(threadIdx.x * 7) % 64];
  if (threadIdx.x == 0) {
    ++counter_variable;
    out[64] = message[3];
  }
}

// Lanes reach the same __shfl_sync from different sides of a branch; they are gathered.
extern "C" __global__ void gathered(int* out) {
  const int t = threadIdx.x;
  int v;
  if (t % 2) {
    v = t * 3;
    __syncwarp();
  } else {
    v = t * 5;
    __syncwarp();
  }
  out[t] = __shfl_sync(0xffffffffu, v, (t + 1) % 32);
}

// Lanes take part in one operation from different places in the code, each with its own registers, constants and
// conditions, as on an H200. `mask` names the whole warp.
__device__ __noinline__ int of_even(int v, unsigned mask) {
  const int w = __shfl_sync(mask, v, 1);
  return w * 3 + __popc(__ballot_sync(mask, v & 1)) * 1000 + (__all_sync(mask, v > 0) ? 1 : 0) * 100000;
}
__device__ __noinline__ int of_odd(int v, unsigned mask) {
  const int w = __shfl_sync(mask, v, 0);
  return w * 5 + __popc(__ballot_sync(mask, true)) * 1000 + (__all_sync(mask, !(v < 0)) ? 1 : 0) * 100000;
}
extern "C" __global__ void gathered_from_places(int* out, unsigned mask) {
  const int t = threadIdx.x, v = t + 100;
  out[t] = t % 2 ? of_odd(v, mask) : of_even(v, mask);
  int r = 0;
  if (t < 16) {
    for (int k = 0; k < out[32]; ++k) r += out[33 + k];
    r += __shfl_sync(0xffffffffu, v, 20) + 1;
  } else {
    r = __shfl_sync(0xffffffffu, v, 3) * 2 + out[40];
  }
  out[64 + t] = r;
  // Only some lanes' values agree, and the result goes to the register of the value.
  out[96 + t] = t < 8 ? __match_any_sync(0xffffffffu, t / 4) : __match_any_sync(0xffffffffu, t / 8 + 0 * out[41]);
}

// Half warps shuffle in loops of different lengths with one full mask: one half leaves its loop before the other.
extern "C" __global__ void gathered_from_loops(int* out) {
  const int t = threadIdx.x, rounds = t < 16 ? 3 : 5;
  int sum = 0;
  for (int k = 0; k < rounds; ++k) sum += __shfl_sync(0xffffffffu, t + k, 0, 16);
  const int first = sum;
  for (int k = rounds; k < 5; ++k) sum += 1000 * __shfl_sync(0xffffffffu, first, 15, 16);
  out[t] = sum;
}

// What printf returns: how many arguments it took. %.*f is no conversion on the device.
extern "C" __global__ void printf_results(const char* none, int* out) {
  out[0] = printf("nothing\n");
  out[1] = printf("%d %5.2f %%\n", 7, 1.5);
  out[2] = printf("%s %c %llx %p\n", "text", 'a', 1ull << 40, none);
  out[3] = printf("%*d %.*f\n", 4, 7, 2, 1.5);
  out[4] = printf(none);
}

extern "C" __global__ void heap(int* out) {
  int* p = (int*)malloc(16 * sizeof(int));
  for (int k = 0; k < 16; ++k) p[k] = threadIdx.x + k;
  int s = 0;
  for (int k = 0; k < 16; ++k) s += p[k];
  free(p);
  out[threadIdx.x] = s;
}
struct Big {
  int v[64];
};
extern "C" __global__ void big_parameter(const __grid_constant__ Big big, int* out) {
  out[threadIdx.x] = big.v[(threadIdx.x * 5) % 64];
}

// Lanes reach one shuffle through two calls of the function that holds it.
__device__ __noinline__ int rotate(int v) { return __shfl_sync(0xffffffffu, v, (threadIdx.x + 5) % 32); }
extern "C" __global__ void gathered_in_calls(int* out) {
  const int t = threadIdx.x;
  out[t] = t % 4 < 2 ? rotate(t * 7) + 1 : rotate(t * 9) * 2;
}
