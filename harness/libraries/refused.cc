// The functions of NVIDIA's library that ours lacks. The build lists all of NVIDIA's (refused.cmake), and compiles this
// file into each library; functions here are weak, so those that ours defines replace them. Parameters do not matter,
// so no header of the library is included.
#include <cstdlib>

#include "vgpu/cudart/libraries/library_call.h"

namespace {

int Refuse(const char* function) {
  lockstep_refuse(LOCKSTEP_LIBRARY, function, nullptr);
  return LOCKSTEP_NOT_SUPPORTED;
}

// For functions without a status: the program could not notice the refusal, so it is ended.
[[maybe_unused]] void RefuseAndEnd(const char* function) {
  constexpr int kCantRunStatus = 126;
  Refuse(function);
  std::_Exit(kCantRunStatus);
}

}  // namespace

#define LOCKSTEP_REFUSE(function) \
  extern "C" __attribute__((weak, visibility("default"))) int function() { return Refuse(#function); }
#define LOCKSTEP_REFUSE_AND_END(function) \
  extern "C" __attribute__((weak, visibility("default"))) void function() { RefuseAndEnd(#function); }
#define LOCKSTEP_REFUSE_UNDECLARED LOCKSTEP_REFUSE
#include LOCKSTEP_REFUSED_FUNCTIONS
