// Whether a driver would take PTX text, and what its assembler says where it would not.
//
// NVIDIA's own assembler is asked, where a toolkit is installed: nothing else knows all that it refuses. Without one,
// only the version is looked at; the rest shows when the text is loaded.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu::cudart {

struct PtxVerdict {
  cudaError_t error = cudaSuccess;
  std::string log;  // as the driver's error log has it
};
// `linked`: it may name what other text has.
PtxVerdict CheckPtx(std::string_view text, const DeviceProfile& profile, bool linked = false);

}  // namespace lockstep::vgpu::cudart
