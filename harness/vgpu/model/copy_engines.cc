#include "vgpu/model/copy_engines.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace lockstep::vgpu {
namespace {

constexpr double kBytesPerMicrosecond = 1e3;  // bytes per microsecond at 1 GB/s
constexpr size_t kEngines = kLanes + 1;       // per device; the last one receives from other devices

// The engine for an operation on devices with this many copy engines.
size_t PlaceOf(const LaneOperation& operation, int copy_engines) {
  Lane lane = operation.lane;
  if (copy_engines == 0) lane = Lane::kCompute;
  if (copy_engines == 1 && lane == Lane::kToHost) lane = Lane::kToDevice;
  return operation.device * kEngines + static_cast<size_t>(lane);
}

// The second engine that a copy between devices needs; for other operations, PlaceOf.
size_t OtherPlaceOf(const LaneOperation& operation, int copy_engines) {
  if (operation.lane != Lane::kToPeer) return PlaceOf(operation, copy_engines);
  return operation.peer * kEngines + (copy_engines == 0 ? static_cast<size_t>(Lane::kCompute) : kEngines - 1);
}

struct Interval {
  double begin, end;
};

// Merges intervals that touch or overlap; sorted.
std::vector<Interval> Joined(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<Interval> joined;
  for (const Interval& one : intervals) {
    if (!joined.empty() && one.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, one.end);
    } else {
      joined.push_back(one);
    }
  }
  return joined;
}

// The time during which both are busy.
double Common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double common = 0;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    common += std::max(0.0, std::min(a[i].end, b[k].end) - std::max(a[i].begin, b[k].begin));
    if (a[i].end < b[k].end) {
      ++i;
    } else {
      ++k;
    }
  }
  return common;
}

class Scheduler {
 public:
  Scheduler(std::span<const LaneOperation> operations, LaneRules rules)
      : operations_(operations), rules_(rules), ready_(operations.size()), waits_for_(operations.size()) {
    for (const LaneOperation& operation : operations) {
      engines_ = std::max(engines_, (std::max(operation.device, operation.peer) + size_t{1}) * kEngines);
    }
    free_.resize(engines_);
    last_stream_.resize(engines_);
    schedule_.begin.resize(operations.size());
    schedule_.end.resize(operations.size());
  }

  LaneSchedule Run() {
    if (rules_.in_order) {
      for (uint32_t k = 0; k < operations_.size(); ++k) {
        for (const uint32_t before : operations_[k].after) ready_[k] = std::max(ready_[k], schedule_.end[before]);
        Place(k);
      }
    } else {
      RunByReadiness();
    }
    Measure();
    return std::move(schedule_);
  }

 private:
  double FreeFor(uint32_t k) const {
    return std::max(free_[PlaceOf(operations_[k], rules_.copy_engines)],
                    free_[OtherPlaceOf(operations_[k], rules_.copy_engines)]);
  }
  void Place(uint32_t k) {
    schedule_.begin[k] = std::max(FreeFor(k), ready_[k]);
    schedule_.end[k] = schedule_.begin[k] + operations_[k].microseconds;
    free_[PlaceOf(operations_[k], rules_.copy_engines)] = schedule_.end[k];
    free_[OtherPlaceOf(operations_[k], rules_.copy_engines)] = schedule_.end[k];
  }

  // The operation that can begin first goes first. Operations that become ready at its end can't begin earlier.
  void RunByReadiness() {
    std::vector<std::vector<uint32_t>> followers(operations_.size());
    for (uint32_t k = 0; k < operations_.size(); ++k) {
      waits_for_[k] = operations_[k].after.size();
      for (const uint32_t before : operations_[k].after) followers[before].push_back(k);
    }
    std::vector<std::vector<uint32_t>> queues(engines_);  // ready operations by engine
    const auto enqueue = [&](uint32_t k) { queues[PlaceOf(operations_[k], rules_.copy_engines)].push_back(k); };
    for (uint32_t k = 0; k < operations_.size(); ++k) {
      if (waits_for_[k] == 0) enqueue(k);
    }
    for (size_t placed = 0; placed < operations_.size(); ++placed) {
      size_t best = engines_;
      std::tuple<double, bool, uint32_t> first;
      for (size_t e = 0; e < engines_; ++e) {
        for (const uint32_t k : queues[e]) {
          const bool other_stream = !last_stream_[e] || *last_stream_[e] != operations_[k].stream;
          const std::tuple rank(std::max(FreeFor(k), ready_[k]), other_stream, k);
          if (best == engines_ || rank < first) std::tie(best, first) = std::tuple(e, rank);
        }
      }
      const uint32_t k = std::get<2>(first);
      std::erase(queues[best], k);
      last_stream_[best] = operations_[k].stream;
      Place(k);
      for (const uint32_t follower : followers[k]) {
        ready_[follower] = std::max(ready_[follower], schedule_.end[k]);
        if (--waits_for_[follower] == 0) enqueue(follower);
      }
    }
  }

  void Measure() {
    std::vector<double> sums(std::max(engines_, kEngines));
    std::array<std::vector<Interval>, kLanes> at_work;
    std::vector<Interval> copies;
    for (size_t k = 0; k < operations_.size(); ++k) {
      const LaneOperation& operation = operations_[k];
      const size_t place = PlaceOf(operation, rules_.copy_engines),
                   other = OtherPlaceOf(operation, rules_.copy_engines);
      sums[place] += operation.microseconds;
      if (other != place) sums[other] += operation.microseconds;
      schedule_.serial += operation.microseconds;
      schedule_.microseconds = std::max(schedule_.microseconds, schedule_.end[k]);
      const Interval interval{schedule_.begin[k], schedule_.end[k]};
      at_work[static_cast<size_t>(operation.lane)].push_back(interval);
      if (operation.lane != Lane::kCompute) copies.push_back(interval);
    }
    schedule_.bound = *std::max_element(sums.begin(), sums.end());
    for (auto& intervals : at_work) intervals = Joined(std::move(intervals));
    const auto& [to_device, kernels, to_host, to_peer] = at_work;
    schedule_.kernel_overlap = Common(kernels, Joined(std::move(copies)));
    schedule_.copy_overlap = Common(to_device, to_host);
    for (const Interval& interval : to_peer) schedule_.peer += interval.end - interval.begin;
    schedule_.peer_overlap = Common(to_peer, kernels);
    for (const Interval& interval : kernels) schedule_.kernels += interval.end - interval.begin;
  }

  std::span<const LaneOperation> operations_;
  LaneRules rules_;
  size_t engines_ = 0;  // of all devices
  std::vector<double> free_;
  std::vector<std::optional<uint32_t>> last_stream_;  // the stream of the engine's last operation
  std::vector<double> ready_;
  std::vector<size_t> waits_for_;
  LaneSchedule schedule_;
};

}  // namespace

LaneSchedule ScheduleLanes(std::span<const LaneOperation> operations, LaneRules rules) {
  return Scheduler(operations, rules).Run();
}

double HostCopyMicroseconds(const DeviceProfile& profile, uint64_t bytes, bool page_locked) {
  const double rate = (page_locked ? profile.host_pinned_gb_per_s : profile.host_gb_per_s) * kBytesPerMicrosecond;
  return profile.queued_copy_us + static_cast<double>(bytes) / rate;
}

double PeerCopyMicroseconds(const DeviceProfile& profile, uint64_t bytes) {
  const double rate = profile.peer_gb_per_s > 0 ? profile.peer_gb_per_s : profile.host_pinned_gb_per_s;
  return profile.queued_copy_us + static_cast<double>(bytes) / (rate * kBytesPerMicrosecond);
}

}  // namespace lockstep::vgpu
