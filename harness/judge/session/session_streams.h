// What a call's streams did, in the order of issue, and what waits for what: from this the judge works out what ran
// beside what (judge/model/stream_timeline.h).
//
// What an operation is and how much it moves, the judge has seen: it did it. That it need not wait for another is the
// worker's word. Where two such operations touch the same memory of the device, that is a RACE (stream_checker.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/observers/stream_checker.h"

namespace lockstep::worker {

enum class StreamedKind : uint8_t { kToDevice, kToHost, kOnDevice, kFill, kLaunch };

struct StreamedOperation {
  StreamedKind kind = StreamedKind::kLaunch;
  uint64_t bytes = 0;
  bool page_locked = false;  // the host's end of a copy
  // Launches: the device's records of it, from `first_launch` on. A kernel may have launched others.
  size_t first_launch = 0, launches = 0;
  std::string stream;           // "stream 2"
  std::vector<uint32_t> after;  // places, in this list, of operations that have to have ended
};

class OperationLog {
 public:
  // What follows is one operation of a stream, until End.
  void Begin(const vgpu::StreamPoint& point);
  void End() { open_ = false; }
  // Done, as a part of the operation or, outside of one, in the default stream.
  void Moved(StreamedKind kind, uint64_t bytes);
  void Launched(size_t first_launch, size_t launches);
  void Clear();

  const std::vector<StreamedOperation>& operations() const { return operations_; }

 private:
  // Where there are more they are taken to run one after another.
  static constexpr size_t kMostEdges = 1'000'000;

  // Of a slot's operations: the number in it, and the place in the list.
  using Numbers = std::vector<std::pair<uint32_t, uint32_t>>;

  StreamedOperation& Add(StreamedKind kind);
  // The last one up to this number.
  static void AddLast(const Numbers& numbers, uint32_t sequence, std::vector<uint32_t>& after);
  bool IsPageLocked(StreamedKind kind, uint64_t bytes) const;

  std::vector<StreamedOperation> operations_;
  std::map<uint32_t, Numbers> slots_;
  bool open_ = false;
  bool added_ = false;  // the open operation has done something, which is the last in the list
  vgpu::StreamPoint point_;
  uint32_t fence_ = 0;  // all operations from this place on wait for what is right before it; 0: none
  uint32_t host_ = 0;   // the same: the host has waited for what is right before it
  size_t edges_ = 0;
};

}  // namespace lockstep::worker
