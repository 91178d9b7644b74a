// Whether a driver would accept PTX text, and its assembler's message if not.
//
// If a toolkit is installed, its assembler checks the text, because only NVIDIA's assembler knows all rules. Without a
// toolkit only the version is checked; other errors appear when the text is loaded.
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
// `linked`: the text may refer to symbols of others.
PtxVerdict CheckPtx(std::string_view text, const DeviceProfile& profile, bool linked = false);
// Whether any text was invalid so far.
bool AnyPtxWasInvalid();

}  // namespace lockstep::vgpu::cudart
