// The first of a call's requests to the device that failed: what it was, and what is wrong with it.
#pragma once

#include <string>

#include "judge/run/call.h"

namespace lockstep::judge {

struct Failure {
  vgpu::MessageLine evidence = "";  // "failed  cudaMemcpy  copy.cu:29"; "" where none is known
  HintText hint;
};

Failure FirstFailure(const CallReport& report, const CallContext& context);

}  // namespace lockstep::judge
