// Reads of what nobody has written, each beside what is right.
#include "checker_pairs.h"

// expect: uninitialised read, global
extern "C" __global__ void global_never_written(Buffers b) {
  b.out[threadIdx.x] = b.raw[threadIdx.x];  // here
}

// expect: clean
extern "C" __global__ void global_written_first(Buffers b) {
  b.raw[threadIdx.x] = 1;
  b.out[threadIdx.x] = b.raw[threadIdx.x];
}

// expect: uninitialised read, global
extern "C" __global__ void global_half_written(Buffers b) {
  if (threadIdx.x < 32) b.raw[threadIdx.x] = 1;
  b.out[threadIdx.x] = b.raw[threadIdx.x];  // here
}

// expect: uninitialised read, global
// says: times   64
// says: set the value first
extern "C" __global__ void counter_never_set(Buffers b) {
  atomicAdd(&b.raw[threadIdx.x], 1);  // here
}

// expect: clean
extern "C" __global__ void counter_set_first(Buffers b) {
  b.raw[threadIdx.x] = 0;
  atomicAdd(&b.raw[threadIdx.x], 1);
}

// expect: uninitialised read, global
extern "C" __global__ void vector_with_a_hole(Buffers b) {
  b.raw[4 * threadIdx.x] = b.raw[4 * threadIdx.x + 1] = b.raw[4 * threadIdx.x + 3] = 1;
  const int4 v = reinterpret_cast<const int4*>(b.raw)[threadIdx.x];  // here
  b.out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// expect: clean
extern "C" __global__ void vector_without_a_hole(Buffers b) {
  for (int k = 0; k < 4; ++k) b.raw[4 * threadIdx.x + k] = k;
  const int4 v = reinterpret_cast<const int4*>(b.raw)[threadIdx.x];
  b.out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// A structure with padding, copied whole: what lies between its members need not be written.
struct Padded {
  char letter;
  int number;
};

// expect: clean
extern "C" __global__ void padding_copied(Buffers b) {
  char* bytes = reinterpret_cast<char*>(b.raw) + 8 * threadIdx.x;
  bytes[0] = 'x';
  *reinterpret_cast<int*>(bytes + 4) = 1;
  const int2 whole = reinterpret_cast<const int2*>(b.raw)[threadIdx.x];
  b.out[threadIdx.x] = whole.y + (whole.x & 0xff);
}

// expect: uninitialised read, global
extern "C" __global__ void wrong_byte(Buffers b) {
  char* bytes = reinterpret_cast<char*>(b.raw);
  bytes[2 * threadIdx.x] = 'x';
  b.out[threadIdx.x] = bytes[2 * threadIdx.x + 1];  // here
}

// expect: clean
extern "C" __global__ void right_byte(Buffers b) {
  char* bytes = reinterpret_cast<char*>(b.raw);
  bytes[2 * threadIdx.x] = 'x';
  b.out[threadIdx.x] = bytes[2 * threadIdx.x];
}

// expect: uninitialised read, shared
// says: shared memory starts with garbage
extern "C" __global__ void shared_never_written(Buffers b) {
  __shared__ int s[64];
  if (b.n < 0) s[threadIdx.x] = 1;
  __syncthreads();
  b.out[threadIdx.x] = s[threadIdx.x];  // here
}

// expect: clean
extern "C" __global__ void shared_written_first(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  b.out[threadIdx.x] = s[63 - threadIdx.x];
}

// Every block has its own shared memory, which starts with garbage.
// expect: uninitialised read, shared
// launch: 2 x 64
extern "C" __global__ void shared_written_by_another_block(Buffers b) {
  __shared__ int s[64];
  if (blockIdx.x == 0) s[threadIdx.x] = 1;
  __syncthreads();
  b.out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];  // here
}

// expect: uninitialised read, shared
extern "C" __global__ void shared_counter_never_set(Buffers b) {
  __shared__ int s;
  atomicAdd(&s, b.in[threadIdx.x]);  // here
  __syncthreads();
  b.out[threadIdx.x] = s;
}

// expect: uninitialised read, shared
// launch: 1 x 60
extern "C" __global__ void tile_with_a_ragged_edge(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 32) b.out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 32];  // here
}

// expect: clean
// launch: 1 x 60
extern "C" __global__ void tile_filled_to_its_edge(Buffers b) {
  __shared__ int s[64];
  for (int k = threadIdx.x; k < 64; k += blockDim.x) s[k] = 1;
  __syncthreads();
  if (threadIdx.x < 32) b.out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 32];
}

// expect: uninitialised read, local
// says: give it a value where it is declared
extern "C" __global__ void local_half_written(Buffers b) {
  int a[8];
  for (int k = 0; k < b.in[4]; ++k) a[k & 7] = k;
  b.out[threadIdx.x] = a[b.in[threadIdx.x] & 7];  // here
}

// expect: clean
extern "C" __global__ void local_written_first(Buffers b) {
  int a[8];
  for (int k = 0; k < b.in[8]; ++k) a[k & 7] = k;
  b.out[threadIdx.x] = a[b.in[threadIdx.x] & 7];
}

__device__ __noinline__ bool is_set(int* value, int k) {
  if (k & 1) return false;
  *value = k;
  return true;
}

// The compiler loads the variable for every thread and drops the value where there is none.
// expect: clean
extern "C" __global__ void local_loaded_and_dropped(Buffers b) {
  int v;
  b.out[threadIdx.x] = is_set(&v, threadIdx.x) ? v : -1;
}

// expect: uninitialised read, local
// says: thread (1,0,0)
extern "C" __global__ void local_loaded_and_kept(Buffers b) {
  int v;
  b.out[threadIdx.x] = is_set(&v, threadIdx.x) ? -1 : v;  // here
}
