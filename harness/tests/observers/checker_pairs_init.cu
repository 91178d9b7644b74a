// Reads of unwritten memory, each paired with a correct version.
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

// A structure with padding, copied whole: the padding between its members need not be written.
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
// says: shared memory starts uninitialised
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
// says: initialise the variable where you declare it
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

// Structs whose padding fills whole words: copied whole, and no thread reads the padding.
struct Best {
  double value;
  int index;
};
struct Wide {
  double first;
  float4 rest;
};
struct Spaced {
  int first;
  double second;
  int third;
};

// expect: clean
extern "C" __global__ void best_of_a_tree(Buffers b) {
  __shared__ Best s[64];
  const int t = threadIdx.x;
  s[t] = {static_cast<double>(t * 7 % 64), t};
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d && s[t + d].value > s[t].value) s[t] = s[t + d];
    __syncthreads();
  }
  if (t == 0) b.out[0] = s[0].index;
}

// expect: clean
extern "C" __global__ void structs_copied_to_global_and_back(Buffers b) {
  __shared__ Wide s[16];
  const int t = threadIdx.x % 16;
  Wide* const g = reinterpret_cast<Wide*>(b.raw);
  if (threadIdx.x < 16) {
    s[t].first = t;
    s[t].rest = make_float4(t, 1, 2, 3);
    g[t] = s[t];
    __syncwarp(0xffff);
    s[t] = g[15 - t];
    b.out[t] = s[t].first + s[t].rest.x;
  }
}

__device__ __noinline__ Best better(Best x, Best y) { return x.value < y.value ? y : x; }

// expect: clean
extern "C" __global__ void structs_by_value(Buffers b) {
  __shared__ Best s[64];
  const int t = threadIdx.x;
  s[t] = {static_cast<double>(t), t};
  __syncthreads();
  const Best found = better(s[t], s[63 - t]);
  reinterpret_cast<Best*>(b.raw)[t] = found;
  b.out[t] = found.index;
}

// expect: clean
extern "C" __global__ void structs_sorted_in_local_memory(Buffers b) {
  Best a[8];
  for (int k = 0; k < 8; ++k) a[b.in[k]] = {static_cast<double>((k * 5 + threadIdx.x) % 8), k};
  for (int k = 1; k < b.in[8]; ++k) {
    for (int j = k; j > 0 && a[j].value < a[j - 1].value; --j) {
      const Best x = a[j];
      a[j] = a[j - 1];
      a[j - 1] = x;
    }
  }
  b.out[threadIdx.x] = a[b.in[threadIdx.x % 8]].index;
}

// expect: clean
extern "C" __global__ void spaced_structs_from_an_array(Buffers b) {
  Spaced a[4];
  for (int k = 0; k < 4; ++k) {
    Spaced& s = a[b.in[k]];
    s.first = k, s.second = k, s.third = threadIdx.x;
  }
  const Spaced chosen = a[b.in[threadIdx.x % 4]];
  if (threadIdx.x < 32) reinterpret_cast<Spaced*>(b.raw)[threadIdx.x] = chosen;
  b.out[threadIdx.x] = chosen.third;
}

// A member that was never written is copied twice, and then read.
// expect: uninitialised read, global
extern "C" __global__ void member_never_written(Buffers b) {
  __shared__ int4 s[64];
  int4* const g = reinterpret_cast<int4*>(b.raw);
  const int t = threadIdx.x;
  s[t].x = s[t].y = s[t].z = t;
  __syncthreads();
  g[t] = s[63 - t];
  __syncthreads();
  g[t + 64] = g[t];
  __syncthreads();
  b.out[t] = g[127 - t].w;  // here
}

// expect: uninitialised read, shared
extern "C" __global__ void member_of_a_copy_stored_by_itself(Buffers b) {
  __shared__ int4 s[64];
  const int t = threadIdx.x;
  s[t].x = s[t].y = s[t].z = t;
  __syncthreads();
  const int4 v = s[63 - t];  // here
  reinterpret_cast<int4*>(b.raw)[t] = v;
  b.out[t] = v.w;
}

// A register that held an unwritten word gets another value.
// expect: clean
extern "C" __global__ void written_before_it_is_copied_again(Buffers b) {
  __shared__ int4 s[64];
  int4* const g = reinterpret_cast<int4*>(b.raw);
  const int t = threadIdx.x;
  s[t].x = s[t].y = s[t].z = t;
#pragma unroll 1
  for (int k = 0; k < 2; ++k) {
    __syncthreads();
    g[t + 64 * k] = s[63 - t];
    __syncthreads();
    s[t].w = k;
  }
  b.out[t] = g[t + 64].w;
}

// expect: uninitialised read, shared
extern "C" __global__ void structs_never_written(Buffers b) {
  __shared__ Wide s[16];
  if (threadIdx.x < 16) reinterpret_cast<Wide*>(b.raw)[threadIdx.x] = s[15 - threadIdx.x];  // here
}

// expect: uninitialised read, shared
extern "C" __global__ void vectors_never_written(Buffers b) {
  __shared__ int4 s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = make_int4(1, 2, 3, 4);
  __syncthreads();
  reinterpret_cast<int4*>(b.raw)[threadIdx.x] = s[63 - threadIdx.x];  // here
}

// A vector of four words, two of them a double's, one padding. The compiler puts the first two into one register of 64
// bits, of which it looks at the lower half.
struct Mixed {
  unsigned first;
  double second;
  uint4 rest;
  int list[8];
};

// expect: clean
extern "C" __global__ void struct_copied_and_looked_at(Buffers b) {
  Mixed from, to;
  from.first = b.in[3], from.second = b.in[2], from.rest = make_uint4(b.in[4], b.in[5], 3, threadIdx.x);
  for (int k = 0; k < 8; ++k) from.list[k] = b.in[k];
  from.list[b.in[threadIdx.x % 7]] = 7;
  if (b.in[threadIdx.x] % 2 == 1) {
    to = from;
    b.out[3] = to.rest.y;
  } else {
    to = from;
    b.out[5] = to.rest.y;
  }
  b.out[threadIdx.x + 64] = to.second + to.rest.w + to.list[b.in[threadIdx.x % 8]];
  reinterpret_cast<unsigned long long*>(b.raw)[threadIdx.x] = to.first;
}

// expect: uninitialised read, local
extern "C" __global__ void member_never_written_copied_and_looked_at(Buffers b) {
  Mixed from, to;
  from.second = b.in[2], from.rest = make_uint4(b.in[4], b.in[5], 3, threadIdx.x);
  for (int k = 0; k < 8; ++k) from.list[k] = b.in[k];
  from.list[b.in[threadIdx.x % 7]] = 7;
  if (b.in[threadIdx.x] % 2 == 1) {  // here
    to = from;
    b.out[3] = to.rest.y;
  } else {
    to = from;
    b.out[5] = to.rest.y;
  }
  b.out[threadIdx.x + 64] = to.second + to.rest.w + to.list[b.in[threadIdx.x % 8]];
  reinterpret_cast<unsigned long long*>(b.raw)[threadIdx.x] = to.first;
}

// Bits before 7 bytes of padding: the compiler splits the word into bytes, joins them, and looks at the bits.
struct Tagged {
  double value;
  unsigned tag : 5;
};

__device__ __forceinline__ Tagged tagged(double value, unsigned tag) {
  Tagged t;
  t.value = value;
  t.tag = tag;
  return t;
}
__device__ __noinline__ void set(Tagged* t, int k) { *t = tagged(k, k); }
__device__ __noinline__ void set_value(Tagged* t, int k) { t->value = k; }

// expect: clean
extern "C" __global__ void struct_with_bits_chosen(Buffers b) {
  Tagged t = tagged(threadIdx.x, b.in[2]);
  for (int k = 0; k < b.in[3]; ++k) {
    t = b.in[threadIdx.x] > 7 || t.value > 2 ? t : tagged(b.in[k], threadIdx.x);
    if (t.tag > 7) set(&t, b.in[4]);
  }
  b.out[threadIdx.x] = t.tag + t.value;
}

// expect: uninitialised read, local
extern "C" __global__ void bits_never_written_chosen(Buffers b) {
  Tagged t;
  set_value(&t, threadIdx.x);
  for (int k = 0; k < b.in[3]; ++k) {
    t = b.in[threadIdx.x] > 7 || t.value > 2 ? t : tagged(b.in[k], threadIdx.x);  // here
    if (t.tag > 7) set(&t, b.in[4]);
  }
  b.out[threadIdx.x] = t.tag + t.value;
}

// expect: uninitialised read, shared
extern "C" __global__ void member_of_a_copy_made_wider(Buffers b) {
  __shared__ uint4 s[64];
  const int t = threadIdx.x;
  s[t].x = s[t].y = s[t].z = t;
  __syncthreads();
  const uint4 v = s[63 - t];  // here
  reinterpret_cast<unsigned long long*>(b.raw)[t] = v.w;
  b.out[t] = v.x + v.y + v.z;
}
