// The barrier of a grid that kernels call by name, as Numba's do: all blocks meet, and the race checker knows it.
#include "vgpu/device/device_functions.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace device_functions_test {

// Each block stores its number plus the round to its cell, meets the others, and adds the next block's cell to its sum.
constexpr const char* kRounds = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 result) cudaCGGetIntrinsicHandle (.param .b32 scope);
.extern .func (.param .b32 result) cudaCGSynchronize (.param .b64 handle, .param .b32 flags);

.visible .entry rounds(.param .u64 cells_, .param .u64 sums_, .param .u32 rounds_) {
  .reg .pred %p, %first;
  .reg .b32 %block, %blocks, %next, %round, %rounds, %value, %sum, %t;
  .reg .b64 %cells, %sums, %grid, %own, %other, %offset;
  ld.param.u64 %cells, [cells_];
  ld.param.u64 %sums, [sums_];
  ld.param.u32 %rounds, [rounds_];
  mov.u32 %block, %ctaid.x;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  add.u32 %next, %block, 1;
  rem.u32 %next, %next, %blocks;
  mul.wide.u32 %offset, %block, 4;
  add.u64 %own, %cells, %offset;
  add.u64 %sums, %sums, %offset;
  mul.wide.u32 %offset, %next, 4;
  add.u64 %other, %cells, %offset;
  mov.u32 %round, 0;
  mov.u32 %sum, 0;
  {
    .param .b32 scope;
    .param .b64 handle;
    st.param.b32 [scope], 1;
    call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %grid, [handle];
  }
$again:
  add.u32 %value, %block, %round;
  @%first st.global.u32 [%own], %value;
  {
    .param .b64 handle;
    .param .b32 flags;
    .param .b32 error;
    st.param.b64 [handle], %grid;
    st.param.b32 [flags], 0;
    call.uni (error), cudaCGSynchronize, (handle, flags);
  }
  ld.global.u32 %value, [%other];
  add.u32 %sum, %sum, %value;
  {
    .param .b64 handle;
    .param .b32 flags;
    .param .b32 error;
    st.param.b64 [handle], %grid;
    st.param.b32 [flags], 0;
    call.uni (error), cudaCGSynchronize, (handle, flags);
  }
  add.u32 %round, %round, 1;
  setp.lt.u32 %p, %round, %rounds;
  @%p bra $again;
  @%first st.global.u32 [%sums], %sum;
  ret;
}
)";

TEST(DeviceFunctionsTest, ABarrierByNameMakesAllBlocksMeet) {
  constexpr uint32_t kBlocks = 24, kRoundCount = 5;
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  TestDevice device(kRounds, options);
  const auto cells = device.Make(std::vector<uint32_t>(kBlocks));
  const auto sums = device.Make(std::vector<uint32_t>(kBlocks));
  TestDevice::Shape shape{{kBlocks}, {64}};
  shape.cooperative = true;
  device.Run("rounds", shape, cells, sums, kRoundCount);
  std::vector<uint32_t> right(kBlocks);
  for (uint32_t b = 0; b < kBlocks; ++b) {
    for (uint32_t round = 0; round < kRoundCount; ++round) right[b] += (b + 1) % kBlocks + round;
  }
  EXPECT_EQ(device.Get(sums), right);
}

TEST(DeviceFunctionsTest, AGridThatWasNotLaunchedCooperativelyHasNoBarrier) {
  TestDevice device(kRounds);
  const auto cells = device.Make(std::vector<uint32_t>(2));
  const auto sums = device.Make(std::vector<uint32_t>(2));
  device.Launch("rounds", {{2}, {64}}, cells, sums, 1u);
  ASSERT_EQ(device->findings().findings().size(), 1u);
  EXPECT_EQ(device->findings().findings()[0].kind, FindingKind::kTrap);
}

TEST(DeviceFunctionsTest, AKernelMayAskForItsGridAlone) {
  TestDevice device(R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 result) cudaCGGetIntrinsicHandle (.param .b32 scope);

.visible .entry ask(.param .u64 to_, .param .u32 scope_) {
  .reg .b32 %scope;
  .reg .b64 %to, %grid;
  ld.param.u64 %to, [to_];
  ld.param.u32 %scope, [scope_];
  {
    .param .b32 scope;
    .param .b64 handle;
    st.param.b32 [scope], %scope;
    call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %grid, [handle];
  }
  st.global.u64 [%to], %grid;
  ret;
}
)");
  const auto handle = device.Make(std::vector<uint64_t>(1));
  TestDevice::Shape shape{{2}, {32}};
  shape.cooperative = true;
  device.Run("ask", shape, handle, 1u);
  EXPECT_NE(device.Get(handle)[0], 0u);
  device.Run("ask", shape, handle, 2u);  // grids across devices don't exist here
  EXPECT_EQ(device.Get(handle)[0], 0u);
}

}  // namespace device_functions_test
}  // namespace lockstep::vgpu
