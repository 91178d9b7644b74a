// Access to NVIDIA's run-time compiler, which our library of the same name wraps.
#pragma once

namespace lockstep::libraries {

// A function of the real libnvrtc; nullptr if there is none.
void* RealNvrtc(const char* function);

}  // namespace lockstep::libraries
