#include "judge/session/session_streams.h"

#include <gtest/gtest.h>

#include "vgpu/observers/stream_clocks.h"

namespace lockstep::worker {
namespace session_streams_test {

using vgpu::StreamClocks;
using vgpu::StreamKind;
using vgpu::StreamPoint;
using Places = std::vector<uint32_t>;

// Streams as a worker's runtime has them.
class SessionStreamsTest : public testing::Test {
 protected:
  void Copy(uint32_t slot, StreamedKind kind, bool page_locked = true, uint64_t bytes = 100) {
    StreamPoint point;
    clocks_.Begin(slot, point);
    point.stream = "stream " + std::to_string(slot);
    if (page_locked) point.spans = {{StreamPoint::kHostSpace | 4096, bytes, kind == StreamedKind::kToHost}};
    log_.Begin(point);
    log_.Moved(kind, bytes);
    log_.End();
  }
  void Launch(uint32_t slot) {
    StreamPoint point;
    clocks_.Begin(slot, point);
    log_.Begin(point);
    log_.Launched(launches_++, 1);
    log_.End();
  }
  // A launch in the default stream that the runtime has not announced.
  void LaunchUntold() { log_.Launched(launches_++, 1); }
  const Places& After(size_t place) const { return log_.operations().at(place).after; }

  StreamClocks clocks_;
  OperationLog log_;
  const uint32_t default_ = clocks_.Add(0, StreamKind::kDefault);
  const uint32_t a_ = clocks_.Add(0, StreamKind::kNonBlocking), b_ = clocks_.Add(0, StreamKind::kNonBlocking);
  size_t launches_ = 0;
};

TEST_F(SessionStreamsTest, AStreamKeepsItsOrder) {
  Copy(a_, StreamedKind::kToDevice);
  Launch(a_);
  Copy(a_, StreamedKind::kToHost);
  EXPECT_EQ(After(0), Places());
  EXPECT_EQ(After(1), Places{0});
  EXPECT_EQ(After(2), Places{1});
}

TEST_F(SessionStreamsTest, StreamsDoNotWaitForEachOther) {
  Copy(a_, StreamedKind::kToDevice);
  Copy(b_, StreamedKind::kToDevice);
  EXPECT_EQ(After(1), Places());
}

TEST_F(SessionStreamsTest, EventsMakeThemWait) {
  Copy(a_, StreamedKind::kToDevice);
  const StreamClocks::Clock event = clocks_.Record(a_);
  Copy(a_, StreamedKind::kToDevice);
  clocks_.Wait(b_, event);
  Launch(b_);
  EXPECT_EQ(After(2), Places{0});
}

TEST_F(SessionStreamsTest, WhatTheHostHasWaitedForIsOverBeforeItIssuesMore) {
  Copy(a_, StreamedKind::kToDevice);
  clocks_.HostWaits(a_);
  Copy(b_, StreamedKind::kToDevice);
  EXPECT_EQ(After(1), Places{0});
}

TEST_F(SessionStreamsTest, TheHostWaitsForPageableMemory) {
  Copy(a_, StreamedKind::kToDevice, false);
  Copy(b_, StreamedKind::kToDevice);
  EXPECT_FALSE(log_.operations()[0].page_locked);
  EXPECT_TRUE(log_.operations()[1].page_locked);
  EXPECT_EQ(After(1), Places{0});
}

TEST_F(SessionStreamsTest, WhatIsUntoldIsOrderedWithEverything) {
  Copy(a_, StreamedKind::kToDevice);
  Copy(b_, StreamedKind::kToDevice);
  LaunchUntold();
  Copy(a_, StreamedKind::kToHost);
  LaunchUntold();
  EXPECT_EQ(After(2), (Places{0, 1}));
  EXPECT_EQ(After(3), (Places{0, 2}));
  EXPECT_EQ(After(4), (Places{2, 3}));
  EXPECT_EQ(log_.operations()[2].stream, "the default stream");
}

// The rows of a copy, or the pieces of a large transfer, are one operation.
TEST_F(SessionStreamsTest, PartsOfACopyAreOne) {
  StreamPoint point;
  clocks_.Begin(a_, point);
  point.spans = {{StreamPoint::kHostSpace | 4096, 64, false}, {StreamPoint::kHostSpace | 8192, 64, false}};
  log_.Begin(point);
  log_.Moved(StreamedKind::kToDevice, 64);
  log_.Moved(StreamedKind::kToDevice, 64);
  log_.End();
  ASSERT_EQ(log_.operations().size(), 1u);
  EXPECT_EQ(log_.operations()[0].bytes, 128u);
  EXPECT_TRUE(log_.operations()[0].page_locked);
}

// A worker may claim that all its work is one operation: the parts still follow each other.
TEST_F(SessionStreamsTest, PartsOfOtherKindsFollowEachOther) {
  StreamPoint point;
  clocks_.Begin(a_, point);
  log_.Begin(point);
  log_.Moved(StreamedKind::kToDevice, 64);
  log_.Launched(0, 1);
  log_.Moved(StreamedKind::kToHost, 64);
  log_.End();
  ASSERT_EQ(log_.operations().size(), 3u);
  EXPECT_EQ(After(1), Places{0});
  EXPECT_EQ(After(2), (Places{0, 1}));
}

TEST_F(SessionStreamsTest, SpansOfTheWrongDirectionArePageable) {
  StreamPoint point;
  clocks_.Begin(a_, point);
  point.spans = {{StreamPoint::kHostSpace | 4096, 64, true}};
  log_.Begin(point);
  log_.Moved(StreamedKind::kToDevice, 64);
  log_.End();
  EXPECT_FALSE(log_.operations()[0].page_locked);
}

// Clocks and numbers that no runtime would send.
TEST_F(SessionStreamsTest, TakesWhateverAWorkerSays) {
  for (uint32_t k = 0; k < 50; ++k) {
    StreamPoint point;
    point.slot = k % 3;
    point.sequence = 1000 - k;
    point.before = {UINT32_MAX, 0, k};
    point.waited = {k, UINT32_MAX};
    log_.Begin(point);
    log_.Moved(StreamedKind::kFill, 1);
  }
  for (uint32_t k = 0; k < 50; ++k) {
    for (const uint32_t before : After(k)) EXPECT_LT(before, k);
  }
}

// Operations beyond those that are remembered count as run one after another.
TEST_F(SessionStreamsTest, ManyWaitsAreOneAfterAnother) {
  constexpr uint32_t kSlots = 2000;
  uint32_t place = 0;
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t slot = 0; slot < kSlots; ++slot, ++place) {
      StreamPoint point;
      point.slot = slot;
      point.sequence = round + 1;
      point.before.assign(kSlots, round);
      log_.Begin(point);
      log_.Launched(place, 1);
    }
  }
  EXPECT_EQ(After(place - 1), Places{place - 2});
}

TEST_F(SessionStreamsTest, ClearForgets) {
  Copy(a_, StreamedKind::kToDevice, false);
  LaunchUntold();
  log_.Clear();
  Copy(a_, StreamedKind::kToDevice);
  EXPECT_EQ(After(0), Places());
}

}  // namespace session_streams_test
}  // namespace lockstep::worker
