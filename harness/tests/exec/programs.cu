// Kernels as people write them, in the variety that a compiler turns into different PTX. programs_test.cc runs each on
// the virtual GPU and compares with the same computation on the host.
#include <cassert>
#include <cstdio>

// --- control flow ---------------------------------------------------------------------------------------------------

extern "C" __global__ void switch_cases(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = d_in[i], r;
  switch (v & 15) {
    case 0:
      r = v + 7;
      break;
    case 1:
      r = v * 3;
      break;
    case 2:
      r = ~v;
      break;
    case 3:
      r = v ^ 0x55;
      break;
    case 4:
      r = v / 3;
      break;
    case 5:
      r = v % 7;
      break;
    case 6:
      r = v << 2;  // falls through
    case 7:
      r = v >> 1;
      break;
    case 11:
      r = 11;
      break;
    default:
      r = -v;
  }
  d_out[i] = r;
}

extern "C" __global__ void nested_loops(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int a = 0; a < d_in[i] % 13; ++a) {
    for (int b = a; b < 9; ++b) {
      if ((a * b) % 5 == 3) continue;
      if (sum > 400) break;
      sum += a + b;
    }
    if (sum % 11 == 10) {
      sum += 1000;
      break;
    }
  }
  d_out[i] = sum;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = fibonacci(d_in[i] & 7);
}

__device__ __noinline__ int add_one(int x) { return x + 1; }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
using Function = int (*)(int);
__device__ Function const kFunctions[] = {add_one, twice, square};

extern "C" __global__ void function_pointers(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = kFunctions[(d_in[i] & 0xff) % 3](d_in[i]);
}

struct Shape {
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Rectangle : Shape {
  int a, b;
  __device__ Rectangle(int x, int y) : a(x), b(y) {}
  __device__ int area() const override { return a * b; }
};

extern "C" __global__ void virtual_calls(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Square square(d_in[i] & 15);
  Rectangle rectangle(d_in[i] & 7, 3);
  const Shape* shapes[2] = {&square, &rectangle};
  d_out[i] = shapes[(d_in[i] >> 4) & 1]->area();
}

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

// The same with the critical section behind the loop, where a scheduler that waits for all lanes at its exit hangs.
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

// --- warp-wide operations --------------------------------------------------------------------------------------------

extern "C" __global__ void warp_operations(const int* d_in, int* d_out) {
  const int lane = threadIdx.x;
  const int v = d_in[lane];
  int sum = v;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  const int all = __shfl_sync(0xffffffff, sum, 0);
  const int scan8 = __shfl_up_sync(0xffffffff, v, 3, 8);
  const int partner = __shfl_xor_sync(0xffffffff, v, 5);
  const unsigned odd = __ballot_sync(0xffffffff, v & 1);
  const unsigned same = __match_any_sync(0xffffffff, v & 3);
  const unsigned total = __reduce_add_sync(0xffffffff, static_cast<unsigned>(v));
  d_out[lane] = all;
  d_out[32 + lane] = scan8;
  d_out[64 + lane] = partner;
  d_out[96 + lane] = static_cast<int>(odd);
  d_out[128 + lane] = static_cast<int>(same);
  d_out[160 + lane] = static_cast<int>(total);
  // Halves of the warp on different ways, each among itself.
  int half;
  if (lane < 16) {
    half = __shfl_xor_sync(0x0000ffff, v, 1);
  } else {
    half = __shfl_xor_sync(0xffff0000, v, 2);
  }
  d_out[192 + lane] = half;
}

// --- memory
// -----------------------------------------------------------------------------------------------------------

__constant__ float kCoefficients[4] = {1.0f, 0.5f, 0.25f, 0.125f};
__device__ unsigned g_counter;

extern "C" __global__ void constants_and_local(const int* d_in, float* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[16];
  for (int k = 0; k < 16; ++k) stack[k] = d_in[(i + k) % n];
  // An index that the compiler can't know keeps the array in local memory.
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += kCoefficients[k] * static_cast<float>(stack[(d_in[i] + k) & 15]);
  d_out[i] = sum;
}

struct Particle {
  double x, y;
  char kind;
  short weight;
};

extern "C" __global__ void structures(Particle p, const Particle* d_in, Particle* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle q = d_in[i];
  q.x = sqrt(q.x * q.x + p.x) / 3.0;
  q.y -= p.y;
  q.kind = static_cast<char>(q.kind + p.kind);
  q.weight = static_cast<short>(q.weight * p.weight);
  d_out[i] = q;
}

extern "C" __global__ void vectors(const float4* d_in, float4* d_out, const unsigned char* d_bytes, ushort2* d_pairs) {
  const unsigned i = threadIdx.x;
  float4 v = d_in[i];
  d_out[i] = make_float4(v.w, v.z, v.y, v.x);
  d_pairs[i] = make_ushort2(d_bytes[i], static_cast<unsigned short>(0xffff - d_bytes[i]));
}

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

// A pointer that may be to shared or to global memory.
__device__ __noinline__ int load_generic(const int* p, int k) { return p[k]; }

extern "C" __global__ void generic_pointers(const int* d_in, int* d_out) {
  __shared__ int s_data[64];
  s_data[threadIdx.x] = 100 + threadIdx.x;
  __syncthreads();
  const int* p = threadIdx.x % 2 ? s_data : d_in;
  d_out[threadIdx.x] = load_generic(p, threadIdx.x);
}

// --- shape of the grid, output, arithmetic
// ------------------------------------------------------------------------------

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

extern "C" __global__ void arithmetic(const unsigned long long* d_in, unsigned long long* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long a = d_in[i], b = d_in[(i + 1) % n] | 1;
  const float f = static_cast<float>(static_cast<int>(a)) * 1e-6f;
  unsigned long long r = a / b + a % b;
  r ^= __umul64hi(a, b) + __popcll(a) + __clzll(b) + __ffsll(a);
  r += static_cast<unsigned>(__float_as_int(fmaf(f, f, 0.25f)));
  r ^= static_cast<unsigned long long>(__double2ll_rn(static_cast<double>(static_cast<long long>(a)) / 7.0));
  r += __byte_perm(static_cast<unsigned>(a), static_cast<unsigned>(b), 0x5140);
  r ^= static_cast<unsigned>(static_cast<int>(a) / (static_cast<int>(b) | 1));
  d_out[i] = r;
}
