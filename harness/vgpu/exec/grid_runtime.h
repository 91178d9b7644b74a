// Requests of a grid's threads to CUDA's device runtime, mainly launches of kernels (dynamic parallelism).
//
// Theory of operation. Launches, copies and fills are only recorded while the grid runs, with their parameters. They
// are done when the grid has ended, before it counts as complete (device/child_work.cc), in the order of recording;
// those for the tail stream come last. CUDA allows this order: a child may begin at any time after its launch, and no
// thread can wait for one. This order respects the order of each stream, and work recorded before an event precedes
// work that waits for it; so streams and events are only names here.
//
// A grid with such calls runs on one CPU thread, so that the order is the same in every run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vgpu/core/dim3.h"
#include "vgpu/core/kernel_info.h"
#include "vgpu/exec/runtime_answers.h"

namespace lockstep::vgpu {

// The values of cudaError_t that the device runtime returns.
enum class RuntimeError : uint32_t {
  kNone = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kInvalidMemcpyDirection = 21,
  kInvalidDeviceFunction = 98,
  kUnsupportedLimit = 215,
  kLaunchPendingCountExceeded = 69,
  kInvalidClusterSize = 912,
};

struct ChildKernel {
  std::string name;  // mangled
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  uint32_t parameter_bytes = 0;
};

// One request: a launch, or rows of bytes to copy or to fill.
struct ChildWork {
  enum class Kind : uint8_t { kLaunch, kCopy, kFill };
  Kind kind = Kind::kLaunch;
  ChildKernel kernel;
  std::vector<uint8_t> parameters;
  uint64_t to = 0, to_pitch = 0, from = 0, from_pitch = 0, width = 0, rows = 1;
  uint8_t value = 0;
  std::string place;  // of the call: "sort.cu:12", or ""
};

// The kernel that launched another one, and the source location; "" for launches by the host.
struct ParentLaunch {
  std::string kernel;  // demangled
  std::string place;
  size_t pending = 0;  // see ChildWorks
};
// "parent at sort.cu:12"
inline std::string TextOf(const ParentLaunch& asked_by) {
  return asked_by.kernel + (asked_by.place.empty() ? "" : " at " + asked_by.place);
}

// A grid's requests, in the order in which they are executed.
//
// cudaLimitDevRuntimePendingLaunchCount limits the incomplete launches. Here these are the grid itself and its
// ancestors, if launched by kernels, and the contents of their tail streams. Other launches count as complete as soon
// as they are made: on hardware they may well be.
class ChildWorks {
 public:
  ChildWorks() = default;
  // pending: number of incomplete launches, including the grid's own unless the host launched it.
  ChildWorks(std::string kernel, size_t pending) : kernel_(std::move(kernel)), pending_(pending) {}
  // The kernel that made the requests.
  const std::string& kernel() const { return kernel_; }
  void Add(ChildWork work, bool is_tail) { (is_tail ? tails_ : others_).push_back(std::move(work)); }
  bool empty() const { return next_ == others_.size() + tails_.size(); }
  size_t pending() const { return pending_ + tails_.size() - (std::max(next_, others_.size()) - others_.size()); }
  // The same while the last taken request runs. The grid itself is complete before a launch in the tail stream runs.
  size_t pending_with_taken() const { return pending() + (next_ > others_.size() && pending_ > 0 ? 0 : 1); }
  ChildWork Take() {
    const size_t k = next_++;
    return std::move(k < others_.size() ? others_[k] : tails_[k - others_.size()]);
  }

 private:
  std::string kernel_;
  size_t pending_ = 0;
  std::vector<ChildWork> others_, tails_;
  size_t next_ = 0;
};

// What a grid has to ask the device about the kernels that it launches.
struct ChildKernels {
  // The kernel at a function's address; nullptr if there is none.
  std::function<const KernelInfo*(uint64_t address)> at;
  std::function<RuntimeError(const ChildKernel&)> check;
};

class GridRuntime {
 public:
  // Special streams, by their handles.
  static constexpr uint64_t kTailStream = 3, kFireAndForgetStream = 4;

  GridRuntime(ChildWorks works, ChildKernels kernels, const RuntimeAnswers& answers, uint64_t graph)
      : kernels_(std::move(kernels)), answers_(answers), graph_(graph), works_(std::move(works)) {}

  const ChildKernels& kernels() const { return kernels_; }
  const RuntimeAnswers& answers() const { return answers_; }
  uint64_t graph() const { return graph_; }  // that launched the grid; 0: none
  ChildWorks& works() { return works_; }

  // A thread's last error.
  void SetError(uint64_t thread, RuntimeError error) {
    if (error != RuntimeError::kNone) errors_[thread] = error;
  }
  RuntimeError PeekError(uint64_t thread) const {
    const auto found = errors_.find(thread);
    return found == errors_.end() ? RuntimeError::kNone : found->second;
  }
  RuntimeError TakeError(uint64_t thread) {
    const RuntimeError error = PeekError(thread);
    errors_.erase(thread);
    return error;
  }

  // Memory for parameters, valid as long as the grid. 0: the chunk is used up.
  uint64_t TakeParameters(uint64_t bytes) {
    constexpr uint64_t kUnit = 64;
    const uint64_t footprint = (bytes + kUnit) / kUnit * kUnit;
    if (chunks_.empty() || footprint > chunks_.back().second - used_) return 0;
    return chunks_.back().first + std::exchange(used_, used_ + footprint);
  }
  void AddChunk(uint64_t address, uint64_t bytes) {
    chunks_.emplace_back(address, bytes);
    used_ = 0;
  }
  const std::vector<std::pair<uint64_t, uint64_t>>& chunks() const { return chunks_; }

  // Launches whose parameters are being written, by the address of the parameters.
  std::unordered_map<uint64_t, ChildKernel>& open() { return open_; }

  // Handles. A destroyed stream still accepts work, as on an H100, though programs must not rely on that.
  uint64_t MakeStream() { return *streams_.insert(next_handle_ += kHandleStep).first; }
  bool DestroyStream(uint64_t handle) { return streams_.contains(handle) && destroyed_.insert(handle).second; }
  bool IsStream(uint64_t handle) const { return handle <= kFireAndForgetStream || streams_.contains(handle); }
  uint64_t MakeEvent() { return *events_.insert(next_handle_ += kHandleStep).first; }
  bool DestroyEvent(uint64_t handle) { return events_.erase(handle) != 0; }
  bool IsEvent(uint64_t handle) const { return events_.contains(handle); }
  // Whether events may be recorded in the stream.
  static bool IsOrdered(uint64_t stream) { return stream != kTailStream && stream != kFireAndForgetStream; }
  // Strings in device memory that threads have requested.
  std::unordered_map<std::string, uint64_t>& texts() { return texts_; }

 private:
  static constexpr uint64_t kHandleStep = 16;

  const ChildKernels kernels_;
  const RuntimeAnswers& answers_;
  const uint64_t graph_;
  ChildWorks works_;
  std::unordered_map<uint64_t, RuntimeError> errors_;
  std::vector<std::pair<uint64_t, uint64_t>> chunks_;  // address, bytes
  uint64_t used_ = 0;                                  // bytes used in the last chunk
  std::unordered_map<uint64_t, ChildKernel> open_;
  std::unordered_set<uint64_t> streams_, destroyed_, events_;
  uint64_t next_handle_ = uint64_t{1} << 32;
  std::unordered_map<std::string, uint64_t> texts_;
};

}  // namespace lockstep::vgpu
