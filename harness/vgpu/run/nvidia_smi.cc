#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "vgpu/run/commands.h"

namespace lockstep::vgpu::run {
namespace {

constexpr int kInvalidQueryStatus = 2;
constexpr char kUsage[] =
    "usage: vgpu-run [--device=ID] [--devices=N] nvidia-smi [-L | --query-gpu=LIST --format=csv[,noheader][,nounits]]\n"
    "LIST is of index, name, memory.total, driver_version, compute_cap and count\n";
constexpr int64_t kMebibyte = 1 << 20;

struct Field {
  const char* name;
  const char* unit;
  std::string value;
};

std::vector<Field> FieldsOf(const DeviceProfile& device, int index, int count) {
  return {{"index", "", std::to_string(index)},
          {"name", "", device.name},
          {"memory.total", "MiB", std::to_string(device.memory_bytes / kMebibyte)},
          {"driver_version", "", "Lockstep " LOCKSTEP_VERSION},
          {"compute_cap", "", std::to_string(device.cc_major) + "." + std::to_string(device.cc_minor)},
          {"count", "", std::to_string(count)}};
}

// The items of "a,b" without spaces around them.
std::vector<std::string> Items(std::string_view list) {
  std::vector<std::string> items(1);
  for (const char c : list) {
    if (c == ',') {
      items.emplace_back();
    } else if (c != ' ') {
      items.back() += c;
    }
  }
  return items;
}

}  // namespace

int NvidiaSmi(const DeviceProfile& device, const std::vector<std::string>& arguments) {
  constexpr std::string_view kQuery = "--query-gpu=", kFormat = "--format=";
  std::vector<std::string> query;
  bool list = false, csv = false, header = true, units = true;
  for (const std::string& argument : arguments) {
    if (argument == "-L" || argument == "--list-gpus") {
      list = true;
    } else if (argument.starts_with(kQuery)) {
      query = Items(std::string_view(argument).substr(kQuery.size()));
    } else if (argument.starts_with(kFormat)) {
      for (const std::string& word : Items(std::string_view(argument).substr(kFormat.size()))) {
        csv |= word == "csv";
        header &= word != "noheader";
        units &= word != "nounits";
        if (word != "csv" && word != "noheader" && word != "nounits")
          return std::fputs(kUsage, stderr), kInvalidQueryStatus;
      }
    } else {
      return std::fputs(kUsage, stderr), kInvalidQueryStatus;
    }
  }
  if (csv == query.empty() || (list && csv)) return std::fputs(kUsage, stderr), kInvalidQueryStatus;
  const char* const given = std::getenv("LOCKSTEP_DEVICES");
  const int count = given != nullptr ? std::max(std::atoi(given), 1) : 1;
  std::string text;
  for (int index = 0; index < count; ++index) {
    std::string names, values;
    for (const std::string& asked : query) {
      const std::string between = values.empty() ? "" : ", ";
      bool known = false;
      for (const Field& field : FieldsOf(device, index, count)) {
        if (asked != field.name) continue;
        known = true;
        const std::string unit = field.unit;
        names += between + asked + (unit.empty() || !units ? "" : " [" + unit + "]");
        values += between + field.value + (unit.empty() || !units ? "" : " " + unit);
      }
      if (known) continue;
      std::fprintf(stderr, "vgpu-run nvidia-smi: there is no field %s\n%s", asked.c_str(), kUsage);
      return kInvalidQueryStatus;
    }
    if (csv) {
      text += (header && index == 0 ? names + "\n" : "") + values + "\n";
    } else if (list) {
      text += "GPU " + std::to_string(index) + ": " + device.name + " (virtual, by Lockstep " LOCKSTEP_VERSION ")\n";
    } else {
      text += "GPU " + std::to_string(index) + "  " + device.name + ", virtual: compute capability " +
              std::to_string(device.cc_major) + "." + std::to_string(device.cc_minor) + ", " +
              std::to_string(device.sm_count) + " SMs, " + std::to_string(device.memory_bytes / kMebibyte) +
              " MiB of memory, of which programs get what --memory says\n";
    }
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace lockstep::vgpu::run
