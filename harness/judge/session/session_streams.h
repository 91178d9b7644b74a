// A call's stream operations in the order of issue, and their dependencies, from which the judge computes a timeline
// (judge/model/stream_timeline.h).
//
// The judge knows each operation and its bytes, because it executed it. The worker reports which operations need not
// wait for each other. If two of these access the same device memory, that is a RACE (stream_checker.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/observers/stream_checker.h"

namespace lockstep::worker {

enum class StreamedKind : uint8_t { kToDevice, kToHost, kOnDevice, kBetween, kFill, kLaunch };

struct StreamedOperation {
  StreamedKind kind = StreamedKind::kLaunch;
  uint64_t bytes = 0;
  bool page_locked = false;  // whether the host side of a copy is page-locked
  // Launches: the device's records from `first_launch` on. A kernel may have launched others.
  size_t first_launch = 0, launches = 0;
  std::string stream;           // "stream 2"
  std::vector<uint32_t> after;  // indices in this list of operations that must end first
  int device = 0;               // kBetween: the one that sends
  int peer = 0;                 // kBetween: the one that receives
};

class OperationLog {
 public:
  // Begins an operation of a stream, which lasts until End.
  void Begin(const vgpu::StreamPoint& point);
  void End() { open_ = false; }
  // Adds completed work to the current operation or, outside of one, to the default stream.
  void Moved(StreamedKind kind, uint64_t bytes, int device = 0, int peer = 0);
  void Launched(size_t first_launch, size_t launches, int device = 0);
  void Clear();

  const std::vector<StreamedOperation>& operations() const { return operations_; }

 private:
  // Beyond this limit operations are assumed to run in sequence.
  static constexpr size_t kMostEdges = 1'000'000;

  // A slot's operations: sequence number, and index in the list.
  using Numbers = std::vector<std::pair<uint32_t, uint32_t>>;

  StreamedOperation& Add(StreamedKind kind);
  // Adds the last operation with at most this sequence number.
  static void AddLast(const Numbers& numbers, uint32_t sequence, std::vector<uint32_t>& after);
  bool IsPageLocked(StreamedKind kind, uint64_t bytes) const;

  std::vector<StreamedOperation> operations_;
  std::map<uint32_t, Numbers> slots_;
  bool open_ = false;
  bool added_ = false;  // the current operation has done some work, which is the last list entry
  vgpu::StreamPoint point_;
  uint32_t fence_ = 0;  // all operations from this index on wait for the one before it; 0: none
  uint32_t host_ = 0;   // the same, because the host itself waited for the one before it
  size_t edges_ = 0;
};

}  // namespace lockstep::worker
