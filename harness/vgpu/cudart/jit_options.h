// Options of loading and linking, shared by the driver's and the runtime's calls.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace lockstep::vgpu {
struct DeviceProfile;
}

namespace lockstep::vgpu::cudart {

bool IsGiven(unsigned count, const CUjit_option* options, CUjit_option option);
// The error for invalid options, as a Hopper driver returns it.
cudaError_t CheckOptions(const DeviceProfile& profile, unsigned count, const CUjit_option* options,
                         void* const* values);

}  // namespace lockstep::vgpu::cudart
