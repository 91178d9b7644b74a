// Which buffer a bad address is attributed to, and hints that depend on which threads conflict.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/device_support.h"
#include "tests/support/ptx_testing.h"
#include "vgpu/core/finding.h"

namespace lockstep::vgpu {
namespace finding_place_test {

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

// Two buffers of 8 ints; the message for a load at an offset from the first or the second.
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
  ExpectSays(message, "an unsigned index wraps around below zero");
  ExpectSays(MessageOfLoad(false, "17179869152"), "32 bytes before the start of d_first");
  // Not an unsigned wrap-around: that would have ended inside or after the buffer.
  ExpectSays(MessageOfLoad(false, "17179869300"), "17179869268 bytes past the end of d_first");
}

TEST(FindingPlaceTest, TheBufferIsTheOneWhosePointerWasUsed) {
  // Nearer to the first buffer's end than to the second one's start.
  ExpectSays(MessageOfLoad(true, "-700"), "700 bytes before the start of d_second (32 bytes, offset -700)");
  ExpectSays(MessageOfLoad(true, "-700"), "the index is negative");
  ExpectSays(MessageOfLoad(false, "720"), "688 bytes past the end of d_first");
  // An address computed from two pointers belongs to neither: the nearest buffer is named.
  TestDevice device(std::string(ptx::kHeader) +
                    ".visible .entry k(.param .u64 p, .param .u64 q) { .reg .b64 %rd<5>; .reg .b32 %r<2>; .reg .pred "
                    "%p<2>; ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; setp.eq.s64 %p1, %rd1, 0; selp.b64 %rd3, "
                    "%rd1, %rd2, %p1; ld.global.u32 %r1, [%rd3+-700]; ret; }");
  const auto first = device.Make(std::vector<int>(8), "d_first");
  const auto second = device.Make(std::vector<int>(8), "d_second");
  EXPECT_NE(device.Launch("k", {{1}, {1}}, first, second).error, LaunchError::kNone);
  ExpectSays(MessageOf(device), "past the end of d_first");
}

// Every thread below `threads` stores to its own element of `elements`.
std::string MessageOfGuard(const std::string& threads, size_t elements = 40) {
  TestDevice device(std::string(ptx::kHeader) +
                    ".visible .entry k(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .pred %p<2>; "
                    "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, " +
                    threads +
                    "; @%p1 bra end; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; "
                    "st.global.u32 [%rd3], %r1; end: ret; }");
  EXPECT_NE(device.Launch("k", {{1}, {64}}, device.Make(std::vector<int>(elements), "d_out")).error,
            LaunchError::kNone);
  return MessageOf(device);
}

TEST(FindingPlaceTest, OneThreadThatGoesOneElementTooFarIsNoMissingGuard) {
  ExpectSays(MessageOfGuard("41"), "off by one");
  ExpectSays(MessageOfGuard("33", 32), "off by one");
  ExpectSays(MessageOfGuard("42"), "check the index against the array's length");
  ExpectSays(MessageOfGuard("64"), "check the index against the array's length");
}

// The message for threads that all store %r1 plus their number to one element. `value`: PTX that may load %r1.
std::string MessageOfRace(const std::string& value) {
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  TestDevice device(std::string(ptx::kHeader) +
                        ".visible .entry k(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.u64 %rd1, "
                        "[p]; mov.u32 %r2, %tid.x; mov.u32 %r1, 0; " +
                        value + " add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret; }",
                    options);
  EXPECT_EQ(device.Launch("k", {{2}, {64}}, device.Make(std::vector<int>(2), "d_bins")).error, LaunchError::kNone);
  return MessageOf(device);
}

TEST(FindingPlaceTest, ALostUpdateAsksForAnAtomic) {
  const std::string atomic = "use an atomic such as atomicAdd()";
  ExpectSays(MessageOfRace("ld.global.u32 %r1, [%rd1];"), atomic);
  // A load of another element, or through a pointer that has moved on, is no update.
  for (const char* other : {"", "ld.global.u32 %r1, [%rd1+4];",
                            "ld.global.u32 %r1, [%rd1]; add.s64 %rd1, %rd1, 4; add.s64 %rd1, %rd1, -4;"}) {
    const std::string said = MessageOfRace(other);
    EXPECT_EQ(said.find(atomic), std::string::npos) << said;
    ExpectSays(said, "RACE");
  }
}

TEST(FindingPlaceTest, AnOffsetInSharedMemoryBelowZeroIsBeforeTheFirstArray) {
  TestDevice device(std::string(ptx::kHeader) +
                    ".visible .entry k() { .reg .b32 %r<3>; .shared .align 4 .b8 s_data[512]; mov.u32 %r1, s_data; "
                    "ld.shared.u32 %r2, [%r1+-8]; ret; }");
  EXPECT_NE(device.Launch("k", {{1}, {1}}).error, LaunchError::kNone);
  ExpectSays(MessageOf(device), "shared load of 4 bytes, 8 bytes before the start of s_data (512 bytes, offset -8)");
  ExpectSays(MessageOf(device), "the index is negative");
}

}  // namespace finding_place_test
}  // namespace lockstep::vgpu
