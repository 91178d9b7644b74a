// How messages name memory that has been given back.
#pragma once

#include <string_view>

namespace lockstep::vgpu {

// The name of what a kernel's malloc gave.
inline constexpr std::string_view kKernelHeapName = "malloc in a kernel";
// Behind the name of an allocation that is gone. GlobalMemory::Nearest finds these after the live ones.
inline constexpr std::string_view kFreedName = " (freed)";

}  // namespace lockstep::vgpu
