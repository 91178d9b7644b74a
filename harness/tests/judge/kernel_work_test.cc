// The minimum for every rung: kernels, and not the host, have read the input and stored the result.
#include "judge/run/kernel_work.h"

#include <gtest/gtest.h>

namespace lockstep::judge {
namespace kernel_work_test {

using vgpu::TouchedRange;
using worker::BufferUse;

constexpr uint64_t kIn = 0x10000, kOut = 0x20000, kBytes = 4096;
const CallContext kContext{"rung", "n = 1,024", "work.cu"};

class KernelWorkTest : public testing::Test {
 protected:
  KernelWorkTest() {
    for (const uint64_t base : {kIn, kOut}) report.memory.buffers.emplace_back(TouchedRange(base, kBytes + 64));
    TouchedRange::Set(in().by_kernels.loaded, 0, kBytes);
    TouchedRange::Set(out().by_kernels.stored, 0, kBytes);
  }
  BufferUse& in() { return report.memory.buffers[0]; }
  BufferUse& out() { return report.memory.buffers[1]; }

  // Returns the problem found, "" for none.
  std::string Found(const DeviceCalls& allowed = {}, uint64_t spare = 0, uint64_t bytes = kBytes) {
    std::vector<Problem> problems;
    const TaskBytes input{kIn, bytes, "d_in", spare}, result{kOut, kBytes, "d_out"};
    CheckKernelsDidIt(report, kContext, allowed, std::span(&input, 1), std::span(&result, 1), problems);
    if (problems.empty()) return "";
    EXPECT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].verdict, Verdict::kRejected);
    return problems[0].evidence.at(0).text;
  }

  CallReport report;
};

TEST_F(KernelWorkTest, KernelsThatReadAndStoreAllHaveDoneIt) { EXPECT_EQ(Found(), ""); }

TEST_F(KernelWorkTest, ADeviceThatNobodyWatchesShowsNothing) {
  report.observed = false;
  out().by_kernels.stored.assign(out().by_kernels.stored.size(), 0);
  EXPECT_EQ(Found(), "");
}

TEST_F(KernelWorkTest, EverySectorCounts) {
  in().by_kernels.loaded[1] &= ~uint64_t{2};
  EXPECT_EQ(Found(), "the result is right, but no kernel read 32 of d_in's 4,096 bytes, starting at byte 2,080");
  EXPECT_EQ(Found({}, 32), "") << "as much as the task can spare";
  in().by_kernels.loaded[0] = 0;
  EXPECT_NE(Found({}, 32), "");
  EXPECT_EQ(Found({}, 4, 4), "") << "all of it, though it is less than a sector";
}

TEST_F(KernelWorkTest, AResultThatNoKernelStoredIsNotTheirs) {
  out().by_kernels.stored.assign(out().by_kernels.stored.size(), 0);
  EXPECT_EQ(Found(), "the result is right, but no kernel stored any of d_out's 4,096 bytes");
}

TEST_F(KernelWorkTest, CopiesMayNotPutElementsWhereTheyBelong) {
  report.memory.bytes_moved = kBytes / 16;
  EXPECT_EQ(Found(), "") << "for example a total";
  report.memory.bytes_moved = kBytes;
  EXPECT_EQ(Found(), "the result is right, but CUDA calls copied 4,096 bytes to other places in device memory");
}

TEST_F(KernelWorkTest, TheHostHasNoPartInTheData) {
  in().to_host = {64, 0, "cudaMemcpy, called in work.cu:12,"};
  EXPECT_EQ(Found(), "the result is right, but cudaMemcpy, called in work.cu:12, copied d_in to the host (64 bytes)");
  in().to_host = {};
  out().from_host = {4, 0, "cudaMemcpy"};
  EXPECT_NE(Found(), "");
  out().from_host = {};
  out().from_device = {4, 0, "cudaMemcpy"};
  EXPECT_NE(Found(), "");
  EXPECT_EQ(Found({.copy_result = true}), "");
  out().from_device = {};
  out().filled = {4, 0, "cudaMemset"};
  EXPECT_NE(Found(), "");
  EXPECT_EQ(Found({.fill_result = true}), "");
}

// The host may store a sum's initial value before kernels add to it; what it stores later is a result.
TEST_F(KernelWorkTest, WhatAResultBeginsWithComesBeforeTheKernels) {
  const DeviceCalls allowed{.fill_result = true};
  out().from_host = {4, 0, "cudaMemcpy"};
  EXPECT_EQ(Found(allowed), "");
  out().from_host.late_bytes = 4;
  EXPECT_NE(Found(allowed), "");
  out().from_host = {kBytes, 0, "cudaMemcpy"};
  EXPECT_NE(Found(allowed), "") << "a whole result is no initial value";
  out().from_host = {};
  out().filled = {4, 4, "cudaMemset"};
  EXPECT_NE(Found(allowed), "");
}

// Processing a copy of the input counts as work; shifting it by two copies does not.
TEST_F(KernelWorkTest, ACopyOfTheWholeInputCountsAsRead) {
  in().by_kernels.loaded.assign(in().by_kernels.loaded.size(), 0);
  in().largest_copy_bytes = kBytes;
  EXPECT_EQ(Found(), "");
  in().largest_copy_from = 4;
  EXPECT_NE(Found(), "");
}

std::vector<uint8_t> BytesOf(const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words) {
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(word >> shift));
  }
  return bytes;
}

std::string CameFrom(const std::vector<uint32_t>& copied, const std::vector<uint32_t>& result, uint64_t from_kernels,
                     bool by_kernels) {
  CallReport report;
  report.memory.to_host = BytesOf(copied);
  report.memory.bytes_from_kernels = from_kernels;
  std::vector<Problem> problems;
  CheckCameFromDevice(report, kContext, BytesOf(result), "h_out", by_kernels, problems);
  return problems.empty() ? "" : problems[0].evidence.at(0).text;
}

TEST(CameFromDeviceTest, EachWordOfTheResultHasToHaveBeenCopied) {
  EXPECT_EQ(CameFrom({1, 2, 3}, {1, 2, 3}, 0, false), "");
  EXPECT_EQ(CameFrom({3, 9, 1, 2}, {1, 2, 3}, 0, false), "") << "in pieces, among other words";
  EXPECT_EQ(CameFrom({1, 2}, {1, 2, 3}, 0, false),
            "the result is right, but the contents of h_out were not copied from the device");
  EXPECT_NE(CameFrom({1, 2, 3}, {1, 1, 2}, 0, false), "") << "a word must be copied as often as it occurs";
  EXPECT_EQ(CameFrom({}, {}, 0, true), "");
}

TEST(CameFromDeviceTest, KernelsHaveToHaveStoredIt) {
  EXPECT_EQ(CameFrom({1, 2, 3}, {1, 2, 3}, 12, true), "");
  EXPECT_EQ(CameFrom({1, 2, 3}, {1, 2, 3}, 8, true),
            "the result is right, but of the 12 bytes copied to h_out, 8 came from memory that the call allocated and "
            "a kernel wrote");
}

// Bit k of the word is for sector first + k of the range; sectors outside of the range are dropped.
TEST(TouchedRangeTest, WordsOfBitsAreMovedToTheRange) {
  for (const int64_t first : {-70, -64, -63, -1, 0, 1, 63, 64, 100, 255, 256}) {
    TouchedRange range(0, 256 * 32);
    const uint64_t word = 0x8000000000000005u;
    TouchedRange::Add(range.loaded, first, word);
    for (int64_t sector = 0; sector < 256; ++sector) {
      const int64_t bit = sector - first;
      const bool expected = bit >= 0 && bit < 64 && (word >> bit & 1) != 0;
      uint64_t at = 0;
      EXPECT_EQ(TouchedRange::Missing(range.loaded, static_cast<uint64_t>(sector) * 32, 32, &at), expected ? 0u : 1u)
          << "from " << first << ", sector " << sector;
    }
  }
}

// Copies must bring each word of the input, in any pieces and order; half of the words, or packed ones, don't count.
TEST_F(KernelWorkTest, AnInputFromTheHostGoesByCopies) {
  const std::vector<uint32_t> words = {3, 1, 4, 1, 5, 9, 2, 6};
  const auto bytes_of = [](const std::vector<uint32_t>& some) {
    const auto* begin = reinterpret_cast<const uint8_t*>(some.data());
    return std::vector<uint8_t>(begin, begin + some.size() * sizeof(uint32_t));
  };
  const auto found = [&](const std::vector<uint32_t>& copied) {
    report.memory.to_device = bytes_of(copied);
    std::vector<Problem> problems;
    CheckWentToDevice(report, kContext, bytes_of(words), "h_in", problems);
    return problems.empty() ? "" : std::string(NameOf(problems[0].verdict));
  };
  EXPECT_EQ(found(words), "");
  EXPECT_EQ(found({5, 9, 2, 6, 3, 1, 4, 1}), "");
  EXPECT_EQ(found({0, 5, 9, 2, 6, 3, 1, 4, 1, 7}), "") << "other words, such as a carry, may be there";
  EXPECT_EQ(found({3, 1, 4, 5, 9, 2, 6}), "REJECTED") << "one of two equal words is not there";
  EXPECT_EQ(found({3, 1, 4, 1, 0, 0, 0, 0}), "REJECTED");
  EXPECT_EQ(found({}), "REJECTED");
}

}  // namespace kernel_work_test
}  // namespace lockstep::judge
