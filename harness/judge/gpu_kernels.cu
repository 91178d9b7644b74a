// The judge's own kernels, for timings: inputs and checks of a size that takes the host too long. They are compiled to
// PTX with the judge and run in its own process, where no submission reaches.
//
// An input's element is a function of a seed and the element's index, so that a check needs no copy of the input.
#include <cstdint>

// As GpuValues in gpu.h numbers them.
constexpr uint32_t kInts = 0;

// SplitMix64's finalizer: every bit of the result depends on every bit of seed and index.
__device__ uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The bits of element `index`: any at all, or those of a float that is a whole number from -8 to 8.
__device__ uint32_t value_at(uint64_t seed, uint64_t index, uint32_t values) {
  const uint64_t random = mix(seed, index);
  if (values == kInts) return static_cast<uint32_t>(random >> 32);
  return __float_as_uint(static_cast<float>(static_cast<int>((random >> 32) % 17) - 8));
}

__device__ uint64_t first_index() { return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ uint64_t index_step() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

extern "C" __global__ void lockstep_fill(uint32_t* d_out, uint64_t n, uint64_t seed, uint32_t values) {
  for (uint64_t i = first_index(); i < n; i += index_step()) d_out[i] = value_at(seed, i, values);
}

// The kernels below have one signature: what they come to is added to *d_result. `extra` is the task's own parameter.

// The sum of an input's ints, modulo 2^32.
extern "C" __global__ void lockstep_sum(unsigned long long* d_result, const uint32_t*, uint64_t n, uint64_t seed,
                                        uint32_t values, uint64_t) {
  uint32_t sum = 0;
  for (uint64_t i = first_index(); i < n; i += index_step()) sum += value_at(seed, i, values);
  atomicAdd(d_result, sum);
}

// The checks count elements that differ in any bit from what they have to be.

// d_out[i] is input[(i + shift) mod n], 0 <= shift < n.
extern "C" __global__ void lockstep_check_shift(unsigned long long* d_result, const uint32_t* d_out, uint64_t n,
                                                uint64_t seed, uint32_t values, uint64_t shift) {
  unsigned long long wrong = 0;
  for (uint64_t i = first_index(); i < n; i += index_step()) {
    const uint64_t from = i < n - shift ? i + shift : i - (n - shift);
    wrong += d_out[i] != value_at(seed, from, values);
  }
  if (wrong != 0) atomicAdd(d_result, wrong);
}

// The input has `width` columns and n / width rows.
extern "C" __global__ void lockstep_check_transpose(unsigned long long* d_result, const uint32_t* d_out, uint64_t n,
                                                    uint64_t seed, uint32_t values, uint64_t width) {
  unsigned long long wrong = 0;
  const uint64_t height = n / width;
  for (uint64_t i = first_index(); i < n; i += index_step()) {
    wrong += d_out[i] != value_at(seed, i % height * width + i / height, values);
  }
  if (wrong != 0) atomicAdd(d_result, wrong);
}

// An exclusive scan of whole numbers whose sums all fit a float's 24 bits: each step has to be exact.
extern "C" __global__ void lockstep_check_scan(unsigned long long* d_result, const uint32_t* d_out, uint64_t n,
                                               uint64_t seed, uint32_t values, uint64_t) {
  unsigned long long wrong = 0;
  for (uint64_t i = first_index(); i < n; i += index_step()) {
    const float before = i == 0 ? 0.0f : __uint_as_float(d_out[i - 1]) + __uint_as_float(value_at(seed, i - 1, values));
    wrong += !(__uint_as_float(d_out[i]) == before);
  }
  if (wrong != 0) atomicAdd(d_result, wrong);
}
