// Generators in streams; with "outside" one writes past a buffer's end, with "missing" what the virtual GPU refuses.
#include <cuda_runtime.h>
#include <curand.h>

#include <cstdio>
#include <cstring>

static __global__ void Add(unsigned* sum, const unsigned* values, int n) {
  for (int i = 0; i < n; ++i) *sum += values[i];
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  constexpr int kCount = 1000;
  unsigned *values, *sum;
  cudaMalloc(&values, kCount * sizeof(unsigned));
  cudaMalloc(&sum, sizeof(unsigned));
  cudaMemset(sum, 0, sizeof(unsigned));
  curandGenerator_t generator = nullptr;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  if (std::strcmp(what, "outside") == 0) {
    std::printf("outside %d\n", curandGenerateUniform(generator, reinterpret_cast<float*>(values), kCount + 1));
    return 0;
  }
  if (std::strcmp(what, "missing") == 0) {
    curandGenerator_t other = nullptr;
    std::printf("statuses %d", curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DYNAMIC));
    curandCreateGenerator(&other, CURAND_RNG_PSEUDO_MRG32K3A);
    std::printf(" %d", curandGeneratePoisson(other, values, kCount, 5000));
    curandGeneratePoisson(generator, values, kCount, 10);
    std::printf(" %d\n", curandGenerateNormal(generator, reinterpret_cast<float*>(values), kCount, 0, 1));
    return 0;
  }
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  curandSetStream(generator, stream);
  unsigned last[2] = {}, total = 0;
  curandGenerate(generator, values, kCount);
  Add<<<1, 1, 0, stream>>>(sum, values, kCount);
  cudaMemcpyAsync(&last[0], values + kCount - 1, sizeof(unsigned), cudaMemcpyDeviceToHost, stream);
  curandGenerate(generator, values, kCount);
  Add<<<1, 1, 0, stream>>>(sum, values, kCount);
  cudaMemcpyAsync(&last[1], values, sizeof(unsigned), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(&total, sum, sizeof(unsigned), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  // A generator of the host gives the same.
  curandGenerator_t host = nullptr;
  curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_DEFAULT);
  static unsigned expected[2 * kCount];
  curandGenerate(host, expected, 2 * kCount);
  unsigned expected_total = 0;
  for (const unsigned value : expected) expected_total += value;
  std::printf("in order %d\n",
              total == expected_total && last[0] == expected[kCount - 1] && last[1] == expected[kCount]);
  curandDestroyGenerator(host);
  curandDestroyGenerator(generator);
  cudaFree(values);
  cudaFree(sum);
}
