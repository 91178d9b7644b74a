#include "vgpu/model/occupancy.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/model/profile_named.h"
#include "tests/model/toolkit_occupancy.h"

namespace lockstep::vgpu {
namespace occupancy_test {

TEST(OccupancyTest, TheCoursesExample) {
  // 5 KB of shared memory, 30 registers, 128 threads: 3 blocks by shared memory, 2 by registers.
  const Occupancy occupancy = ComputeOccupancy(Profile("g80"), 128, 30, 5 * 1024);
  EXPECT_EQ(occupancy.blocks, 2);
  EXPECT_EQ(occupancy.warps, 8);
  EXPECT_STREQ(occupancy.limited_by, "registers");
  EXPECT_DOUBLE_EQ(occupancy.fraction, 256.0 / 768);
  EXPECT_EQ(MaxBlocksPerSm(Profile("g80"), 128, 10, 5 * 1024), 3);
  EXPECT_EQ(MaxBlocksPerSm(Profile("g80"), 512, 10, 5 * 1024), 1);
}

TEST(OccupancyTest, EachResourceCanBeTheLimit) {
  const DeviceProfile& h200 = Profile("h200");
  EXPECT_STREQ(ComputeOccupancy(h200, 1024, 16, 0).limited_by, "warps");
  EXPECT_EQ(ComputeOccupancy(h200, 1024, 16, 0).blocks, 2);
  EXPECT_STREQ(ComputeOccupancy(h200, 32, 16, 0).limited_by, "blocks");
  EXPECT_EQ(ComputeOccupancy(h200, 32, 16, 0).blocks, 32);
  EXPECT_STREQ(ComputeOccupancy(h200, 256, 128, 0).limited_by, "registers");
  EXPECT_EQ(ComputeOccupancy(h200, 256, 128, 0).blocks, 2);
  EXPECT_STREQ(ComputeOccupancy(h200, 128, 32, 100 << 10).limited_by, "shared memory");
  EXPECT_EQ(ComputeOccupancy(h200, 128, 32, 100 << 10).blocks, 2);
}

TEST(OccupancyTest, ABlockThatDoesNotFit) {
  const DeviceProfile& h200 = Profile("h200");
  EXPECT_EQ(MaxBlocksPerSm(h200, 1025, 16, 0), 0);
  EXPECT_EQ(MaxBlocksPerSm(h200, 0, 16, 0), 0);
  EXPECT_EQ(MaxBlocksPerSm(h200, 1024, 65, 0), 0);
  EXPECT_EQ(MaxBlocksPerSm(h200, 128, 256, 0), 0);
  EXPECT_EQ(MaxBlocksPerSm(h200, 128, 16, (227 << 10) + 1), 0);
  EXPECT_EQ(MaxBlocksPerSm(h200, 128, 16, uint64_t{1} << 40), 0);
  EXPECT_EQ(MaxBlocksPerSm(h200, 128, 16, 227 << 10), 1);
}

TEST(OccupancyTest, ProfilesAreListedById) {
  std::string previous;
  for (const DeviceProfile* profile : AllProfiles()) {
    EXPECT_LT(previous, profile->id);
    previous = profile->id;
    EXPECT_EQ(FindProfile(profile->id), profile);
    EXPECT_EQ(profile->max_warps_per_sm * 32, profile->max_threads_per_sm) << profile->id;
  }
  EXPECT_GE(AllProfiles().size(), 6u);
  EXPECT_EQ(FindProfile("no such device"), nullptr);
}

TEST(OccupancyTest, ADeviceThatTheTableLacksIsRefused) {
  DeviceProfile device = Profile("h200");
  device.cc_minor = 7;
  EXPECT_THROW(MaxBlocksPerSm(device, 128, 16, 0), std::logic_error);
}

#ifdef LOCKSTEP_HAS_TOOLKIT_CALCULATOR
void CompareWithToolkit(const DeviceProfile& device) {
  const cudaOccDeviceProp properties = ToolkitProperties(device, device.cc_major, device.cc_minor, device.sm_count);
  const cudaOccDeviceState state;
  for (const int threads : {1, 31, 32, 33, 64, 96, 128, 160, 192, 256, 320, 384, 512, 640, 768, 1000, 1024, 1025}) {
    for (const int registers : {0, 1, 8, 16, 24, 30, 32, 33, 40, 48, 63, 64, 65, 72, 80, 96, 128, 168, 255, 256}) {
      // From CC 7.0 on the calculator allows 256 registers per thread; instructions can name only 255.
      if (registers == 256 && device.cc_major >= 7) continue;
      for (const size_t shared :
           {0, 1, 100, 1024, 5120, 16384, 33000, 49152, 50000, 65536, 99 * 1024, 166912, 232448, 240000}) {
        const cudaOccFuncAttributes attributes = ToolkitAttributes(device, registers);
        cudaOccResult result;
        ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state, threads, shared),
                  CUDA_OCC_SUCCESS);
        ASSERT_EQ(MaxBlocksPerSm(device, threads, registers, shared), result.activeBlocksPerMultiprocessor)
            << device.cc_major << "." << device.cc_minor << ": " << threads << " threads, " << registers
            << " registers, " << shared << " bytes";
      }
    }
  }
}

TEST(OccupancyTest, AgreesWithTheToolkitOnTheProfiles) {
  for (const DeviceProfile* profile : AllProfiles()) {
    if (profile->cc_major >= 3) CompareWithToolkit(*profile);
  }
}
#endif

}  // namespace occupancy_test
}  // namespace lockstep::vgpu
