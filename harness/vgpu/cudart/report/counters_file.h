// Every launch's counters and modelled time in machine-readable form: vgpu-run --counters=FILE.
#pragma once

#include <string>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

// CSV: a line of names, then a line per launch in order. Kernel names are quoted. False: the file can't be written.
// PrintMetrics writes a row per launch to standard output, like `ncu --csv --page raw`, or a table for people. `list`:
// as ParseMetrics takes it.
void PrintMetrics(const Device& device, const std::string& list, bool csv);
bool WriteCountersFile(const std::string& path, const Device& device);

}  // namespace lockstep::vgpu::cudart
