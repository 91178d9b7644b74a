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

extern "C" __global__ void divergent_loops(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = in[i], steps = 0;
  while (x != 1) {  // Collatz
    if (x % 2 == 0) {
      x /= 2;
    } else {
      x = 3 * x + 1;
      if (steps > 100000) break;
    }
    ++steps;
  }
  out[i] = steps;
}

extern "C" __global__ void switches(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int r;
  switch (in[i] & 15) {
    case 0:
      r = 17;
      break;
    case 1:
      r = in[i] * 3;
      break;
    case 2:
      r = in[i] - 5;  // falls through
    case 3:
      r = in[i] ^ 77;
      break;
    case 4:
      r = -in[i];
      break;
    case 5:
      r = in[i] >> 1;
      break;
    case 6:
      r = in[i] << 2;
      break;
    case 7:
      r = in[i] * in[i];
      break;
    case 8:
      for (r = 0; r < in[i]; r += 7) {
      }
      break;
    case 9:
      r = 9;
      break;
    default:
      r = in[i] % 13;
      break;
  }
  out[i] = r;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 13); }

struct Pair {
  long long a;
  int b;
  short c[3];
};
__device__ __noinline__ Pair make_pair(Pair p, int k) {
  if (k & 1) {
    p.a += k;
    return p;
  }
  p.c[k % 3] += k;
  p.b -= k;
  return p;
}
extern "C" __global__ void struct_calls(Pair start, long long* out) {
  Pair p = start;
  for (int k = 0; k < (int)threadIdx.x; ++k) p = make_pair(p, k);
  out[threadIdx.x] = p.a * 1000000 + p.b * 1000 + p.c[0] + p.c[1] + p.c[2];
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int add_op(int a, int b) { return a + b; }
__device__ __noinline__ int mul_op(int a, int b) { return a * b; }
__device__ __noinline__ int sub_op(int a, int b) { return a - b; }
__device__ Operation operations[3] = {add_op, mul_op, sub_op};
extern "C" __global__ void function_pointers(int* out) {
  const int t = threadIdx.x;
  out[t] = operations[t % 3](t, 7) + operations[(t / 3) % 3](2, t);
}

struct Shape {
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int s;
  __device__ Square(int s) : s(s) {}
  __device__ int area() const override { return s * s; }
};
struct Line : Shape {
  __device__ int area() const override { return 0; }
};
extern "C" __global__ void virtual_calls(int* out) {
  Square square(threadIdx.x);
  Line line;
  const Shape* shape = threadIdx.x % 2 ? (const Shape*)&square : (const Shape*)&line;
  out[threadIdx.x] = shape->area();
}

__device__ int lock_word;
extern "C" __global__ void warp_spin_lock(int* counter) {
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
  const int old = *(volatile int*)counter;
  *(volatile int*)counter = old + 1;
  __threadfence();
  atomicExch(&lock_word, 0);
}

extern "C" __global__ void warp_spin_lock_inside(int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock_word, 0, 1) == 0) {
      *(volatile int*)counter += 1;
      __threadfence();
      atomicExch(&lock_word, 0);
      done = true;
    }
  }
}

// Every block waits for the one before it.
extern "C" __global__ void look_back(const int* in, volatile int* sums, volatile int* flags, int* out) {
  __shared__ int before;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum += in[blockIdx.x * 32 + k];
    if (blockIdx.x == 0) {
      before = 0;
    } else {
      while (flags[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + sum;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = before;
}

// The other way round: earlier blocks wait for later ones, so several must be resident.
extern "C" __global__ void look_ahead(volatile int* flags, int* out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x + 1 < gridDim.x) {
      while (flags[blockIdx.x + 1] == 0) __nanosleep(20);
    }
    __threadfence();
    flags[blockIdx.x] = 1;
    out[blockIdx.x] = blockIdx.x + 1 < gridDim.x ? flags[blockIdx.x + 1] + 1 : 1;
  }
}

__device__ unsigned int arrived;
extern "C" __global__ void thread_fence_reduction(const int* in, int* partial, int* out, int n) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += ((volatile int*)partial)[b];
    *out = total;
  }
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

template <typename T>
__device__ void all_atomics(T* cell, T x) {
  atomicAdd(cell, x);
  atomicMin(cell + 1, x);
  atomicMax(cell + 2, x);
  atomicAnd(cell + 3, x);
  atomicOr(cell + 4, x);
  atomicXor(cell + 5, x);
  atomicExch(cell + 6, x);
  atomicCAS(cell + 7, T(5), x);
}
extern "C" __global__ void atomics(int* i32, unsigned* u32, unsigned long long* u64, float* f32, double* f64) {
  const int t = threadIdx.x;
  all_atomics<int>(i32, t - 16);
  all_atomics<unsigned>(u32, t + 1);
  all_atomics<unsigned long long>(u64, (1ull << 40) + t);
  atomicInc(u32 + 8, 9);
  atomicDec(u32 + 9, 5);
  atomicAdd(f32, 0.5f * t);
  atomicAdd(f64, 0.25 * t);
  atomicExch(f32 + 1, (float)t);
}

extern "C" __global__ void vectors(const int4* in, int4* out, const double2* in2, double2* out2, const uchar4* in3,
                                   short2* out3) {
  const int t = threadIdx.x;
  const int4 v = in[t];
  out[t] = make_int4(v.w, v.z, v.y, v.x);
  const double2 d = in2[t];
  out2[t] = make_double2(d.y, d.x);
  const uchar4 c = in3[t];
  out3[t] = make_short2(c.x - c.y, c.z * c.w);
}

extern "C" __global__ void sub_words(const signed char* s8, const unsigned char* u8, const short* s16,
                                     const unsigned short* u16, long long* out) {
  const int t = threadIdx.x;
  out[4 * t] = s8[t];
  out[4 * t + 1] = u8[t];
  out[4 * t + 2] = s16[t];
  out[4 * t + 3] = u16[t];
}

// One function on pointers of three spaces: generic addresses.
__device__ __noinline__ int sum_of(const int* p, int n) {
  int s = 0;
  for (int k = 0; k < n; ++k) s += p[k];
  return s;
}
extern "C" __global__ void generic_addresses(const int* in, int* out) {
  __shared__ int shared[64];
  int local[8];
  const int t = threadIdx.x;
  shared[t] = 100 + t;
  for (int k = 0; k < 8; ++k) local[k] = t * k;
  __syncthreads();
  const int* p = t % 3 == 0 ? in + t : t % 3 == 1 ? shared + (t & ~7) : local;
  out[t] = sum_of(p, 8);
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

extern "C" __global__ void shuffles(const int* in, int* out) {
  const int t = threadIdx.x;
  int v = in[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  out[t] = v;
  if (t < 16) {
    out[t] += __shfl_xor_sync(0x0000ffffu, in[t], 3);
  } else {
    out[t] += __shfl_xor_sync(0xffff0000u, in[t], 5);
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

// Lanes meet at one operation that stands in different places, each with its own registers, constants and conditions:
// what an H200 does. `mask` is the whole warp's.
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
  // Values that agree for some, and the register of the value is the result's.
  out[96 + t] = t < 8 ? __match_any_sync(0xffffffffu, t / 4) : __match_any_sync(0xffffffffu, t / 8 + 0 * out[41]);
}

// Half warps whose loops differ in length, one mask: the ones leave a loop of shuffles while the others are in it.
extern "C" __global__ void gathered_from_loops(int* out) {
  const int t = threadIdx.x, rounds = t < 16 ? 3 : 5;
  int sum = 0;
  for (int k = 0; k < rounds; ++k) sum += __shfl_sync(0xffffffffu, t + k, 0, 16);
  const int first = sum;
  for (int k = rounds; k < 5; ++k) sum += 1000 * __shfl_sync(0xffffffffu, first, 15, 16);
  out[t] = sum;
}

extern "C" __global__ void exit_before_barrier(int* out, int n) {
  if ((int)threadIdx.x >= n) return;
  out[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x > 0) out[threadIdx.x] += out[threadIdx.x - 1];
}

extern "C" __global__ void barrier_reductions(const int* in, int* out) {
  const int t = threadIdx.x;
  out[3 * t] = __syncthreads_count(in[t] > 0);
  out[3 * t + 1] = __syncthreads_and(in[t] > 0);
  out[3 * t + 2] = __syncthreads_or(in[t] > 100);
}

extern "C" __global__ void named_barriers(int* out) {
  __shared__ int box[32];
  if (threadIdx.x < 32) {
    box[threadIdx.x] = threadIdx.x * 11;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x - 32] = box[63 - threadIdx.x];
  }
}

// What printf returns: how many arguments it took. %.*f is no conversion on the device.
extern "C" __global__ void printf_results(const char* none, int* out) {
  out[0] = printf("nothing\n");
  out[1] = printf("%d %5.2f %%\n", 7, 1.5);
  out[2] = printf("%s %c %llx %p\n", "text", 'a', 1ull << 40, none);
  out[3] = printf("%*d %.*f\n", 4, 7, 2, 1.5);
  out[4] = printf(none);
}

extern "C" __global__ void prints(int x) {
  printf("block %d thread %u: %5.2f %s %c %llx %%\n", blockIdx.x, threadIdx.x, x * 0.5f, "text", 'a' + threadIdx.x,
         (1ull << 40) + threadIdx.x);
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
extern "C" __global__ void clocks(volatile long long* out) {
  const long long a = clock64();
  for (int k = 0; k < 100; ++k) out[threadIdx.x] = k;
  const long long b = clock64();
  out[threadIdx.x] = b - a;
}

// Lanes reach one shuffle through two calls of the function that holds it.
__device__ __noinline__ int rotate(int v) { return __shfl_sync(0xffffffffu, v, (threadIdx.x + 5) % 32); }
extern "C" __global__ void gathered_in_calls(int* out) {
  const int t = threadIdx.x;
  out[t] = t % 4 < 2 ? rotate(t * 7) + 1 : rotate(t * 9) * 2;
}
