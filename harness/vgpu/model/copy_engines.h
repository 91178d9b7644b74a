// Schedules stream operations on the engines of one or several devices: one copy in each direction, and kernels. Each
// device also sends one copy to another device at a time, and receives one.
//
// An engine does one operation after another. An operation begins when its engine is free and all that it waits for has
// ended; a copy between devices needs two engines. The model simplifies: kernels do not share the device, because each
// is assumed to fill it, and issuing takes the host no time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

enum class Lane : uint8_t { kToDevice, kCompute, kToHost, kToPeer };
inline constexpr int kLanes = 4;

struct LaneOperation {
  Lane lane = Lane::kCompute;
  double microseconds = 0;
  // Operations that must end first, by their indices in the order of issue, all lower than this one's.
  std::vector<uint32_t> after = {};
  uint32_t stream = 0;
  uint32_t device = 0;  // kToPeer: the one that sends
  uint32_t peer = 0;    // kToPeer: the one that receives
};

struct LaneRules {
  // 2: one for each direction. 1: one for both. 0: no copy overlaps a kernel.
  int copy_engines = 2;
  // One hardware queue: an engine takes operations in the order of issue. Otherwise each stream has a queue, and an
  // engine takes the operation that can begin first; among equals one of its current stream, then the one that was
  // issued first. This is an H100's behaviour: 32 copies each way in 2, 4 and 8 streams, issued breadth-first, take
  // 2469, 2038 and 1938 µs, as if one stream ran after the other.
  bool in_order = false;
};

struct LaneSchedule {
  std::vector<double> begin, end;  // of each operation, in microseconds
  double microseconds = 0;         // when the last one ends
  double bound = 0;                // the largest sum over one engine: no order is shorter
  double serial = 0;               // the sum of all
  double kernel_overlap = 0;       // time in which a kernel and a copy ran
  double copy_overlap = 0;         // time in which copies in both directions ran
  double peer = 0;                 // time in which a copy between devices ran
  double peer_overlap = 0;         // the part of it in which a kernel ran too
  double kernels = 0;              // time in which a kernel ran, on any device
};

LaneSchedule ScheduleLanes(std::span<const LaneOperation> operations, LaneRules rules);

// The time of a copy on the host link when it is one of many in a stream's queue.
double HostCopyMicroseconds(const DeviceProfile& profile, uint64_t bytes, bool page_locked);
// The same for a copy from one device to another.
double PeerCopyMicroseconds(const DeviceProfile& profile, uint64_t bytes);

}  // namespace lockstep::vgpu
