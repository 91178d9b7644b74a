// What was found in kernels, for editors and code scanning: vgpu-run --check --sarif=FILE.
#pragma once

#include <string>
#include <vector>

#include "vgpu/core/finding.h"

namespace lockstep::vgpu::cudart {

// SARIF 2.1.0: a result for each finding, its first place as the location, the other one as related. Files in the
// current folder are named from there. False: the file can't be written.
bool WriteSarifFile(const std::string& path, const std::vector<Finding>& findings);

}  // namespace lockstep::vgpu::cudart
