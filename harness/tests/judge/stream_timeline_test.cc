#include "judge/model/stream_timeline.h"

#include <gtest/gtest.h>

#include "judge/model/metric.h"
#include "tests/model/profile_named.h"
#include "tests/support/source_files.h"

namespace lockstep::judge {
namespace stream_timeline_test {

using worker::StreamedKind;
using worker::StreamedOperation;

StreamedOperation Copy(StreamedKind kind, std::string stream, std::vector<uint32_t> after, bool page_locked = true) {
  return {kind, 1 << 20, page_locked, 0, 0, std::move(stream), std::move(after)};
}

StreamedOperation Launch(size_t first, std::string stream, std::vector<uint32_t> after) {
  return {StreamedKind::kLaunch, 0, false, first, 1, std::move(stream), std::move(after)};
}

std::vector<vgpu::LaunchRecord> Launches(size_t count) {
  std::vector<vgpu::LaunchRecord> launches(count);
  for (vgpu::LaunchRecord& launch : launches) {
    launch.kernel = "simulate";
    launch.microseconds = 50;
  }
  return launches;
}

std::vector<StreamedOperation> TwoChunks() {
  return {Copy(StreamedKind::kToDevice, "stream 1", {}),
          Launch(0, "stream 1", {0}),
          Copy(StreamedKind::kToHost, "stream 1", {1}),
          Copy(StreamedKind::kToDevice, "stream 2", {}),
          Launch(1, "stream 2", {3}),
          Copy(StreamedKind::kToHost, "stream 2", {4})};
}

TEST(StreamTimelineTest, TwoStreamsOverlap) {
  const vgpu::DeviceProfile& t4 = vgpu::Profile("t4");
  const StreamTimeline timeline = MakeTimeline(TwoChunks(), Launches(2), t4);
  const double copy = vgpu::HostCopyMicroseconds(t4, 1 << 20, true);
  EXPECT_DOUBLE_EQ(timeline.timeline_us, 3 * copy + 50);
  EXPECT_DOUBLE_EQ(timeline.bound_us, 2 * copy);
  EXPECT_DOUBLE_EQ(timeline.serial_us, 4 * copy + 100);
  EXPECT_GT(timeline.copy_overlap_us, 0);
  EXPECT_GT(timeline.kernel_overlap_us, 0);
  EXPECT_DOUBLE_EQ(timeline.one_engine_us, 4 * copy + 100) << "depth-first, with one engine, is serial";
  EXPECT_DOUBLE_EQ(timeline.one_engine_bound_us, 4 * copy);
  EXPECT_EQ(timeline.pageable_bytes, 0);
  EXPECT_EQ(timeline.streams, 2);
  EXPECT_EQ(timeline.operations[1].name, "simulate");
  EXPECT_EQ(timeline.operations[0].name, "copy");
}

TEST(StreamTimelineTest, PageableMemoryIsSlower) {
  std::vector<StreamedOperation> operations = TwoChunks();
  for (StreamedOperation& operation : operations) operation.page_locked = false;
  const vgpu::DeviceProfile& h100 = vgpu::Profile("h100");
  const StreamTimeline timeline = MakeTimeline(operations, Launches(2), h100);
  EXPECT_EQ(timeline.pageable_bytes, 4 << 20);
  EXPECT_GT(timeline.bound_us, MakeTimeline(TwoChunks(), Launches(2), h100).bound_us);
}

// The course's GPU had no engine for copies.
TEST(StreamTimelineTest, NothingOverlapsOnTheG80) {
  const StreamTimeline timeline = MakeTimeline(TwoChunks(), Launches(2), vgpu::Profile("g80"));
  EXPECT_DOUBLE_EQ(timeline.timeline_us, timeline.serial_us);
}

TEST(StreamTimelineTest, LanesAreDrawnToScale) {
  const StreamTimeline timeline = MakeTimeline(TwoChunks(), Launches(2), vgpu::Profile("t4"));
  EXPECT_EQ(LanesText(timeline, 40),
            "  to device  1111111111122222222222..................\n"
            "  kernels    ...........1111111....2222222...........\n"
            "  to host    .................11111111111222222222222\n");
  EXPECT_EQ(LanesText(StreamTimeline(), 40), "");
  EXPECT_EQ(LanesText(timeline, 0), "");
}

TEST(StreamTimelineTest, MetricsKnowItsFigures) {
  RungProfile profile;
  profile.timeline = StreamTimeline{.timeline_us = 300, .bound_us = 200};
  const auto value = Evaluate(ParseMetric("timeline_us / bound_us"), [&](std::string_view) { return &profile; });
  EXPECT_EQ(value, 1.5);
  EXPECT_TRUE(IsTimelineFigure("one_engine_us"));
  EXPECT_FALSE(IsTimelineFigure("sectors"));
}

TEST(StreamTimelineTest, ThePageHasEachFigure) {
  const std::string page = tests::ReadText(LOCKSTEP_SOURCE_DIR "/docs/reference/assignment-toml.md");
  for (const TimelineFigureInfo& info : AllTimelineFigures()) {
    const std::string row = std::string("| `") + info.name + "` | " + info.text + " |\n";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace stream_timeline_test
}  // namespace lockstep::judge
