// Calls of launchers whose arrays are in host memory: common code of such tasks' suites.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "judge/model/text.h"
#include "judge/run/call.h"

namespace lockstep::judge {

inline constexpr uint8_t kNotArrived = 0xd7;  // vgpu/cudart/host_transfers.h

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

// Adds a problem if the call has made streams or events and not destroyed them.
inline void CheckNoneLeft(const CallContext& context, const CallReport& report, std::vector<Problem>& problems) {
  const auto calls = [&](std::string_view function) {
    return std::count_if(report.trace.begin(), report.trace.end(), [&](const worker::ApiCall& call) {
      return !call.failed && call.function.starts_with(function);
    });
  };
  for (const auto& [made, destroyed, what] : {std::tuple("cudaStreamCreate", "cudaStreamDestroy", "stream"),
                                              std::tuple("cudaEventCreate", "cudaEventDestroy", "event")}) {
    const auto left = calls(made) - calls(destroyed);
    if (left <= 0) continue;
    problems.push_back(MakeProblem(Verdict::kApi, context,
                                   {Counted(static_cast<uint64_t>(left), what) + " made and not destroyed"},
                                   std::string("each ") + made + " needs its " + destroyed));
    return;
  }
}

// Whether what `result`, a copy of the call to the host, took was last written by a copy on the device, and not by one
// from the host.
inline bool WasCopiedOnTheDevice(const CallReport& report, const worker::ApiCall& result) {
  uint64_t copied = 0;
  for (const worker::ApiCall& copy : report.trace) {
    if (&copy == &result) break;
    const uint64_t begin = std::max(copy.address, result.address);
    const uint64_t end = std::min(copy.address + copy.bytes, result.address + result.bytes);
    if (copy.failed || begin >= end) continue;
    if (copy.kind == worker::ApiKind::kDeviceToDevice) copied += end - begin;
    if (copy.kind == worker::ApiKind::kHostToDevice) copied = 0;
  }
  return copied >= result.bytes;
}

// Returned without a call of CUDA.
inline bool DidNothing(const CallReport& report) {
  return report.outcome == worker::Outcome::kReturned && report.observed && report.trace.empty();
}

}  // namespace lockstep::judge
