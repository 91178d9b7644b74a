// Unchecked launches (Device::set_checked) between checked ones.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace unchecked_launches_test {

// All threads read the word at `from`, add their number, and store the sum to the word at `to`.
constexpr const char* kMoves = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry moves(.param .u64 to_, .param .u64 from_) {
  .reg .b32 %thread, %value;
  .reg .b64 %to, %from;
  ld.param.u64 %to, [to_];
  ld.param.u64 %from, [from_];
  ld.global.u32 %value, [%from];
  mov.u32 %thread, %tid.x;
  add.u32 %value, %value, %thread;
  st.global.u32 [%to], %value;
  ret;
}
)";

class UncheckedLaunchesTest : public ::testing::Test {
 protected:
  static DeviceOptions Checked() {
    DeviceOptions options;
    options.checkers = CheckerSet::All();
    options.threads = 2;
    return options;
  }
  // The findings that a launch with this many threads adds.
  std::string FoundBy(uint32_t threads, uint64_t to, uint64_t from) {
    const size_t before = device_->findings().findings().size();
    EXPECT_EQ(device_.Launch("moves", {{1}, {threads}}, to, from).error, LaunchError::kNone);
    std::string found;
    for (size_t k = before; k < device_->findings().findings().size(); ++k) {
      found += device_->findings().findings()[k].kind == FindingKind::kRace ? "race " : "other ";
    }
    return found;
  }

  TestDevice device_{kMoves, Checked()};
  uint64_t written_ = device_.Make(std::vector<int>(1), "written").address;
  uint64_t fresh_ = device_->Allocate(4, "fresh"), other_ = device_->Allocate(4, "other");
};

TEST_F(UncheckedLaunchesTest, FindNothingAndCostNoLaterLaunchAFinding) {
  device_->set_checked(false);
  EXPECT_EQ(FoundBy(64, fresh_, written_), "");
  EXPECT_EQ(FoundBy(1, other_, fresh_), "");
  device_->set_checked(true);
  // Memory that the unchecked launches wrote counts as written.
  EXPECT_EQ(FoundBy(1, written_, fresh_), "");
  EXPECT_EQ(FoundBy(1, written_, other_), "");
}

TEST_F(UncheckedLaunchesTest, LaterOnesAreCheckedAgain) {
  device_->set_checked(false);
  EXPECT_EQ(FoundBy(1, other_, written_), "");
  device_->set_checked(true);
  EXPECT_EQ(FoundBy(64, other_, written_), "race ");
  EXPECT_EQ(FoundBy(1, written_, device_->Allocate(4, "later")), "other ");
}

}  // namespace unchecked_launches_test
}  // namespace lockstep::vgpu
