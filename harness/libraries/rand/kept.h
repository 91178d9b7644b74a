// NVIDIA's own library, if installed: its host generators compute without a GPU, and their words and Poisson numbers
// equal an H100's in every bit. Used for unpublished algorithms: Poisson numbers by rejection, scrambled Sobol'
// sequences, dimensions after the first 256.
#pragma once

#include <memory>
#include <vector>

#include "libraries/rand/generator.h"

namespace lockstep::libraries {

class Kept {
 public:
  // A generator of NVIDIA's after replaying `history`; nullptr if the library is missing.
  static std::shared_ptr<Kept> Make(curandRngType_t type, const std::vector<Step>& history);
  ~Kept();
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  // Replays a step; results go to `output`, in host memory.
  curandStatus_t Run(const Step& step, void* output);

 private:
  Kept() = default;
  curandGenerator_t generator_ = nullptr;
};

// A function of NVIDIA's library, nullptr if it is missing.
void* KeptFunction(const char* name);

}  // namespace lockstep::libraries
