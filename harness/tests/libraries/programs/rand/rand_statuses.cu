// What cuRAND's host API returns for unusual arguments: rand_statuses.h100.txt is what an H100 printed.
#include <cuda_runtime.h>
#include <curand.h>

#include <cstdio>

static void* device_memory;
alignas(16) static char host_memory[1024];

static int Generate(curandGenerator_t g, int kind, void* output, size_t n) {
  auto* const words = static_cast<unsigned*>(output);
  auto* const wide = static_cast<unsigned long long*>(output);
  auto* const floats = static_cast<float*>(output);
  auto* const doubles = static_cast<double*>(output);
  switch (kind) {
    case 0:
      return curandGenerate(g, words, n);
    case 1:
      return curandGenerateLongLong(g, wide, n);
    case 2:
      return curandGenerateUniform(g, floats, n);
    case 3:
      return curandGenerateUniformDouble(g, doubles, n);
    case 4:
      return curandGenerateNormal(g, floats, n, 0, 1);
    case 5:
      return curandGenerateNormalDouble(g, doubles, n, 0, 1);
    case 6:
      return curandGenerateLogNormal(g, floats, n, 0, 1);
    default:
      return curandGenerateLogNormalDouble(g, doubles, n, 0, 1);
  }
}

static void Lengths(curandGenerator_t g, void* output) {
  for (int kind = 0; kind < 8; ++kind) {
    std::printf(" %d:", kind);
    for (const size_t n : {0, 1, 2, 3, 4, 6}) std::printf(" %d", Generate(g, kind, output, n));
  }
  std::printf("\n");
}

static void Type(int type, bool is_host) {
  curandGenerator_t g = nullptr;
  const auto t = static_cast<curandRngType_t>(type);
  const int status = is_host ? curandCreateGeneratorHost(&g, t) : curandCreateGenerator(&g, t);
  std::printf("type %d%s: %d\n", type, is_host ? " on the host" : "", status);
  if (status != 0) return;
  std::printf(" dimensions");
  for (const unsigned dimensions : {0u, 20001u, ~0u, 1u}) {
    std::printf(" %d", curandSetQuasiRandomGeneratorDimensions(g, dimensions));
  }
  std::printf("\n orderings");
  for (const int ordering : {0, 99, 105, 200, 202, 201, 100, 103, 101}) {
    std::printf(" %d", curandSetGeneratorOrdering(g, static_cast<curandOrdering_t>(ordering)));
  }
  std::printf("\n seed %d", curandSetPseudoRandomGeneratorSeed(g, 5));
  std::printf(" offset %d", curandSetGeneratorOffset(g, 7));
  std::printf(" stream %d", curandSetStream(g, nullptr));
  std::printf(" seeds %d\n", curandGenerateSeeds(g));
  void* const output = is_host ? host_memory : device_memory;
  Lengths(g, output);
  std::printf(" destroy %d\n", curandDestroyGenerator(g));
  if (type < 200) return;
  g = nullptr;
  is_host ? curandCreateGeneratorHost(&g, t) : curandCreateGenerator(&g, t);
  std::printf(" three dimensions %d", curandSetQuasiRandomGeneratorDimensions(g, 3));
  Lengths(g, output);
  curandDestroyGenerator(g);
}

int main() {
  cudaMalloc(&device_memory, sizeof(host_memory));
  int value = -1;
  std::printf("version %d", curandGetVersion(&value));
  std::printf(" %d\n", value / 100);
  for (int property = 0; property < 4; ++property) {
    value = -1;
    std::printf("property %d", curandGetProperty(static_cast<libraryPropertyType>(property), &value));
    std::printf(" %d\n", property < 2 ? value : value < 0);
  }
  for (const bool is_host : {false, true}) {
    for (const int type : {1, 99, 102, 162, 205, -1, 100, 101, 121, 141, 161, 200, 201, 203}) Type(type, is_host);
    if (!is_host) Type(CURAND_RNG_PSEUDO_MT19937, false);  // NVIDIA's of the host take some 20 seconds each
  }
  std::printf("no generator %d", curandDestroyGenerator(nullptr));
  std::printf(" %d", curandSetStream(nullptr, nullptr));
  std::printf(" %d", curandSetGeneratorOffset(nullptr, 1));
  std::printf(" %d", curandSetPseudoRandomGeneratorSeed(nullptr, 1));
  std::printf(" %d", curandSetGeneratorOrdering(nullptr, CURAND_ORDERING_PSEUDO_BEST));
  std::printf(" %d", curandSetQuasiRandomGeneratorDimensions(nullptr, 1));
  std::printf(" %d\n", curandGenerateSeeds(nullptr));
  Lengths(nullptr, device_memory);
  std::printf("%d\n", cudaDeviceSynchronize());
}
