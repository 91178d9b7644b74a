// Kernels as people write them that random programs (dev/cosim) do not make: they wait, share, print and stop.
#include <cassert>
#include <cstdio>

// --- progress -------------------------------------------------------------------------------------------------------

__device__ int g_lock = 0;
__device__ int g_guarded = 0;

// Lanes of one warp contend for a lock: the holder must get to run.
extern "C" __global__ void spin_lock() {
  bool done = false;
  while (!done) {
    if (atomicCAS(&g_lock, 0, 1) == 0) {
      __threadfence();
      *reinterpret_cast<volatile int*>(&g_guarded) = g_guarded + 1;
      __threadfence();
      atomicExch(&g_lock, 0);
      done = true;
    }
  }
}

// The critical section is after the loop: a scheduler that waits for all lanes at the loop's exit hangs.
extern "C" __global__ void spin_lock_outside() {
  while (atomicCAS(&g_lock, 0, 1) != 0) {
  }
  __threadfence();
  *reinterpret_cast<volatile int*>(&g_guarded) = g_guarded + 1;
  __threadfence();
  atomicExch(&g_lock, 0);
}

// Each block waits for the one before it.
extern "C" __global__ void chain(volatile int* d_flags, int* d_out) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while ((before = d_flags[blockIdx.x - 1]) == 0) {
      }
    }
    __threadfence();
    d_out[blockIdx.x] = before;
    __threadfence();
    d_flags[blockIdx.x] = before + 1;
  }
}

// Each block waits for the one after it: more than one has to be resident.
extern "C" __global__ void chain_backwards(volatile int* d_flags, int* d_out) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x + 1 < gridDim.x) {
      while ((before = d_flags[blockIdx.x + 1]) == 0) __nanosleep(100);
    }
    __threadfence();
    d_out[blockIdx.x] = before;
    __threadfence();
    d_flags[blockIdx.x] = before + 1;
  }
}

// A warp that leaves early must not keep the others from their barrier.
extern "C" __global__ void early_exit(int* d_out) {
  __shared__ int s_sum;
  if (threadIdx.x >= 96) return;
  if (threadIdx.x == 0) s_sum = 0;
  __syncthreads();
  atomicAdd(&s_sum, static_cast<int>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 5) *d_out = s_sum;
}

// --- memory ---------------------------------------------------------------------------------------------------------

__device__ unsigned g_counter;

extern "C" __global__ void atomics(const int* d_in, int* d_i, unsigned* d_u, unsigned long long* d_l, float* d_f,
                                   double* d_d, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&d_i[0], d_in[i]);
  atomicMin(&d_i[1], d_in[i]);
  atomicMax(&d_i[2], d_in[i]);
  atomicXor(&d_i[3], d_in[i]);
  atomicOr(&d_u[0], 1u << (i & 31));
  atomicAnd(&d_u[1], ~(1u << (i & 7)));
  d_u[8 + i] = atomicInc(&d_u[2], 9);
  atomicAdd(&d_l[0], static_cast<unsigned long long>(d_in[i]) << 20);
  atomicAdd(d_f, 0.5f);
  atomicAdd(d_d, 0.25);
  atomicAdd(&g_counter, 1u);
}

extern "C" __global__ void dynamic_shared(const int* d_in, int* d_out) {
  extern __shared__ int s_all[];
  int* s_a = s_all;
  double* s_b = reinterpret_cast<double*>(s_all + blockDim.x);
  s_a[threadIdx.x] = d_in[threadIdx.x];
  s_b[threadIdx.x] = 0.5 * d_in[threadIdx.x];
  __syncthreads();
  const unsigned other = blockDim.x - 1 - threadIdx.x;
  d_out[threadIdx.x] = s_a[other] + static_cast<int>(s_b[other]);
}

// --- shape of the grid, output --------------------------------------------------------------------------------------

extern "C" __global__ void three_dimensions(unsigned* d_out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
                 z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;
  d_out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z;
}

extern "C" __global__ void prints() {
  if (threadIdx.x < 2)
    printf("block %d thread %u: %.2f %s %c %5lld%%\n", blockIdx.x, threadIdx.x, 1.5 * threadIdx.x, "text", 'x',
           1234567890123ll);
}

extern "C" __global__ void asserts(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }
