// Races between operations of different streams.
//
// Whoever serves the CUDA API keeps the clocks (observers/stream_clocks.h) and says of each operation what is ordered
// before it. Here is what the operations touch. An operation is held against all earlier ones that are not ordered
// before it; one that the host has waited for is ordered before all that follows, and is forgotten.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/observers/footprint.h"

namespace lockstep::vgpu {

enum class StreamKind : uint8_t { kDefault, kBlocking, kNonBlocking };

// An operation that begins, and where it stands.
struct StreamPoint {
  uint32_t slot = 0;             // of the stream
  uint32_t sequence = 0;         // its number among that slot's operations, from 1
  std::vector<uint32_t> before;  // by slot: so many operations are ordered before this one
  std::vector<uint32_t> waited;  // and so many the host has waited for
  StreamKind kind = StreamKind::kDefault;
  std::string stream;  // "stream 2"
  std::string function, call_site;
  // Memory that it reads or writes besides what the device is asked for. Of host memory that is no device memory the
  // address has kHostSpace set.
  struct Span {
    uint64_t address = 0, bytes = 0;
    bool writes = false;
  };
  std::vector<Span> spans;
  static constexpr uint64_t kHostSpace = uint64_t{1} << 63;
};

// What the host did too early, as only the CUDA runtime sees it.
struct HostRace {
  enum class What : uint8_t {
    kChangedSource,     // of a copy to the device that nothing had waited for
    kFreedDestination,  // of a copy to the host, or a fill there
  };
  What what = What::kChangedSource;
  std::string stream;
  std::string function, call_site;              // of the copy
  std::string found_function, found_call_site;  // where the host was found to have gone on, or what freed it
  uint64_t offset = 0, bytes = 0;               // of what changed, in what the copy reads
};

class StreamChecker {
 public:
  // Names the buffer at an address.
  using Describe = std::function<void(MemoryPlace&)>;
  explicit StreamChecker(Describe describe) : describe_(std::move(describe)) {}

  void Begin(StreamPoint point);
  // The operation has done all that it does: the races with earlier ones.
  std::vector<Finding> End();
  bool active() const { return current_.has_value(); }
  // Of the operation that is going on.
  void Access(StreamAccess access, uint64_t address, uint64_t bytes) {
    if (current_) current_->footprint.Add(access, address, address + bytes);
  }
  void Launched(std::shared_ptr<const Program> program, const LaunchInfo& info, std::optional<Footprint> footprint);
  // The operation going on frees this memory, or somebody does outside of any.
  std::vector<Finding> Free(uint64_t address, uint64_t bytes);
  // All operations.
  void Clear();

  static Finding FindingOf(const HostRace& race);

 private:
  struct Operation {
    StreamPoint point;
    Footprint footprint;
    std::shared_ptr<const Program> program;  // a kernel's
    std::string kernel;
    Dim3 grid{0, 0, 0}, block{0, 0, 0};
    uint64_t launch = 0;
    bool frees = false;
  };
  std::vector<Finding> Compare(const Operation& operation);
  Finding FindingOf(const Operation& first, const Operation& second, const Footprint::Conflict& conflict);

  // Earlier ones beyond these are forgotten.
  static constexpr size_t kMostOperations = 4096;
  static constexpr size_t kMostSpans = 16'000'000;

  const Describe describe_;
  std::optional<Operation> current_;
  std::deque<Operation> earlier_;
  size_t spans_ = 0;
};

}  // namespace lockstep::vgpu
