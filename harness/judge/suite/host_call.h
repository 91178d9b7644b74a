// Calls of launchers whose arrays are in host memory: common code of such tasks' suites.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/model/text.h"
#include "judge/run/call.h"

namespace lockstep::judge {

inline constexpr uint8_t kNotArrived = 0xd7;  // as in vgpu/cudart/host_transfers.h

template <class T>
std::vector<uint8_t> BytesOf(const std::vector<T>& values) {
  const auto* data = reinterpret_cast<const uint8_t*>(values.data());
  return {data, data + values.size() * sizeof(T)};
}

template <class T>
std::vector<T> ValuesOf(const std::vector<uint8_t>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
bool HasBytes(T value, uint8_t byte) {
  uint8_t bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  return std::all_of(std::begin(bytes), std::end(bytes), [&](uint8_t b) { return b == byte; });
}

// Adds a problem if the call has made streams, events, graphs or memory pools and not destroyed them.
inline void CheckNoneLeft(const CallContext& context, const CallReport& report, std::vector<Problem>& problems) {
  struct Kind {
    std::vector<std::string_view> made;
    const char *destroyed, *what;
  };
  static const Kind kKinds[] = {
      {{"cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority"},
       "cudaStreamDestroy",
       "stream"},
      {{"cudaEventCreate", "cudaEventCreateWithFlags"}, "cudaEventDestroy", "event"},
      {{"cudaGraphInstantiate", "cudaGraphInstantiateWithFlags", "cudaGraphInstantiateWithParams"},
       "cudaGraphExecDestroy",
       "executable graph"},
      {{"cudaStreamEndCapture", "cudaGraphCreate", "cudaGraphClone"}, "cudaGraphDestroy", "graph"},
      {{"cudaMemPoolCreate"}, "cudaMemPoolDestroy", "memory pool"}};
  for (const auto& [made, destroyed, what] : kKinds) {
    const auto calls = [&](std::string_view function) {
      return std::ranges::count_if(
          report.trace, [&](const worker::ApiCall& call) { return !call.failed && call.function == function; });
    };
    auto left = -calls(destroyed);
    for (const std::string_view function : made) left += calls(function);
    if (left <= 0) continue;
    problems.push_back(MakeProblem(Verdict::kApi, context,
                                   {Counted(static_cast<uint64_t>(left), what) + " made and not destroyed"},
                                   "each " + std::string(made.front()) + " needs its " + destroyed));
    return;
  }
}

// Whether all bytes of `result`, a copy to the host, were last written by copies within the device, not from the host.
inline bool WasCopiedOnTheDevice(const CallReport& report, const worker::ApiCall& result) {
  std::vector<std::pair<uint64_t, uint64_t>> copied;
  for (const worker::ApiCall& copy : report.trace) {
    if (&copy == &result) break;
    const uint64_t begin = std::max(copy.address, result.address);
    const uint64_t end = std::min(copy.address + copy.bytes, result.address + result.bytes);
    if (copy.failed || begin >= end) continue;
    if (copy.kind == worker::ApiKind::kDeviceToDevice) copied.emplace_back(begin, end);
    if (copy.kind == worker::ApiKind::kHostToDevice) copied.clear();
  }
  std::ranges::sort(copied);
  uint64_t until = result.address;  // the end of the contiguous copies from the result's begin on
  for (const auto& [begin, end] : copied) {
    if (begin <= until) until = std::max(until, end);
  }
  return until - result.address >= result.bytes;
}

// Whether the launcher returned without calling CUDA.
inline bool DidNothing(const CallReport& report) {
  return report.outcome == worker::Outcome::kReturned && report.observed && report.trace.empty();
}

}  // namespace lockstep::judge
