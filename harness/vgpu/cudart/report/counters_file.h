// Every launch's counters and modelled time in machine-readable form: vgpu-run --counters=FILE.
#pragma once

#include <string>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

// Writes the metrics in `list` (see ParseMetrics) to standard output: as CSV with a row per launch, like
// `ncu --csv --page raw`, or as a table.
void PrintMetrics(const Device& device, const std::string& list, bool csv);
// CSV: a line of names, then a line per launch in order. Kernel names are quoted. False: the file can't be written.
bool WriteCountersFile(const std::string& path, const Device& device);

}  // namespace lockstep::vgpu::cudart
