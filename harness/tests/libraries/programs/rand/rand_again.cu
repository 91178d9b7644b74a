// MT19937 whose seed or ordering changes after results: rand_again.h100.txt is what an H100 prints.
#include <cuda_runtime.h>
#include <curand.h>

#include <cstdio>

static unsigned* values;

static void Show(const char* what, curandGenerator_t generator) {
  unsigned shown[5] = {};
  std::printf("  %s: %d", what, curandGenerate(generator, values, 5));
  cudaMemcpy(shown, values, sizeof(shown), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 5; ++i) std::printf(" %08x", shown[i]);
  std::printf("\n");
}

int main() {
  cudaMalloc(&values, 1024);
  for (int test = 0; test < 6; ++test) {
    curandGenerator_t generator;
    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MT19937);
    std::printf("case %d\n", test);
    if (test == 5) std::printf("  seeds %d\n", curandGenerateSeeds(generator));
    Show("first", generator);
    Show("next", generator);
    if (test == 0) std::printf("  seed 0 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 0));
    if (test == 1) std::printf("  seed 1 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 1));
    if (test == 2) std::printf("  legacy %d\n", curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY));
    if (test == 3) std::printf("  default %d\n", curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DEFAULT));
    if (test == 4) std::printf("  seeds %d\n", curandGenerateSeeds(generator));
    Show("then", generator);
    Show("then", generator);
    std::printf("  seed 1 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 1));
    Show("then", generator);
    std::printf("  seed 0 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 0));
    std::printf("  seeds %d\n", curandGenerateSeeds(generator));
    Show("then", generator);
    curandDestroyGenerator(generator);
  }
}
