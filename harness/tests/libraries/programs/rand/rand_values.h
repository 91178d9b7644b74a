// What the programs rand_values and rand_mersenne print of cuRAND's host API. Bits and uniforms are printed as hashes,
// so they have to be equal; normals as sums and a few values, with as many digits as have to agree.
#pragma once

#include <cuda_runtime.h>
#include <curand.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

static char* device_memory;
static std::vector<char> host_memory(3 << 20);

static unsigned long long Hash(const void* data, size_t bytes) {
  unsigned long long hash = 1469598103934665603ull;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ull;
  return hash;
}

struct Generator {
  curandGenerator_t handle = nullptr;
  bool is_host;
  Generator(curandRngType_t type, bool host) : is_host(host) {
    const int status = host ? curandCreateGeneratorHost(&handle, type) : curandCreateGenerator(&handle, type);
    std::printf("generator %d%s: %d\n", type, host ? " on the host" : "", status);
  }
  ~Generator() { curandDestroyGenerator(handle); }
  template <typename T>
  T* Output() const {
    return reinterpret_cast<T*>(is_host ? host_memory.data() : device_memory);
  }
  // Copies the first bytes of the output to host_memory, if they are not there already.
  void Fetch(size_t bytes) const {
    if (!is_host) cudaMemcpy(host_memory.data(), device_memory, bytes, cudaMemcpyDeviceToHost);
  }
};

static void Bits(const Generator& g, size_t n) {
  const int status = curandGenerate(g.handle, g.Output<unsigned>(), n);
  g.Fetch(n * 4);
  // Later calls go on in the same line, until one ends it.
  std::printf("  %zu bits: %d %016llx", n, status, Hash(host_memory.data(), n * 4));
}
static void LongBits(const Generator& g, size_t n) {
  const int status = curandGenerateLongLong(g.handle, g.Output<unsigned long long>(), n);
  g.Fetch(n * 8);
  std::printf("  %zu wide bits: %d %016llx", n, status, Hash(host_memory.data(), n * 8));
}
static void Uniforms(const Generator& g, size_t n) {
  const int status = curandGenerateUniform(g.handle, g.Output<float>(), n);
  g.Fetch(n * 4);
  std::printf("  %zu uniforms: %d %016llx", n, status, Hash(host_memory.data(), n * 4));
}
static void UniformDoubles(const Generator& g, size_t n) {
  const int status = curandGenerateUniformDouble(g.handle, g.Output<double>(), n);
  g.Fetch(n * 8);
  std::printf("  %zu uniform doubles: %d %016llx\n", n, status, Hash(host_memory.data(), n * 8));
}

template <typename T>
static void Tell(const char* what, const Generator& g, size_t n, int status) {
  g.Fetch(n * sizeof(T));
  const T* const values = reinterpret_cast<const T*>(host_memory.data());
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) sum += values[i], squares += static_cast<double>(values[i]) * values[i];
  std::printf("  %zu %s: %d mean %.4f square %.3f:", n, what, status, sum / n, squares / n);
  for (size_t i = 0; i < 4 && i < n; ++i)
    std::printf(sizeof(T) == 8 ? " %.10f" : " %.4f", static_cast<double>(values[i]));
  std::printf("\n");
}
static void Normals(const Generator& g, size_t n, double mean = 0, double deviation = 1) {
  const auto m = static_cast<float>(mean), d = static_cast<float>(deviation);
  Tell<float>("normals", g, n, curandGenerateNormal(g.handle, g.Output<float>(), n, m, d));
  Tell<double>("normal doubles", g, n, curandGenerateNormalDouble(g.handle, g.Output<double>(), n, mean, deviation));
  Tell<float>("lognormals", g, n, curandGenerateLogNormal(g.handle, g.Output<float>(), n, m, d));
  Tell<double>("lognormal doubles", g, n,
               curandGenerateLogNormalDouble(g.handle, g.Output<double>(), n, mean, deviation));
}

static void All(const Generator& g, size_t n) {
  Bits(g, n);
  Uniforms(g, n);
  UniformDoubles(g, n);
  Normals(g, n);
}
