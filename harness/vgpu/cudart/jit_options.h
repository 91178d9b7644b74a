// The options of a load or a link, of the driver's calls and the runtime's alike.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace lockstep::vgpu {
struct DeviceProfile;
}

namespace lockstep::vgpu::cudart {

// What is wrong with them, as a Hopper's driver says it.
cudaError_t CheckOptions(const DeviceProfile& profile, unsigned count, const CUjit_option* options,
                         void* const* values);

}  // namespace lockstep::vgpu::cudart
