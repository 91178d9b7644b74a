// Kernels of programs.cu, each with one, two and eight CPU threads, whose results and counters must not differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/device_support.h"
#include "vgpu/device/device.h"

namespace lockstep::vgpu {
namespace programs_test {

DeviceOptions Options(int threads, bool checks) {
  DeviceOptions options;
  options.threads = threads;
  if (checks) options.checkers = CheckerSet::All();
  return options;
}

// The test device, with memory by address and findings as text.
class Machine {
 public:
  explicit Machine(int threads, bool checks = false) : test(ReadPtx("programs"), Options(threads, checks)) {}

  template <typename T>
  uint64_t Upload(const std::vector<T>& values, const char* name = "d_in") {
    const uint64_t address = device->Allocate(values.size() * sizeof(T), name);
    EXPECT_TRUE(device->Write(address, values.data(), values.size() * sizeof(T)));
    return address;
  }
  template <typename T>
  uint64_t Output(size_t count, const char* name = "d_out") {
    const uint64_t address = device->Allocate(count * sizeof(T), name);
    EXPECT_TRUE(device->Fill(address, 0, count * sizeof(T)));
    return address;
  }
  template <typename T>
  std::vector<T> Download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(device->Read(values.data(), address, count * sizeof(T)));
    return values;
  }

  template <typename... Args>
  LaunchError Launch(const char* kernel, Dim3 grid, Dim3 block, uint32_t shared, Args... args) {
    const LaunchResult result = test.Launch(kernel, {grid, block, shared}, args...);
    for (const Finding& finding : device->findings().findings()) messages += Format(finding) + "\n";
    return result.error;
  }

  TestDevice test;
  Device* const device = test.operator->();
  const ModuleHandle module = test.module();
  std::string messages;
};

std::vector<int> RandomInts(size_t n) {
  std::mt19937 random(7);
  std::vector<int> values(n);
  for (int& value : values) value = static_cast<int>(random() % 100000);
  return values;
}

class Programs : public testing::TestWithParam<int> {
 protected:
  Machine machine{GetParam(), GetParam() == 1};
};

TEST_P(Programs, SpinLocksEnd) {
  for (const char* kernel : {"spin_lock", "spin_lock_outside"}) {
    const VariableInfo guarded = *machine.device->FindVariable(machine.module, "g_guarded");
    machine.device->Fill(guarded.address, 0, 4);
    ASSERT_EQ(machine.Launch(kernel, {3, 1, 1}, {64, 1, 1}, 0), LaunchError::kNone) << machine.messages;
    EXPECT_EQ(machine.Download<int>(guarded.address, 1)[0], 192) << kernel;
  }
}

TEST_P(Programs, BlocksWaitForEachOther) {
  constexpr int kBlocks = 50;
  for (const char* kernel : {"chain", "chain_backwards"}) {
    const uint64_t d_flags = machine.Output<int>(kBlocks, "d_flags"), d_out = machine.Output<int>(kBlocks);
    ASSERT_EQ(machine.Launch(kernel, {kBlocks, 1, 1}, {32, 1, 1}, 0, d_flags, d_out), LaunchError::kNone)
        << machine.messages;
    std::vector<int> out = machine.Download<int>(d_out, kBlocks);
    if (std::string(kernel) == "chain_backwards") std::reverse(out.begin(), out.end());
    for (int k = 0; k < kBlocks; ++k) ASSERT_EQ(out[k], k) << kernel;
  }
}

TEST_P(Programs, EarlyExitReleasesTheBarrier) {
  const uint64_t d_out = machine.Output<int>(1);
  ASSERT_EQ(machine.Launch("early_exit", {1, 1, 1}, {128, 1, 1}, 0, d_out), LaunchError::kNone) << machine.messages;
  EXPECT_EQ(machine.Download<int>(d_out, 1)[0], 95 * 96 / 2);
}

TEST_P(Programs, Atomics) {
  const std::vector<int> in = RandomInts(300);
  const std::vector<int> start_i = {0, 1 << 30, -(1 << 30), 0};
  const std::vector<unsigned> start_u = {0, 0xffffffffu, 0};
  std::vector<unsigned> u(8 + 300);
  std::copy(start_u.begin(), start_u.end(), u.begin());
  const uint64_t d_in = machine.Upload(in), d_i = machine.Upload(start_i), d_u = machine.Upload(u),
                 d_l = machine.Output<uint64_t>(1), d_f = machine.Output<float>(1), d_d = machine.Output<double>(1);
  ASSERT_EQ(machine.Launch("atomics", {3, 1, 1}, {128, 1, 1}, 0, d_in, d_i, d_u, d_l, d_f, d_d, 300u),
            LaunchError::kNone)
      << machine.messages;
  EXPECT_EQ(machine.messages, "");
  const std::vector<int> i = machine.Download<int>(d_i, 4);
  const int sum = std::accumulate(in.begin(), in.end(), 0);
  EXPECT_EQ(i[0], sum);
  EXPECT_EQ(i[1], *std::min_element(in.begin(), in.end()));
  EXPECT_EQ(i[2], *std::max_element(in.begin(), in.end()));
  EXPECT_EQ(i[3], std::accumulate(in.begin(), in.end(), 0, std::bit_xor<int>()));
  u = machine.Download<unsigned>(d_u, u.size());
  EXPECT_EQ(u[0], 0xffffffffu);
  EXPECT_EQ(u[1], 0xffffff00u);
  EXPECT_EQ(u[2], 300u % 10);
  std::vector<int> seen(10);
  for (int k = 0; k < 300; ++k) ++seen.at(u[8 + k]);
  EXPECT_EQ(seen, std::vector<int>(10, 30));
  EXPECT_EQ(machine.Download<uint64_t>(d_l, 1)[0], static_cast<uint64_t>(sum) << 20);
  EXPECT_EQ(machine.Download<float>(d_f, 1)[0], 150.0f);
  EXPECT_EQ(machine.Download<double>(d_d, 1)[0], 75.0);
  EXPECT_EQ(machine.Download<unsigned>(machine.device->FindVariable(machine.module, "g_counter")->address, 1)[0], 300u);
}

TEST_P(Programs, DynamicSharedMemory) {
  const std::vector<int> in = RandomInts(128);
  const uint64_t d_in = machine.Upload(in), d_out = machine.Output<int>(128);
  ASSERT_EQ(machine.Launch("dynamic_shared", {1, 1, 1}, {128, 1, 1}, 128 * 12, d_in, d_out), LaunchError::kNone)
      << machine.messages;
  EXPECT_EQ(machine.messages, "");
  const std::vector<int> out = machine.Download<int>(d_out, 128);
  for (int k = 0; k < 128; ++k) EXPECT_EQ(out[k], in[127 - k] + in[127 - k] / 2);
}

TEST_P(Programs, TooLittleDynamicSharedMemoryIsFound) {
  const std::vector<int> in = RandomInts(128);
  const uint64_t d_in = machine.Upload(in), d_out = machine.Output<int>(128);
  EXPECT_EQ(machine.Launch("dynamic_shared", {1, 1, 1}, {128, 1, 1}, 128 * 12 - 8, d_in, d_out),
            LaunchError::kIllegalAddress);
  ASSERT_FALSE(machine.device->findings().findings().empty());
  const Finding& finding = machine.device->findings().findings().front();
  EXPECT_EQ(finding.kind, FindingKind::kOutOfBounds);
  EXPECT_EQ(finding.first.thread.x, 127u);
  EXPECT_TRUE(machine.device->faulted());
}

TEST_P(Programs, ThreeDimensions) {
  const uint64_t d_out = machine.Output<unsigned>(6 * 10 * 12);
  ASSERT_EQ(machine.Launch("three_dimensions", {2, 5, 3}, {3, 2, 4}, 0, d_out), LaunchError::kNone) << machine.messages;
  const std::vector<unsigned> out = machine.Download<unsigned>(d_out, 720);
  for (unsigned k = 0; k < 720; ++k) ASSERT_EQ(out[k], k % 6 + 100 * (k / 6 % 10) + 10000 * (k / 60));
}

TEST_P(Programs, PrintsInBlockOrder) {
  ASSERT_EQ(machine.Launch("prints", {3, 1, 1}, {32, 1, 1}, 0), LaunchError::kNone) << machine.messages;
  std::string expected;
  for (int block = 0; block < 3; ++block) {
    for (int thread = 0; thread < 2; ++thread) {
      expected += "block " + std::to_string(block) + " thread " + std::to_string(thread) + ": " +
                  (thread ? "1.50" : "0.00") + " text x 1234567890123%\n";
    }
  }
  EXPECT_EQ(machine.test.printed(), expected);
}

TEST_P(Programs, AssertionsStopTheKernel) {
  EXPECT_EQ(machine.Launch("asserts", {4, 1, 1}, {64, 1, 1}, 0, 40), LaunchError::kAssert);
  ASSERT_FALSE(machine.device->findings().findings().empty());
  const Finding& finding = machine.device->findings().findings().front();
  EXPECT_EQ(finding.kind, FindingKind::kAssert);
  EXPECT_NE(finding.detail.find("static_cast<int>(threadIdx.x) < limit"), std::string::npos) << finding.detail;
  EXPECT_EQ(finding.first.thread, (Dim3{40, 0, 0}));
  EXPECT_EQ(finding.first.block, (Dim3{0, 0, 0}));
  EXPECT_NE(Format(finding).find("programs.cu:"), std::string::npos) << Format(finding);
}

INSTANTIATE_TEST_SUITE_P(Threads, Programs, testing::Values(1, 2, 8),
                         [](const auto& info) { return std::to_string(info.param); });

TEST(ProgramsBudget, AnEndlessKernelStops) {
  Machine machine(2);
  machine.device->set_instruction_budget(100000);
  const uint64_t d_flags = machine.Output<int>(2, "d_flags"), d_out = machine.Output<int>(2);
  // Of these two blocks, block 1 waits for the flag that block 0 sets.
  EXPECT_EQ(machine.Launch("chain", {2, 1, 1}, {1, 1, 1}, 0, d_flags, d_out), LaunchError::kNone);
  machine.device->Fill(d_flags, 0, 8);
  EXPECT_EQ(machine.Launch("spin_lock_outside", {1, 1, 1}, {32, 1, 1}, 0), LaunchError::kNone);
  const uint64_t lock = machine.device->FindVariable(machine.module, "g_lock")->address;
  machine.device->Fill(lock, 1, 4);  // nobody will ever release it
  EXPECT_EQ(machine.Launch("spin_lock_outside", {1, 1, 1}, {32, 1, 1}, 0), LaunchError::kTimeout);
  EXPECT_NE(machine.messages.find("programs.cu:"), std::string::npos) << machine.messages;
}

}  // namespace programs_test
}  // namespace lockstep::vgpu
