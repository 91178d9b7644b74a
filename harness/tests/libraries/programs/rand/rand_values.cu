// What cuRAND's host API gives; with an argument, from generators on the host. rand_values.h100.txt is what an H100
// printed, the same for both except for the last digits of sums.
#include "rand_values.h"

static void PseudoRandom(curandRngType_t type, bool is_host) {
  {
    const Generator g(type, is_host);
    All(g, 5002);
    // A call of any kind goes on where the last one stopped.
    for (const size_t n : {6, 4096, 2, 8190}) All(g, n);
    Bits(g, 5), UniformDoubles(g, 3), Normals(g, 4), Bits(g, 4097), UniformDoubles(g, 7), Uniforms(g, 11),
        Normals(g, 2);
  }
  for (const curandOrdering_t ordering : {CURAND_ORDERING_PSEUDO_BEST, CURAND_ORDERING_PSEUDO_DEFAULT,
                                          CURAND_ORDERING_PSEUDO_SEEDED, CURAND_ORDERING_PSEUDO_LEGACY}) {
    const Generator g(type, is_host);
    std::printf("  ordering %d: %d,", ordering, curandSetGeneratorOrdering(g.handle, ordering));
    std::printf("  seed: %d,", curandSetPseudoRandomGeneratorSeed(g.handle, 0x123456789abcdefull));
    Bits(g, 100000), UniformDoubles(g, 300000), Bits(g, 300000), Normals(g, 20000, 1.5, 2);
    for (const unsigned long long offset : {0ull, 1ull, 4097ull, 262147ull, (1ull << 45) + 5}) {
      std::printf("  offset %llu: %d,", offset, curandSetGeneratorOffset(g.handle, offset));
      Bits(g, 5001), UniformDoubles(g, 6001);
    }
  }
}

static void QuasiRandom(curandRngType_t type, bool is_host) {
  for (const unsigned dimensions : {1, 2, 7, 1000}) {
    const Generator g(type, is_host);
    std::printf("  dimensions %u: %d,", dimensions, curandSetQuasiRandomGeneratorDimensions(g.handle, dimensions));
    const size_t n = dimensions * (dimensions > 100 ? 12 : 3000);
    type == CURAND_RNG_QUASI_SOBOL64 ? LongBits(g, n) : Bits(g, n);
    Uniforms(g, n), UniformDoubles(g, n), Normals(g, n), Normals(g, n, 1.5, 2), Uniforms(g, dimensions);
    for (const unsigned long long offset : {1ull, 4097ull, 3000000000ull}) {
      std::printf("  offset %llu: %d,", offset, curandSetGeneratorOffset(g.handle, offset));
      type == CURAND_RNG_QUASI_SOBOL64 ? LongBits(g, n) : Bits(g, n);
      UniformDoubles(g, n);
    }
  }
}

int main(int count, char**) {
  const bool is_host = count > 1;
  cudaMalloc(&device_memory, host_memory.size());
  for (const curandRngType_t type : {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MTGP32,
                                     CURAND_RNG_PSEUDO_PHILOX4_32_10}) {
    PseudoRandom(type, is_host);
  }
  QuasiRandom(CURAND_RNG_QUASI_SOBOL32, is_host);
  QuasiRandom(CURAND_RNG_QUASI_SOBOL64, is_host);
  std::printf("%d\n", cudaDeviceSynchronize());
}
