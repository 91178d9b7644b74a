// What curandGeneratePoisson gives: rand_poisson.h100.txt is what an H100 printed. Each line has its own generator, so
// that means that are refused (status 999) affect no other line. Results are printed as hashes and have to be equal.
#include "rand_values.h"

static void Poisson(curandRngType_t type, bool is_host, double lambda, size_t n) {
  curandGenerator_t generator = nullptr;
  is_host ? curandCreateGeneratorHost(&generator, type) : curandCreateGenerator(&generator, type);
  auto* const output = reinterpret_cast<unsigned*>(is_host ? host_memory.data() : device_memory);
  const int status = curandGeneratePoisson(generator, output, n, lambda);
  const int second_status = curandGeneratePoisson(generator, output + n, 5, lambda);
  if (!is_host) cudaMemcpy(host_memory.data(), output, (n + 5) * sizeof(unsigned), cudaMemcpyDeviceToHost);
  const auto* const values = reinterpret_cast<const unsigned*>(host_memory.data());
  std::printf("%d%s lambda %.17g: %d %d", type, is_host ? " on the host" : "", lambda, status, second_status);
  if (status == 0) {
    std::printf(" %016llx:", Hash(values, n * sizeof(unsigned)));
    for (const size_t i : {size_t{0}, size_t{1}, n - 1, n, n + 1, n + 4}) std::printf(" %u", values[i]);
    const int float_status = curandGenerateUniform(generator, reinterpret_cast<float*>(output), 2);
    if (!is_host) cudaMemcpy(host_memory.data(), output, 2 * sizeof(unsigned), cudaMemcpyDeviceToHost);
    std::printf(" then %d %08x %08x", float_status, values[0], values[1]);
  }
  std::printf("\n");
  curandDestroyGenerator(generator);
}

int main() {
  cudaMalloc(&device_memory, host_memory.size());
  const curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW,  CURAND_RNG_PSEUDO_MRG32K3A,      CURAND_RNG_PSEUDO_MTGP32,
                                   CURAND_RNG_PSEUDO_MT19937, CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_QUASI_SOBOL32,
                                   CURAND_RNG_QUASI_SOBOL64};
  for (const curandRngType_t type : types) {
    for (const double lambda :
         {0.0,    -1.0,   1e-9,   0.001,  0.1,    0.5,     1.0,   2.5,      3.0,      5.0,    7.3,       9.9,
          9.99,   10.0,   12.5,   16.0,   31.0,   64.0,    100.0, 250.0,    500.0,    1000.0, 1e3 + 0.5, 1999.0,
          2000.0, 3999.0, 4000.0, 4001.0, 5000.0, 10000.0, 1e5,   399999.0, 400001.0, 1e9}) {
      Poisson(type, false, lambda, 6000);
    }
    for (const size_t n : {70001, 300001}) Poisson(type, false, 4.5, n);
  }
  for (const curandRngType_t type : types) {
    if (type == CURAND_RNG_PSEUDO_MT19937) continue;  // NVIDIA's generators of the host take some 20 seconds each
    for (const double lambda : {0.5, 4.5, 9.9, 25.0, 1000.0, 10000.0}) Poisson(type, true, lambda, 6000);
  }
  std::printf("%d\n", cudaDeviceSynchronize());
}
