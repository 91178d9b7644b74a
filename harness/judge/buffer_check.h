// What every launcher owes its buffers: inputs come back unchanged, and memory beside a buffer stays as it was.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/buffer.h"
#include "judge/call.h"
#include "judge/compare.h"
#include "judge/text.h"

namespace lockstep::judge {

// Adds a problem where a buffer that is read only holds anything but `before`. Nothing where the memory is gone.
template <class T>
void CheckUnchanged(const DeviceArray<T>& buffer, std::span<const T> before, const CallContext& context,
                    const std::string& hint, std::vector<Problem>& problems) {
  if (!buffer.alive()) return;
  const std::vector<T> after = buffer.Get();
  // As bytes: a NaN that is still there is unchanged.
  const std::span<const uint8_t> old_bytes(reinterpret_cast<const uint8_t*>(before.data()), before.size_bytes());
  const std::span<const uint8_t> new_bytes(reinterpret_cast<const uint8_t*>(after.data()), after.size() * sizeof(T));
  const auto change = CompareExact(old_bytes, new_bytes);
  if (!change) return;
  const uint64_t index = change->index / sizeof(T);
  std::string text = "the input was changed: element " + std::to_string(index) + " of " + Grouped(before.size());
  if (index < before.size() && index < after.size()) {
    text += " was " + ValueText(before[index]) + ", is " + ValueText(after[index]);
  }
  problems.push_back(MakeProblem(Verdict::kWrong, context, {text}, hint));
}

// Adds a problem where the guard zone of one of the buffers was written.
template <class... T>
void CheckGuards(const CallContext& context, std::vector<Problem>& problems, const DeviceArray<T>&... buffers) {
  if ((buffers.GuardsIntact() && ...)) return;
  problems.push_back(MakeProblem(Verdict::kBounds, context, {"memory beside a buffer was written"},
                                 "compare the index with the buffer's length before each store"));
}

// Adds a problem where the call holds device or page-locked memory after its return.
inline void CheckNothingHeld(const CallContext& context, const CallReport& report, std::vector<Problem>& problems) {
  if (!report.observed || report.api.leaked_allocations == 0) return;
  const uint64_t pinned = report.api.pinned_allocations, all = report.api.allocations + pinned;
  problems.push_back(MakeProblem(Verdict::kApi, context,
                                 {Grouped(report.api.leaked_allocations) + " of " + Grouped(all) +
                                  (all == 1 ? " allocation" : " allocations") + " still held after the return"},
                                 std::string("each cudaMalloc needs its cudaFree, ") +
                                     (pinned > 0 ? "each cudaMallocHost its cudaFreeHost, " : "") +
                                     "on every way out of the function"));
}

// The right answer without any kernel: it was computed on the host.
inline Problem NoKernelProblem(const CallContext& context) {
  return MakeProblem(Verdict::kRejected, context, {"the result is right, but no kernel was launched"});
}

}  // namespace lockstep::judge
