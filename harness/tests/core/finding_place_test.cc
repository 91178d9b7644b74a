// Which buffer a bad address is said to belong to, and the hints that depend on who meets whom.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/device_support.h"
#include "tests/support/ptx_testing.h"
#include "vgpu/core/finding.h"

namespace lockstep::vgpu {
namespace {

// Loads a word from p + offset.
std::string LoadAt(const std::string& offset) {
  return std::string(ptx::kHeader) +
         ".visible .entry k(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p]; add.s64 %rd2, "
         "%rd1, " +
         offset + "; ld.global.u32 %r1, [%rd2]; ret; }";
}

std::string MessageOf(TestDevice& device) {
  return device->findings().findings().empty() ? "" : Format(device->findings().findings().front());
}

// Two buffers of 8 ints; what is said of a load at an offset from the first or the second.
std::string MessageOfLoad(bool second, const std::string& offset) {
  TestDevice device(LoadAt(offset));
  const auto first = device.Make(std::vector<int>(8), "d_first");
  const auto other = device.Make(std::vector<int>(8), "d_second");
  EXPECT_NE(device.Launch("k", {{1}, {1}}, second ? other : first).error, LaunchError::kNone);
  return MessageOf(device);
}

void ExpectSays(const std::string& message, const std::string& text) {
  EXPECT_NE(message.find(text), std::string::npos) << message;
}

TEST(FindingPlaceTest, AnAddressBetweenTwoBuffersIsRatherPastAnEnd) {
  // The second buffer begins 768 bytes after the first: 8 ints and the gap, rounded up.
  ExpectSays(MessageOfLoad(false, "512"), "480 bytes past the end of d_first (32 bytes, offset 512)");
  ExpectSays(MessageOfLoad(true, "-4"), "4 bytes before the start of d_second (32 bytes, offset -4)");
  ExpectSays(MessageOfLoad(true, "-128"), "128 bytes before the start of d_second");
}

TEST(FindingPlaceTest, AnUnsignedIndexBelowZeroIsNamed) {
  const std::string message = MessageOfLoad(false, "17179869180");  // 4 * (2^32 - 1)
  ExpectSays(message, "4 bytes before the start of d_first (32 bytes, offset -4): as an unsigned index 4294967295\n");
  ExpectSays(message, "an unsigned number can't go below zero");
  ExpectSays(MessageOfLoad(false, "17179869152"), "32 bytes before the start of d_first");
  // Past the end of what the index turned around to: no such thing.
  ExpectSays(MessageOfLoad(false, "17179869300"), "which is in no allocation");
}

TEST(FindingPlaceTest, AnOffsetInSharedMemoryBelowZeroIsBeforeTheFirstArray) {
  TestDevice device(std::string(ptx::kHeader) +
                    ".visible .entry k() { .reg .b32 %r<3>; .shared .align 4 .b8 s_data[512]; mov.u32 %r1, s_data; "
                    "ld.shared.u32 %r2, [%r1+-8]; ret; }");
  EXPECT_NE(device.Launch("k", {{1}, {1}}).error, LaunchError::kNone);
  ExpectSays(MessageOf(device), "shared load of 4 bytes, 8 bytes before the start of s_data (512 bytes, offset -8)");
  ExpectSays(MessageOf(device), "the index is below zero");
}

Finding Race(bool across_warps, bool across_blocks) {
  Finding race;
  race.kind = FindingKind::kRace;
  race.grid = {4, 1, 1};
  race.block_dim = {128, 1, 1};
  race.first.line = race.first.ptx_line = 10;
  race.first.access = AccessKind::kStore;
  race.second = race.first;
  race.second->line = race.second->ptx_line = 11;
  race.second->access = AccessKind::kLoad;
  race.second->thread.x = 1;  // of the same warp
  race.across_warps = across_warps;
  race.across_blocks = across_blocks;
  return race;
}

TEST(FindingPlaceTest, ARacesHintIsForTheWidestOfThoseFolded) {
  ExpectSays(std::string(HintOf(Race(false, false))), "__syncwarp()");
  ExpectSays(std::string(HintOf(Race(true, false))), "__syncthreads()");
  ExpectSays(std::string(HintOf(Race(true, true))), "blocks run side by side");
}

}  // namespace
}  // namespace lockstep::vgpu
