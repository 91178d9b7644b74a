// API functions that are refused by name: see refused.cc.
#pragma once

#include <string_view>

namespace lockstep::vgpu::cudart {

// What a function that is refused would be for: "sharing between processes".
std::string_view RefusedSubject(std::string_view function);

// The call itself: error.cc.
int RefuseCall(const char* function);

}  // namespace lockstep::vgpu::cudart
