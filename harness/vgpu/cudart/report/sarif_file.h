// Findings in kernels, for editors and code scanning: vgpu-run --check --sarif=FILE.
#pragma once

#include <string>
#include <vector>

#include "vgpu/core/finding.h"

namespace lockstep::vgpu::cudart {

// SARIF 2.1.0: a finding's first place is its location, the other one a related location. False: it can't be written.
bool WriteSarifFile(const std::string& path, const std::vector<Finding>& findings);

}  // namespace lockstep::vgpu::cudart
