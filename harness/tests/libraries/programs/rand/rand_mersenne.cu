// What cuRAND's MT19937 gives: rand_mersenne.h100.txt is what an H100 printed. Creating one of NVIDIA's host generators
// takes some 20 seconds, so only one is used.
#include "rand_values.h"

static void Calls(const Generator& g) {
  // A call of any kind and size goes on where the last one stopped.
  for (const size_t n : {1, 1000, 3}) All(g, n);
  Bits(g, 5), UniformDoubles(g, 3), Normals(g, 4), Bits(g, 4097), UniformDoubles(g, 7), Uniforms(g, 11), Normals(g, 5);
}

int main() {
  cudaMalloc(&device_memory, host_memory.size());
  {
    const Generator g(CURAND_RNG_PSEUDO_MT19937, true);
    Calls(g);
    Bits(g, 65536 * 4), Bits(g, 65537), Uniforms(g, 200001), Normals(g, 70000, 1.5, 2);
  }
  {
    const Generator g(CURAND_RNG_PSEUDO_MT19937, false);
    Calls(g);
    All(g, 8192), All(g, 8193), All(g, 100001), All(g, 300000);
    // Past the first 624 words of each lane.
    for (int i = 0; i < 20; ++i) Bits(g, 400000);
    Normals(g, 50001, 1.5, 2);
  }
  for (const int ordering : {100, 101, 102, 103}) {
    const Generator g(CURAND_RNG_PSEUDO_MT19937, false);
    std::printf("  ordering %d: %d\n", ordering,
                curandSetGeneratorOrdering(g.handle, static_cast<curandOrdering_t>(ordering)));
    All(g, 2000);
    Bits(g, 65537);
  }
  for (const unsigned long long seed : {1ull, 1234ull, 1ull << 32, 0x123456789abcdefull}) {
    const Generator g(CURAND_RNG_PSEUDO_MT19937, false);
    std::printf("  seed %llu: %d\n", seed, curandSetPseudoRandomGeneratorSeed(g.handle, seed));
    Bits(g, 1001), UniformDoubles(g, 1000), Normals(g, 1003);
  }
  std::printf("%d\n", cudaDeviceSynchronize());
}
