#include "vgpu/cudart/report/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "vgpu/core/grouped.h"
#include "vgpu/core/hint.h"
#include "vgpu/cudart/report/api_failure.h"
#include "vgpu/cudart/report/table.h"
#include "vgpu/model/advice.h"
#include "vgpu/model/kernel_summary.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr char kBold[] = "\033[1m", kRed[] = "\033[31m", kPlain[] = "\033[0m";
constexpr size_t kMaxLines = 20;  // most expensive lines shown per kernel
constexpr size_t kMaxSourceColumns = 60;

bool InColor() {
  const char* choice = std::getenv("LOCKSTEP_COLOR");
  if (choice != nullptr && std::strcmp(choice, "always") == 0) return true;
  if (choice != nullptr && std::strcmp(choice, "never") == 0) return false;
  return ::isatty(STDERR_FILENO) == 1;
}

std::string Colored(const char* color, const std::string& text) { return InColor() ? color + text + kPlain : text; }

void Heading(const std::string& text) { std::fprintf(stderr, "\n%s\n", Colored(kBold, text).c_str()); }

void PrintTable(const Table& table) {
  std::fputs(table.Format(InColor() ? kBold : "", InColor() ? kPlain : "").c_str(), stderr);
}

// a / b with one decimal; a dash if b is 0.
std::string Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? "-" : WithDecimals(static_cast<double>(a) / static_cast<double>(b), 1);
}

std::string Percent(uint64_t a, uint64_t b) { return b == 0 ? "-" : Ratio(100 * a, b) + "%"; }

void PrintKernels(const Device& device, const std::vector<KernelSummary>& kernels) {
  Heading("Kernels, as they would run on " + std::string(device.profile().name));
  Table table({"<kernel", "launches", "grid", "block", "us", "<bound by", "occupancy", "registers", "warp instr.",
               "divergent", "sectors/req", "conflicts", "barriers", "atomics"});
  for (const KernelSummary& kernel : kernels) {
    const Counters& c = kernel.counters;
    const LaunchRecord& first = *kernel.first;
    table.Add({kernel.name, Grouped(kernel.launches), kernel.same_shape ? Shape(first.grid) : "various",
               kernel.same_shape ? Shape(first.block) : "various", WithDecimals(kernel.microseconds, 2), first.bound_by,
               IsLibraryCall(first) ? "-" : WithDecimals(100 * first.theoretical_occupancy, 0) + "%",
               IsLibraryCall(first) ? "-" : std::to_string(first.registers), Grouped(c.warp_instructions),
               Percent(c.divergent_branches, c.branches),
               Ratio(c.global_load_sectors + c.global_store_sectors, c.global_load_requests + c.global_store_requests),
               Grouped(c.shared_conflicts()), Grouped(c.barriers), Grouped(c.atomics + c.shared_atomics)});
  }
  PrintTable(table);
}

// The text of a source line, if the file still exists.
std::string SourceLine(const std::string& path, int number) {
  std::ifstream file(path);
  std::string line;
  for (int i = 0; i < number && std::getline(file, line); ++i) {
  }
  if (!file) return "";
  line.erase(0, line.find_first_not_of(" \t"));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }, ' ');
  if (line.size() > kMaxSourceColumns) line = line.substr(0, kMaxSourceColumns - 3) + "...";
  return line;
}

std::string FileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

void PrintLines(const KernelSummary& kernel) {
  Heading(kernel.name + " by source line");
  const bool has_lines =
      std::any_of(kernel.lines.begin(), kernel.lines.end(), [](const auto& line) { return line.first.second > 0; });
  if (kernel.counters.warp_instructions == 0) {
    std::fputs("  stopped by a fault, so nothing was counted\n", stderr);
    return;
  }
  if (!has_lines) {
    std::fputs("  build with nvcc -lineinfo to see this kernel's lines\n", stderr);
    return;
  }
  std::vector<std::pair<std::pair<std::string, int>, LineCounters>> lines(kernel.lines.begin(), kernel.lines.end());
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second.counters.warp_instructions > b.second.counters.warp_instructions;
  });
  const size_t shown = std::min(lines.size(), kMaxLines);
  lines.resize(shown);
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Table table({"<line", "warp instr.", "divergent", "sectors/req", "conflicts", "barriers", "<source"});
  for (const auto& [place, line] : lines) {
    const Counters& c = line.counters;
    table.Add({FileName(place.first) + ":" + std::to_string(place.second), Grouped(c.warp_instructions),
               Percent(c.divergent_branches, c.branches),
               Ratio(c.global_load_sectors + c.global_store_sectors, c.global_load_requests + c.global_store_requests),
               Grouped(c.shared_conflicts()), Grouped(c.barriers), SourceLine(place.first, place.second)});
  }
  PrintTable(table);
  if (kernel.lines.size() > shown) {
    std::fprintf(stderr, "  and %zu cheaper %s\n", kernel.lines.size() - shown,
                 kernel.lines.size() - shown == 1 ? "line" : "lines");
  }
}

// What limits each kernel, how close it is to its roofline, and the most effective changes.
void PrintAdvice(const Device& device, const std::vector<KernelSummary>& kernels) {
  Heading("What limits them, and which changes would gain most (modelled)");
  for (const KernelSummary& kernel : kernels) {
    if (IsLibraryCall(*kernel.first) || kernel.counters.warp_instructions == 0) continue;
    const KernelAdvice told = AdviseOn(kernel, device.profile());
    std::fprintf(stderr, "  %s  bound by %s; %s operations a byte of memory: %s %% of what %s\n", kernel.name.c_str(),
                 told.bound_by.c_str(), WithDecimals(told.roofline.intensity, 2).c_str(),
                 WithDecimals(100 * told.roofline.share, 0).c_str(),
                 told.roofline.intensity < told.roofline.ridge ? "DRAM allows" : "its arithmetic units allow");
    for (const Advice& advice : told.changes) {
      std::string places;
      for (const auto& [file, line] : advice.lines) {
        places += (places.empty() ? FileName(file) + ":" : ", ") + std::to_string(line);
      }
      std::fprintf(stderr, "    -%s us (%s %%)  %s  %s: %s\n", WithDecimals(advice.saved_us, 2).c_str(),
                   WithDecimals(100 * advice.saved_us / kernel.microseconds, 0).c_str(), places.c_str(),
                   advice.technique.c_str(), advice.text.c_str());
    }
  }
}

std::string OnDevice(const ReportOptions& options) {
  return options.ordinal ? " on device " + std::to_string(*options.ordinal) : "";
}

uint64_t PrintFindings(const Device& device, const ReportOptions& options) {
  const FindingList& list = device.findings();
  Heading("Findings" + OnDevice(options) +
          (options.ended_by == nullptr ? "" : std::string(", until the program was ended by ") + options.ended_by));
  uint64_t count = list.dropped();
  for (const Finding& finding : list.findings()) {
    ++count;
    if (!finding.fatal || !options.faults_were_shown) PrintFinding(finding);
  }
  if (options.leaks) {
    const auto print = [&](const Device::AllocationInfo& allocation, const char* when) {
      ++count;
      const std::string place = allocation.allocated_at.empty() ? "" : ", allocated at " + allocation.allocated_at;
      std::fprintf(stderr, "%s  %s: %s %s %s%s\n", Colored(kRed, "LEAK").c_str(), allocation.label.c_str(),
                   Grouped(allocation.bytes).c_str(), allocation.bytes == 1 ? "byte was" : "bytes were", when,
                   place.c_str());
    };
    for (const auto& allocation : options.lost_at_reset) print(allocation, "not freed before its context ended");
    for (const auto& allocation : device.Allocations()) print(allocation, "never freed");
  }
  if (options.api) {
    for (const ApiFailure& failure : UnreadFailures()) {
      ++count;
      const std::string_view hint =
          TextOf(failure.code == cudaErrorInvalidSymbol ? Hint::kSymbolItself : Hint::kCheckCalls);
      std::fprintf(stderr, "%s  %s\n  hint    %.*s\n", Colored(kRed, "API").c_str(), Sentence(failure).c_str(),
                   static_cast<int>(hint.size()), hint.data());
    }
  }
  if (list.dropped() > 0) {
    std::fprintf(stderr, "  and %llu more\n", static_cast<unsigned long long>(list.dropped()));
  }
  if (count == 0) std::fputs("  none\n", stderr);
  if (count > 1) std::fprintf(stderr, "  %s findings\n", Grouped(count).c_str());
  for (const Device::LeftOut& left_out : device.left_out()) {
    const std::string of = left_out.kernel.empty() ? "" : left_out.kernel + ": ";
    const std::string times = left_out.count == 1 ? "" : " (" + Grouped(left_out.count) + " times)";
    std::fprintf(stderr, "%s  %s%s%s\n  hint    %s\n", Colored(kBold, "NOT FULLY CHECKED").c_str(), of.c_str(),
                 InfoOf(left_out.gap).what, times.c_str(), InfoOf(left_out.gap).remedy);
  }
  return count;
}

}  // namespace

void PrintFinding(const Finding& finding) {
  const std::string text = Format(finding);
  const size_t first_line = std::min(text.find('\n'), text.size());
  std::fprintf(stderr, "%s%s\n", Colored(kRed, text.substr(0, first_line)).c_str(), text.substr(first_line).c_str());
}

uint64_t PrintReport(const Device& device, const ReportOptions& options) {
  if (options.ended_by == nullptr) std::fflush(stdout);
  const uint64_t count = options.findings ? PrintFindings(device, options) : 0;
  if (!options.kernels) return count;
  const std::vector<KernelSummary> kernels = Summarize(device.launches());
  if (kernels.empty()) {
    Heading("Kernels" + OnDevice(options) + ": none was launched");
    return count;
  }
  if (options.ordinal) Heading("Device " + std::to_string(*options.ordinal));
  PrintKernels(device, kernels);
  PrintAdvice(device, kernels);
  if (!options.lines) return count;
  for (const KernelSummary& kernel : kernels) {
    if (!IsLibraryCall(*kernel.first)) PrintLines(kernel);
  }
  return count;
}

}  // namespace lockstep::vgpu::cudart
