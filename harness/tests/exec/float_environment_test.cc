// Kernels compute the same whatever the host program has set for its own arithmetic.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace float_environment_test {

// k(out, x): 1/3, a denormal sum, 0/0, a constant with no exact binary value, and a square root, of every thread.
constexpr const char* kPtx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .f32 x)
{
  .reg .f32 %x, %q, %d, %n, %s, %z; .reg .f64 %c; .reg .b32 %t, %b, %i, %nt; .reg .b64 %out, %o;
  ld.param.u64 %out, [out];
  ld.param.f32 %x, [x];
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mov.u32 %nt, %ntid.x;
  mad.lo.u32 %i, %b, %nt, %t;
  mul.wide.u32 %o, %i, 32;
  add.u64 %out, %out, %o;
  mov.f32 %q, 0f40400000;
  div.rn.f32 %q, %x, %q;
  mov.f32 %d, 0f00000003;
  add.rn.f32 %d, %d, %d;
  sub.rn.f32 %z, %x, %x;
  div.rn.f32 %n, %z, %z;
  sqrt.rn.f32 %s, %q;
  mov.f64 %c, 0.1;
  st.global.f32 [%out], %q;
  st.global.f32 [%out+4], %d;
  st.global.f32 [%out+8], %n;
  st.global.f32 [%out+12], %s;
  st.global.f64 [%out+16], %c;
  ret;
}
)";

std::vector<uint32_t> Outputs(int threads) {
  DeviceOptions options;
  options.threads = threads;
  TestDevice device(kPtx, options);
  const auto d_out = device.Make(std::vector<uint32_t>(8 * 32 * 64));
  device.Run("k", {{64}, {32}}, d_out, 1.0f);
  return device.Get(d_out);
}

// Settings that a host program may have made. They are restored, as other tests run in this process.
class FloatEnvironmentTest : public testing::Test {
 protected:
  FloatEnvironmentTest() : expected_(Outputs(1)) { std::fegetenv(&before_); }
  ~FloatEnvironmentTest() override { std::fesetenv(&before_); }

  void ExpectTheSame() const {
    EXPECT_EQ(Outputs(1), expected_);
    EXPECT_EQ(Outputs(3), expected_);
  }

  const std::vector<uint32_t> expected_;
  std::fenv_t before_;
};

TEST_F(FloatEnvironmentTest, ResultsAreThoseOfTheStandard) {
  float quotient, denormal, nan, root;
  double constant;
  std::memcpy(&quotient, &expected_[0], sizeof quotient);
  std::memcpy(&denormal, &expected_[1], sizeof denormal);
  std::memcpy(&nan, &expected_[2], sizeof nan);
  std::memcpy(&root, &expected_[3], sizeof root);
  std::memcpy(&constant, &expected_[4], sizeof constant);
  EXPECT_EQ(quotient, 1.0f / 3.0f);
  EXPECT_EQ(denormal, 6 * std::numeric_limits<float>::denorm_min());
  EXPECT_TRUE(std::isnan(nan));
  EXPECT_EQ(root, std::sqrt(1.0f / 3.0f));
  EXPECT_EQ(constant, 0.1);
}

TEST_F(FloatEnvironmentTest, RoundingOfTheHostIsItsOwn) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    ExpectTheSame();
    EXPECT_EQ(std::fegetround(), mode);
  }
}

TEST_F(FloatEnvironmentTest, TrapsOfTheHostDoNotStopKernels) {
  std::feclearexcept(FE_ALL_EXCEPT);
  if (feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == -1) GTEST_SKIP() << "this host has no traps";
  ExpectTheSame();
  EXPECT_EQ(fegetexcept(), FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  EXPECT_EQ(std::fetestexcept(FE_INVALID), 0);  // a kernel's 0/0 is not the host's
}

// Programs built with -ffast-math set these bits.
#ifdef __aarch64__
constexpr unsigned kFlush = 1 << 24;  // FZ
unsigned Control() { return __builtin_aarch64_get_fpcr(); }
void SetControl(unsigned value) { __builtin_aarch64_set_fpcr(value); }
#else
constexpr unsigned kFlush = 0x8040;  // FTZ and DAZ
unsigned Control() { return __builtin_ia32_stmxcsr(); }
void SetControl(unsigned value) { __builtin_ia32_ldmxcsr(value); }
#endif
TEST_F(FloatEnvironmentTest, DenormalsLiveWhereTheHostFlushesThem) {
  SetControl(Control() | kFlush);
  ExpectTheSame();
  EXPECT_EQ(Control() & kFlush, kFlush);
}

}  // namespace float_environment_test
}  // namespace lockstep::vgpu
