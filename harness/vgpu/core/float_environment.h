// The host's floating-point environment while kernels run.
//
// Kernels compute with the host's instructions, so their results must not depend on what the program has set: a
// rounding mode, flushing of denormals (-ffast-math does that at program start), traps.
#pragma once

#include <cfenv>

namespace lockstep::vgpu {

// Sets round to nearest, denormals, no traps. The destructor restores the thread's environment, including its exception
// flags.
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
