// A launch's outputs, its counters by kernel and by line, and its modelled time do not depend on the number of CPU
// threads.
#include <gtest/gtest.h>

#include "dev/bench/workload.h"
#include "vgpu/memory/access_cost.h"

namespace lockstep::vgpu {
namespace threads_test {

constexpr Work kMeeting[] = {
    {"histogram", {256}, {256}, 0, 256 * 256, 2, 256 * 256},
    {"chain", {64}, {64}, 0, 64 * 64, 2, 64 * 64 + 64},
};

struct Outcome {
  std::vector<std::vector<uint32_t>> outputs;
  LaunchRecord record;
};

Outcome RunWork(const Work& work, int threads) {
  DeviceOptions options;
  options.threads = threads;
  Device device(*FindProfile("h200"), options);
  const ModuleHandle module = device.LoadModule(ReadText(LOCKSTEP_BUILD_DIR "/ptx/threads.ptx"));
  const Prepared prepared = Prepare(device, module, work);
  Outcome outcome;
  EXPECT_EQ(device.Launch(prepared.spec).error, LaunchError::kNone) << work.kernel;
  for (const uint64_t buffer : prepared.buffers) {
    outcome.outputs.emplace_back(work.elements);
    EXPECT_TRUE(device.Read(outcome.outputs.back().data(), buffer, 4 * work.elements));
  }
  outcome.record = device.launches().at(0);
  return outcome;
}

// If some access of a line costs more than necessary, the line keeps one, with the cost by the definition.
void ExpectWorstAccesses(const LineCounters& line) {
  const Counters& c = line.counters;
  const uint64_t ideal = c.global_load_sectors_ideal + c.global_store_sectors_ideal;
  if (c.global_load_sectors + c.global_store_sectors > ideal) {
    EXPECT_NE(line.global, nullptr) << line.line;
  }
  EXPECT_EQ(line.shared != nullptr, c.shared_conflicts() > 0) << line.line;
  for (const KeptSample& sample : {line.global, line.shared}) {
    if (sample == nullptr) continue;
    PcMemory cost;
    const bool is_shared = sample->space == MemorySpace::kShared;
    (is_shared ? AddSharedCost : AddGlobalCost)(sample->access, sample->at.data(), sample->mask,
                                                static_cast<int>(sample->bytes), cost);
    EXPECT_EQ(sample->cost, is_shared ? cost.wavefronts : cost.sectors) << line.line;
    EXPECT_EQ(sample->ideal, is_shared ? cost.wavefronts_ideal : cost.sectors_ideal) << line.line;
    EXPECT_GT(sample->excess(), 0u);
  }
}

bool SameSample(const KeptSample& a, const KeptSample& b) {
  return a == nullptr ? b == nullptr : b != nullptr && *a == *b;
}

class ThreadsTest : public testing::TestWithParam<Work> {};

TEST_P(ThreadsTest, ChangeNothing) {
  const Outcome one = RunWork(GetParam(), 1);
  EXPECT_GT(one.record.counters.warp_instructions, 0u);
  EXPECT_GT(one.record.counters.global_load_footprint, 0u);
  for (const LineCounters& line : one.record.lines) ExpectWorstAccesses(line);
  for (const int threads : {2, 8}) {
    const Outcome many = RunWork(GetParam(), threads);
    // Blocks that wait for each other are run by one thread.
    const bool chained = std::string_view(GetParam().kernel) == "chain";
    EXPECT_EQ(many.record.cpu_threads, chained ? 1 : threads);
    EXPECT_EQ(many.outputs, one.outputs) << threads;
    EXPECT_EQ(many.record.microseconds, one.record.microseconds) << threads;
    EXPECT_EQ(many.record.bound_by, one.record.bound_by) << threads;
    EXPECT_EQ(many.record.busiest_block, one.record.busiest_block) << threads;
    EXPECT_EQ(many.record.longest_warp, one.record.longest_warp) << threads;
    for (const CounterInfo& counter : AllCounters()) {
      EXPECT_EQ(many.record.counters.*counter.field, one.record.counters.*counter.field) << counter.name;
    }
    ASSERT_EQ(many.record.lines.size(), one.record.lines.size()) << threads;
    for (size_t k = 0; k < one.record.lines.size(); ++k) {
      EXPECT_EQ(many.record.lines[k].line, one.record.lines[k].line);
      EXPECT_TRUE(many.record.lines[k].counters == one.record.lines[k].counters) << "line " << one.record.lines[k].line;
      EXPECT_TRUE(SameSample(many.record.lines[k].global, one.record.lines[k].global)) << one.record.lines[k].line;
      EXPECT_TRUE(SameSample(many.record.lines[k].shared, one.record.lines[k].shared)) << one.record.lines[k].line;
    }
  }
}

std::string NameOfWork(const testing::TestParamInfo<Work>& info) { return info.param.kernel; }
INSTANTIATE_TEST_SUITE_P(Benchmarks, ThreadsTest, testing::ValuesIn(kWork), NameOfWork);
INSTANTIATE_TEST_SUITE_P(Meeting, ThreadsTest, testing::ValuesIn(kMeeting), NameOfWork);

}  // namespace threads_test
}  // namespace lockstep::vgpu
