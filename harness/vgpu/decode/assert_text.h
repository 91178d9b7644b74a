// Whether the finding of a failed assertion also contains what CUDA would print. Programs that run on their own need
// it, since people and scripts expect that text; the judge's message says it only once.
#pragma once

namespace lockstep::vgpu {

inline bool& AssertsAsCudaToo() {
  static bool on = false;
  return on;
}

}  // namespace lockstep::vgpu
