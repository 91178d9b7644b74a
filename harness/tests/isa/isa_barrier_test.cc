// Barriers under all their names, and instructions that are only hints: every row of the opcode table is run.
#include <gtest/gtest.h>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace isa_barrier_test {

constexpr int kThreads = 96;
constexpr const char* kHead = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .shared .align 4 .b8 s[384];
  .reg .b32 %t, %a, %v, %r, %o; .reg .b64 %out, %at; .reg .pred %p, %q;
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 16;
  add.u64 %out, %out, %at;
  mov.u32 %a, s;
  mad.lo.u32 %a, %t, 4, %a;
)";

// The four words that each of 96 threads stores to [%out], where `body` computes them.
std::vector<int> Outputs(const std::string& body) {
  DeviceOptions options;
  options.checkers = {"races", "sync"};
  TestDevice device(kHead + body + "  ret;\n}\n", options);
  const auto out = device.Make(std::vector<int>(4 * kThreads, -1));
  device.Run("k", {{1}, {kThreads}}, out);
  return device.Get(out);
}

class BarrierNamesTest : public testing::TestWithParam<const char*> {
 protected:
  std::string Name(const std::string& operation) const { return std::string("  ") + GetParam() + "." + operation; }
};
INSTANTIATE_TEST_SUITE_P(All, BarrierNamesTest, testing::Values("bar", "bar.cta", "barrier", "barrier.cta"));

// Thread t stores t and reads what thread t + 32 of the next warp has stored.
constexpr const char* kExchange = R"(  setp.lt.u32 %p, %t, 64;
  @%p ld.shared.u32 %v, [%a+128];
  @!%p mov.u32 %v, 7;
  st.global.u32 [%out], %v;
)";

TEST_P(BarrierNamesTest, SyncOrdersTheWholeBlock) {
  for (const char* operands : {"0;\n", "3;\n", "3, 96;\n"}) {
    const auto out = Outputs("  st.shared.u32 [%a], %t;\n" + Name("sync ") + operands + kExchange);
    for (int t = 0; t < kThreads; ++t) EXPECT_EQ(out[static_cast<size_t>(4 * t)], t < 64 ? t + 32 : 7) << operands << t;
  }
}

TEST_P(BarrierNamesTest, ArriveOrdersWithoutWaiting) {
  // The last warp stores and arrives; the first one waits for it, the second has no part in it.
  const auto out = Outputs(R"(  st.shared.u32 [%a], %t;
  setp.lt.u32 %p, %t, 32;
  setp.ge.u32 %q, %t, 64;
  @%q bra ARRIVE;
  @%p bra WAIT;
  bra DONE;
ARRIVE:
)" + Name("arrive 2, 64;\n") +
                           "  bra DONE;\nWAIT:\n" + Name("sync 2, 64;\n") + R"(  ld.shared.u32 %v, [%a+256];
  st.global.u32 [%out], %v;
DONE:
)");
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(out[static_cast<size_t>(4 * t)], t < 32 ? t + 64 : -1) << t;
}

TEST_P(BarrierNamesTest, RedTellsAllWhatAllSaid) {
  const auto out =
      Outputs("  st.shared.u32 [%a], %t;\n  setp.gt.u32 %p, %t, 89;\n" + Name("red.popc.u32 %r, 0, %p;\n") +
              "  st.global.u32 [%out+4], %r;\n" + Name("red.and.pred %q, 1, 96, !%p;\n") +
              "  selp.u32 %o, 5, 6, %q;\n  st.global.u32 [%out+8], %o;\n" + Name("red.or.pred %q, 0, %p;\n") +
              "  selp.u32 %o, 5, 6, %q;\n  st.global.u32 [%out+12], %o;\n" + kExchange);
  for (int t = 0; t < kThreads; ++t) {
    const size_t at = static_cast<size_t>(4 * t);
    EXPECT_EQ(out[at], t < 64 ? t + 32 : 7) << t;  // it is a barrier too
    EXPECT_EQ(out[at + 1], 6) << t;
    EXPECT_EQ(out[at + 2], 6) << t;
    EXPECT_EQ(out[at + 3], 5) << t;
  }
}

// Instructions that only concern caches change no value.
TEST(IsaAdviceTest, ChangesNoValue) {
  const auto out = Outputs(R"(  st.global.u32 [%out], %t;
  prefetch.global.L2 [%out];
  prefetchu.L1 [%out];
  applypriority.global.L2::evict_normal [%out], 128;
  membar.proxy.alias;
  ld.global.u32 %v, [%out];
  add.u32 %v, %v, 1;
  st.global.u32 [%out+4], %v;
)");
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(out[static_cast<size_t>(4 * t)], t);
    EXPECT_EQ(out[static_cast<size_t>(4 * t) + 1], t + 1);
  }
}

// Discarded bytes are undefined until they are written again.
TEST(IsaAdviceTest, DiscardedBytesCanBeWrittenAgain) {
  const auto out = Outputs(R"(  setp.eq.u32 %p, %t, 0;
  @%p discard.global.L2 [%out], 128;
  bar.sync 0;
  st.global.u32 [%out], %t;
)");
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(out[static_cast<size_t>(4 * t)], t);
}

// Without a debugger a breakpoint ends the kernel.
TEST(IsaAdviceTest, ABreakpointStops) {
  TestDevice device(std::string(kHead) + "  brkpt;\n  ret;\n}\n");
  const auto out = device.Make(std::vector<int>(4 * kThreads));
  EXPECT_EQ(device.Launch("k", {{1}, {kThreads}}, out).error, LaunchError::kTrap);
  ASSERT_EQ(device->findings().findings().size(), 1u);
  EXPECT_EQ(device->findings().findings()[0].kind, FindingKind::kTrap);
}

}  // namespace isa_barrier_test
}  // namespace lockstep::vgpu
