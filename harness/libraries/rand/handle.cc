// Generators and their settings, versions.
#include <string_view>

#include "libraries/rand/generator.h"

namespace lockstep::libraries {

namespace {

constexpr uint32_t kMostDimensions = 20000;  // NVIDIA's limit
// Results past 2^64 were never compared with an H100's.
constexpr uint64_t kLastOffset = (uint64_t{1} << 62) - 1;

curandStatus_t Create(const char* function, curandGenerator_t* generator, curandRngType_t type, bool is_host) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
      type = CURAND_RNG_PSEUDO_XORWOW;
      break;
    case CURAND_RNG_QUASI_DEFAULT:
      type = CURAND_RNG_QUASI_SOBOL32;
      break;
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      break;
    case CURAND_RNG_TEST:
      return Refuse(function, "CURAND_RNG_TEST");
    default:
      return CURAND_STATUS_TYPE_ERROR;
  }
  if (!is_host && cudaFree(nullptr) != cudaSuccess) return CURAND_STATUS_INITIALIZATION_FAILED;
  auto* const made = new curandGenerator_st;
  made->type = type;
  made->is_host = is_host;
  if (IsQuasi(*made)) made->ordering = CURAND_ORDERING_QUASI_DEFAULT;
  *generator = made;
  return CURAND_STATUS_SUCCESS;
}

bool HasOrdering(const curandGenerator_st& generator, curandOrdering_t ordering) {
  switch (ordering) {
    case CURAND_ORDERING_PSEUDO_BEST:
      return !IsQuasi(generator) && !(generator.is_host && generator.type == CURAND_RNG_PSEUDO_MT19937);
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY:
      return !IsQuasi(generator);
    case CURAND_ORDERING_PSEUDO_SEEDED:
      return generator.type == CURAND_RNG_PSEUDO_XORWOW;
    case CURAND_ORDERING_PSEUDO_DYNAMIC:
      return !IsQuasi(generator) && !generator.is_host && generator.type != CURAND_RNG_PSEUDO_MT19937;
    case CURAND_ORDERING_QUASI_DEFAULT:
      return IsQuasi(generator);
    default:
      return false;
  }
}

// Whether the current device is one whose dynamic ordering is known.
bool IsMeasured() {
  int device = 0, major = 0, count = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return major == 9 && count == int{kMultiprocessors};
}

// After a setting has changed, the generator is rebuilt: XORWOW, MRG32k3a and Sobol' sequences continue at their
// position, MT19937 on the device starts again. The others' results, and all those after wide draws, become unclear.
void Renew(curandGenerator_st& generator) {
  if (!HasGenerated(generator)) return;
  const bool starts_again = generator.type == CURAND_RNG_PSEUDO_MT19937 && !generator.is_host;
  const bool goes_on =
      IsQuasi(generator) || generator.type == CURAND_RNG_PSEUDO_XORWOW || generator.type == CURAND_RNG_PSEUDO_MRG32K3A;
  if (!(goes_on || starts_again) || generator.has_wide_draws) generator.is_unclear = true;
  if (starts_again) generator.position = 0;
  generator.engine.reset();
  generator.sobol.reset();
}

}  // namespace

void Remember(curandGenerator_st& generator, const Step& step) {
  if (step.count == 0 && generator.kept != nullptr) generator.settings.push_back(step);
  Step* const last = generator.history.empty() ? nullptr : &generator.history.back();
  if (last != nullptr && std::string_view(last->function) == step.function && last->count == step.count &&
      last->mean == step.mean && last->deviation == step.deviation && last->value == step.value) {
    ++last->times;
  } else {
    generator.history.push_back(step);
  }
}

void MakeEngine(curandGenerator_st& generator) {
  if (HasGenerated(generator)) return;
  const EngineSettings settings = {
      generator.seed, generator.position, generator.ordering == CURAND_ORDERING_PSEUDO_LEGACY,
      generator.ordering == CURAND_ORDERING_PSEUDO_SEEDED, generator.ordering == CURAND_ORDERING_PSEUDO_DYNAMIC};
  switch (generator.type) {
    case CURAND_RNG_PSEUDO_MRG32K3A:
      generator.engine = MakeMrg32k3a(settings);
      break;
    case CURAND_RNG_PSEUDO_MTGP32:
      generator.engine = MakeMtgp32(settings);
      break;
    case CURAND_RNG_PSEUDO_MT19937:
      generator.engine = MakeMt19937(settings);
      break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      generator.engine = MakePhilox(settings);
      break;
    case CURAND_RNG_QUASI_SOBOL32:
      generator.sobol = std::make_shared<Sobol>(generator.dimensions, 32, generator.position);
      break;
    case CURAND_RNG_QUASI_SOBOL64:
      generator.sobol = std::make_shared<Sobol>(generator.dimensions, 64, generator.position);
      break;
    default:
      generator.engine = MakeXorwow(settings);
      break;
  }
}

}  // namespace lockstep::libraries

using namespace lockstep::libraries;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return Create("curandCreateGenerator", generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return Create("curandCreateGeneratorHost", generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int* version) {
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
  *value = kVersion[type];
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (IsQuasi(*generator)) return CURAND_STATUS_TYPE_ERROR;
  if (seed != generator->seed) Renew(*generator);
  generator->seed = seed;
  Remember(*generator, {"curandSetPseudoRandomGeneratorSeed", 0, 0, 0, seed});
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->type == CURAND_RNG_PSEUDO_MTGP32 || generator->type == CURAND_RNG_PSEUDO_MT19937) {
    return CURAND_STATUS_TYPE_ERROR;
  }
  if (offset > kLastOffset) return Refuse("curandSetGeneratorOffset", "an offset of 2^62 or more");
  generator->position = offset;
  generator->engine.reset();
  generator->sobol.reset();
  generator->has_wide_draws = generator->is_unclear = false;
  // What was drawn before has no influence any more.
  std::erase_if(generator->history, [](const Step& step) { return step.count > 0; });
  if (!generator->is_host) {
    generator->is_kept = false;
    generator->kept = nullptr;
  }
  Remember(*generator, {"curandSetGeneratorOffset", 0, 0, 0, offset});
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!HasOrdering(*generator, ordering)) return CURAND_STATUS_OUT_OF_RANGE;
  if (ordering == CURAND_ORDERING_PSEUDO_DYNAMIC && (generator->type == CURAND_RNG_PSEUDO_XORWOW || !IsMeasured())) {
    return Refuse("curandSetGeneratorOrdering", "CURAND_ORDERING_PSEUDO_DYNAMIC");
  }
  if (ordering != generator->ordering) Renew(*generator);
  generator->ordering = ordering;
  Remember(*generator, {"curandSetGeneratorOrdering", 0, 0, 0, static_cast<uint64_t>(ordering)});
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!IsQuasi(*generator)) return CURAND_STATUS_TYPE_ERROR;
  if (dimensions < 1 || dimensions > kMostDimensions) return CURAND_STATUS_OUT_OF_RANGE;
  if (dimensions != generator->dimensions) Renew(*generator);
  generator->dimensions = dimensions;
  Remember(*generator, {"curandSetQuasiRandomGeneratorDimensions", 0, 0, 0, dimensions});
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (!IsQuasi(*generator)) Renew(*generator);
  MakeEngine(*generator);
  Remember(*generator, {"curandGenerateSeeds"});
  return CURAND_STATUS_SUCCESS;
}

}  // extern "C"
