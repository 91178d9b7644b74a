#include "judge/model/api_text.h"

#include <algorithm>

#include "judge/model/text.h"

namespace lockstep::judge {
namespace {

using worker::ApiCall;
using worker::ApiKind;

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

std::vector<std::string> CallLines(std::span<const ApiCall> trace, std::span<const std::string> also, size_t most) {
  const auto is_shown = [&](const ApiCall& call) {
    return call.kind != ApiKind::kOther || call.failed ||
           std::any_of(also.begin(), also.end(),
                       [&](const std::string& start) { return call.function.starts_with(start); });
  };
  std::vector<std::string> lines;
  size_t number = 0;
  for (const ApiCall& call : trace) {
    if (!is_shown(call) || ++number > most) continue;
    lines.push_back((lines.empty() ? "calls   " : "        ") + Line(number, call));
  }
  if (number > most) lines.push_back("        and " + Grouped(number - most) + " more");
  if (lines.empty()) lines.push_back("calls   none that allocates, copies or launches");
  return lines;
}

std::string SiteText(const std::string& call_site) {
  return Printable(call_site.substr(call_site.find_last_of('/') + 1));
}

std::string AtSite(const std::string& call_site) {
  if (call_site.empty()) return "";
  return (call_site.ends_with("()") ? "in " : "at ") + SiteText(call_site);
}

std::string ErrorText(int64_t error) {
  switch (error) {
    case 0:
      return "cudaSuccess";
    case 1:
      return "cudaErrorInvalidValue";
    case 2:
      return "cudaErrorMemoryAllocation";
    case 9:
      return "cudaErrorInvalidConfiguration";
    case 701:
      return "cudaErrorLaunchOutOfResources";
    default:
      return "error " + std::to_string(error);
  }
}

void AddCalls(std::vector<Problem>& problems, std::span<const ApiCall> trace, std::span<const std::string> also) {
  const std::vector<std::string> lines = CallLines(trace, also);
  for (Problem& problem : problems) {
    if (!problem.unfinished) problem.evidence.insert(problem.evidence.end(), lines.begin(), lines.end());
  }
}

}  // namespace lockstep::judge
