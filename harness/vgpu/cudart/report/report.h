// The report of a program's run on the virtual GPU: findings, and counters by kernel and by source line. It goes to
// standard error as aligned text, in colour on a terminal or as LOCKSTEP_COLOR=always|never says.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/core/finding.h"
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
  std::vector<Device::AllocationInfo> lost_at_reset;  // memory leaked at the end of its context
};

void PrintFinding(const Finding& finding);
// Returns the number of findings.
uint64_t PrintReport(const Device& device, const ReportOptions& options);

// Writes the metrics in `list` (see ParseMetrics) to standard output: as CSV with a row per launch, like
// `ncu --csv --page raw`, or as a table.
void PrintMetrics(const Device& device, const std::string& list, bool csv);
// vgpu-run --counters=FILE: every launch's counters and modelled time as CSV: a line of names, then a line per launch in
// order. Kernel names are quoted. False: the file can't be written.
bool WriteCountersFile(const std::string& path, const Device& device);

// vgpu-run --check --sarif=FILE: findings in kernels, for editors and code scanning. SARIF 2.1.0: a finding's first place
// is its location, the other one a related location. False: it can't be written.
bool WriteSarifFile(const std::string& path, const std::vector<Finding>& findings);

// vgpu-run --page=FILE: a run as a self-contained web page, page.html: kernels by cost, the source with counters by line,
// worst accesses, findings, replays, and the operations of streams. False: the file can't be written.
bool WritePage(const std::string& path, const Device& device, nlohmann::ordered_json operations);

// The first of the device's operations on the modelled clock: stream, category, name, when it begins and how long it
// takes, in microseconds.
nlohmann::ordered_json OperationsJson(int device);

// Reports when a program ends without running its libraries' destructors: by a signal (assert, an uncaught exception, a
// crash, Ctrl-C), by _exit() or by quick_exit(): calls report("SIGABRT"), report("_exit()" …) when this process (not a
// fork of it) ends like that. Signals that the program handles itself are not intercepted. nullptr: nothing to report.
void ReportAtDeath(void (*report)(const char* how));

// From now on a signal such as Ctrl-C first ends a running kernel, so that the positions of its threads are reported;
// EndIfInterrupted(), called after each launch, then ends the process by that signal. If that does not happen, the
// process ends after some seconds, or at once at a second such signal.
void InterruptKernels();
void EndIfInterrupted();

}  // namespace lockstep::vgpu::cudart
