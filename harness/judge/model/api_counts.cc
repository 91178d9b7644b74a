#include "judge/model/api_counts.h"

#include <algorithm>
#include <array>
#include <set>

namespace lockstep::judge {
namespace {

// Page-locked memory is on the host: no request carries it, so the trace has only the function's name.
bool IsPinnedAllocation(std::string_view function) {
  constexpr std::array<std::string_view, 3> kFunctions = {"cudaMallocHost", "cudaHostAlloc", "cudaHostRegister"};
  return std::find(kFunctions.begin(), kFunctions.end(), function) != kFunctions.end();
}

}  // namespace

const std::vector<ApiCountInfo>& AllApiCounts() {
  static const std::vector<ApiCountInfo> all = {
#define LOCKSTEP_API_INFO(name, text) {#name, text, &ApiCounts::name},
      LOCKSTEP_API_COUNTS(LOCKSTEP_API_INFO)
#undef LOCKSTEP_API_INFO
  };
  return all;
}

const worker::ApiCall* FirstHeld(std::span<const worker::ApiCall> trace) {
  std::vector<const worker::ApiCall*> held;
  for (const worker::ApiCall& call : trace) {
    if (call.failed) continue;
    if (call.kind == worker::ApiKind::kAllocate) held.push_back(&call);
    if (call.kind != worker::ApiKind::kFree) continue;
    const auto freed =
        std::find_if(held.begin(), held.end(), [&](const auto* other) { return other->address == call.address; });
    if (freed != held.end()) held.erase(freed);
  }
  return held.empty() ? nullptr : held.front();
}

ApiCounts CountApi(std::span<const worker::ApiCall> trace, const worker::MemoryUse& use) {
  using worker::ApiKind;
  ApiCounts counts;
  counts.bytes_to_device = use.bytes_to_device;
  counts.bytes_on_device = use.bytes_on_device;
  counts.bytes_to_host = use.bytes_to_host;
  // Allocations of this call that it did not free; leaks of earlier calls don't count.
  std::multiset<uint64_t> held;
  for (const worker::ApiCall& call : trace) {
    if (call.failed) {
      ++counts.failed_calls;
      continue;
    }
    switch (call.kind) {
      case ApiKind::kHostToDevice:
        ++counts.copies_to_device;
        break;
      case ApiKind::kDeviceToDevice:
        ++counts.copies_on_device;
        break;
      case ApiKind::kDeviceToHost:
        ++counts.copies_to_host;
        break;
      case ApiKind::kFill:
        ++counts.fills;
        break;
      case ApiKind::kAllocate:
        ++counts.allocations;
        held.insert(call.address);
        break;
      case ApiKind::kFree:
        ++counts.frees;
        if (const auto freed = held.find(call.address); freed != held.end()) held.erase(freed);
        break;
      case ApiKind::kOther:
        if (IsPinnedAllocation(call.function)) ++counts.pinned_allocations;
        break;
      case ApiKind::kReset:
        counts.leaked_allocations += held.size();
        held.clear();
        break;
      case ApiKind::kLaunch:
        break;
    }
  }
  counts.leaked_allocations += held.size();
  return counts;
}

}  // namespace lockstep::judge
