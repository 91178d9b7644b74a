// Settings that change after results: rand_resets.h100.txt is what an H100 printed. With another seed or ordering a
// generator continues at its position; setting an offset moves it.
#include <cuda_runtime.h>
#include <curand.h>

#include <cstdio>

static unsigned* values;

static void Show(const char* what, curandGenerator_t generator, size_t n) {
  unsigned shown[8] = {};
  std::printf("  %s: %d", what, curandGenerate(generator, values, n));
  cudaMemcpy(shown, values, sizeof(shown), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 4; ++i) std::printf(" %08x", shown[i]);
  std::printf("\n");
}

static void ShowPoints(const char* what, curandGenerator_t generator) {
  unsigned shown[6] = {};
  std::printf("  %s %d", what, curandGenerateUniform(generator, reinterpret_cast<float*>(values), 6));
  cudaMemcpy(shown, values, sizeof(shown), cudaMemcpyDeviceToHost);
  for (const unsigned value : shown) std::printf(" %08x", value);
  std::printf("\n");
}

static void PseudoRandom(int type, int test) {
  curandGenerator_t generator;
  curandCreateGenerator(&generator, static_cast<curandRngType_t>(type));
  std::printf("case %d.%d\n", type, test);
  if (test % 2 != 0) curandSetPseudoRandomGeneratorSeed(generator, 0);
  Show("first", generator, 5);
  Show("next", generator, 5);
  const curandOrdering_t ordering = test % 2 != 0 ? CURAND_ORDERING_PSEUDO_LEGACY : CURAND_ORDERING_PSEUDO_DEFAULT;
  if (test / 2 == 0) std::printf("  seed 0 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 0));
  if (test / 2 == 1) std::printf("  seed 1 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 1));
  if (test / 2 == 2) std::printf("  ordering %d\n", curandSetGeneratorOrdering(generator, ordering));
  Show("then", generator, 5);
  Show("then", generator, 5);
  std::printf("  offset 5 %d\n", curandSetGeneratorOffset(generator, 5));
  Show("then", generator, 5);
  std::printf("  seed 1 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 1));
  Show("then", generator, 5);
  std::printf("  seeds %d\n", curandGenerateSeeds(generator));
  Show("then", generator, 5);
  std::printf("  offset 0 %d", curandSetGeneratorOffset(generator, 0));
  std::printf(" seed 0 %d\n", curandSetPseudoRandomGeneratorSeed(generator, 0));
  Show("then", generator, 5);
  std::printf("  offset 0 %d\n", curandSetGeneratorOffset(generator, 0));
  Show("then", generator, 5);
  curandDestroyGenerator(generator);
}

static void QuasiRandom(int type) {
  curandGenerator_t generator;
  curandCreateGenerator(&generator, static_cast<curandRngType_t>(type));
  std::printf("quasi %d\n", type);
  ShowPoints("first", generator);
  ShowPoints("next", generator);
  std::printf("  dims 2 %d\n", curandSetQuasiRandomGeneratorDimensions(generator, 2));
  ShowPoints("then", generator);
  ShowPoints("then", generator);
  std::printf("  dims 2 %d\n", curandSetQuasiRandomGeneratorDimensions(generator, 2));
  ShowPoints("then", generator);
  std::printf("  seeds %d\n", curandGenerateSeeds(generator));
  ShowPoints("then", generator);
  std::printf("  offset 1 %d\n", curandSetGeneratorOffset(generator, 1));
  ShowPoints("then", generator);
  std::printf("  order %d\n", curandSetGeneratorOrdering(generator, CURAND_ORDERING_QUASI_DEFAULT));
  ShowPoints("then", generator);
  curandDestroyGenerator(generator);
}

int main() {
  cudaMalloc(&values, 1024);
  for (const int type : {101, 121}) {
    for (int test = 0; test < 6; ++test) PseudoRandom(type, test);
  }
  for (const int type : {201, 203}) QuasiRandom(type);
}
