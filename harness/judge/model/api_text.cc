#include "judge/model/api_text.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "judge/model/text.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {
namespace {

using worker::ApiCall;
using worker::ApiKind;

constexpr size_t kMostStores = 3;      // lines
constexpr int64_t kErrorOfStub = 600;  // the error that an unchanged stub returns

const char* WhatItDoes(ApiKind kind) {
  switch (kind) {
    case ApiKind::kHostToDevice:
      return "host to device";
    case ApiKind::kDeviceToHost:
      return "device to host";
    case ApiKind::kDeviceToDevice:
      return "device to device";
    default:
      return "";
  }
}

std::string Line(size_t number, const ApiCall& call) {
  std::string text = std::to_string(number) + "  " + call.function;
  if (call.bytes > 0) text += "  " + Counted(call.bytes, "byte");
  if (const std::string what = WhatItDoes(call.kind); !what.empty()) text += "  " + what;
  if (!call.call_site.empty()) text += "  " + SiteText(call.call_site);
  if (call.failed) text += "  failed";
  return text;
}

}  // namespace

std::vector<vgpu::MessageLine> CallLines(std::span<const ApiCall> trace, std::span<const std::string> also,
                                         size_t most) {
  const auto is_shown = [&](const ApiCall& call) {
    return call.kind != ApiKind::kOther || call.failed ||
           std::any_of(also.begin(), also.end(),
                       [&](const std::string& start) { return call.function.starts_with(start); });
  };
  std::vector<vgpu::MessageLine> lines;
  size_t number = 0;
  for (const ApiCall& call : trace) {
    if (!is_shown(call) || ++number > most) continue;
    const vgpu::MessageLine at = LineAt("", call.call_site);
    lines.emplace_back(lines.empty() ? "calls" : " ", Line(number, call), at.file, at.line);
  }
  if (number > most) lines.emplace_back(" ", "and " + Grouped(number - most) + " more");
  if (lines.empty()) lines.emplace_back("calls", "none that allocates, copies or launches");
  return lines;
}

std::vector<std::string> LaunchLines(std::span<const ApiCall> trace, std::span<const vgpu::LaunchRecord> launches,
                                     size_t most) {
  std::vector<std::string> lines;
  for (const ApiCall& call : trace) {
    if (call.kind != ApiKind::kLaunch || lines.size() == most) continue;
    const std::string site = call.call_site.empty() ? "" : "  " + SiteText(call.call_site);
    std::string line = LaunchText(Printable(call.kernel_name), call.grid, call.block) + site;
    const auto launch = std::ranges::find(launches, call.kernel_name, &vgpu::LaunchRecord::kernel);
    if (launch != launches.end()) {
      for (size_t k = 0; k < std::min(launch->stores.size(), kMostStores); ++k) {
        line += (k == 0 ? ", stores at " : ", ") + Printable(launch->stores[k]);
      }
    }
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

std::string SiteText(const std::string& call_site) {
  return Printable(call_site.substr(call_site.find_last_of('/') + 1));
}

vgpu::MessageLine LineAt(const char* label, const std::string& call_site, const std::string& rest) {
  const std::string site = SiteText(call_site);
  const size_t colon = std::min(site.rfind(':'), site.size());
  return {label, site + (rest.empty() ? "" : "  " + rest), site.substr(0, colon),
          std::atoi(site.c_str() + std::min(colon + 1, site.size()))};
}

std::string AtSite(const std::string& call_site) {
  if (call_site.empty()) return "";
  return (call_site.ends_with("()") ? "in " : "at ") + SiteText(call_site);
}

std::string ErrorText(int64_t error) {
  static const std::map<int64_t, std::string> kNames = {{0, "cudaSuccess"},
                                                        {1, "cudaErrorInvalidValue"},
                                                        {2, "cudaErrorMemoryAllocation"},
                                                        {9, "cudaErrorInvalidConfiguration"},
                                                        {kErrorOfStub, "cudaErrorNotReady"},
                                                        {700, "cudaErrorIllegalAddress"},
                                                        {701, "cudaErrorLaunchOutOfResources"},
                                                        {719, "cudaErrorLaunchFailure"}};
  const auto found = kNames.find(error);
  return found != kNames.end() ? found->second : "error " + std::to_string(error);
}

Hint HintOfReturned(int64_t error) { return error == kErrorOfStub ? Hint::kStubsReturn : Hint::kCheckEachCall; }

void AddCalls(std::vector<Problem>& problems, std::span<const ApiCall> trace, std::span<const std::string> also) {
  const std::vector<vgpu::MessageLine> lines = CallLines(trace, also);
  for (Problem& problem : problems) {
    if (!problem.unfinished) problem.evidence.insert(problem.evidence.end(), lines.begin(), lines.end());
  }
}

}  // namespace lockstep::judge
