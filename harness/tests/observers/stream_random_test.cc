// Random programs of streams, events, waits by the host, and operations on a small memory, compared with the plain
// definition: a graph of all actions, in which an operation is ordered before another if there is a path between them.
// No ordered pair may be accused, and no unordered pair that conflicts may be missed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>
#include <vector>

#include "vgpu/observers/stream_clocks.h"

namespace lockstep::vgpu {
namespace stream_random_test {

constexpr int kDevice = 0;
constexpr uint64_t kBytes = 24;

// The graph of all actions. Node 0 is the start of the host's program.
struct Graph {
  std::vector<std::set<int>> before;  // of each node, all nodes with a path to it
  int Add(const std::set<int>& direct) {
    std::set<int> all = direct;
    for (const int node : direct)
      all.insert(before[static_cast<size_t>(node)].begin(), before[static_cast<size_t>(node)].end());
    before.push_back(std::move(all));
    return static_cast<int>(before.size()) - 1;
  }
};

struct PlainStream {
  StreamKind kind;
  uint32_t slot;
  int last;  // the node of its last action
};

struct PlainOperation {
  int node;
  bool reads[kBytes] = {}, writes[kBytes] = {};
};

bool Conflict(const PlainOperation& a, const PlainOperation& b) {
  for (uint64_t k = 0; k < kBytes; ++k) {
    if ((a.writes[k] && (b.reads[k] || b.writes[k])) || (a.reads[k] && b.writes[k])) return true;
  }
  return false;
}

struct Outcome {
  std::set<std::pair<std::string, std::string>> races;
  size_t operations = 0;
};

// One random program, given both to the checker (`found`) and to the plain graph (`expected`). An operation's name is
// its number.
class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {
    graph_.Add({});
    AddStream(StreamKind::kDefault);
    for (int steps = Below(40) + 5; steps > 0; --steps) Step();
  }
  Outcome found, expected;

 private:
  int Below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }
  PlainStream& AnyStream() { return streams_[static_cast<size_t>(Below(static_cast<int>(streams_.size())))]; }

  void AddStream(StreamKind kind) { streams_.push_back({kind, clocks_.Add(kDevice, kind), host_}); }

  // What an action in the stream waits for.
  std::set<int> Waits(const PlainStream& stream) const {
    std::set<int> nodes = {stream.last, host_, fence_};
    for (const PlainStream& other : all_) {
      if ((stream.kind == StreamKind::kDefault && other.kind == StreamKind::kBlocking) ||
          (stream.kind == StreamKind::kBlocking && other.kind == StreamKind::kDefault)) {
        nodes.insert(other.last);
      }
    }
    return nodes;
  }

  void Act(PlainStream& stream, int event = 0) {
    std::set<int> nodes = Waits(stream);
    nodes.insert(event);
    stream.last = graph_.Add(nodes);
  }

  void Step() {
    all_ = streams_;
    all_.insert(all_.end(), removed_.begin(), removed_.end());
    PlainStream& stream = AnyStream();
    switch (Below(16)) {
      case 0:
        if (streams_.size() < 6) AddStream(Below(2) == 0 ? StreamKind::kBlocking : StreamKind::kNonBlocking);
        break;
      case 1: {  // an event is recorded
        Act(stream);
        events_.push_back({stream.last, clocks_.Record(stream.slot)});
        break;
      }
      case 2:
      case 3:
        if (!events_.empty()) {  // a stream waits for an event
          const auto& [node, clock] = events_[static_cast<size_t>(Below(static_cast<int>(events_.size())))];
          Act(stream, node);
          clocks_.Wait(stream.slot, clock);
        }
        break;
      case 4:  // the host waits for a stream
        if (Below(3) == 0) {
          std::set<int> nodes = stream.kind == StreamKind::kDefault ? Waits(stream) : std::set<int>{stream.last};
          nodes.insert(host_);
          host_ = graph_.Add(nodes);
          clocks_.HostWaits(stream.slot);
        }
        break;
      case 5:  // for an event
        if (!events_.empty() && Below(2) == 0) {
          const auto& [node, clock] = events_[static_cast<size_t>(Below(static_cast<int>(events_.size())))];
          host_ = graph_.Add({host_, node});
          clocks_.HostWaits(clock);
        }
        break;
      case 6:  // for the device; or all later work waits for all earlier work
        if (Below(4) == 0) {
          std::set<int> nodes = {host_};
          for (const PlainStream& other : all_) nodes.insert(other.last);
          if (Below(2) == 0) {
            host_ = graph_.Add(nodes);
            clocks_.HostWaitsForDevice(kDevice);
          } else if (clocks_.several()) {
            nodes.insert(fence_);
            fence_ = graph_.Add(nodes);
            clocks_.Fence(kDevice);
          }
        }
        break;
      case 7:
        if (stream.kind != StreamKind::kDefault && Below(2) == 0) {
          clocks_.Remove(stream.slot);
          removed_.push_back(stream);
          stream = streams_.back();
          streams_.pop_back();
        }
        break;
      default:
        Operate(stream);
    }
  }

  void Operate(PlainStream& stream) {
    PlainOperation operation;
    Act(stream);
    operation.node = stream.last;
    StreamPoint point;
    clocks_.Begin(stream.slot, point);
    point.function = std::to_string(operations_.size());
    checker_.Begin(std::move(point));
    for (int accesses = Below(3) + 1; accesses > 0; --accesses) {
      const uint64_t begin = static_cast<uint64_t>(Below(kBytes)), length = static_cast<uint64_t>(Below(4) + 1);
      const bool writes = Below(2) == 0;
      const uint64_t end = std::min(begin + length, kBytes);
      for (uint64_t k = begin; k < end; ++k) (writes ? operation.writes : operation.reads)[k] = true;
      checker_.Access(writes ? StreamAccess::kStore : StreamAccess::kLoad, begin + 1, end - begin);
    }
    for (const Finding& finding : checker_.End()) {
      found.races.insert({Number(finding.first), Number(*finding.second)});
    }
    for (size_t k = 0; k < operations_.size(); ++k) {
      const bool ordered = graph_.before[static_cast<size_t>(operation.node)].count(operations_[k].node) != 0;
      if (!ordered && Conflict(operations_[k], operation)) {
        expected.races.insert({std::to_string(k), std::to_string(operations_.size())});
      }
    }
    operations_.push_back(operation);
    ++expected.operations;
  }

  // The operation's number; its text is such as "17 in " and the stream.
  static std::string Number(const ThreadPlace& place) { return place.operation.substr(0, place.operation.find(' ')); }

  std::mt19937 random_;
  Graph graph_;
  int host_ = 0, fence_ = 0;
  std::vector<PlainStream> streams_, removed_, all_;
  std::vector<std::pair<int, StreamClocks::Clock>> events_;
  std::vector<PlainOperation> operations_;
  StreamClocks clocks_;
  StreamChecker checker_{[](MemoryPlace&) {}};
};

TEST(StreamRandomTest, AccusesExactlyWhatNothingOrders) {
  const char* wanted = std::getenv("LOCKSTEP_STREAM_PROGRAMS");
  const uint32_t programs = wanted != nullptr ? static_cast<uint32_t>(std::atoi(wanted)) : 2000;
  size_t races = 0, operations = 0, racing = 0;
  for (uint32_t seed = 1; seed <= programs; ++seed) {
    const Program program(seed);
    ASSERT_EQ(program.found.races, program.expected.races) << "seed " << seed;
    races += program.expected.races.size();
    racing += program.expected.races.empty() ? 0 : 1;
    operations += program.expected.operations;
  }
  // There were many programs with races, and many without.
  EXPECT_GT(racing, programs / 10);
  EXPECT_LT(racing, programs - programs / 10);
  RecordProperty("operations", static_cast<int>(operations));
  RecordProperty("races", static_cast<int>(races));
  RecordProperty("racing_programs", static_cast<int>(racing));
}

Footprint Of(StreamAccess access, uint64_t begin, uint64_t end) {
  Footprint footprint;
  footprint.Add(access, begin, end);
  return footprint;
}

TEST(FootprintTest, ReadsAtomicsAndStoresOfWhatIsThereDoNotConflict) {
  using enum StreamAccess;
  const auto meets = [](StreamAccess first, StreamAccess second) {
    return Of(first, 100, 104).ConflictsWith(Of(second, 102, 110)).has_value();
  };
  EXPECT_FALSE(meets(kLoad, kLoad));
  EXPECT_FALSE(meets(kStrongStore, kStrongStore));
  EXPECT_FALSE(meets(kLoad, kStrongLoad));
  EXPECT_FALSE(meets(kStore, kKeep));
  EXPECT_FALSE(meets(kKeep, kKeep));
  EXPECT_FALSE(meets(kLoad, kKeep));
  EXPECT_TRUE(meets(kStore, kLoad));
  EXPECT_TRUE(meets(kLoad, kStore));
  EXPECT_TRUE(meets(kStore, kStore));
  EXPECT_TRUE(meets(kKeep, kStore));
  EXPECT_TRUE(meets(kStrongStore, kLoad));
  EXPECT_TRUE(meets(kStrongStore, kStore));
  EXPECT_TRUE(meets(kStore, kStrongStore));
}

TEST(FootprintTest, KernelsThatMaySynchroniseThroughMemoryAreNotCompared) {
  Footprint producer = Of(StreamAccess::kStore, 0, 64), consumer = Of(StreamAccess::kLoad, 0, 64);
  EXPECT_TRUE(producer.ConflictsWith(consumer));
  producer.Add(StreamAccess::kStrongStore, 100, 104);
  consumer.Add(StreamAccess::kStrongLoad, 100, 104);
  EXPECT_FALSE(producer.ConflictsWith(consumer));
}

TEST(FootprintTest, ConflictIsTheLowestToTheByte) {
  Footprint first, second;
  for (uint64_t k = 0; k < 100; k += 2) first.Add(StreamAccess::kStore, k, k + 1);
  for (uint64_t k = 1; k < 100; k += 2) second.Add(StreamAccess::kStore, k, k + 1);
  EXPECT_FALSE(first.ConflictsWith(second));
  second.Add(StreamAccess::kLoad, 41, 47);
  const auto conflict = first.ConflictsWith(second);
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->bytes.begin, 42u);
  EXPECT_EQ(conflict->bytes.end, 43u);
  first.Forget(40, 50);
  EXPECT_FALSE(first.ConflictsWith(second));
}

}  // namespace stream_random_test
}  // namespace lockstep::vgpu
