// Faults: what stops a kernel, and what the device does afterwards. checker_pairs_memory.cu has the kinds of bad
// accesses with their messages.
#include <gtest/gtest.h>

#include "tests/support/device_support.h"
#include "vgpu/core/hint.h"

namespace lockstep::vgpu {
namespace device_faults_test {

const std::string& Ptx() {
  static const std::string text = ReadPtx("device_faults");
  return text;
}

const Finding& OnlyFinding(TestDevice& device) {
  static const Finding none;
  EXPECT_EQ(device->findings().findings().size(), 1u);
  return device->findings().findings().empty() ? none : device->findings().findings().back();
}

TEST(DeviceFaultsTest, GlobalAccessBeyondABuffer) {
  for (const int threads : {1, 3}) {
    DeviceOptions options;
    options.threads = threads;
    TestDevice device(Ptx(), options);
    const auto in = device.Make(std::vector<int>(300), "d_in");
    const auto out = device.Make(std::vector<int>(301), "d_out");
    const LaunchResult result = device.Launch("out_of_bounds", {{4}, {128}}, in, out, 300);
    EXPECT_EQ(result.error, LaunchError::kIllegalAddress);
    const Finding& f = OnlyFinding(device);
    EXPECT_EQ(f.kind, FindingKind::kOutOfBounds);
    EXPECT_TRUE(f.fatal);
    EXPECT_EQ(f.kernel, "out_of_bounds");
    EXPECT_EQ(f.first.block, (Dim3{2, 0, 0}));
    EXPECT_EQ(f.first.thread, (Dim3{300 - 256, 0, 0}));
    EXPECT_TRUE(f.first.file.ends_with("device_faults.cu"));
    EXPECT_GT(f.first.line, 0);
    EXPECT_EQ(f.first.instruction, "ld.global.u32");
    ASSERT_TRUE(f.memory.has_value());
    EXPECT_EQ(f.memory->buffer_name, "d_in");
    EXPECT_EQ(f.memory->address, in.address + 1200);
    EXPECT_EQ(f.memory->buffer_bytes, 1200u);
    // The context stays unusable until Reset.
    EXPECT_TRUE(device->faulted());
    EXPECT_EQ(device.Launch("null_pointer", {{1}, {1}}, in).error, LaunchError::kIllegalAddress);
    device->Reset();
    EXPECT_FALSE(device->faulted());
    EXPECT_EQ(device->Allocations().size(), 0u);
  }
}

TEST(DeviceFaultsTest, WildPointers) {
  for (const uint64_t address : {~uint64_t{0} - 63, uint64_t{1} << 63, uint64_t{0x10} << 40, uint64_t{0x11} << 40,
                                 uint64_t{0x12} << 40, uint64_t{0x13} << 40, uint64_t{0x20} << 40}) {
    TestDevice device(Ptx());
    EXPECT_EQ(device.Launch("null_pointer", {{1}, {32}}, address).error, LaunchError::kIllegalAddress) << address;
  }
}

TEST(DeviceFaultsTest, FreedBuffer) {
  TestDevice device(Ptx());
  const auto out = device.Make(std::vector<int>(32));
  ASSERT_TRUE(device->Free(out.address));
  EXPECT_FALSE(device->Free(out.address));
  device.Make(std::vector<int>(32));  // gets another address
  EXPECT_EQ(device.Launch("null_pointer", {{1}, {32}}, out).error, LaunchError::kIllegalAddress);
}

TEST(DeviceFaultsTest, Misaligned) {
  TestDevice device(Ptx());
  const auto p = device.Make(std::vector<char>(256));
  EXPECT_EQ(device.Launch("misaligned", {{1}, {32}}, p).error, LaunchError::kMisalignedAddress);
  EXPECT_EQ(OnlyFinding(device).kind, FindingKind::kMisaligned);
}

TEST(DeviceFaultsTest, Trap) {
  TestDevice device(Ptx());
  EXPECT_EQ(device.Launch("trap", {{1}, {64}}, device.Make(std::vector<int>{0})).error, LaunchError::kTrap);
  EXPECT_EQ(OnlyFinding(device).kind, FindingKind::kTrap);
}

TEST(DeviceFaultsTest, InstructionBudget) {
  Dim3 block;
  for (const int threads : {1, 3}) {
    DeviceOptions options;
    options.threads = threads;
    options.instruction_budget = 100000;
    TestDevice device(Ptx(), options);
    EXPECT_EQ(device.Launch("endless_loop", {{4}, {64}}, device.Make(std::vector<int>{0})).error,
              LaunchError::kTimeout);
    const Finding& f = OnlyFinding(device);
    EXPECT_EQ(f.kind, FindingKind::kTimeout);
    EXPECT_GT(f.first.line, 0);
    if (threads == 1) block = f.first.block;
    EXPECT_EQ(f.first.block, block);
  }
}

TEST(DeviceFaultsTest, InstructionBudgetOfManySmallBlocks) {
  // No block is near the budget; which one goes over it must not depend on the number of CPU threads.
  std::vector<Dim3> blocks;
  for (const int threads : {1, 2, 4}) {
    DeviceOptions options;
    options.threads = threads;
    options.instruction_budget = 1000;
    TestDevice device(Ptx(), options);
    EXPECT_EQ(device.Launch("null_pointer", {{5000}, {32}}, device.Make(std::vector<int>(32))).error,
              LaunchError::kTimeout);
    EXPECT_EQ(OnlyFinding(device).kind, FindingKind::kTimeout);
    blocks.push_back(OnlyFinding(device).first.block);
  }
  EXPECT_GT(blocks[0].x, 10u);
  EXPECT_EQ(blocks[1], blocks[0]);
  EXPECT_EQ(blocks[2], blocks[0]);
}

TEST(DeviceFaultsTest, InstructionBudgetGrowsWithTheLaunch) {
  TestDevice device(Ptx());
  const auto buffer = device.Make(std::vector<int>(64));
  device->set_instruction_budget(1000, 1000);
  EXPECT_EQ(device.Launch("null_pointer", {{50}, {32}}, buffer).error, LaunchError::kNone);
  device->set_instruction_budget(100, 1);
  EXPECT_EQ(device.Launch("null_pointer", {{50}, {32}}, buffer).error, LaunchError::kTimeout);
  EXPECT_NE(OnlyFinding(device).detail.find("more than 150 warp instructions"), std::string::npos)
      << OnlyFinding(device).detail;
}

TEST(DeviceFaultsTest, InstructionBudgetHasAnUpperEnd) {
  DeviceOptions options;
  options.instruction_budget = 100;
  TestDevice device(Ptx(), options);
  device->set_instruction_budget(1000, 1000);
  EXPECT_EQ(device.Launch("null_pointer", {{50}, {32}}, device.Make(std::vector<int>(64))).error,
            LaunchError::kTimeout);
  EXPECT_EQ(OnlyFinding(device).detail.find("the launch took more than 100 warp instructions"), 0u)
      << OnlyFinding(device).detail;
}

// A launch has a time limit besides its budget of instructions, as an instruction may take any time.
TEST(DeviceFaultsTest, ALaunchHasALimitOfTime) {
  for (const int threads : {1, 3}) {
    DeviceOptions options;
    options.threads = threads;
    options.launch_seconds = 1;
    TestDevice device(Ptx(), options);
    const auto zero = device.Make(std::vector<int>{0});
    EXPECT_EQ(device.Launch("null_pointer", {{1}, {1}}, device.Make(std::vector<int>{0})).error, LaunchError::kNone);
    EXPECT_EQ(device.Launch("endless_loop", {{4}, {64}}, zero).error, LaunchError::kTimeout);
    EXPECT_EQ(OnlyFinding(device).detail, "the launch exceeded the time limit for kernels on the virtual GPU");
  }
}

// printf reads every string argument to its end, even when it prints none of it.
TEST(DeviceFaultsTest, LongStringsCountAgainstTheBudget) {
  for (const uint64_t budget : {10'000, 10'000'000}) {
    DeviceOptions options;
    options.instruction_budget = budget;
    TestDevice device(Ptx(), options);
    std::vector<char> text(100'001, 'a');
    text.back() = 0;
    const LaunchError error = device.Launch("reads_strings", {{1}, {32}}, device.Make(text), 20).error;
    EXPECT_EQ(error, budget == 10'000 ? LaunchError::kTimeout : LaunchError::kNone);
  }
}

// What blocks run while they wait for a slow one hardly counts against the launch's budget.
TEST(DeviceFaultsTest, WaitingCountsLittle) {
  DeviceOptions options;
  options.checkers.Add("sync");
  for (const char* kernel : {"waits_for_barriers", "waits_by_the_clock"}) {
    uint64_t taken = 0;
    for (const bool bounded : {false, true}) {
      TestDevice device(Ptx(), options);
      const auto flag = device.Make(std::vector<int>{0});
      if (bounded) device->set_instruction_budget(taken / 2);
      EXPECT_EQ(device.Launch(kernel, {{40}, {64}}, flag, 300).error, LaunchError::kNone) << kernel;
      taken = device->launches().back().counters.warp_instructions;
      EXPECT_GT(taken, 50'000u) << kernel;
    }
  }
}

// Work counts as work even if the kernel reads the clock in between and waits at the end.
TEST(DeviceFaultsTest, WorkBeforeAWaitCounts) {
  uint64_t taken = 0;
  for (const bool bounded : {false, true}) {
    TestDevice device(Ptx());
    const auto flag = device.Make(std::vector<int>{0});
    if (bounded) device->set_instruction_budget(taken / 2);
    const LaunchError error = device.Launch("works_by_the_clock", {{8}, {32}}, flag, 100'000).error;
    EXPECT_EQ(error, bounded ? LaunchError::kTimeout : LaunchError::kNone);
    if (!bounded) taken = device->launches().back().counters.warp_instructions;
  }
}

TEST(DeviceFaultsTest, EndlessWaitingEndsTheLaunch) {
  TestDevice device(Ptx());
  device->set_instruction_budget(100'000);
  EXPECT_EQ(device.Launch("waits_for_ever", {{4}, {64}}, device.Make(std::vector<int>{0})).error,
            LaunchError::kTimeout);
  EXPECT_EQ(OnlyFinding(device).detail, "threads only waited for each other, for more than 100,000 warp instructions");
  EXPECT_EQ(OnlyFinding(device).hint, Hint::kWaitsInVain);
}

TEST(DeviceFaultsTest, RunawayRecursion) {
  TestDevice device(Ptx());
  EXPECT_EQ(device.Launch("runaway_recursion", {{1}, {32}}, device.Make(std::vector<int>(32))).error,
            LaunchError::kStackOverflow);
}

TEST(DeviceFaultsTest, BarrierThatAWarpNeverReaches) {
  TestDevice device(Ptx());
  EXPECT_EQ(device.Launch("missing_warp", {{1}, {64}}, device.Make(std::vector<int>(64))).error, LaunchError::kTimeout);
  EXPECT_EQ(OnlyFinding(device).kind, FindingKind::kBarrierDivergence);
}

// Lanes that the mask does not name loop until something stops them.
TEST(DeviceFaultsTest, LanesThatNeverMeet) {
  DeviceOptions options;
  options.instruction_budget = 1000000;
  TestDevice device(Ptx(), options);
  EXPECT_NE(device.Launch("wrong_mask", {{1}, {32}}, device.Make(std::vector<int>(32))).error, LaunchError::kNone);
}

TEST(DeviceFaultsTest, LaunchConfigurations) {
  TestDevice device(Ptx());
  const auto p = device.Make(std::vector<int>(2048));
  EXPECT_EQ(device.Launch("null_pointer", {{0}, {32}}, p).error, LaunchError::kInvalidConfiguration);
  EXPECT_EQ(device.Launch("null_pointer", {{1}, {2000}}, p).error, LaunchError::kInvalidConfiguration);
  EXPECT_EQ(device.Launch("null_pointer", {{1}, {32, 2, 128}}, p).error, LaunchError::kInvalidConfiguration);
  EXPECT_EQ(device.Launch("null_pointer", {{1, 70000}, {32}}, p).error, LaunchError::kInvalidConfiguration);
  EXPECT_EQ(device.Launch("null_pointer", {{1}, {32}, 1 << 20}, p).error, LaunchError::kInvalidConfiguration);
  EXPECT_EQ(device.Launch("null_pointer", {{1}, {32}}, p).error, LaunchError::kNone);
  EXPECT_FALSE(device->faulted());
}

TEST(DeviceFaultsTest, UnsupportedInstructionNamesItself) {
  const std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  wgmma.fence.sync.aligned;
DONE:
  ret;
})";
  TestDevice device(ptx);
  EXPECT_EQ(device.Launch("k", {{1}, {1}}, device.Make(std::vector<int>{0})).error, LaunchError::kNone);
  EXPECT_EQ(device.Launch("k", {{1}, {1}}, device.Make(std::vector<int>{1})).error, LaunchError::kUnsupported);
  const Finding& f = OnlyFinding(device);
  EXPECT_EQ(f.kind, FindingKind::kUnsupported);
  EXPECT_NE(f.detail.find("wgmma"), std::string::npos);
  EXPECT_EQ(f.first.ptx_line, 10);
}

TEST(DeviceFaultsTest, HostAccessesStayWithinAllocations) {
  TestDevice device(Ptx());
  const auto p = device.Make(std::vector<int>(16));
  int x[17] = {};
  EXPECT_FALSE(device->Write(p.address, x, sizeof x));
  EXPECT_FALSE(device->Read(x, p.address + 4, 64));
  EXPECT_FALSE(device->Fill(p.address - 1, 0, 1));
  EXPECT_FALSE(device->Copy(p.address, p.address + 64, 4));
  EXPECT_TRUE(device->Copy(p.address, p.address + 4, 60));
  EXPECT_FALSE(device->Contains(~uint64_t{0}, 2));
  EXPECT_EQ(p.address % 256, 0u);
}

}  // namespace device_faults_test
}  // namespace lockstep::vgpu
