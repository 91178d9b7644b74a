// The timeline of a call's streams on the device's copy engines and SMs.
//
// Durations are modelled: copies by their bytes and the profile's host link, kernels by the time model. The waits are
// those of the call's streams, events and host (judge/session/session_streams.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/session/session_streams.h"
#include "vgpu/core/counters.h"
#include "vgpu/core/finding.h"
#include "vgpu/model/copy_engines.h"

namespace lockstep::judge {

// The only list: X(name, sentence). docs/reference/assignment-toml.md shows it.
#define LOCKSTEP_TIMELINE_FIGURES(X)                                                                                \
  X(timeline_us, "microseconds from the first operation's begin to the last one's end")                             \
  X(bound_us, "the longest of the engines' sums, in microseconds: no order of the same operations is shorter")      \
  X(serial_us, "all operations one after another, in microseconds")                                                 \
  X(kernel_overlap_us, "microseconds in which a kernel and a copy ran")                                             \
  X(copy_overlap_us, "microseconds in which copies to the device and to the host ran")                              \
  X(one_engine_us, "`timeline_us` on a device with one engine for both directions, which keeps the order of issue") \
  X(one_engine_bound_us, "`bound_us` on that device")                                                               \
  X(pageable_bytes, "bytes copied between the device and host memory that is not page-locked")                      \
  X(streams, "streams in which something was copied, filled or launched")                                           \
  X(peer_us, "microseconds in which something was copied from one device to another")                               \
  X(peer_alone_us, "the part of `peer_us` in which no kernel ran")                                                  \
  X(peer_bytes, "bytes copied from one device to another")                                                          \
  X(peer_bytes_most, "the most bytes that one device sends to, or receives from, other devices")                    \
  X(kernels_us, "microseconds in which a kernel ran, on any device")                                                \
  X(steps_us, "microseconds in which a kernel ran, or something was copied from one device to another")

inline constexpr const char* kDefaultStream = "the default stream";

struct StreamTimeline {
#define LOCKSTEP_TIMELINE_FIELD(name, text) double name = 0;
  LOCKSTEP_TIMELINE_FIGURES(LOCKSTEP_TIMELINE_FIELD)
#undef LOCKSTEP_TIMELINE_FIELD

  struct Operation {
    vgpu::Lane lane = vgpu::Lane::kCompute;
    int device = 0;
    std::string name;  // "copy", "fill", or the kernel's
    std::string stream;
    uint64_t bytes = 0;
    bool page_locked = false;
    double begin = 0, end = 0;  // in microseconds
  };
  std::vector<Operation> operations;  // in the order of issue
  vgpu::MessageLine remark = "";      // why the operations wait for each other, if known
};

struct TimelineFigureInfo {
  const char* name;
  const char* text;
  double StreamTimeline::* field;
};
const std::vector<TimelineFigureInfo>& AllTimelineFigures();
bool IsTimelineFigure(std::string_view name);

StreamTimeline MakeTimeline(std::span<const worker::StreamedOperation> operations,
                            std::span<const vgpu::LaunchRecord> launches, const vgpu::DeviceProfile& profile);

// The timeline as text for a terminal: a line of `columns` characters per engine, with a stream's character while one
// of its operations runs: 1 to 9, then letters, in the order of first use; d for the default stream. Of several devices
// only engines that did something have a line.
std::string LanesText(const StreamTimeline& timeline, size_t columns);

}  // namespace lockstep::judge
