#include "judge/model/stream_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace lockstep::judge {
namespace {

using worker::StreamedKind;
using worker::StreamedOperation;

constexpr double kBytesPerMicrosecond = 1e3;  // at 1 GB/s

vgpu::Lane LaneOf(StreamedKind kind) {
  if (kind == StreamedKind::kToDevice) return vgpu::Lane::kToDevice;
  if (kind == StreamedKind::kToHost) return vgpu::Lane::kToHost;
  if (kind == StreamedKind::kBetween) return vgpu::Lane::kToPeer;
  return vgpu::Lane::kCompute;
}

double MicrosecondsOf(const StreamedOperation& operation, std::span<const vgpu::LaunchRecord> launches,
                      const vgpu::DeviceProfile& profile) {
  const double rate = profile.dram_gb_per_s * profile.dram_efficiency * kBytesPerMicrosecond;
  switch (operation.kind) {
    case StreamedKind::kToDevice:
    case StreamedKind::kToHost:
      return vgpu::HostCopyMicroseconds(profile, operation.bytes, operation.page_locked);
    case StreamedKind::kBetween:
      return vgpu::PeerCopyMicroseconds(profile, operation.bytes);
    case StreamedKind::kOnDevice:  // each byte is read and written
      return profile.launch_overhead_us + 2.0 * static_cast<double>(operation.bytes) / rate;
    case StreamedKind::kFill:
      return profile.launch_overhead_us + static_cast<double>(operation.bytes) / rate;
    case StreamedKind::kLaunch:
      break;
  }
  double microseconds = 0;
  const size_t end = std::min(operation.first_launch + operation.launches, launches.size());
  for (size_t k = operation.first_launch; k < end; ++k) microseconds += launches[k].microseconds;
  return microseconds;
}

std::string NameOf(const StreamedOperation& operation, std::span<const vgpu::LaunchRecord> launches) {
  if (operation.kind == StreamedKind::kFill) return "fill";
  if (operation.kind != StreamedKind::kLaunch) return "copy";
  return operation.first_launch < launches.size() ? launches[operation.first_launch].kernel : "kernel";
}

// The characters for streams in lanes: 1 for the first, a for the tenth. Stream names count on through a program's
// calls, but these begin with 1 in each call.
std::map<std::string, char> MarksOf(const StreamTimeline& timeline) {
  constexpr std::string_view kMarks = "123456789abcefghijklmnopqrstuvwxyz";  // d: the default stream
  std::map<std::string, char> marks = {{kDefaultStream, 'd'}};
  for (const StreamTimeline::Operation& operation : timeline.operations) {
    marks.try_emplace(operation.stream, marks.size() <= kMarks.size() ? kMarks[marks.size() - 1] : '*');
  }
  return marks;
}

}  // namespace

const std::vector<TimelineFigureInfo>& AllTimelineFigures() {
  static const std::vector<TimelineFigureInfo> all = {
#define LOCKSTEP_TIMELINE_INFO(name, text) {#name, text, &StreamTimeline::name},
      LOCKSTEP_TIMELINE_FIGURES(LOCKSTEP_TIMELINE_INFO)
#undef LOCKSTEP_TIMELINE_INFO
  };
  return all;
}

bool IsTimelineFigure(std::string_view name) {
  return std::ranges::any_of(AllTimelineFigures(), [&](const auto& info) { return name == info.name; });
}

StreamTimeline MakeTimeline(std::span<const StreamedOperation> operations, std::span<const vgpu::LaunchRecord> launches,
                            const vgpu::DeviceProfile& profile) {
  std::vector<vgpu::LaneOperation> work;
  work.reserve(operations.size());
  std::map<std::pair<int, bool>, double> peer_bytes;  // by device, sent or received
  StreamTimeline timeline;
  std::map<std::string, uint32_t> streams;
  for (const StreamedOperation& operation : operations) {
    const uint32_t stream = streams.try_emplace(operation.stream, streams.size()).first->second;
    work.push_back({LaneOf(operation.kind), MicrosecondsOf(operation, launches, profile), operation.after, stream,
                    static_cast<uint32_t>(operation.device), static_cast<uint32_t>(operation.peer)});
    if (operation.kind != StreamedKind::kBetween) continue;
    const auto bytes = static_cast<double>(operation.bytes);
    timeline.peer_bytes += bytes;
    for (double* sum : {&peer_bytes[{operation.device, true}], &peer_bytes[{operation.peer, false}]}) {
      timeline.peer_bytes_most = std::max(timeline.peer_bytes_most, *sum += bytes);
    }
  }
  const vgpu::LaneSchedule schedule = vgpu::ScheduleLanes(work, {.copy_engines = profile.copy_engines});
  const vgpu::LaneSchedule one = vgpu::ScheduleLanes(work, {.copy_engines = 1, .in_order = true});
  timeline.timeline_us = schedule.microseconds;
  timeline.bound_us = schedule.bound;
  timeline.serial_us = schedule.serial;
  timeline.kernel_overlap_us = schedule.kernel_overlap;
  timeline.copy_overlap_us = schedule.copy_overlap;
  timeline.peer_us = schedule.peer;
  timeline.peer_alone_us = schedule.peer - schedule.peer_overlap;
  timeline.kernels_us = schedule.kernels;
  timeline.steps_us = timeline.kernels_us + timeline.peer_alone_us;
  timeline.one_engine_us = one.microseconds;
  timeline.one_engine_bound_us = one.bound;
  for (size_t k = 0; k < operations.size(); ++k) {
    const StreamedOperation& from = operations[k];
    const vgpu::Lane lane = work[k].lane;
    if ((lane == vgpu::Lane::kToDevice || lane == vgpu::Lane::kToHost) && !from.page_locked) {
      timeline.pageable_bytes += static_cast<double>(from.bytes);
    }
    timeline.operations.push_back({lane, from.device, NameOf(from, launches), from.stream, from.bytes, from.page_locked,
                                   schedule.begin[k], schedule.end[k]});
  }
  timeline.streams = static_cast<double>(streams.size());
  return timeline;
}

std::string LanesText(const StreamTimeline& timeline, size_t columns) {
  if (timeline.operations.empty() || !(timeline.timeline_us > 0) || columns == 0) return "";
  constexpr const char* kNames[] = {"to device", "kernels  ", "to host  ", "to others"};
  const double scale = static_cast<double>(columns) / timeline.timeline_us;
  const std::map<std::string, char> marks_of = MarksOf(timeline);
  int devices = 1;
  for (const StreamTimeline::Operation& operation : timeline.operations) {
    devices = std::max(devices, operation.device + 1);
  }
  const int lanes = devices > 1 ? vgpu::kLanes : vgpu::kLanes - 1;
  std::string text;
  for (int line = 0; line < devices * lanes; ++line) {
    const int device = line / lanes, lane = line % lanes;
    std::string marks(columns, '.');
    bool is_used = devices == 1;
    for (const StreamTimeline::Operation& operation : timeline.operations) {
      if (static_cast<int>(operation.lane) != lane || operation.device != device) continue;
      is_used = true;
      if (operation.end <= operation.begin) continue;
      // An operation shorter than a character still gets one.
      const auto begin = std::min(static_cast<size_t>(operation.begin * scale), columns - 1);
      const auto end = std::clamp(static_cast<size_t>(std::lround(operation.end * scale)), begin + 1, columns);
      std::fill(marks.begin() + static_cast<std::ptrdiff_t>(begin), marks.begin() + static_cast<std::ptrdiff_t>(end),
                marks_of.at(operation.stream));
    }
    const std::string name = devices > 1 ? "device " + std::to_string(device) + " " + kNames[lane] : kNames[lane];
    if (is_used) text += "  " + name + "  " + marks + "\n";
  }
  return text;
}

}  // namespace lockstep::judge
