// The results of a checked launch do not depend on the number of CPU threads: random kernels of several blocks, some of
// which use the same memory, and what else can break the isolation of blocks (observers/block_isolation.h).
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/support/device_support.h"
#include "vgpu/observers/block_isolation.h"

namespace lockstep::vgpu {
namespace checks_on_threads_test {

constexpr int kWordsOfBuffer = 4096;

DeviceOptions Checked(int threads) {
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  options.instruction_budget = 4'000'000;
  options.threads = threads;
  return options;
}

struct Outcome {
  std::vector<LaunchError> errors;
  std::string findings;
  std::vector<std::vector<uint8_t>> memory;  // after each launch
  std::vector<Counters> counters;
  int on_several = 0;  // how many launches ran on several CPU threads
};

std::string TextOf(const Device& device) {
  std::string text;
  for (const Finding& finding : device.findings().findings()) text += Format(finding) + "\n";
  return text;
}

// A kernel k(in, out, raw) of straight code and short loops: global and shared accesses of several widths and shapes,
// reductions, barriers. Addresses are masked, so that none is out of bounds. Whether blocks have separate memory or
// meet is chosen for the whole kernel; a few accesses ignore that choice.
class RandomKernel {
 public:
  explicit RandomKernel(uint32_t seed) : random_(seed) {
    meets_ = Pick(3) == 0;
    reduces_ = Pick(4) == 0;
    bytes_ = Pick(4) == 0;
    warps_ = 1 + Pick(3);
    blocks_ = 2 + Pick(9);
    const uint32_t steps = 4 + Pick(14);
    for (uint32_t k = 0; k < steps; ++k) Step();
    if (Pick(4) == 0) body_ += "  st.global.u32 [%rd20], %r7;\n";
  }

  std::string Text() const {
    return ".version 8.0\n.target sm_80\n.address_size 64\n"
           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
           "  .reg .pred %p<20>;\n  .reg .b32 %r<40>;\n  .reg .b64 %rd<40>;\n  .reg .b16 %h<4>;\n"
           "  .shared .align 8 .b8 tile[4096];\n"
           "  ld.param.u64 %rd1, [a];\n  ld.param.u64 %rd2, [b];\n  ld.param.u64 %rd3, [c];\n"
           "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %laneid;\n"
           "  mov.u32 %r7, 1;\n  shl.b32 %r4, %r2, 10;\n"
           "  cvt.u64.u32 %rd19, %r4;\n  add.u64 %rd20, %rd2, %rd19;\n" +
           body_ + "  ret;\n}\n";
  }
  uint32_t blocks() const { return blocks_; }
  uint32_t threads() const { return warps_ * kWarpSize; }

 private:
  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  // Puts the byte offset of a thread's element into %r10.
  void Address(uint32_t width, bool own) {
    const uint32_t shape = Pick(5), shift = Pick(3);
    const auto line = [&](const std::string& text) { body_ += "  " + text + ";\n"; };
    if (shape == 0) line("mov.u32 %r10, %r1");
    if (shape == 1) line("mov.u32 %r10, " + std::to_string(Pick(8)));
    if (shape == 2) line("mul.lo.u32 %r10, %r1, " + std::to_string(1 + Pick(5)));
    if (shape == 3) line("xor.b32 %r10, %r1, " + std::to_string(Pick(40)));
    if (shape == 4) line("shr.u32 %r10, %r1, " + std::to_string(1 + Pick(4)));
    line("add.u32 %r10, %r10, " + std::to_string(shift * kWarpSize));
    line("mul.lo.u32 %r10, %r10, " + std::to_string(width));
    if (own) {  // a kilobyte for each block
      line("and.b32 %r10, %r10, " + std::to_string(1024 - width));
      line("add.u32 %r10, %r10, %r4");
    } else if (Pick(2)) {
      line("mad.lo.u32 %r10, %r2, " + std::to_string(width * (1 + Pick(100))) + ", %r10");
    }
    line("and.b32 %r10, %r10, " + std::to_string(4 * kWordsOfBuffer - width));
  }

  void Step() {
    const auto line = [&](const std::string& text) { body_ += "  " + text + ";\n"; };
    const uint32_t what = Pick(10);
    if (what == 0) return line("bar.sync 0");
    if (what == 1) return line(Pick(2) ? "bar.warp.sync 0xffffffff" : "membar.cta");
    const uint32_t width = bytes_ && Pick(2) ? 1u << Pick(2) : 4u << (Pick(5) == 0);
    const std::string type = ".u" + std::to_string(8 * width);
    const std::string value = width == 8 ? "%rd11" : width == 4 ? "%r11" : "%h1";
    if (what < 5) {  // shared memory
      Address(width, false);
      line("and.b32 %r10, %r10, " + std::to_string(4096 - width));
      line("mov.u32 %r12, tile");
      line("add.u32 %r10, %r10, %r12");
      if (what == 2) return line("st.shared" + type + " [%r10], " + value);
      if (what == 3 && width == 4) return line("atom.shared.add.u32 %r11, [%r10], %r1");
      return line("ld.shared" + type + " " + value + ", [%r10]");
    }
    const bool stores = what >= 8, wild = meets_ && Pick(3) == 0;
    const bool reduces = reduces_ && width == 4 && Pick(2) == 0;
    Address(width, (stores && !wild && !reduces) || Pick(2));
    line("cvt.u64.u32 %rd10, %r10");
    // Loads read what no block stores to, or the block's own part.
    const std::string base = stores ? "%rd2" : wild ? "%rd2" : Pick(8) ? "%rd1" : "%rd3";
    line("add.u64 %rd10, %rd10, " + (reduces ? "%rd3" : base));
    const bool guarded = Pick(3) == 0;
    if (guarded) line("setp.lt.u32 %p1, %r3, " + std::to_string(1 + Pick(31)));
    const std::string guard = guarded ? "@%p1 " : "";
    if (reduces) return line(guard + "red.global.add.u32 [%rd10], 1");
    if (stores) {
      if (Pick(2) && width == 4) line("mov.u32 %r11, %r" + std::to_string(1 + Pick(3)));
      return line(guard + "st.global" + type + " [%rd10], " + value);
    }
    line(guard + "ld.global" + type + " " + value + ", [%rd10]");
    // The value that was read may decide what the kernel does next.
    if (width == 4 && Pick(3) == 0) {
      line("setp.eq.u32 %p2, %r11, " + std::to_string(Pick(3)));
      line("@%p2 st.global.u32 [%rd20], %r11");
    }
  }

  std::mt19937 random_;
  bool meets_ = false, reduces_ = false, bytes_ = false;
  uint32_t warps_ = 1, blocks_ = 2;
  std::string body_;
};

Outcome RunRandom(const RandomKernel& kernel, int threads, bool raw_is_written) {
  TestDevice device(kernel.Text(), Checked(threads));
  std::vector<int> values = RandomInts(kWordsOfBuffer, 0, 3);
  const auto in = device.Make(values, "in"), out = device.Make(values, "out");
  const uint64_t raw = device->Allocate(4 * kWordsOfBuffer, "raw");
  if (raw_is_written) {
    EXPECT_TRUE(device->Fill(raw, 0, 4 * kWordsOfBuffer));
  }
  Outcome outcome;
  for (int launch = 0; launch < 2; ++launch) {
    // The second launch has more blocks, because such a small launch is tried on several threads only once.
    const TestDevice::Shape shape{{kernel.blocks() + static_cast<uint32_t>(launch)}, {kernel.threads()}};
    outcome.errors.push_back(device.Launch("k", shape, in, out, raw).error);
    std::vector<uint8_t>& memory = outcome.memory.emplace_back(8 * kWordsOfBuffer);
    EXPECT_TRUE(device->Read(memory.data(), out.address, 4 * kWordsOfBuffer));
    EXPECT_TRUE(device->Read(memory.data() + 4 * kWordsOfBuffer, raw, 4 * kWordsOfBuffer));
    outcome.counters.push_back(device->launches().back().counters);
    outcome.on_several += device->launches().back().cpu_threads > 1;
  }
  outcome.findings = TextOf(*device);
  return outcome;
}

void ExpectEqual(const Outcome& many, const Outcome& one, const std::string& what) {
  EXPECT_EQ(many.findings, one.findings) << what;
  EXPECT_TRUE(many.errors == one.errors) << what;
  EXPECT_TRUE(many.memory == one.memory) << what;
  EXPECT_TRUE(many.counters == one.counters) << what;
}

TEST(ChecksOnThreadsTest, RandomKernelsLeaveTheSame) {  // in turn
  int on_several = 0, on_one = 0, with_findings = 0, with_findings_on_several = 0;
  const char* more = std::getenv("LOCKSTEP_RANDOM_KERNELS");
  const uint32_t kernels = more == nullptr ? 400 : static_cast<uint32_t>(std::atoi(more));
  for (uint32_t seed = 1; seed <= kernels && !::testing::Test::HasFailure(); ++seed) {
    const RandomKernel kernel(seed);
    const bool raw_is_written = seed % 3 != 0;
    const Outcome one = RunRandom(kernel, 1, raw_is_written), many = RunRandom(kernel, 4, raw_is_written);
    ExpectEqual(many, one, "seed " + std::to_string(seed) + "\n" + kernel.Text());
    on_several += many.on_several;
    on_one += 2 - many.on_several;
    with_findings += !one.findings.empty();
    with_findings_on_several += !one.findings.empty() && many.on_several == 2;
  }
  EXPECT_GT(on_several, static_cast<int>(kernels) / 4);
  EXPECT_GT(on_one, static_cast<int>(kernels) / 8);
  EXPECT_GT(with_findings, static_cast<int>(kernels) / 4);
  EXPECT_GT(with_findings_on_several, static_cast<int>(kernels) / 20);
}

// A kernel written by hand, k(a), whose argument is a buffer of zeros.
std::string Kernel(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
         "  .reg .pred %p<9>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n  ld.param.u64 %rd1, [a];\n"
         "  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, %ctaid.x;\n" +
         body + "  ret;\n}\n";
}

// The launches' outcome with one CPU thread; that with four must be equal.
Outcome RunBoth(const std::string& ptx, const std::vector<uint32_t>& launches, uint64_t budget, int* on_several) {
  Outcome outcome[2];
  for (const int threads : {1, 4}) {
    DeviceOptions options = Checked(threads);
    options.instruction_budget = budget;
    TestDevice device(ptx, options);
    const auto buffer = device.Make(std::vector<int>(kWordsOfBuffer), "buffer");
    Outcome& mine = outcome[threads / 4];
    for (const uint32_t blocks : launches) {
      mine.errors.push_back(device.Launch("k", {{blocks}, {64}}, buffer).error);
      std::vector<uint8_t>& memory = mine.memory.emplace_back(4 * kWordsOfBuffer);
      EXPECT_TRUE(device->Read(memory.data(), buffer.address, memory.size()));
      if (mine.errors.back() == LaunchError::kNone) mine.counters.push_back(device->launches().back().counters);
      mine.on_several += device->launches().back().cpu_threads > 1;
    }
    mine.findings = TextOf(*device);
  }
  ExpectEqual(outcome[1], outcome[0], ptx);
  EXPECT_EQ(outcome[0].on_several, 0);
  *on_several = outcome[1].on_several;
  return outcome[0];
}

// Each thread stores to a word of its own.
const std::string kStore =
    "  mad.lo.u32 %r3, %r2, 64, %r1;\n  mul.wide.u32 %rd2, %r3, 4;\n  add.u64 %rd2, %rd1, %rd2;\n"
    "  st.global.u32 [%rd2], %r2;\n";

// A flag that all blocks set.
TEST(ChecksOnThreadsTest, BlocksThatStoreTheSameRunOnOneThread) {
  int on_several = 0;
  const Outcome outcome = RunBoth(Kernel("  mov.u32 %r3, 1;\n  st.global.u32 [%rd1], %r3;\n"), {8, 8}, 0, &on_several);
  EXPECT_EQ(outcome.findings, "");
  EXPECT_EQ(on_several, 0);
}

TEST(ChecksOnThreadsTest, BlocksWithWordsOfTheirOwnRunSideBySide) {
  int on_several = 0;
  EXPECT_EQ(RunBoth(Kernel(kStore), {8, 64}, 0, &on_several).findings, "");
  EXPECT_EQ(on_several, 2);
  // Atomic additions whose result no thread reads.
  const std::string sum = "  add.u64 %rd2, %rd1, 16000;\n  red.global.add.u32 [%rd2], %r2;\n";
  EXPECT_EQ(RunBoth(Kernel(kStore + sum), {8, 62}, 0, &on_several).findings, "");
  EXPECT_EQ(on_several, 2);
  // Now a thread reads the sum, after waiting only for its own block.
  const std::string read =
      "  bar.sync 0;\n  ld.global.u32 %r4, [%rd2];\n  setp.eq.u32 %p1, %r4, 0;\n  @%p1 bra end;\nend:\n";
  RunBoth(Kernel(sum + read), {8}, 0, &on_several);
  EXPECT_EQ(on_several, 0);
}

// Blocks of a few million instructions, which end.
const char* const kLong =
    "  mov.u32 %r7, 300000;\nlong:\n  sub.u32 %r7, %r7, 1;\n  setp.ne.u32 %p7, %r7, 0;\n  @%p7 bra long;\n";
const char* const kEndless = "endless:\n  add.u32 %r8, %r8, 1;\n  bra endless;\n";

TEST(ChecksOnThreadsTest, SmallLaunchesAreTriedOnce) {
  int on_several = 0;
  RunBoth(Kernel(kStore), {8, 8, 4, 9}, 0, &on_several);
  EXPECT_EQ(on_several, 2);
  RunBoth(Kernel(kLong + kStore), {8, 8, 4}, 0, &on_several);
  EXPECT_EQ(on_several, 3);
}

// After a fault, or a block that takes too long, message and memory are those of a run on one thread.
TEST(ChecksOnThreadsTest, AFaultLeavesWhatOneThreadLeaves) {
  int on_several = 0;
  const Outcome outcome = RunBoth(Kernel(kStore), {70}, 0, &on_several);
  EXPECT_NE(outcome.findings.find("just past the end"), std::string::npos) << outcome.findings;
  EXPECT_EQ(on_several, 0);
}

TEST(ChecksOnThreadsTest, TooManyInstructionsAreTheSame) {
  int on_several = 0;
  const std::string in_block_5 = "  setp.ne.u32 %p1, %r2, 5;\n  @%p1 bra end;\n" + std::string(kEndless) + "end:\n";
  Outcome outcome = RunBoth(Kernel(in_block_5), {8}, 100'000, &on_several);
  EXPECT_EQ(outcome.errors.at(0), LaunchError::kTimeout);
  // No block exceeds the budget alone, but all together do. Three times the budget is enough for them, although they
  // use half of it, more than a thread's share.
  outcome = RunBoth(Kernel(kLong), {8}, 10'000'000, &on_several);
  EXPECT_EQ(outcome.errors.at(0), LaunchError::kTimeout);
  EXPECT_NE(outcome.findings.find("in its first"), std::string::npos) << outcome.findings;
  EXPECT_NE(outcome.findings.find("each block ends"), std::string::npos) << outcome.findings;
  outcome = RunBoth(Kernel(kLong), {8}, 30'000'000, &on_several);
  EXPECT_EQ(outcome.errors.at(0), LaunchError::kNone);
  EXPECT_EQ(on_several, 0);
}

// Block 1 ends only if it finds what block 0 stores late, which it does on one thread.
TEST(ChecksOnThreadsTest, ABlockThatOnlyHangsBesideAnotherDoesNotHang) {
  int on_several = 0;
  const Outcome outcome = RunBoth(Kernel("  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra second;\n" + std::string(kLong) +
                                         "  mov.u32 %r3, 1;\n  st.global.u32 [%rd1], %r3;\n  bra end;\n"
                                         "second:\n  ld.global.u32 %r3, [%rd1];\n  setp.ne.u32 %p2, %r3, 0;\n"
                                         "  @%p2 bra end;\n" +
                                         kEndless + "end:\n"),
                                  {2}, 0, &on_several);
  EXPECT_EQ(outcome.errors.at(0), LaunchError::kNone);
  EXPECT_EQ(on_several, 0);
}

// Both blocks hang, each waiting for a store that the other has made or not made yet.
TEST(ChecksOnThreadsTest, BlocksThatOnlyHangBesideEachOtherDoNotHang) {
  int on_several = 0;
  const Outcome outcome =
      RunBoth(Kernel("  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra second;\n" + std::string(kLong) +
                     "  ld.global.u32 %r3, [%rd1+4];\n  setp.ne.u32 %p2, %r3, 0;\n  @%p2 bra endless;\n"
                     "  mov.u32 %r3, 1;\n  st.global.u32 [%rd1], %r3;\n  bra end;\n"
                     "second:\n  mov.u32 %r3, 1;\n  st.global.u32 [%rd1+4], %r3;\n  ld.global.u32 %r3, [%rd1];\n"
                     "  setp.ne.u32 %p2, %r3, 0;\n  @%p2 bra end;\n" +
                     std::string(kEndless) + "end:\n"),
              {2}, 0, &on_several);
  EXPECT_EQ(outcome.errors.at(0), LaunchError::kNone);
  EXPECT_EQ(on_several, 0);
}

// If shadow memory for all pages, or copies of them, would exceed the bound, isolation counts as broken instead.
class BlockIsolationTest : public ::testing::Test {
 protected:
  static constexpr size_t kPages = 200;
  BlockIsolationTest() : memory_((kPages + 1) * PageUse::kPageBytes) {
    const uint64_t at = reinterpret_cast<uint64_t>(memory_.data());
    begin_ = (at + PageUse::kPageBytes - 1) / PageUse::kPageBytes * PageUse::kPageBytes;
    for (uint64_t k = 0; k < kPages * PageUse::kPageBytes; ++k) Byte(k) = static_cast<uint8_t>(k * k / 7);
  }
  uint8_t& Byte(uint64_t k) { return *reinterpret_cast<uint8_t*>(begin_ + k); }
  uint64_t end() const { return begin_ + kPages * PageUse::kPageBytes; }
  uint64_t page(uint64_t k) const { return begin_ / PageUse::kPageBytes + k; }
  static PageUse Use(PageUse::Mask PageUse::* how, int word) {
    PageUse use;
    (use.*how)[static_cast<size_t>(word) / 64] |= uint64_t{1} << (word % 64);
    return use;
  }
  // A store of a word to each page.
  static void StoreTo(BlockIsolation::PageSaver& keeper, uint64_t address) {
    uint64_t addresses[kWarpSize] = {address};
    MemoryAccess event{};
    event.space = MemorySpace::kGlobal;
    event.kind = AccessKind::kStore;
    event.bytes = 4;
    event.form = AccessForm::kUnit;
    event.mask = 1;
    event.address = addresses;
    keeper.BeforeStore(event);
    *reinterpret_cast<uint32_t*>(address) = 0xdeadbeef;
  }

  std::vector<uint8_t> memory_;
  uint64_t begin_ = 0;
};

TEST_F(BlockIsolationTest, LoadsMeetLoadsAndReductionsReductions) {
  BlockIsolation isolation(begin_, end());
  const auto kinds = {&PageUse::stored, &PageUse::reduced, &PageUse::loaded};
  for (const auto first : kinds) {
    for (const auto second : kinds) {
      for (const int apart : {0, 1, 64}) {
        isolation.Begin(2);
        isolation.Add(page(70), Use(first, 100), 1);
        isolation.Add(page(71), Use(&PageUse::stored, 100 + apart), 1);
        EXPECT_FALSE(isolation.broken());
        isolation.Add(page(70), Use(second, 100 + apart), 1);
        EXPECT_EQ(isolation.broken(), apart == 0 && (first != second || first == &PageUse::stored));
        isolation.End();
        // The same rule holds for blocks that still run.
        isolation.Begin(2);
        isolation.Compare(3, {{page(70), Use(first, 100)}});
        isolation.Compare(3, {{page(70), Use(&PageUse::stored, 100)}});
        isolation.Compare(3, {{page(70), Use(first, 100)}});
        EXPECT_FALSE(isolation.broken());
        isolation.Compare(4, {{page(70), Use(second, 100 + apart)}});
        EXPECT_EQ(isolation.broken(), apart == 0 && (first != second || first == &PageUse::stored));
        isolation.End();
      }
    }
  }
}

TEST_F(BlockIsolationTest, ShadowMemoryOfOneThreadIsABound) {
  BlockIsolation isolation(begin_, end());
  isolation.Begin(2);
  for (int again = 0; again < 2; ++again) {
    for (size_t k = 0; k < 3; ++k) isolation.Add(page(k), Use(&PageUse::loaded, 1), size_t{3} << 28);
  }
  EXPECT_FALSE(isolation.broken());
  isolation.Add(page(3), Use(&PageUse::loaded, 1), 1);
  EXPECT_TRUE(isolation.broken());
  isolation.End();
}

TEST_F(BlockIsolationTest, MemoryBecomesWhatItWas) {
  for (uint64_t k = 0; k < PageUse::kPageBytes; ++k) Byte(5 * PageUse::kPageBytes + k) = 0x55;
  const std::vector<uint8_t> before = memory_;
  BlockIsolation isolation(begin_, end());
  for (int launch = 0; launch < 2; ++launch) {
    isolation.Begin(2);
    BlockIsolation::PageSaver one(isolation), two(isolation);
    for (uint64_t k = 0; k < kPages; ++k) {
      StoreTo(k % 3 != 0 ? one : two, begin_ + k * PageUse::kPageBytes + 8);
      StoreTo(k % 3 == 0 ? one : two, begin_ + k * PageUse::kPageBytes + 80);
    }
    EXPECT_FALSE(memory_ == before);
    isolation.Restore();
    EXPECT_TRUE(memory_ == before);
    isolation.End();
  }
}

TEST_F(BlockIsolationTest, BeyondTheBoundNoStoreHappens) {
  const std::vector<uint8_t> before = memory_;
  BlockIsolation isolation(begin_, end(), 128 * PageUse::kPageBytes);
  isolation.Begin(2);
  BlockIsolation::PageSaver keeper(isolation);
  uint64_t stored = 0;
  EXPECT_THROW(
      for (; stored < kPages; ++stored) { StoreTo(keeper, begin_ + stored * PageUse::kPageBytes); }, IsolationBroken);
  EXPECT_EQ(stored, 128u);
  EXPECT_TRUE(isolation.broken());
  EXPECT_THROW(StoreTo(keeper, begin_ + 128 * PageUse::kPageBytes), IsolationBroken);
  isolation.Restore();
  EXPECT_TRUE(memory_ == before);
  isolation.End();
}

}  // namespace checks_on_threads_test
}  // namespace lockstep::vgpu
