// Every launch's counters and modelled time, for programs to read: vgpu-run --counters=FILE.
#pragma once

#include <string>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

// CSV: a line of names, then a line a launch, in the order of launches. Names of kernels are quoted. False: the file
// can't be written.
// To standard output: a row each launch, as `ncu --csv --page raw` prints it; or as a table for people. `list`: as
// ParseMetrics takes it.
void PrintMetrics(const Device& device, const std::string& list, bool csv);
bool WriteCountersFile(const std::string& path, const Device& device);

}  // namespace lockstep::vgpu::cudart
