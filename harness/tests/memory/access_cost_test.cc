// The formulas for common shapes against the definition, counter by counter.
#include "vgpu/memory/access_cost.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace lockstep::vgpu {
namespace access_cost_test {

// "sectors: 5 instead of 4"; empty where the two agree.
std::string Difference(const PcMemory& is, const PcMemory& should) {
  std::string text;
#define LOCKSTEP_PC_COMPARE(name, sentence)                                                                            \
  if (is.name != should.name) {                                                                                        \
    text += std::string(#name) + ": " + std::to_string(is.name) + " instead of " + std::to_string(should.name) + "; "; \
  }
  LOCKSTEP_PC_MEMORY(LOCKSTEP_PC_COMPARE)
#undef LOCKSTEP_PC_COMPARE
  return text;
}

constexpr const char* kForgotten =
    " (a formula of memory/access_cost.h does not count what the definition above it counts)";

class AccessCostTest : public testing::Test {
 protected:
  uint64_t Pick(uint64_t below) { return random_() % below; }
  int PickBytes() { return 1 << Pick(5); }

  std::mt19937_64 random_{20260726};
};

TEST_F(AccessCostTest, EveryCounterOfAMemoryInstructionIsCounted) {
  PcMemory all;
  uint64_t address[kWarpSize];
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) address[lane] = 4 * lane;
  AddGlobalCost(AccessKind::kLoad, address, kFullMask, 4, all);
  AddSharedCost(AccessKind::kLoad, address, kFullMask, 4, all);
  AddLocalCost(address, kFullMask, 4, all);
  AddConstCost(address, kFullMask, 4, all);
  // These depend on state and are counted where it is kept: memory/locality.h, isa/control.cc.
  all.missed_sectors = all.page_switches = all.divergent = 1;
#define LOCKSTEP_PC_COUNTED(name, sentence) \
  EXPECT_NE(all.name, 0u) << #name << " is in LOCKSTEP_PC_MEMORY, but memory/access_cost.h never adds to it";
  LOCKSTEP_PC_MEMORY(LOCKSTEP_PC_COUNTED)
#undef LOCKSTEP_PC_COUNTED
}

TEST_F(AccessCostTest, Contiguous) {
  for (int round = 0; round < 20000; ++round) {
    const int bytes = PickBytes();
    const uint64_t length = 1 + Pick(kWarpSize), start = Pick(kWarpSize - length + 1);
    const LaneMask mask = static_cast<LaneMask>(((uint64_t{1} << length) - 1) << start);
    const uint64_t low = (4096 + Pick(64)) * static_cast<uint64_t>(bytes);
    uint64_t address[kWarpSize];
    for (uint64_t lane = 0; lane < kWarpSize; ++lane)
      address[lane] = low + (lane - start) * static_cast<uint64_t>(bytes);
    PcMemory is, should;
    AddContiguousGlobalCost(low, mask, bytes, is);
    AddGlobalCost(AccessKind::kLoad, address, mask, bytes, should);
    ASSERT_EQ(Difference(is, should), "") << bytes << " bytes at " << low << ", mask " << mask << kForgotten;
    if (bytes > 4 && mask != kFullMask) continue;
    PcMemory shared, shared_should;
    AddUnitSharedCost(bytes, shared);
    AddSharedCost(AccessKind::kLoad, address, mask, bytes, shared_should);
    ASSERT_EQ(Difference(shared, shared_should), "") << bytes << " bytes at " << low << ", mask " << mask << kForgotten;
  }
}

TEST_F(AccessCostTest, ConcurrentWork) {
  for (const int bytes : {4, 8, 16}) {
    const PcMemory global = CostCoalesced(true, AccessKind::kLoad, bytes);
    EXPECT_EQ(global.sectors, static_cast<uint64_t>(bytes));
    EXPECT_EQ(global.strict_bytes, static_cast<uint64_t>(bytes * kWarpSize));
    EXPECT_EQ(Difference(CostCoalesced(true, AccessKind::kAtomic, bytes), global), "");
    EXPECT_EQ(CostCoalesced(false, AccessKind::kStore, bytes).wavefronts, static_cast<uint64_t>(bytes) / 4);
  }
}

TEST_F(AccessCostTest, Halves) {
  for (int round = 0; round < 20000; ++round) {
    Halves halves = {};
    halves.bytes = static_cast<uint64_t>(PickBytes());
    for (int half = 0; half < 2; ++half) {
      halves.first[half] = (4096 + Pick(80)) * halves.bytes;
      halves.uniform[half] = Pick(2) == 0;
    }
    uint64_t address[kWarpSize];
    for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
      const int half = lane < kWarpSize / 2 ? 0 : 1;
      address[lane] = halves.first[half] + (halves.uniform[half] ? 0 : lane % (kWarpSize / 2) * halves.bytes);
    }
    const int bytes = static_cast<int>(halves.bytes);
    PcMemory global, global_should, shared, shared_should;
    AddHalvesGlobalCost(halves, global);
    AddGlobalCost(AccessKind::kLoad, address, kFullMask, bytes, global_should);
    ASSERT_EQ(Difference(global, global_should), "")
        << bytes << " bytes at " << halves.first[0] << " and " << halves.first[1] << kForgotten;
    AddHalvesSharedCost(AccessKind::kLoad, halves, shared);
    AddSharedCost(AccessKind::kLoad, address, kFullMask, bytes, shared_should);
    ASSERT_EQ(Difference(shared, shared_should), "")
        << bytes << " bytes at " << halves.first[0] << " and " << halves.first[1] << kForgotten;
    PcMemory constant, constant_should;
    AddHalvesConstCost(halves, constant);
    AddConstCost(address, kFullMask, bytes, constant_should);
    ASSERT_EQ(Difference(constant, constant_should), "")
        << bytes << " bytes at " << halves.first[0] << " and " << halves.first[1] << kForgotten;
  }
}

}  // namespace access_cost_test
}  // namespace lockstep::vgpu
