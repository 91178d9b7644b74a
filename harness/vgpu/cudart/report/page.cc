// The data are JSON within page.html, which draws them; make profile PAGE=1 writes the same from a judge's result
// (grader/src/grader/student/page.py). What a program can make long is cut, and the page says so.
#include "vgpu/cudart/report/page.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "vgpu/core/symbol_name.h"
#include "vgpu/cudart/report/json_text.h"
#include "vgpu/cudart/report/kernel_summary.h"
#include "vgpu/model/advice.h"

namespace lockstep::vgpu::cudart {
namespace {

constexpr char kPage[] =
#include "page_html.inc"
    ;
constexpr char kMark[] = "{\"data\": \"here\"}";
constexpr size_t kMostKernels = 100, kMostLines = 2000, kMostDrawn = 500, kMostNames = 300;
constexpr size_t kMostSource = 200 * 1000, kMostSources = 1000 * 1000;  // bytes of a file, of all files

std::string Cut(const std::string& text) { return text.substr(0, kMostNames); }

std::string AccessJson(const AccessSample& sample) {
  std::ostringstream json;
  const uint64_t origin = OriginOf(sample);
  json << R"({"space":")" << NameOf(sample.space) << R"(","access":")" << NameOf(sample.access) << R"(","bytes":)"
       << sample.bytes << R"(,"cost":)" << sample.cost << R"(,"ideal":)" << sample.ideal << R"(,"block":)"
       << sample.block << R"(,"warp":)" << sample.warp << R"(,"lanes":[)";
  for (size_t lane = 0; lane < sample.at.size(); ++lane) {
    if (lane > 0) json << ',';
    if ((sample.mask >> lane & 1) != 0) {
      json << sample.at[lane] - origin;
    } else {
      json << -1;
    }
  }
  json << "]}";
  return json.str();
}

std::string CountersJson(const Counters& counters) {
  std::string json;
  for (const CounterInfo& info : AllCounters()) {
    if (counters.*info.field == 0) continue;
    json += (json.empty() ? "\"" : ",\"") + std::string(info.name) + "\":" + std::to_string(counters.*info.field);
  }
  return "{" + json + "}";
}

// Writes the parts of a list with commas between them.
class List {
 public:
  explicit List(std::ostream& out) : out_(out) { out_ << '['; }
  std::ostream& Next() { return out_ << (std::exchange(is_first_, false) ? "" : ",\n"); }
  void End() { out_ << ']'; }

 private:
  std::ostream& out_;
  bool is_first_ = true;
};

class Page {
 public:
  Page(std::ostream& out, const Device& device) : out_(out), device_(device), kernels_(Summarize(device.launches())) {
    std::stable_sort(kernels_.begin(), kernels_.end(),
                     [](const KernelSummary& a, const KernelSummary& b) { return a.microseconds > b.microseconds; });
  }

  void Write() {
    out_ << R"({"title":"A run on the virtual GPU","device":)" << JsonText(device_.profile().name) << R"(,"kernels":)";
    WriteKernels();
    out_ << R"(,"findings":)";
    WriteFindings();
    out_ << R"(,"files":)";
    WriteFiles();
    out_ << R"(,"notes":)";
    List notes(out_);
    for (const std::string& note : notes_) notes.Next() << JsonText(note);
    notes.End();
    out_ << '}';
  }

 private:
  void WriteKernels() {
    List list(out_);
    size_t lines_left = kMostLines, drawn_left = kMostDrawn;
    for (const KernelSummary& kernel : kernels_) {
      if (&kernel - kernels_.data() >= static_cast<std::ptrdiff_t>(kMostKernels)) break;
      const LaunchRecord& first = *kernel.first;
      list.Next() << R"({"name":)" << JsonText(Cut(kernel.name)) << R"(,"launches":)" << kernel.launches
                  << R"(,"grid":")" << (kernel.same_shape ? Shape(first.grid) : "various") << R"(","block":")"
                  << (kernel.same_shape ? Shape(first.block) : "various") << R"(","us":)" << kernel.microseconds
                  << R"(,"bound_by":)" << JsonText(LongestOf(kernel).bound_by) << R"(,"occupancy":)"
                  << first.theoretical_occupancy << R"(,"counters":)" << CountersJson(kernel.counters)
                  << R"(,"advice":)";
      WriteAdvice(kernel);
      out_ << R"(,"lines":)";
      WriteLines(kernel, lines_left, drawn_left);
      out_ << '}';
    }
    list.End();
    if (kernels_.size() > kMostKernels) {
      notes_.push_back("The " + std::to_string(kMostKernels) + " costliest of " + std::to_string(kernels_.size()) +
                       " kernels are shown.");
    }
    if (lines_left == 0) {
      notes_.push_back("Of the costliest kernels, the " + std::to_string(kMostLines) +
                       " lines that take most instructions are shown.");
    }
    if (drawn_left == 0) notes_.push_back("The first " + std::to_string(kMostDrawn) + " accesses are drawn.");
  }

  void WriteAdvice(const KernelSummary& kernel) {
    List list(out_);
    for (const Advice& advice : Advise(kernel.all, device_.profile())) {
      list.Next() << R"({"technique":)" << JsonText(advice.technique) << R"(,"text":)" << JsonText(advice.text)
                  << R"(,"saved_us":)" << advice.saved_us << R"(,"lines":)";
      List lines(out_);
      for (const auto& [file, line] : advice.lines) {
        lines.Next() << R"({"file":)" << JsonText(file) << R"(,"line":)" << line << '}';
      }
      lines.End();
      out_ << '}';
    }
    list.End();
  }

  void WriteLines(const KernelSummary& kernel, size_t& left, size_t& drawn) {
    std::vector<std::pair<const std::pair<std::string, int>*, const LineCounters*>> lines;
    for (const auto& [place, line] : kernel.lines) lines.emplace_back(&place, &line);
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
      return a.second->counters.warp_instructions > b.second->counters.warp_instructions;
    });
    lines.resize(std::min(lines.size(), left));
    left -= lines.size();
    List list(out_);
    for (const auto& [place, line] : lines) {
      files_.insert(place->first);
      list.Next() << R"({"file":)" << JsonText(place->first) << R"(,"line":)" << place->second << R"(,"counters":)"
                  << CountersJson(line->counters) << R"(,"accesses":)";
      List accesses(out_);
      for (const KeptSample& sample : {line->global, line->shared}) {
        if (sample == nullptr || drawn == 0) continue;
        --drawn;
        accesses.Next() << AccessJson(*sample);
      }
      accesses.End();
      out_ << '}';
    }
    list.End();
  }

  void WriteFindings() {
    List list(out_);
    for (const Finding& finding : device_.findings().findings()) {
      const FindingText text = Describe(finding);
      list.Next() << R"({"heading":)" << JsonText(text.heading) << R"(,"launch":)" << JsonText(Cut(text.launch))
                  << R"(,"hint":)" << JsonText(text.hint) << R"(,"lines":)";
      List lines(out_);
      for (const MessageLine& line : text.lines) {
        lines.Next() << R"({"label":)" << JsonText(line.label) << R"(,"text":)" << JsonText(Cut(line.text))
                     << R"(,"file":)" << JsonText(line.file) << R"(,"line":)" << line.line << '}';
      }
      lines.End();
      out_ << R"(,"kind":)" << JsonText(NameOf(finding.kind)) << R"(,"missing":)"
           << JsonText(finding.kind == FindingKind::kRace ? MissingOrder(finding) : "") << R"(,"places":)";
      List places(out_);
      for (const ThreadPlace* place : {&finding.first, finding.second ? &*finding.second : nullptr}) {
        if (place == nullptr) continue;
        if (place->line > 0) files_.insert(place->file);
        places.Next() << R"({"block":")" << PointText(place->block) << R"(","thread":")" << PointText(place->thread)
                      << R"(","access":")" << NameOf(place->access) << R"(","line":)" << place->line << '}';
      }
      places.End();
      if (finding.memory && finding.memory->in_buffer) {
        const MemoryPlace& memory = *finding.memory;
        out_ << R"(,"memory":{"buffer":)" << JsonText(Cut(VariableName(memory.buffer_name))) << R"(,"offset":)"
             << static_cast<int64_t>(memory.address - memory.buffer_base) << R"(,"bytes":)" << memory.bytes
             << R"(,"buffer_bytes":)" << memory.buffer_bytes << '}';
      }
      out_ << '}';
    }
    list.End();
  }

  void WriteFiles() {
    List list(out_);
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
      list.Next() << R"({"path":)" << JsonText(path) << R"(,"text":)" << JsonText(text) << '}';
    }
    list.End();
  }

  std::ostream& out_;
  const Device& device_;
  std::vector<KernelSummary> kernels_;
  std::set<std::string> files_;
  std::vector<std::string> notes_;
};

}  // namespace

bool WritePage(const std::string& path, const Device& device) {
  const std::string page = kPage;
  const size_t at = page.find(kMark);
  std::ofstream file(path);
  file << page.substr(0, at);
  Page(file, device).Write();
  file << page.substr(at + sizeof kMark - 1);
  file.flush();
  return file.good();
}

}  // namespace lockstep::vgpu::cudart
