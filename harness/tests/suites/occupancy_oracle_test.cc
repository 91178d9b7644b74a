// The oracle of assignment 07 against the course's examples, the virtual GPU's own calculation, which its runtime API
// answers with, and the toolkit's calculator on random kernels.
#include <gtest/gtest.h>

#include "../../../reference/07_occupancy/oracle.h"
#include "judge/input/inputs.h"
#include "tests/model/toolkit_occupancy.h"
#include "vgpu/device/device.h"
#include "vgpu/model/occupancy.h"

namespace lockstep::suites {
namespace occupancy_oracle_test {

using judge::Random;
using vgpu::ComputeCapability;

SmLimits Largest(int major, int minor) {
  const ComputeCapability* capability = vgpu::FindCapability(major, minor);
  EXPECT_NE(capability, nullptr) << major << "." << minor;
  return LimitsOf(*capability, capability->carveouts_kb.back());
}

int Between(Random& random, int64_t low, int64_t high) { return static_cast<int>(random.Between(low, high)); }

TEST(OccupancyOracleTest, TheCoursesExample) {
  const OccupancyLimits limits = FillSm(Largest(1, 0), {128, 30, 5 * 1024});
  EXPECT_EQ(limits.by_shared, 3);
  EXPECT_EQ(limits.by_registers, 2);
  EXPECT_EQ(limits.by_warps, 6);
  EXPECT_EQ(limits.by_blocks, 8);
  EXPECT_EQ(limits.Blocks(), 2);
  EXPECT_EQ(FillSm(Largest(1, 0), {512, 10, 5 * 1024}).Blocks(), 1);
}

// Worked out by hand.
TEST(OccupancyOracleTest, ExamplesOfEachRule) {
  // 2.0: 20 registers are 640 a warp; 51 warps, rounded down to 50, are 6 blocks of 8.
  EXPECT_EQ(FillSm(Largest(2, 0), {256, 20, 0}).by_registers, 6);
  // 1.0: 3 warps count as 4: 4 * 32 * 10 = 1280 registers, and 6 times that fit.
  EXPECT_EQ(FillSm(Largest(1, 0), {96, 10, 0}).by_registers, 6);
  // 9.0: 33 registers are 1056, given out as 1280; 51 warps, rounded down to 48.
  EXPECT_EQ(FillSm(Largest(9, 0), {128, 33, 0}).by_registers, 12);
  // 8.0: 1 KiB of its own and 1 KiB reserved, of 164.
  EXPECT_EQ(FillSm(Largest(8, 0), {32, 16, 1024}).by_shared, 82);
  // 7.5: 1025 bytes are given out as 1280, of 64 KiB.
  EXPECT_EQ(FillSm(Largest(7, 5), {32, 16, 1025}).by_shared, 51);
  EXPECT_EQ(FillSm(Largest(7, 0), {32, 0, 0}).by_registers, kNoLimit);
  EXPECT_EQ(FillSm(Largest(7, 0), {32, 0, 0}).by_shared, kNoLimit);
  EXPECT_EQ(FillSm(Largest(5, 3), {1024, 33, 0}).by_registers, 0) << "a block has 32 K registers at most";
}

TEST(OccupancyOracleTest, BestBlockAndBudget) {
  const SmLimits g80 = Largest(1, 0);
  // 10 registers: 768 threads are 24 warps, of 2 blocks of 384 or 3 of 256 …
  EXPECT_EQ(BestBlockSize(g80, 10, 0, 0), 384);
  EXPECT_EQ(BestBlockSize(g80, 10, 16 * 1024 + 1, 0), 0);
  const SmLimits h200 = Largest(9, 0);
  EXPECT_EQ(BestBlockSize(h200, 32, 0, 0), 1024);
  EXPECT_EQ(RegisterBudget(h200, 256, 0, 64), 32);
  EXPECT_EQ(RegisterBudget(h200, 256, 0, 65), 0);
  EXPECT_EQ(RegisterBudget(g80, 256, 0, 24), 10);
}

// A kernel that often runs into a limit, whichever it is.
BlockNeeds RandomBlock(Random& random, const SmLimits& sm) {
  return {Between(random, 0, sm.max_threads_per_block + 64), Between(random, 0, sm.max_registers_per_thread),
          random.Between(0, sm.shared_per_block + 600) >> Between(random, 0, 8)};
}

TEST(OccupancyOracleTest, AgreesWithTheVirtualGpu) {
  Random random(7);
  for (const vgpu::DeviceProfile* profile : vgpu::AllProfiles()) {
    const SmLimits sm = Largest(profile->cc_major, profile->cc_minor);
    vgpu::Device device(*profile, {});
    for (int i = 0; i < 2000; ++i) {
      const BlockNeeds block = RandomBlock(random, sm);
      SCOPED_TRACE(testing::Message() << profile->id << ": " << block.threads << " threads, " << block.registers
                                      << " registers, " << block.shared << " bytes");
      const int expected = FillSm(sm, block).Blocks();
      ASSERT_EQ(vgpu::MaxBlocksPerSm(*profile, block.threads, block.registers, static_cast<uint64_t>(block.shared)),
                expected);
      vgpu::KernelInfo kernel;
      kernel.registers = static_cast<uint32_t>(block.registers);
      ASSERT_EQ(device.MaxBlocksPerSm(kernel, block.threads, static_cast<uint64_t>(block.shared)), expected);
    }
  }
}

#ifdef LOCKSTEP_HAS_TOOLKIT_CALCULATOR
constexpr int kFirstOfToolkit = 3;

cudaOccDeviceProp Properties(const ComputeCapability& capability) {
  return vgpu::ToolkitProperties(capability, capability.major, capability.minor, 1);
}

// The state to give to the toolkit's calculator so that shared memory has the size capability.carveouts_kb[carveout].
cudaOccDeviceState StateWith(const ComputeCapability& capability, size_t carveout) {
  cudaOccDeviceState state;
  if (capability.major == 3) {
    constexpr cudaOccCacheConfig kConfigs[] = {CACHE_PREFER_L1, CACHE_PREFER_EQUAL, CACHE_PREFER_SHARED};
    state.cacheConfig = kConfigs[carveout];
  } else if (capability.major >= 7) {
    // A percentage is rounded up to the next size there is.
    state.carveoutConfig = capability.carveouts_kb[carveout] * 100 / capability.carveouts_kb.back();
  }
  return state;
}

// On 6.0, which has its registers in two parts, the toolkit refuses what 6.1 with its four parts could not run.
int OracleBlocks(const ComputeCapability& capability, const SmLimits& sm, const BlockNeeds& block) {
  if (capability.major == 6 && capability.minor == 0) {
    SmLimits sibling = sm;
    sibling.warp_granularity = Largest(6, 1).warp_granularity;
    if (FillSm(sibling, block).by_registers == 0) return 0;
  }
  return FillSm(sm, block).Blocks();
}

TEST(OccupancyOracleTest, AgreesWithTheToolkitOnRandomKernels) {
  Random random(11);
  for (const ComputeCapability& capability : vgpu::AllCapabilities()) {
    if (capability.major < kFirstOfToolkit) continue;
    const cudaOccDeviceProp properties = Properties(capability);
    for (size_t carveout = 0; carveout < capability.carveouts_kb.size(); ++carveout) {
      const SmLimits sm = LimitsOf(capability, capability.carveouts_kb[carveout]);
      const cudaOccDeviceState state = StateWith(capability, carveout);
      for (int i = 0; i < 2000; ++i) {
        const BlockNeeds block = RandomBlock(random, sm);
        // A block that the carve-out has no room for makes the toolkit choose a larger one.
        if (block.threads < 1 || FillSm(sm, block).by_shared == 0) continue;
        const cudaOccFuncAttributes attributes = vgpu::ToolkitAttributes(capability, block.registers);
        cudaOccResult result;
        ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, block.threads,
                                                          static_cast<size_t>(block.shared)),
                  CUDA_OCC_SUCCESS);
        ASSERT_EQ(OracleBlocks(capability, sm, block), result.activeBlocksPerMultiprocessor)
            << capability.major << "." << capability.minor << ", " << capability.carveouts_kb[carveout]
            << " KB: " << block.threads << " threads, " << block.registers << " registers, " << block.shared
            << " bytes";
      }
    }
  }
}

TEST(OccupancyOracleTest, AgreesWithTheToolkitOnTheBestBlock) {
  Random random(13);
  for (const ComputeCapability& capability : vgpu::AllCapabilities()) {
    // On 6.0 the exception described above would affect the toolkit's search.
    if (capability.major < kFirstOfToolkit || (capability.major == 6 && capability.minor == 0)) continue;
    const cudaOccDeviceProp properties = Properties(capability);
    const SmLimits sm = Largest(capability.major, capability.minor);
    const cudaOccDeviceState state;
    for (int i = 0; i < 200; ++i) {
      const int registers = Between(random, 1, sm.max_registers_per_thread);
      const int64_t shared = random.Between(0, sm.shared_per_block >> Between(random, 1, 8));
      const int64_t per_thread = random.Between(0, 64);
      const cudaOccFuncAttributes attributes = vgpu::ToolkitAttributes(capability, registers);
      int grid = 0, block = 0;
      ASSERT_EQ(cudaOccMaxPotentialOccupancyBlockSizeVariableSMem(
                    &grid, &block, &properties, &attributes, &state,
                    [&](int threads) { return static_cast<size_t>(shared + per_thread * threads); }),
                CUDA_OCC_SUCCESS);
      ASSERT_EQ(BestBlockSize(sm, registers, shared, per_thread), block)
          << capability.major << "." << capability.minor << ": " << registers << " registers, " << shared
          << " bytes and " << per_thread << " a thread";
    }
  }
}
#endif

}  // namespace occupancy_oracle_test
}  // namespace lockstep::suites
