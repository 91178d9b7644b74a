// Limits keep the page small. Notes on it tell which kernels, lines, drawn accesses and files are left out.
#include "vgpu/device/page_data.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/core/symbol_name.h"
#include "vgpu/exec/block_replay.h"
#include "vgpu/model/kernel_summary.h"
#include "vgpu/model/record_json.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kMostPageKernels = 100, kMostPageLines = 1500, kMostDrawn = 500, kMostNames = 300;
constexpr size_t kMostSource = 200 * 1000, kMostSources = 400 * 1000;  // bytes of a file, of all files
constexpr size_t kMostReplays = 600 * 1000;                            // bytes

std::string CutName(const std::string& text) { return text.substr(0, kMostNames); }

class Page {
 public:
  explicit Page(const Device& device)
      : device_(device),
        clock_(device.options().timed_as != nullptr ? *device.options().timed_as : device.profile()),
        kernels_(Summarize(device.launches())) {
    std::stable_sort(kernels_.begin(), kernels_.end(),
                     [](const KernelSummary& a, const KernelSummary& b) { return a.microseconds > b.microseconds; });
    made.replays = ReplaysJson();
    Json& data = made.data;
    data = {{"title", "A run on the virtual GPU"}, {"device", clock_.name}};
    data["kernels"] = KernelsJson();
    data["findings"] = FindingsJson();
    data["files"] = FilesJson();
    data["notes"] = notes_;
  }

  PageData made;

 private:
  Json KernelsJson() {
    Json list = Json::array();
    size_t lines_left = kMostPageLines, drawn_left = kMostDrawn;
    for (const KernelSummary& kernel : std::span(kernels_).first(std::min(kernels_.size(), kMostPageKernels))) {
      const LaunchRecord& first = *kernel.first;
      const KernelAdvice told = AdviseOn(kernel, clock_);
      list.push_back({{"name", CutName(kernel.name)},
                      {"launches", kernel.launches},
                      {"grid", kernel.same_shape ? Shape(first.grid) : "various"},
                      {"block", kernel.same_shape ? Shape(first.block) : "various"},
                      {"us", kernel.microseconds},
                      {"bound_by", told.bound_by},
                      {"occupancy", first.theoretical_occupancy},
                      {"counters", JsonOf(kernel.counters)},
                      {"advice", Json::array()},
                      {"lines", LinesJson(kernel, lines_left, drawn_left)}});
      // Nothing was counted for a launch that ended in a fault.
      const bool is_counted = kernel.counters.warp_instructions > 0;
      if (is_counted && !IsLibraryCall(first)) list.back()["advice"].push_back(JsonOf(told));
    }
    if (kernels_.size() > kMostPageKernels) {
      notes_.push_back("The " + std::to_string(kMostPageKernels) + " costliest of " + std::to_string(kernels_.size()) +
                       " kernels are shown.");
    }
    if (lines_left == 0) {
      notes_.push_back("Of the costliest kernels, the " + std::to_string(kMostPageLines) +
                       " lines that take most instructions are shown.");
    }
    if (drawn_left == 0) notes_.push_back("The first " + std::to_string(kMostDrawn) + " accesses are drawn.");
    return list;
  }

  // As many recordings as fit, those with findings first.
  Json ReplaysJson() {
    Json list = Json::array();
    size_t bytes = 0;
    if (device_.options().replay == nullptr) return list;
    for (const bool has_findings : {true, false}) {
      for (const auto& [name, replay] : device_.options().replay->replays) {
        const size_t own = replay.has_findings == has_findings ? replay.json.dump().size() : kMostReplays;
        if (bytes + own > kMostReplays) continue;
        bytes += own;
        list.push_back(replay.json);
        for (const Json& step : replay.json["steps"]) {
          if (step[1] >= 0) files_.insert(replay.json["files"][step[1].get<size_t>()]);
        }
      }
    }
    return list;
  }

  Json LinesJson(const KernelSummary& kernel, size_t& left, size_t& drawn) {
    std::vector<std::pair<const std::pair<std::string, int>*, const LineCounters*>> lines;
    for (const auto& [place, line] : kernel.lines) lines.emplace_back(&place, &line);
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
      return a.second->counters.warp_instructions > b.second->counters.warp_instructions;
    });
    lines.resize(std::min(lines.size(), left));
    left -= lines.size();
    Json list = Json::array();
    for (const auto& [place, line] : lines) {
      files_.insert(place->first);
      list.push_back({{"file", place->first}, {"line", place->second}, {"counters", JsonOf(line->counters)}});
      list.back()["accesses"] = Json::array();
      for (const KeptSample& sample : {line->global, line->shared, line->branch}) {
        if (sample == nullptr || drawn == 0) continue;
        --drawn;
        list.back()["accesses"].push_back(JsonOf(*sample));
      }
    }
    return list;
  }

  Json FindingsJson() {
    Json list = Json::array();
    for (const Finding& finding : device_.findings().findings()) {
      const FindingText text = Describe(finding);
      const Dim3 &at = finding.first.block, &grid = finding.grid;
      Json lines = Json::array(), places = Json::array();
      for (const MessageLine& line : text.lines) {
        lines.push_back(
            {{"label", line.label}, {"text", CutName(line.text)}, {"file", line.file}, {"line", line.line}});
      }
      for (const ThreadPlace* place : {&finding.first, finding.second ? &*finding.second : nullptr}) {
        if (place == nullptr) continue;
        if (place->line > 0) files_.insert(place->file);
        places.push_back({{"block", PointText(place->block)},
                          {"thread", PointText(place->thread)},
                          {"access", NameOf(place->access)},
                          {"line", place->line}});
      }
      list.push_back({{"heading", text.heading},
                      {"launch", CutName(text.launch)},
                      {"hint", text.hint},
                      {"lines", std::move(lines)},
                      {"kind", NameOf(finding.kind)},
                      {"ordinal", finding.launch},
                      {"block", at.x + uint64_t{grid.x} * (at.y + uint64_t{grid.y} * at.z)},
                      {"missing", finding.kind == FindingKind::kRace ? MissingOrder(finding) : ""},
                      {"places", std::move(places)}});
      if (finding.memory && finding.memory->in_buffer) {
        const MemoryPlace& memory = *finding.memory;
        list.back()["memory"] = {{"buffer", CutName(VariableName(memory.buffer_name))},
                                 {"offset", static_cast<int64_t>(memory.address - memory.buffer_base)},
                                 {"bytes", memory.bytes},
                                 {"buffer_bytes", memory.buffer_bytes}};
      }
    }
    return list;
  }

  Json FilesJson() {
    Json list = Json::array();
    size_t left = kMostSources;
    for (const std::string& path : files_) {
      std::ifstream file(path, std::ios::binary);
      std::string text;
      if (file) {
        text.resize(kMostSource + 1);
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<size_t>(file.gcount()));
      }
      if (text.size() > std::min(kMostSource, left)) {
        notes_.push_back(path + " is too long to be shown.");
        text.clear();
      }
      left -= text.size();
      list.push_back({{"path", path}, {"text", text}});
    }
    return list;
  }

  const Device& device_;
  const DeviceProfile& clock_;  // the device whose times are shown
  std::vector<KernelSummary> kernels_;
  std::set<std::string> files_;
  std::vector<std::string> notes_;
};

}  // namespace

PageData PageDataOf(const Device& device) { return Page(device).made; }

}  // namespace lockstep::vgpu
