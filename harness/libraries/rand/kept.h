// NVIDIA's own library behind this one, where the machine has it: its generators of the host compute without a GPU, and
// their words and Poisson's numbers are an H100's in all bits. It makes what nobody has published: Poisson's numbers by
// accepting and rejecting, scrambled Sobol' sequences, dimensions after the first 256.
#pragma once

#include <memory>
#include <vector>

#include "libraries/rand/generator.h"

namespace lockstep::libraries {

class Kept {
 public:
  // A generator of NVIDIA's that has been through `history`; nullptr where the library is missing.
  static std::shared_ptr<Kept> Make(curandRngType_t type, const std::vector<Step>& history);
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  // Does a step again; results go to `output`, host memory.
  curandStatus_t Run(const Step& step, void* output);

 private:
  Kept() = default;
  curandGenerator_t generator_ = nullptr;
};

// A function of NVIDIA's library, nullptr where it is missing.
void* KeptFunction(const char* name);

}  // namespace lockstep::libraries
