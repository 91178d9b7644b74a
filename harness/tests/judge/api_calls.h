// Calls of the runtime API as a worker's trace has them, for tests.
#pragma once

#include <cstdint>

#include "judge/model/api_counts.h"

namespace lockstep::judge {

inline worker::ApiCall Make(worker::ApiKind kind, const char* function, uint64_t bytes = 0, bool failed = false) {
  worker::ApiCall call;
  call.kind = kind;
  call.function = function;
  call.bytes = bytes;
  call.failed = failed;
  return call;
}

}  // namespace lockstep::judge
