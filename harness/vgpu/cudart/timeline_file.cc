// vgpu-run --timeline=FILE: the operations on the modelled clock, in the trace event format that Perfetto and Chrome's
// about:tracing read. Devices appear as processes, streams as threads. Written when the process ends.
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <map>
#include <string>

#include "vgpu/core/symbol_name.h"
#include "vgpu/cudart/backend.h"
#include "vgpu/cudart/report/report.h"
#include "vgpu/cudart/runtime.h"
#include "vgpu/exec/debug_channel.h"

namespace lockstep::vgpu::cudart {
namespace {

// Names a process or one of its threads in the trace.
void WriteName(std::ofstream& file, const char* what, int device, unsigned long long stream, const std::string& name) {
  file << R"({"ph":"M","name":")" << what << R"(","pid":)" << device << R"(,"tid":)" << stream << R"(,"args":{"name":)"
       << JsonText(name) << "}},\n";
}

void WriteTrace(std::ofstream& file, Runtime& r) {
  file << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" << std::fixed << std::setprecision(3);
  std::map<int, std::map<unsigned long long, int>> streams;
  for (const Operation& operation : r.timeline().operations()) ++streams[operation.device][operation.stream];
  for (const auto& [device, own] : streams) {
    WriteName(file, "process_name", device, 0, "device " + std::to_string(device) + ": " + r.profile().name);
    for (const auto& [stream, count] : own) {
      WriteName(file, "thread_name", device, stream,
                stream == 0 ? "default stream" : "stream " + std::to_string(stream));
    }
  }
  const char* separator = "";
  for (const Operation& operation : r.timeline().operations()) {
    file << separator << R"({"ph":"X","name":)" << JsonText(Demangled(operation.name).value_or(operation.name))
         << R"(,"cat":")" << operation.category << R"(","ts":)" << operation.begins_us << R"(,"dur":)"
         << operation.takes_us << R"(,"pid":)" << operation.device << R"(,"tid":)" << operation.stream
         << R"(,"args":{"bytes":)" << operation.bytes << R"(,"in_graph":)" << (operation.in_graph ? "true" : "false")
         << "}}";
    separator = ",\n";
  }
  file << "\n]}\n";
}

}  // namespace

nlohmann::ordered_json OperationsJson(int device) {
  constexpr size_t kMostOperations = 500, kMostName = 200;
  auto json = nlohmann::ordered_json::array();
  for (const Operation& one : runtime().timeline().operations()) {
    if (one.device != device || json.size() == kMostOperations) continue;
    const std::string name = Demangled(one.name).value_or(one.name).substr(0, kMostName);
    json.push_back({one.stream, one.category, name, one.begins_us, one.takes_us});
  }
  return json;
}

namespace {

__attribute__((destructor)) void WriteTimelineAtExit() {
  const char* const path = std::getenv("LOCKSTEP_TIMELINE_FILE");
  if (path == nullptr) return;
  Runtime& r = runtime();
  if (r.timeline().operations().empty()) return;
  std::ofstream file(path);
  WriteTrace(file, r);
  file.flush();
  if (!file.good()) Say(std::string(path) + ": can't be written");
}

}  // namespace
}  // namespace lockstep::vgpu::cudart
