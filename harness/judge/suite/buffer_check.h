// Checks memory that every launcher must leave unchanged: its inputs, and guard zones of its buffers.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/device/compare.h"
#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/run/call.h"

namespace lockstep::judge {

// Adds a problem if a read-only buffer differs from `before`. No effect if the memory is gone. text_of formats an
// element for messages.
template <class T>
void CheckUnchanged(const DeviceArray<T>& buffer, std::span<const T> before, const CallContext& context,
                    const HintText& hint, std::vector<Problem>& problems,
                    const std::function<std::string(T)>& text_of = ValueText<T>) {
  if (!buffer.alive()) return;
  const auto contents = buffer.Look();
  const std::span<const T> after = contents.values();
  // Compared as bytes: an unchanged NaN is no difference.
  const std::span<const uint8_t> old_bytes(reinterpret_cast<const uint8_t*>(before.data()), before.size_bytes());
  const std::span<const uint8_t> new_bytes(reinterpret_cast<const uint8_t*>(after.data()), after.size() * sizeof(T));
  const auto change = CompareExact(old_bytes, new_bytes);
  if (!change) return;
  const uint64_t index = change->index / sizeof(T);
  std::string text = "the input was changed: element " + std::to_string(index) + " of " + Grouped(before.size());
  if (index < before.size() && index < after.size()) {
    text += " was " + text_of(before[index]) + ", is " + text_of(after[index]);
  }
  problems.push_back(MakeProblem(Verdict::kWrong, context, {text}, hint));
}

// Adds a problem if the guard zone of one of the buffers was written.
template <class... T>
void CheckGuards(const CallContext& context, std::vector<Problem>& problems, const DeviceArray<T>&... buffers) {
  if ((buffers.GuardsIntact() && ...)) return;
  problems.push_back(MakeProblem(Verdict::kBounds, context, {"memory next to a buffer was overwritten"},
                                 "check the index against the buffer's length before each store"));
}

// Adds a problem if the call holds device memory after its return.
inline void CheckNothingHeld(const CallContext& context, const CallReport& report, std::vector<Problem>& problems) {
  if (!report.observed || report.api.leaked_allocations == 0) return;
  const worker::ApiCall* const held = FirstHeld(report.trace);
  const bool is_async = held != nullptr && held->function == "cudaMallocAsync";
  Problem problem =
      MakeProblem(Verdict::kApi, context,
                  {Grouped(report.api.leaked_allocations) + " of " + Counted(report.api.allocations, "allocation") +
                   " not freed when the launcher returned"},
                  is_async ? "each cudaMallocAsync needs its cudaFreeAsync, on every path out of the function"
                           : "each cudaMalloc needs its cudaFree, on every path out of the function");
  if (held != nullptr && !held->call_site.empty()) {
    problem.evidence.insert(problem.evidence.begin() + 1,
                            LineAt("at", held->call_site, held->function + " of " + Counted(held->bytes, "byte")));
  }
  problems.push_back(std::move(problem));
}

// The same for page-locked memory, according to the program's own reports.
inline void CheckNoPageLockedHeld(const CallContext& context, const CallReport& report,
                                  std::vector<Problem>& problems) {
  const auto unpinned = std::count_if(report.trace.begin(), report.trace.end(), [](const worker::ApiCall& call) {
    return call.kind == worker::ApiKind::kOther && !call.failed &&
           (call.function == "cudaFreeHost" || call.function == "cudaHostUnregister");
  });
  if (report.api.pinned_allocations <= static_cast<uint64_t>(unpinned)) return;
  problems.push_back(MakeProblem(Verdict::kApi, context,
                                 {"page-locked memory was not freed when the launcher returned"},
                                 "each cudaMallocHost needs its cudaFreeHost, on every path out of the function"));
}

// The right result without any kernel: it was computed on the host.
inline Problem NoKernelProblem(const CallContext& context) {
  return MakeProblem(Verdict::kRejected, context, {"the result is right, but no kernel was launched"});
}

}  // namespace lockstep::judge
