#include "vgpu/cudart/report/counters_file.h"

#include <fstream>
#include <iomanip>

#include "vgpu/core/counters.h"

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

}  // namespace

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
