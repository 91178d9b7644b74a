// One kernel launch, for every API function that makes one.
#pragma once

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

// arguments[i] points to the i-th parameter's value. Throws ApiError where the launch itself is at fault; a fault
// of the kernel waits for a later call.
void Launch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
            bool cooperative);

// What a launch may ask for, in bytes: what was set, else what any kernel may have.
uint64_t MaxDynamicShared(Runtime& r, const Kernel& kernel, const KernelInfo& info);

cudaError_t ErrorOf(LaunchError error);

}  // namespace lockstep::vgpu::cudart
