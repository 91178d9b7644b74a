// NVIDIA's compiler at run time, behind a library of the same name.
#pragma once

namespace lockstep::libraries {

// A function of the real libnvrtc; nullptr where there is none.
void* RealNvrtc(const char* function);

}  // namespace lockstep::libraries
