#include "judge/session/session_streams.h"

#include <algorithm>

namespace lockstep::worker {

void OperationLog::Clear() { *this = OperationLog(); }

void OperationLog::Begin(const vgpu::StreamPoint& point) {
  point_ = point;
  open_ = true;
  added_ = false;
}

void OperationLog::AddLast(const Numbers& numbers, uint32_t sequence, std::vector<uint32_t>& after) {
  const auto next = std::upper_bound(numbers.begin(), numbers.end(), std::pair(sequence, UINT32_MAX));
  if (next != numbers.begin()) after.push_back(std::prev(next)->second);
}

// The worker's spans in host memory are page-locked: a copy accesses these directly, and stages pageable memory.
bool OperationLog::IsPageLocked(StreamedKind kind, uint64_t bytes) const {
  uint64_t locked = 0;
  for (const vgpu::StreamPoint::Span& span : point_.spans) {
    const bool is_host = (span.address & vgpu::StreamPoint::kHostSpace) != 0;
    if (is_host && span.writes == (kind == StreamedKind::kToHost)) locked += std::min(span.bytes, bytes);
  }
  return locked >= bytes;
}

StreamedOperation& OperationLog::Add(StreamedKind kind) {
  const auto place = static_cast<uint32_t>(operations_.size());
  StreamedOperation operation;
  operation.kind = kind;
  operation.stream = open_ ? point_.stream : "the default stream";
  std::vector<uint32_t>& after = operation.after;
  if (!open_ || edges_ > kMostEdges) {
    // Outside of stream operations: ordered after all earlier operations and before all later ones.
    for (uint32_t k = edges_ > kMostEdges && place > 0 ? place - 1 : fence_ > 0 ? fence_ - 1 : 0; k < place; ++k) {
      after.push_back(k);
    }
    fence_ = place + 1;
  } else {
    if (fence_ > 0) after.push_back(fence_ - 1);
    if (host_ > 0) after.push_back(host_ - 1);
    if (added_) after.push_back(place - 1);
    for (const auto& [slot, numbers] : slots_) {
      if (slot < point_.before.size()) AddLast(numbers, point_.before[slot], after);
      if (slot < point_.waited.size()) AddLast(numbers, point_.waited[slot], after);
    }
    Numbers& own = slots_[point_.slot];
    if (!own.empty()) after.push_back(own.back().second);
    // The worker's sequence numbers are forced into ascending order.
    own.emplace_back(own.empty() ? point_.sequence : std::max(point_.sequence, own.back().first), place);
    added_ = true;
  }
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  edges_ += after.size();
  operations_.push_back(std::move(operation));
  return operations_.back();
}

void OperationLog::Moved(StreamedKind kind, uint64_t bytes, int device, int peer) {
  if (bytes == 0) return;
  // Rows of one copy, or pieces of a large one, count as one operation.
  const bool continues = open_ && added_ && operations_.back().kind == kind;
  StreamedOperation& operation = continues ? operations_.back() : Add(kind);
  operation.bytes += bytes;
  operation.device = device;
  operation.peer = peer;
  if (kind != StreamedKind::kToDevice && kind != StreamedKind::kToHost) return;
  operation.page_locked = open_ && IsPageLocked(kind, operation.bytes);
  // A copy of pageable memory returns when it is done, or nearly done.
  if (!operation.page_locked) host_ = static_cast<uint32_t>(operations_.size());
}

void OperationLog::Launched(size_t first_launch, size_t launches, int device) {
  StreamedOperation& operation = Add(StreamedKind::kLaunch);
  operation.first_launch = first_launch;
  operation.launches = launches;
  operation.device = device;
}

}  // namespace lockstep::worker
