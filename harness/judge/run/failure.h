// The first failed device request of a call: what it was, and its problem.
#pragma once

#include "judge/run/call.h"

namespace lockstep::judge {

struct Failure {
  vgpu::MessageLine evidence = "";  // "failed  cudaMemcpy  copy.cu:29"; "" if unknown
  HintText hint;
};

Failure FirstFailure(const CallReport& report, const CallContext& context);

}  // namespace lockstep::judge
