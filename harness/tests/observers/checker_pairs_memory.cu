// Out of bounds, misaligned and invalid addresses, each next to a right version.
#include "checker_pairs.h"

// Global memory.

// expect: out of bounds, global
// launch: 5 x 256
// says: just past the end of out (4096 bytes, offset 4096)
// says: check the index against the array's length
extern "C" __global__ void store_past_the_end(Buffers b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b.out[i] = i;  // here
}

// expect: clean
// launch: 5 x 256
extern "C" __global__ void store_behind_a_guard(Buffers b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < b.n) b.out[i] = i;
}

// expect: out of bounds, global
// launch: 4 x 256
extern "C" __global__ void load_one_too_far(Buffers b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b.out[i] = b.in[i + 1];  // here
}

// expect: clean
// launch: 4 x 256
extern "C" __global__ void load_the_last(Buffers b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b.out[i] = i + 1 < b.n ? b.in[i + 1] : 0;
}

// expect: out of bounds, global
// says: 4 bytes before the start of in
// says: the index is negative
extern "C" __global__ void load_before_the_start(Buffers b) {
  b.out[threadIdx.x] = b.in[static_cast<int>(threadIdx.x) - 1];  // here
}

// expect: clean
extern "C" __global__ void load_from_the_start(Buffers b) {
  b.out[threadIdx.x] = threadIdx.x > 0 ? b.in[threadIdx.x - 1] : 0;
}

// expect: out of bounds, global
// launch: 1 x 1
// says: the last 4 of them past the end of odd
extern "C" __global__ void store_half_outside(Buffers b) {
  reinterpret_cast<long long*>(b.odd)[2] = b.n;  // here
}

// expect: clean
// launch: 1 x 1
extern "C" __global__ void store_just_inside(Buffers b) { reinterpret_cast<long long*>(b.odd)[1] = b.n; }

// expect: out of bounds, global
// launch: 5 x 60
extern "C" __global__ void row_below_the_last(Buffers b) {
  b.rows[blockIdx.x * 64 + threadIdx.x] = 1;  // here
}

// expect: clean
// launch: 4 x 60
extern "C" __global__ void rows_of_a_pitch(Buffers b) { b.rows[blockIdx.x * 64 + threadIdx.x] = 1; }

// expect: out of bounds, global
// says: checker_pairs_memory.cu
// says: atomic
extern "C" __global__ void atomic_past_the_end(Buffers b) {
  atomicAdd(&b.out[b.n + threadIdx.x], 1);  // here
}

// expect: clean
extern "C" __global__ void atomic_inside(Buffers b) { atomicAdd(&b.out[b.n - 1 - threadIdx.x], 1); }

// expect: invalid address, global
// says: a null pointer
// says: was the pointer ever set?
extern "C" __global__ void null_pointer(Buffers b) {
  b.null[threadIdx.x] = 1;  // here
}

// expect: clean
extern "C" __global__ void null_pointer_checked(Buffers b) {
  if (b.null != nullptr) b.null[threadIdx.x] = 1;
}

// expect: out of bounds, global
// says: in freed (freed) (4096 bytes, offset 0)
// says: after the last kernel that uses it
extern "C" __global__ void freed_buffer(Buffers b) {
  b.out[threadIdx.x] = b.freed[threadIdx.x];  // here
}

// expect: invalid address, global
// says: which is in no allocation
// says: not a device pointer
extern "C" __global__ void host_pointer(Buffers b) {
  b.out[threadIdx.x] = b.host[threadIdx.x];  // here
}

// expect: misaligned address, global
extern "C" __global__ void int_at_an_odd_place(Buffers b) {
  char* bytes = reinterpret_cast<char*>(b.out) + 2;
  reinterpret_cast<int*>(bytes)[threadIdx.x] = 1;  // here
}

// expect: clean
extern "C" __global__ void short_at_an_odd_place(Buffers b) {
  char* bytes = reinterpret_cast<char*>(b.out) + 2;
  reinterpret_cast<short*>(bytes)[threadIdx.x] = 1;
}

// expect: misaligned address, global
// says: is not a multiple of 16
extern "C" __global__ void vector_at_one(Buffers b) {
  const int4 v = reinterpret_cast<const int4*>(b.in + 1)[threadIdx.x];  // here
  b.out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// expect: clean
extern "C" __global__ void vector_at_four(Buffers b) {
  const int4 v = reinterpret_cast<const int4*>(b.in + 4)[threadIdx.x];
  b.out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// expect: misaligned address, global
extern "C" __global__ void atomic_at_an_odd_place(Buffers b) {
  atomicAdd(reinterpret_cast<int*>(reinterpret_cast<char*>(b.out) + 1), 1);  // here
}

// Shared memory.

// expect: out of bounds, shared
extern "C" __global__ void shared_past_the_end(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x + b.in[1]] = 1;  // here
  __syncthreads();
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: clean
extern "C" __global__ void shared_inside(Buffers b) {
  __shared__ int s[65];
  s[threadIdx.x + b.in[1]] = 1;
  __syncthreads();
  b.out[threadIdx.x] = s[threadIdx.x + 1];
}

// expect: out of bounds, shared
// launch: 1 x 64, 252 bytes
// says: just past the end of sdata (252 bytes, offset 252)
extern "C" __global__ void dynamic_shared_too_small(Buffers b) {
  extern __shared__ int sdata[];
  sdata[threadIdx.x] = b.in[threadIdx.x];  // here
  __syncthreads();
  b.out[threadIdx.x] = sdata[threadIdx.x ^ 1];
}

// expect: clean
// launch: 1 x 64, 256 bytes
extern "C" __global__ void dynamic_shared_large_enough(Buffers b) {
  extern __shared__ int sdata[];
  sdata[threadIdx.x] = b.in[threadIdx.x];
  __syncthreads();
  b.out[threadIdx.x] = sdata[threadIdx.x ^ 1];
}

// expect: misaligned address, shared
extern "C" __global__ void shared_vector_at_one(Buffers b) {
  __shared__ __align__(16) int s[132];
  s[threadIdx.x] = s[threadIdx.x + 64] = 1;
  __syncthreads();
  const int2 v = reinterpret_cast<int2*>(s + b.in[1])[threadIdx.x];  // here
  b.out[threadIdx.x] = v.x + v.y;
}

// expect: clean
extern "C" __global__ void shared_vector_at_two(Buffers b) {
  __shared__ __align__(16) int s[132];
  for (int k = threadIdx.x; k < 132; k += 64) s[k] = 1;
  __syncthreads();
  const int2 v = reinterpret_cast<int2*>(s + b.in[2])[threadIdx.x];
  b.out[threadIdx.x] = v.x + v.y;
}

__device__ __noinline__ int read_through(const int* p, int i) {
  return p[i];  // here
}

// expect: out of bounds, shared
extern "C" __global__ void shared_by_a_generic_pointer(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  b.out[threadIdx.x] = read_through(s, threadIdx.x + b.in[64]);
}

// Local and constant memory.

// expect: out of bounds, local
// says: the thread's local array
extern "C" __global__ void local_past_the_end(Buffers b) {
  int a[8];
  for (int k = 0; k < 8; ++k) a[k] = b.in[k];
  b.out[threadIdx.x] = a[b.in[500 + threadIdx.x]];  // here
}

// expect: clean
extern "C" __global__ void local_inside(Buffers b) {
  int a[8];
  for (int k = 0; k < 8; ++k) a[k] = b.in[k];
  b.out[threadIdx.x] = a[b.in[threadIdx.x] & 7];
}

__constant__ int table[4] = {1, 2, 3, 4};

// expect: out of bounds, constant
// says: table
// says: __constant__ array
extern "C" __global__ void constant_past_the_end(Buffers b) {
  b.out[threadIdx.x] = table[b.in[threadIdx.x]];  // here
}

// expect: clean
extern "C" __global__ void constant_inside(Buffers b) { b.out[threadIdx.x] = table[b.in[threadIdx.x] & 3]; }
