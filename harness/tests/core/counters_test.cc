#include "vgpu/core/counters.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/support/golden.h"

namespace lockstep::vgpu {
namespace counters_test {

// docs/reference/metrics.md, from the list of counters.
std::string MetricsPage() {
  std::ostringstream page;
  page << "# Metrics\n\n"
          "What the virtual GPU counts, by kernel and by source line, and the Nsight Compute metric that means the "
          "same on\n"
          "hardware. A dash: Nsight Compute has no such metric, or counts machine instructions, which PTX instructions "
          "can't\n"
          "equal. [Counting](../concepts/counting.md) says how each is defined.\n\n"
          "This page is generated from `harness/vgpu/core/counters.h`: `LOCKSTEP_UPDATE_GOLDEN=1 counters_test` writes "
          "it "
          "anew.\n\n"
          "| counter | unit | meaning | Nsight Compute |\n"
          "|---|---|---|---|\n";
  for (const CounterInfo& counter : AllCounters()) {
    const std::string metric = counter.metric;
    page << "| `" << counter.name << "` | " << counter.unit << " | " << counter.text << " | "
         << (metric.empty() ? "–" : "`" + metric + "`") << " |\n";
  }
  page << R"(
`vgpu-run --metrics=LIST --csv` prints these metrics in the layout of `ncu --csv --page raw --metrics LIST` (2025.3, on an
H200): the same columns in the same order, a row of units, numbers with thousands separators, kernels with their signatures.
A script can read both. Missing are the device's attributes, `.avg`, `.min` and `.max`, and the number of the stream.

| metric | why its value differs |
|---|---|
| `gpu__time_duration.sum` | modelled, where ncu measures |
| `launch__registers_per_thread` | those that PTX needs; only the assembler knows the machine code's |
| `sm__inst_executed_pipe_tensor.sum` | of kernels without matrix instructions an H200 counts other instructions there too |
| `smsp__sass_branch_targets_threads_divergent.sum` | of the PTX's branches; the assembler predicates instructions of some |
| others | equal, except where the assembler joins or splits accesses: [an H200's counts](../records/gpu-counting.md) |
)";
  page << "\nFigures derived from these, such as `sectors`: [assignment.toml](assignment-toml.md#metrics).\n";
  return page.str();
}

TEST(CountersTest, MetricsPageIsUpToDate) {
  std::string page = MetricsPage();
  page.pop_back();
  ExpectFile("docs/reference/metrics.md", page);
}

TEST(CountersTest, EachCounterHasItsOwnNameAndField) {
  std::set<std::string> names;
  Counters counters;
  uint64_t value = 0;
  for (const CounterInfo& counter : AllCounters()) {
    EXPECT_TRUE(names.insert(counter.name).second) << counter.name;
    EXPECT_EQ(counters.*counter.field, 0u) << counter.name;
    counters.*counter.field = ++value;
  }
  EXPECT_EQ(value * sizeof(uint64_t), sizeof(Counters));
}

// Every counter must be incremented by some instruction.
TEST(CountersTest, EveryCounterIsCounted) {
  Counters sum;
  for (int k = 0; k <= static_cast<int>(InsnClass::kOther); ++k) {
    PcSums pc = {{{1, 1}, {}}, static_cast<InsnClass>(k), true, true, {1, 1, 1}};
#define LOCKSTEP_SET_FIELD(name, text) pc.memory.name = 1;
    LOCKSTEP_PC_MEMORY(LOCKSTEP_SET_FIELD)
#undef LOCKSTEP_SET_FIELD
    sum += pc;
  }
  for (const CounterInfo& counter : AllCounters()) {
    const std::string name = counter.name;
    if (name.ends_with("_footprint")) continue;  // the launch counts these as a whole: Locality::FootprintOf
    EXPECT_NE(sum.*counter.field, 0u) << "the last column of " << name << "'s line in core/counters.h adds nothing";
  }
}

TEST(CountersTest, AdditionAddsEveryField) {
  Counters one, sum;
  for (const CounterInfo& counter : AllCounters()) one.*counter.field = 1;
  sum += one;
  sum += one;
  for (const CounterInfo& counter : AllCounters()) EXPECT_EQ(sum.*counter.field, 2u) << counter.name;
}

}  // namespace counters_test
}  // namespace lockstep::vgpu
