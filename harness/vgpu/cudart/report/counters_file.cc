#include "vgpu/cudart/report/counters_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iomanip>

#include "vgpu/core/counters.h"
#include "vgpu/cudart/report/metrics.h"
#include "vgpu/cudart/report/table.h"

namespace lockstep::vgpu::cudart {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string Point(const Dim3& dim) {
  return "(" + std::to_string(dim.x) + ", " + std::to_string(dim.y) + ", " + std::to_string(dim.z) + ")";
}

std::string ValueOf(const Metric& metric, const LaunchRecord& launch) {
  if (metric.value == nullptr) return std::to_string(launch.counters.*metric.field);
  const double value = metric.value(launch);
  return WithDecimals(value, value == static_cast<double>(static_cast<int64_t>(value)) ? 0 : 3);
}

}  // namespace

void PrintMetrics(const Device& device, const std::string& list, bool csv) {
  const std::vector<Metric> metrics = ParseMetrics(list);
  std::vector<std::vector<std::string>> rows(1);
  if (csv) {
    rows[0] = {"ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
               "Stream", "Block Size", "Grid Size",    "Device",    "CC"};
    rows.emplace_back(rows[0].size());
    for (const Metric& metric : metrics) rows[1].emplace_back(metric.unit);
  } else {
    rows[0] = {"<launch", "<kernel"};
  }
  for (const Metric& metric : metrics) rows[0].push_back(metric.name);
  const std::string cc = std::to_string(device.profile().cc_major) + "." + std::to_string(device.profile().cc_minor);
  for (const LaunchRecord& launch : device.launches()) {
    std::vector<std::string> row = {std::to_string(launch.ordinal), launch.kernel};
    if (csv) {  // the record has no stream
      row = {std::to_string(launch.ordinal),
             std::to_string(::getpid()),
             program_invocation_short_name,
             "127.0.0.1",
             launch.kernel,
             "1",
             "",
             Point(launch.block),
             Point(launch.grid),
             "0",
             cc};
    }
    for (const Metric& metric : metrics) row.push_back(ValueOf(metric, launch));
    rows.push_back(std::move(row));
  }
  if (csv) {
    for (const auto& row : rows) {
      for (size_t k = 0; k < row.size(); ++k) std::printf("%s%s", k == 0 ? "" : ",", Quoted(row[k]).c_str());
      std::puts("");
    }
  } else {
    Table table(rows[0]);
    for (size_t k = 1; k < rows.size(); ++k) table.Add(rows[k]);
    std::fputs(table.Format("", "").c_str(), stdout);
  }
  std::fflush(stdout);
}

bool WriteCountersFile(const std::string& path, const Device& device) {
  std::ofstream file(path);
  file << "launch,kernel,launched_by,blocks,threads,registers,shared_bytes,microseconds,bound_by";
  for (const CounterInfo& counter : AllCounters()) file << ',' << counter.name;
  file << '\n' << std::fixed << std::setprecision(3);
  for (const LaunchRecord& launch : device.launches()) {
    file << launch.ordinal << ',' << Quoted(launch.kernel) << ',' << Quoted(launch.launched_by) << ','
         << launch.grid.Count() << ',' << launch.block.Count() << ',' << launch.registers << ','
         << uint64_t{launch.static_shared} + launch.dynamic_shared << ',' << launch.microseconds << ','
         << launch.bound_by;
    for (const CounterInfo& counter : AllCounters()) file << ',' << launch.counters.*counter.field;
    file << '\n';
  }
  file.flush();
  return file.good();
}

}  // namespace lockstep::vgpu::cudart
