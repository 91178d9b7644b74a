#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <optional>
#include <regex>

#include "vgpu/core/counters.h"
#include "vgpu/core/grouped.h"
#include "vgpu/core/symbol_name.h"
#include "vgpu/cudart/report/metrics.h"
#include "vgpu/cudart/report/report.h"
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

// "4,096", "3.88", "0".
std::string ValueOf(const Metric& metric, const LaunchRecord& launch) {
  if (metric.value == nullptr) return Grouped(launch.counters.*metric.field);
  const double value = metric.value(launch);
  const auto whole = static_cast<uint64_t>(value);
  if (value == static_cast<double>(whole)) return Grouped(whole);
  const std::string text = WithDecimals(value, 2);
  return Grouped(std::stoull(text)) + text.substr(text.find('.'));
}

// Changes a mangled name so that parameters of template type are shown as T1, T2, …, as by Nsight Compute: "T_" becomes
// "2T1". Identifiers ("5scale"), literals ("Li16E") and back references ("S1_") stay.
std::string WithTemplateTypes(const std::string& mangled) {
  static const std::regex part("L[a-z]n?[0-9]+E|[SA][0-9A-Z]*_|T([0-9]*)_|[0-9]+");
  std::string text;
  std::smatch found;
  for (auto at = mangled.begin(); at != mangled.end();) {
    if (!std::regex_search(at, mangled.end(), found, part)) return text.append(at, mangled.end());
    text.append(at, found[0].first);
    at = found[0].second;
    if (*found[0].first == 'T') {
      const std::string name = "T" + std::to_string(found[1].length() == 0 ? 1 : std::stoul(found[1]) + 2);
      text += std::to_string(name.size()) + name;
      continue;
    }
    text += found[0];
    if (std::isdigit(static_cast<unsigned char>(*found[0].first)) == 0) continue;
    const auto end = at + std::min<ptrdiff_t>(std::stol(found[0]), mangled.end() - at);
    text.append(at, end);
    at = end;
  }
  return text;
}

// "void tools::scale<float, 8>(const T1 *, T1 *, int)", as ncu prints it by default (--print-kernel-base demangled).
std::string SignatureOf(const LaunchRecord& launch) {
  constexpr uint64_t kLongest = 2000;
  if (LongestDemangled(launch.mangled) > kLongest) return launch.kernel;
  const std::optional<std::string> name = Demangled(WithTemplateTypes(launch.mangled));
  if (!name || !name->ends_with(')')) return launch.kernel;
  size_t begin = name->size();
  for (int depth = 0; begin > 0;) {  // back to the '(' of the parameters
    const char c = (*name)[--begin];
    depth += c == ')' ? 1 : c == '(' ? -1 : 0;
    if (depth == 0) break;
  }
  static const std::regex is_const(R"(([\w:]+(?: [\w:]+)*) const(?=[*&]))"), is_pointer(R"((\w|>)([*&]))");
  const std::string types = std::regex_replace(name->substr(begin), is_const, "const $1");
  return name->substr(0, begin) + std::regex_replace(types, is_pointer, "$1 $2");
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
    if (csv) {  // the stream stays empty: records have none
      row = {std::to_string(launch.ordinal),
             std::to_string(::getpid()),
             program_invocation_short_name,
             "127.0.0.1",
             SignatureOf(launch),
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
