// The checkers on real kernels, from nvcc's PTX to the findings.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "vgpu/core/hint.h"
#include "vgpu/device/device.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kBlocks = 4, kThreads = 128;

class CheckersTest : public ::testing::Test {
 protected:
  CheckersTest() : device_(*FindProfile("h200"), Options()) {
    std::ifstream file(std::string(LOCKSTEP_BUILD_DIR) + "/ptx/checkers.ptx");
    std::ostringstream text;
    text << file.rdbuf();
    module_ = device_.LoadModule(text.str());
    in_ = device_.Allocate(4 * kBlocks * kThreads, "d_in");
    const std::vector<int> ones(kBlocks * kThreads, 1);
    device_.Write(in_, ones.data(), 4 * ones.size());
    out_ = device_.Allocate(4096, "d_out");
  }

  static DeviceOptions Options() {
    DeviceOptions options;
    options.checkers = CheckerSet::All();
    options.instruction_budget = 10'000'000;
    return options;
  }
  uint64_t Zeroed(const char* label) {
    const uint64_t address = device_.Allocate(4096, label);
    device_.Fill(address, 0, 4096);
    return address;
  }
  const std::vector<Finding>& Run(const char* kernel, const std::vector<uint64_t>& pointers) {
    LaunchSpec spec;
    spec.module = module_;
    spec.kernel = kernel;
    spec.grid = {kBlocks, 1, 1};
    spec.block = {kThreads, 1, 1};
    spec.parameters = {reinterpret_cast<const uint8_t*>(pointers.data()), 8 * pointers.size()};
    EXPECT_EQ(device_.Launch(spec).error, LaunchError::kNone) << kernel;
    return device_.findings().findings();
  }
  int Value(uint64_t address) {
    int value = 0;
    EXPECT_TRUE(device_.Read(&value, address, 4));
    return value;
  }
  static std::string Texts(const std::vector<Finding>& findings) {
    std::string text;
    for (const Finding& finding : findings) text += Format(finding) + "\n";
    return text;
  }

  Device device_;
  ModuleHandle module_ = 0;
  uint64_t in_ = 0, out_ = 0;
};

TEST_F(CheckersTest, KernelsThatSynchroniseAreClean) {
  for (const char* kernel : {"tree", "warp_with_syncwarp", "shuffles", "tiles_of_16"}) {
    EXPECT_EQ(Texts(Run(kernel, {in_, out_})), "") << kernel;
    EXPECT_EQ(Value(out_), static_cast<int>(kThreads)) << kernel;
  }
  EXPECT_EQ(Texts(Run("bytes", {in_, out_})), "");
  EXPECT_EQ(Value(out_), 1);
  const uint64_t bins = Zeroed("bins");
  EXPECT_EQ(Texts(Run("histogram", {in_, bins})), "");
  EXPECT_EQ(Value(bins + 4), static_cast<int>(kBlocks * kThreads));
}

TEST_F(CheckersTest, BlocksThatSynchroniseAreClean) {
  const uint64_t partial = device_.Allocate(4096, "partial"), ticket = Zeroed("ticket");
  for (int launch = 0; launch < 2; ++launch) {
    EXPECT_EQ(Texts(Run("last_block_with_fence", {in_, partial, out_, ticket})), "");
    EXPECT_EQ(Value(out_), static_cast<int>(kBlocks * kThreads));
  }
  const uint64_t sums = device_.Allocate(4096, "sums");
  EXPECT_EQ(Texts(Run("chain", {sums, Zeroed("flags")})), "");
  EXPECT_EQ(Value(sums + 4 * (kBlocks - 1)), static_cast<int>(kBlocks));
  const uint64_t value = Zeroed("value");
  EXPECT_EQ(Texts(Run("spin_lock", {Zeroed("lock"), value})), "");
  EXPECT_EQ(Value(value), static_cast<int>(kBlocks * kThreads));
}

TEST_F(CheckersTest, MissingBarrierIsARaceWithItsLines) {
  const auto& findings = Run("tree_without_barrier", {in_, out_});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, FindingKind::kRace) << Texts(findings);
  EXPECT_EQ(findings[0].first.line, 26) << Texts(findings);
  ASSERT_TRUE(findings[0].memory.has_value());
  EXPECT_EQ(findings[0].memory->space, MemorySpace::kShared);
  EXPECT_NE(Format(findings[0]).find("checkers.cu:26"), std::string::npos) << Texts(findings);
  EXPECT_NE(Format(findings[0]).find(" sdata["), std::string::npos) << Texts(findings);
}

TEST_F(CheckersTest, VolatileDoesNotReplaceSyncwarp) {
  const auto& findings = Run("warp_with_volatile", {in_, out_});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, FindingKind::kRace) << Texts(findings);
  EXPECT_EQ(HintOf(findings[0]), Hint::kVolatileIsNoBarrier) << Texts(findings);
}

TEST_F(CheckersTest, LastBlockWithoutAFenceIsARace) {
  const auto& findings =
      Run("last_block_without_fence", {in_, device_.Allocate(4096, "partial"), out_, Zeroed("ticket")});
  ASSERT_EQ(findings.size(), 1u) << Texts(findings);
  EXPECT_EQ(findings[0].kind, FindingKind::kRace);
  EXPECT_EQ(findings[0].memory->buffer_name, "partial");
  EXPECT_EQ(findings[0].count, kBlocks - 1);
}

TEST_F(CheckersTest, AllThreadsWritingOneWordIsARace) {
  const auto& findings = Run("everyone_writes", {out_});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, FindingKind::kRace) << Texts(findings);
}

TEST_F(CheckersTest, UnwrittenSharedMemoryIsFound) {
  const auto& findings = Run("half_initialised", {in_, out_});
  ASSERT_EQ(findings.size(), 1u) << Texts(findings);
  EXPECT_EQ(findings[0].kind, FindingKind::kUninitialized);
  EXPECT_EQ(findings[0].memory->space, MemorySpace::kShared);
  EXPECT_EQ(findings[0].count, kBlocks * kThreads / 2);
}

TEST_F(CheckersTest, ACounterThatNobodySetIsFound) {
  const auto& findings = Run("count", {in_, device_.Allocate(4, "counter")});
  ASSERT_EQ(findings.size(), 1u) << Texts(findings);
  EXPECT_EQ(findings[0].kind, FindingKind::kUninitialized);
  EXPECT_EQ(findings[0].memory->buffer_name, "counter");
}

TEST_F(CheckersTest, BarriersInBothBranchesAreFound) {
  const auto& findings = Run("barrier_in_both_branches", {out_});
  ASSERT_EQ(findings.size(), 1u) << Texts(findings);
  EXPECT_EQ(findings[0].kind, FindingKind::kBarrierDivergence);
  EXPECT_NE(findings[0].first.line, findings[0].second->line);
}

}  // namespace
}  // namespace lockstep::vgpu
