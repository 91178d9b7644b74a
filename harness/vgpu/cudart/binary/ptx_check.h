// Whether a driver would accept PTX text, and its assembler's message if not.
//
// If a toolkit is installed, NVIDIA's own assembler checks the text: only it knows everything it refuses. Without one,
// only the version is checked; other errors appear when the text is loaded.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu::cudart {

struct PtxVerdict {
  cudaError_t error = cudaSuccess;
  std::string log;  // in the format of the driver's error log
};
// `linked`: it may refer to symbols of other texts.
PtxVerdict CheckPtx(std::string_view text, const DeviceProfile& profile, bool linked = false);

}  // namespace lockstep::vgpu::cudart
