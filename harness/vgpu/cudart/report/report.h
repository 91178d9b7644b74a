// The report of a program's run on the virtual GPU: findings, and counters by kernel and by source line. It goes to
// standard error as aligned text, in colour on a terminal or as LOCKSTEP_COLOR=always|never says.
#pragma once

#include <optional>
#include <vector>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

struct ReportOptions {
  bool findings = false;  // the checkers ran: print what they found
  bool leaks = false;
  bool api = false;            // failed API calls that were never checked
  std::optional<int> ordinal;  // the device's, if there are several devices
  bool kernels = false, lines = false;
  bool faults_were_shown = false;
  const char* ended_by = nullptr;  // "SIGABRT": the program ends abnormally, and may not be able to flush stdout
  std::vector<Device::AllocationInfo> lost_at_reset;  // memory leaked at cudaDeviceReset
};

void PrintFinding(const Finding& finding);
// Returns the number of findings.
uint64_t PrintReport(const Device& device, const ReportOptions& options);

}  // namespace lockstep::vgpu::cudart
