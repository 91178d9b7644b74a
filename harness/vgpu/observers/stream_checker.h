// Races between operations in different streams.
//
// The CUDA API layer keeps the clocks (observers/stream_clocks.h) and states for each operation what happens before it.
// This class records what operations touch. Each operation is compared with all earlier ones that do not happen before
// it. An operation that the host has waited for happens before everything that follows, and is forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/gap.h"
#include "vgpu/observers/footprint.h"

namespace lockstep::vgpu {

enum class StreamKind : uint8_t { kDefault, kBlocking, kNonBlocking };

// The start of an operation, with its clocks.
struct StreamPoint {
  uint32_t slot = 0;             // of the stream
  uint32_t sequence = 0;         // its number within that slot, from 1
  std::vector<uint32_t> before;  // by slot: number of operations that happen before this one
  std::vector<uint32_t> waited;  // by slot: number of operations that the host has waited for
  StreamKind kind = StreamKind::kDefault;
  std::string stream;  // "stream 2"
  std::string function, call_site;
  // Memory that the operation accesses in addition to what the device reports. Host addresses outside device memory
  // have kHostSpace set.
  struct Span {
    uint64_t address = 0, bytes = 0;
    bool writes = false;
  };
  std::vector<Span> spans;
  static constexpr uint64_t kHostSpace = uint64_t{1} << 63;
};

// An access by the host that came too early; only the CUDA runtime can see it.
struct HostRace {
  enum class What : uint8_t {
    kChangedSource,     // the source of a copy to the device that was not waited for
    kFreedDestination,  // the destination of a copy or fill to the host
    kFreedSource,       // the source of a copy to the device
    kArgumentGone,      // a host function's argument: the function that owned it returned
  };
  What what = What::kChangedSource;
  std::string stream;
  std::string function, call_site;              // of the copy, fill or host function
  std::string found_function, found_call_site;  // where the early access was detected, or what freed the memory
  uint64_t offset = 0, bytes = 0;               // the changed bytes, within the copy's source
};

class StreamChecker {
 public:
  // Fills in the name of the buffer at an address.
  using Describe = std::function<void(MemoryPlace&)>;
  explicit StreamChecker(Describe describe) : describe_(std::move(describe)) {}

  void Begin(StreamPoint point);
  // The operation has finished: returns its races with earlier ones.
  std::vector<Finding> End();
  // Like End, but the operation goes on, ordered after what it has done so far: with a kernel that its kernel launched.
  std::vector<Finding> GoOn();
  bool active() const { return current_.has_value(); }
  // An access by the current operation.
  void Access(StreamAccess access, uint64_t address, uint64_t bytes) {
    if (current_) current_->footprint.Add(access, address, address + bytes);
  }
  void Launched(std::shared_ptr<const Program> program, const LaunchInfo& info, std::optional<Footprint> footprint);
  // The current operation frees this memory, or the host does if there is none.
  std::vector<Finding> Free(uint64_t address, uint64_t bytes);
  // The checks skipped since the last call.
  GapSet TakeGaps() { return std::exchange(gaps_, {}); }
  void Clear();

  static Finding FindingOf(const HostRace& race);

 private:
  struct Operation {
    StreamPoint point;
    Footprint footprint;
    std::shared_ptr<const Program> program;  // of a kernel launch
    std::string kernel;
    Dim3 grid{0, 0, 0}, block{0, 0, 0};
    uint64_t launch = 0;
    bool frees = false;
  };
  std::vector<Finding> Compare(const Operation& operation);
  Finding FindingOf(const Operation& first, const Operation& second, const Footprint::Conflict& conflict);

  // Limits; older operations are forgotten.
  static constexpr size_t kMostOperations = 4096;
  static constexpr size_t kMostSpans = 16'000'000;

  const Describe describe_;
  std::optional<Operation> current_;
  std::deque<Operation> earlier_;
  size_t spans_ = 0;
  GapSet gaps_;
};

}  // namespace lockstep::vgpu
