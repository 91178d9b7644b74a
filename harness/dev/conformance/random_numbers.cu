// cuRAND's host API: generators, distributions, orders, offsets, and errors.
// nvcc: -lcurand
#define CONFORMANCE_CLASS "curand"
#include <curand.h>

#include "ask.h"

struct Kind {
  const char* name;
  curandRngType_t type;
  bool quasi, wide;
};
const Kind kKinds[] = {{"xorwow", CURAND_RNG_PSEUDO_XORWOW, false, false},
                       {"mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A, false, false},
                       {"mtgp32", CURAND_RNG_PSEUDO_MTGP32, false, false},
                       {"mt19937", CURAND_RNG_PSEUDO_MT19937, false, false},
                       {"philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, false, false},
                       {"sobol32", CURAND_RNG_QUASI_SOBOL32, true, false},
                       {"scrambled32", CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, true, false},
                       {"sobol64", CURAND_RNG_QUASI_SOBOL64, true, true},
                       {"scrambled64", CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, true, true}};

constexpr size_t kCount = 20000;

template <typename T>
void Tell(const std::string& name, curandStatus_t status, const T* device) {
  Say(name, static_cast<int>(status));
  if (status != CURAND_STATUS_SUCCESS) return;
  static T host[kCount];
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  unsigned long long h = 1469598103934665603ull;
  unsigned char bytes[sizeof(T)];
  for (const T& value : host) {
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) h = (h ^ byte) * 1099511628211ull;
  }
  Say(name + "_hash", F("%016llx", h));
  if constexpr (sizeof(T) == 4) {
    std::string values;
    for (int k = 0; k < 6; ++k) values += F("%08x ", *reinterpret_cast<const unsigned*>(&host[k * 3]));
    Say(name + "_values", values);
  } else {
    std::string values;
    for (int k = 0; k < 4; ++k) values += F("%016llx ", *reinterpret_cast<const unsigned long long*>(&host[k * 3]));
    Say(name + "_values", values);
  }
}

void Generate(const Kind& kind) {
  Start();
  curandGenerator_t generator = nullptr;
  Say("create", static_cast<int>(curandCreateGenerator(&generator, kind.type)));
  if (kind.quasi) {
    Say("seed", static_cast<int>(curandSetPseudoRandomGeneratorSeed(generator, 5)));
    Say("dimensions", static_cast<int>(curandSetQuasiRandomGeneratorDimensions(generator, 4)));
  } else {
    Say("seed", static_cast<int>(curandSetPseudoRandomGeneratorSeed(generator, 1234)));
    Say("dimensions", static_cast<int>(curandSetQuasiRandomGeneratorDimensions(generator, 4)));
  }
  void* memory = nullptr;
  cudaMalloc(&memory, kCount * 8);
  auto* const words = static_cast<unsigned*>(memory);
  auto* const floats = static_cast<float*>(memory);
  auto* const doubles = static_cast<double*>(memory);
  auto* const longs = static_cast<unsigned long long*>(memory);
  Tell("generate", curandGenerate(generator, words, kCount), words);
  Tell("longlong", curandGenerateLongLong(generator, longs, kCount), longs);
  Tell("uniform", curandGenerateUniform(generator, floats, kCount), floats);
  Tell("uniform_double", curandGenerateUniformDouble(generator, doubles, kCount), doubles);
  Tell("normal", curandGenerateNormal(generator, floats, kCount, 0, 1), floats);
  Tell("normal_scaled", curandGenerateNormal(generator, floats, kCount, 3, 0.5), floats);
  Tell("normal_double", curandGenerateNormalDouble(generator, doubles, kCount, 0, 1), doubles);
  Tell("lognormal", curandGenerateLogNormal(generator, floats, kCount, 0.1f, 0.7f), floats);
  Tell("lognormal_double", curandGenerateLogNormalDouble(generator, doubles, kCount, 0.1, 0.7), doubles);
  for (const double mean : {0.01, 1.0, 10.0, 63.0, 65.0, 1000.0, 3999.0, 5000.0, 1e6}) {
    Tell(F("poisson%g", mean), curandGeneratePoisson(generator, words, kCount, mean), words);
  }
  Say("offset", static_cast<int>(curandSetGeneratorOffset(generator, 12345)));
  Tell("offset_uniform", curandGenerateUniform(generator, floats, kCount), floats);
  Say("destroy", static_cast<int>(curandDestroyGenerator(generator)));
}

void Orders(const Kind& kind) {
  Start();
  float* floats = nullptr;
  cudaMalloc(&floats, kCount * 4);
  static const curandOrdering_t orders[] = {CURAND_ORDERING_PSEUDO_BEST,    CURAND_ORDERING_PSEUDO_DEFAULT,
                                            CURAND_ORDERING_PSEUDO_SEEDED,  CURAND_ORDERING_PSEUDO_LEGACY,
                                            CURAND_ORDERING_PSEUDO_DYNAMIC, CURAND_ORDERING_QUASI_DEFAULT};
  for (const curandOrdering_t order : orders) {
    curandGenerator_t generator = nullptr;
    curandCreateGenerator(&generator, kind.type);
    Say(F("order%d", order), static_cast<int>(curandSetGeneratorOrdering(generator, order)));
    Tell(F("order%d_uniform", order), curandGenerateUniform(generator, floats, kCount), floats);
    curandDestroyGenerator(generator);
  }
}

void Errors() {
  Start();
  int version = 0;
  Say("null_create", static_cast<int>(curandCreateGenerator(nullptr, CURAND_RNG_PSEUDO_DEFAULT)));
  curandGenerator_t generator = nullptr;
  for (const int type : {0, 1, 99, 100, 101, 121, 131, 141, 142, 151, 161, 162, 200, 201, 202, 203, 204, 205, 300}) {
    Say(F("create%d", type), static_cast<int>(curandCreateGenerator(&generator, static_cast<curandRngType_t>(type))));
  }
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_XORWOW);
  float* floats = nullptr;
  cudaMalloc(&floats, 4096);
  double* doubles = reinterpret_cast<double*>(floats);
  for (const size_t n : {0ul, 1ul, 2ul, 3ul, 100ul}) {
    Say(F("normal_n%zu", n), static_cast<int>(curandGenerateNormal(generator, floats, n, 0, 1)));
    Say(F("normal_double_n%zu", n), static_cast<int>(curandGenerateNormalDouble(generator, doubles, n, 0, 1)));
    Say(F("lognormal_n%zu", n), static_cast<int>(curandGenerateLogNormal(generator, floats, n, 0, 1)));
    Say(F("uniform_n%zu", n), static_cast<int>(curandGenerateUniform(generator, floats, n)));
  }
  for (const float deviation : {0.0f, -1.0f})
    Say(F("normal_sd%g", deviation), static_cast<int>(curandGenerateNormal(generator, floats, 4, 0, deviation)));
  for (const double mean : {0.0, -1.0, 1e-320, 1e9})
    Say(F("poisson_%g", mean),
        static_cast<int>(curandGeneratePoisson(generator, reinterpret_cast<unsigned*>(floats), 4, mean)));
  Say("dimensions0", static_cast<int>(curandSetQuasiRandomGeneratorDimensions(generator, 0)));
  curandGenerator_t quasi = nullptr;
  curandCreateGenerator(&quasi, CURAND_RNG_QUASI_SOBOL32);
  for (const unsigned dimensions : {0u, 1u, 3u, 20000u, 20001u}) {
    Say(F("quasi_dimensions%u", dimensions),
        static_cast<int>(curandSetQuasiRandomGeneratorDimensions(quasi, dimensions)));
    Say(F("quasi_uniform_dimensions%u", dimensions), static_cast<int>(curandGenerateUniform(quasi, floats, 100)));
  }
  Say("property", static_cast<int>(curandGetProperty(MAJOR_VERSION, &version)));
  Say("destroy_null", static_cast<int>(curandDestroyGenerator(nullptr)));
}

void AddCases(Cases& cases) {
  for (const Kind& kind : kKinds) {
    cases(F("%s", kind.name), [&kind] { Generate(kind); });
    cases(F("%s_orders", kind.name), [&kind] { Orders(kind); });
  }
  cases("errors", Errors);
}
