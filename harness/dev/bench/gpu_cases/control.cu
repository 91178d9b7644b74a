// Branches, local memory, and slow arithmetic.
#include "cases.h"

namespace gpu_cases {
namespace {

// Threads whose number has a bit in common with `bits` take one branch, the others another; both are loops, which no
// compiler turns into predicated instructions.
__global__ void two_ways_kernel(int* out, unsigned bits, int rounds) {
  int value = static_cast<int>(threadIdx.x);
  if ((threadIdx.x & bits) != 0) {
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) value = value * 3 ^ k;
  } else {
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) value = value * 5 + (value >> 3);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Thread t goes round t % modulus times.
__global__ void ragged_loop_kernel(int* out, unsigned modulus) {
  int value = 1;
  const int rounds = static_cast<int>(threadIdx.x % modulus);
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) value = value * 3 + k;
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Steps until a number's Collatz sequence reaches 1.
__global__ void collatz_kernel(unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i % 4096 + 1, steps = 0;
  while (x != 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++steps;
  }
  out[i] = steps;
}

// The compiler puts an array indexed by run-time values into local memory.
__global__ void local_array_kernel(const int* in, int* out, unsigned turn) {
  int values[16];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) values[k] = static_cast<int>(k * i);
  int sum = 0;
#pragma unroll 1
  for (unsigned k = 0; k < 8; ++k) {
    values[(k * turn) % 16] += in[k];
    sum += values[(k * turn + 5) % 16];
  }
  out[i] = sum;
}

constexpr int kRounds = 256;

__global__ void multiply_add_kernel(float* out) {
  float a = static_cast<float>(threadIdx.x), b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 8
  for (int k = 0; k < kRounds; ++k) {
    a = a * 0.5f + 1;
    b = b * 0.5f + 1;
    c = c * 0.5f + 1;
    d = d * 0.5f + 1;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

__global__ void dependent_chain_kernel(float* out) {
  float a = static_cast<float>(threadIdx.x);
#pragma unroll 8
  for (int k = 0; k < kRounds * 4; ++k) a = a * 0.5f + 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

__global__ void double_kernel(double* out) {
  double a = threadIdx.x, b = a + 1;
#pragma unroll 8
  for (int k = 0; k < kRounds; ++k) {
    a = a * 0.5 + 1;
    b = b * 0.5 + 1;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

__global__ void remainder_kernel(unsigned* out, unsigned divisor) {
  unsigned a = threadIdx.x + 12345, sum = 0;
#pragma unroll 4
  for (int k = 0; k < kRounds; ++k) {
    sum += a % (divisor + static_cast<unsigned>(k));
    a += 977;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void integer_multiply_kernel(unsigned* out) {
  unsigned a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 8
  for (int k = 0; k < kRounds; ++k) {
    a = a * b + 1;
    b = b * c + 1;
    c = c * d + 1;
    d = d * a + 1;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

__global__ void special_function_kernel(float* out) {
  float a = static_cast<float>(threadIdx.x), b = a + 1;
#pragma unroll 8
  for (int k = 0; k < kRounds; ++k) {
    a = __sinf(a);
    b = __sinf(b);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}

__global__ void barrier_kernel(float* out) {
  for (int k = 0; k < kRounds; ++k) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void nothing_kernel() {}

constexpr unsigned kMany = 132 * 16;  // blocks of a timing case

const Registration registration([] {
  for (const unsigned bits : {1u, 16u, 32u, 64u}) {
    Add("branch two ways, bit " + std::to_string(bits), kCounting,
        [bits](const Memory& m) { two_ways_kernel<<<8, 128>>>(m.Out<int>(), bits, 5); });
  }
  for (const unsigned modulus : {1u, 2u, 7u, 32u}) {
    Add("branch loop of lane % " + std::to_string(modulus), kCounting,
        [modulus](const Memory& m) { ragged_loop_kernel<<<8, 128>>>(m.Out<int>(), modulus); });
  }
  Add("branch collatz", kCounting, [](const Memory& m) { collatz_kernel<<<8, 128>>>(m.Out<unsigned>()); });
  for (const unsigned turn : {1u, 3u}) {
    Add("local array, turn " + std::to_string(turn), kCounting,
        [turn](const Memory& m) { local_array_kernel<<<8, 128>>>(m.In<int>(), m.Out<int>(), turn); });
  }
  Add("arithmetic: multiply-add", kCounting, [](const Memory& m) { multiply_add_kernel<<<8, 128>>>(m.out); });
  Add("arithmetic: double", kCounting, [](const Memory& m) { double_kernel<<<8, 128>>>(m.Out<double>()); });
  Add("arithmetic: remainder", kCounting, [](const Memory& m) { remainder_kernel<<<8, 128>>>(m.Out<unsigned>(), 17); });
  Add("arithmetic: integer multiply-add", kCounting,
      [](const Memory& m) { integer_multiply_kernel<<<8, 128>>>(m.Out<unsigned>()); });
  Add("arithmetic: special functions", kCounting, [](const Memory& m) { special_function_kernel<<<8, 128>>>(m.out); });
  Add("arithmetic: barriers", kCounting, [](const Memory& m) { barrier_kernel<<<8, 128>>>(m.out); });
  Add("divergent, collatz", kTiming, [](const Memory& m) { collatz_kernel<<<kMany, 256>>>(m.Out<unsigned>()); });
  Add("local memory", kTiming,
      [](const Memory& m) { local_array_kernel<<<kMany, 256>>>(m.In<int>(), m.Out<int>(), 3); });
  Add("float multiply-add", kTiming, [](const Memory& m) { multiply_add_kernel<<<kMany, 256>>>(m.out); });
  Add("float multiply-add, one chain, one warp an SM", kTiming,
      [](const Memory& m) { dependent_chain_kernel<<<132, 32>>>(m.out); });
  Add("double multiply-add", kTiming, [](const Memory& m) { double_kernel<<<kMany, 256>>>(m.Out<double>()); });
  Add("integer remainder", kTiming, [](const Memory& m) { remainder_kernel<<<kMany, 256>>>(m.Out<unsigned>(), 17); });
  Add("integer multiply-add", kTiming,
      [](const Memory& m) { integer_multiply_kernel<<<kMany, 256>>>(m.Out<unsigned>()); });
  Add("special functions", kTiming, [](const Memory& m) { special_function_kernel<<<kMany, 256>>>(m.out); });
  Add("barriers", kTiming, [](const Memory& m) { barrier_kernel<<<132 * 8, 256>>>(m.out); });
  Add("nothing, one block", kTiming, [](const Memory&) { nothing_kernel<<<1, 32>>>(); });
  Add("nothing, 65536 blocks", kTiming, [](const Memory&) { nothing_kernel<<<65536, 128>>>(); });
});

}  // namespace
}  // namespace gpu_cases
