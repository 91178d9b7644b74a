// The host's floating-point environment, while kernels run on it.
//
// Kernels compute with the host's own instructions, so their results must not depend on what the program has set for
// itself: a rounding mode, flushing of denormals to zero (as -ffast-math does at a program's start), traps.
#pragma once

#include <cfenv>

namespace lockstep::vgpu {

// Round to nearest, denormals, no traps. Gives the thread back as it was, with its exception flags.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace lockstep::vgpu
