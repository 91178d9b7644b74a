// Whether a failed assertion's finding also says what CUDA would print. A program that runs on its own is looked at by
// people and scripts who expect that; a judge's message says it once.
#pragma once

namespace lockstep::vgpu {

inline bool& AssertsAsCudaToo() {
  static bool on = false;
  return on;
}

}  // namespace lockstep::vgpu
