#include "vgpu/model/capability.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {
namespace capability_test {

TEST(CapabilityTest, IsListedInOrder) {
  int previous = 0;
  for (const ComputeCapability& capability : AllCapabilities()) {
    const int number = capability.major * 10 + capability.minor;
    EXPECT_LT(previous, number);
    previous = number;
    EXPECT_EQ(FindCapability(capability.major, capability.minor), &capability);
  }
  EXPECT_EQ(AllCapabilities().front().major, 1);
  EXPECT_EQ(AllCapabilities().back().major, 12);
  EXPECT_EQ(FindCapability(4, 0), nullptr);
  EXPECT_EQ(FindCapability(1, 4), nullptr);
}

TEST(CapabilityTest, HasLimitsThatFitEachOther) {
  for (const ComputeCapability& capability : AllCapabilities()) {
    SCOPED_TRACE(testing::Message() << capability.major << "." << capability.minor);
    EXPECT_EQ(capability.max_threads_per_sm % 32, 0);
    EXPECT_GE(capability.max_threads_per_sm, capability.max_threads_per_block);
    EXPECT_LE(capability.registers_per_block, capability.registers_per_sm);
    EXPECT_LE(capability.shared_per_block, capability.shared_per_sm);
    EXPECT_EQ(std::max(capability.shared_per_block_optin, capability.shared_per_block),
              capability.shared_per_block_optin);
    EXPECT_LE(capability.shared_per_block_optin + capability.shared_reserved_per_block, capability.shared_per_sm);
    EXPECT_TRUE(std::is_sorted(capability.carveouts_kb.begin(), capability.carveouts_kb.end()));
    EXPECT_EQ(capability.carveouts_kb.back() * 1024, capability.shared_per_sm);
  }
}

TEST(CapabilityTest, ProfilesAgreeWithIt) {
  for (const DeviceProfile* profile : AllProfiles()) {
    SCOPED_TRACE(profile->id);
    const ComputeCapability* capability = FindCapability(profile->cc_major, profile->cc_minor);
    ASSERT_NE(capability, nullptr);
    EXPECT_EQ(profile->max_threads_per_block, capability->max_threads_per_block);
    EXPECT_EQ(profile->max_threads_per_sm, capability->max_threads_per_sm);
    EXPECT_EQ(profile->max_warps_per_sm, capability->max_warps_per_sm());
    EXPECT_EQ(profile->max_blocks_per_sm, capability->max_blocks_per_sm);
    EXPECT_EQ(profile->registers_per_sm, capability->registers_per_sm);
    EXPECT_EQ(profile->registers_per_block, capability->registers_per_block);
    EXPECT_EQ(profile->max_registers_per_thread, capability->max_registers_per_thread);
    EXPECT_EQ(profile->register_allocation_unit, capability->register_allocation_unit);
    EXPECT_EQ(profile->warp_allocation_granularity, capability->warp_allocation_granularity);
    EXPECT_EQ(profile->shared_per_sm, capability->shared_per_sm);
    EXPECT_EQ(profile->shared_per_block, capability->shared_per_block);
    EXPECT_EQ(profile->shared_per_block_optin, capability->shared_per_block_optin);
    EXPECT_EQ(profile->shared_reserved_per_block, capability->shared_reserved_per_block);
    EXPECT_EQ(profile->shared_allocation_unit, capability->shared_allocation_unit);
  }
}

}  // namespace capability_test
}  // namespace lockstep::vgpu
