// Direction vectors and scramble constants for programs whose kernels generate Sobol' sequences: NVIDIA's tables, from
// an installed libcurand.so.10.
#include "libraries/rand/kept.h"

namespace lockstep::libraries {

namespace {

template <typename... Arguments>
curandStatus_t OfKept(const char* function, Arguments... arguments) {
  const auto kept = reinterpret_cast<curandStatus_t (*)(Arguments...)>(KeptFunction(function));
  return kept != nullptr ? kept(arguments...) : Refuse(function, "this table, which only NVIDIA's libcurand.so.10 has");
}

}  // namespace

}  // namespace lockstep::libraries

using namespace lockstep::libraries;

extern "C" {

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t** vectors, curandDirectionVectorSet_t set) {
  return OfKept("curandGetDirectionVectors32", vectors, set);
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t** vectors, curandDirectionVectorSet_t set) {
  return OfKept("curandGetDirectionVectors64", vectors, set);
}
curandStatus_t curandGetScrambleConstants32(unsigned int** constants) {
  return OfKept("curandGetScrambleConstants32", constants);
}
curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  return OfKept("curandGetScrambleConstants64", constants);
}

}  // extern "C"
