#include "libraries/rand/kept.h"

#include <dlfcn.h>

#include <string_view>

#include "libraries/real_library.h"

namespace lockstep::libraries {

namespace {

template <typename... Arguments>
curandStatus_t Ask(const char* name, Arguments... arguments) {
  return reinterpret_cast<curandStatus_t (*)(Arguments...)>(KeptFunction(name))(arguments...);
}

}  // namespace

void* KeptFunction(const char* name) {
  static void* const library = FindRealLibrary("libcurand.so.10");
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

std::shared_ptr<Kept> Kept::Make(curandRngType_t type, const std::vector<Step>& history) {
  if (KeptFunction("curandCreateGeneratorHost") == nullptr) return nullptr;
  std::shared_ptr<Kept> kept(new Kept);
  if (Ask("curandCreateGeneratorHost", &kept->generator_, type) != CURAND_STATUS_SUCCESS) return nullptr;
  std::vector<double> results;
  for (const Step& step : history) {
    results.resize(std::max(results.size(), step.count));
    for (uint64_t i = 0; i < step.times; ++i) kept->Run(step, results.data());
  }
  return kept;
}

Kept::~Kept() {
  if (generator_ != nullptr) Ask("curandDestroyGenerator", generator_);
}

curandStatus_t Kept::Run(const Step& step, void* output) {
  const std::string_view name = step.function;
  const auto call = [&](auto... arguments) { return Ask(step.function, generator_, arguments...); };
  if (name == "curandGenerateSeeds") return call();
  if (name == "curandSetGeneratorOrdering") return call(static_cast<curandOrdering_t>(step.value));
  if (name == "curandSetQuasiRandomGeneratorDimensions") return call(static_cast<unsigned int>(step.value));
  if (name.starts_with("curandSet")) return call(static_cast<unsigned long long>(step.value));
  if (name == "curandGeneratePoisson") return call(output, step.count, step.mean);
  if (name.find("Normal") == std::string_view::npos) return call(output, step.count);
  if (name.ends_with("Double")) return call(output, step.count, step.mean, step.deviation);
  return call(output, step.count, static_cast<float>(step.mean), static_cast<float>(step.deviation));
}

}  // namespace lockstep::libraries
