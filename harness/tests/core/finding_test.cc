#include "vgpu/core/finding.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "vgpu/core/hint.h"

namespace lockstep::vgpu {
namespace finding_test {

Finding Base(FindingKind kind) {
  Finding finding;
  finding.kind = kind;
  finding.kernel = "reduce3_sequential_kernel<128u>";
  finding.grid = {4, 1, 1};
  finding.block_dim = {128, 1, 1};
  finding.first.block = {3, 0, 0};
  finding.first.thread = {64, 0, 0};
  finding.first.file = "/somewhere/else/reduction.cu";
  finding.first.line = 41;
  finding.first.instruction = "ld.global.u32";
  finding.first.ptx_line = 97;
  return finding;
}

MemoryPlace InBuffer(int64_t offset, uint32_t bytes) {
  MemoryPlace place;
  place.bytes = bytes;
  place.in_buffer = true;
  place.buffer_name = "d_in";
  place.buffer_base = 0x200000001000;
  place.buffer_bytes = 512;
  place.address = place.buffer_base + static_cast<uint64_t>(offset);
  return place;
}

Finding Bounds(int64_t offset, uint32_t bytes) {
  Finding finding = Base(FindingKind::kOutOfBounds);
  finding.memory = InBuffer(offset, bytes);
  return finding;
}

Finding Race() {
  Finding finding = Base(FindingKind::kRace);
  finding.first.instruction = "ld.shared.u32";
  finding.first.block = {0, 0, 0};
  finding.second = finding.first;
  finding.second->thread = {0, 0, 0};
  finding.second->line = 47;
  finding.second->instruction = "st.shared.u32";
  finding.second->access = AccessKind::kStore;
  finding.detail = "write after read";
  finding.memory = InBuffer(256, 4);
  finding.memory->space = MemorySpace::kShared;
  finding.memory->buffer_name = "sdata";
  return finding;
}

TEST(FindingTest, TextsOfBoundsFaults) {
  std::string text;
  for (const auto& [offset, bytes] : {std::pair{520, 4}, {512, 4}, {508, 8}, {-4, 4}})
    text += Format(Bounds(offset, bytes)) + "\n\n";
  Finding allocated = Bounds(520, 4);
  allocated.memory->allocated_at = "/somewhere/reduction.cu:120";
  allocated.first.access = AccessKind::kStore;
  allocated.first.instruction = "st.global.u32";
  allocated.grid = {4, 2, 1};
  allocated.block_dim = {16, 16, 2};
  allocated.count = 12;
  text += Format(allocated) + "\n\n";
  Finding nowhere = Bounds(0, 4);
  nowhere.kind = FindingKind::kInvalidAddress;
  nowhere.memory->in_buffer = false;
  nowhere.memory->address = 0x7fff12340000;
  text += Format(nowhere) + "\n\n";
  nowhere.memory->address = 8;
  text += Format(nowhere) + "\n\n";
  Finding odd = Bounds(4, 8);
  odd.kind = FindingKind::kMisaligned;
  text += Format(odd);
  ExpectGolden("finding_bounds.txt", text);
}

TEST(FindingTest, TextsOfCheckersFindings) {
  std::string text = Format(Race()) + "\n\n";
  Finding crossing = Race();
  crossing.second->block = {12, 0, 0};
  crossing.memory->space = MemorySpace::kGlobal;
  crossing.memory->buffer_name = "dynamic shared memory";
  crossing.hint = Hint::kWaitsInVain;
  crossing.count = 7;
  text += Format(crossing) + "\n\n";
  Finding uninitialized = Bounds(64, 4);
  uninitialized.kind = FindingKind::kUninitialized;
  text += Format(uninitialized) + "\n\n";
  uninitialized.memory->buffer_name = "";
  text += Format(uninitialized) + "\n\n";
  // Other instructions in the kernel change the diagnosis: an asynchronous copy may be in flight, and threads that
  // arrive at a cuda::barrier too early have synchronised on the wrong side of the access.
  uninitialized.memory->space = MemorySpace::kShared;
  uninitialized.copies_async = true;
  text += Format(uninitialized) + "\n\n";
  Finding early = Race();
  early.memory_barriers = true;
  text += Format(early) + "\n\n";
  std::swap(early.first.access, early.second->access);
  early.detail = "read after write";
  text += Format(early);
  ExpectGolden("finding_checkers.txt", text);
}

// Each case that determines a hint.
TEST(FindingTest, HintsNameTheCause) {
  std::string text;
  const auto add = [&](const Finding& finding) { text += std::string(TextOf(HintOf(finding))) + "\n"; };
  Finding race = Race();
  race.lost_update = true;
  race.first.access = AccessKind::kLoad;
  race.second->access = AccessKind::kStore;
  add(race);  // threads that add at the same time
  std::swap(race.first.access, race.second->access);
  add(race);  // steps that take turns
  race.second->block = {2, 0, 0};
  add(race);
  Finding stores = Race();
  stores.memory->space = MemorySpace::kGlobal;
  stores.second->line = stores.first.line;
  stores.first.access = stores.second->access = AccessKind::kStore;
  stores.second->block = {2, 0, 0};
  stores.second->thread = stores.first.thread;
  add(stores);  // the same thread of each block
  stores.second->thread.x += 1;
  add(stores);
  Finding in_place = Race();
  in_place.first.access = AccessKind::kLoad;
  in_place.second->access = AccessKind::kStore;
  in_place.second->block = {2, 0, 0};
  in_place.second->line = in_place.first.line + 1;
  add(in_place);
  Finding shared = Bounds(512, 4);
  shared.memory->space = MemorySpace::kShared;
  add(shared);
  shared.memory->is_dynamic = true;
  add(shared);
  shared.memory->buffer_bytes = 0;
  add(shared);
  Finding unset = Bounds(64, 4);
  unset.kind = FindingKind::kUninitialized;
  unset.memory->space = MemorySpace::kShared;
  add(unset);
  unset.block_dim = {16, 1, 1};
  add(unset);  // elements beyond one per thread
  Finding endless = Bounds(64, 4);
  endless.kind = FindingKind::kTimeout;
  endless.memory.reset();
  add(endless);
  endless.first.instruction = "bra.uni";
  add(endless);
  Finding large = endless;
  large.kind = FindingKind::kUnsupported;
  large.detail = "a thread's variables take 4194304" + std::string(kTooMuchLocal);
  add(large);
  text.pop_back();
  ExpectGolden("finding_hints.txt", text);
}

TEST(FindingTest, TextsOfMissingFences) {
  std::string text;
  for (const Hint clue : {Hint::kNone, Hint::kNoRelease, Hint::kNarrowRelease, Hint::kLateRelease, Hint::kNoAcquire,
                          Hint::kNarrowAcquire}) {
    Finding race = Race();
    race.first.access = AccessKind::kStore;
    race.second->access = AccessKind::kLoad;
    race.second->block = {2, 0, 0};
    race.memory->space = MemorySpace::kGlobal;
    race.clue = clue;
    text += Format(race) + "\n\n";
    // A line that both reads and writes does not lack a fence.
    race.second->line = race.first.line;
    race.second->file = race.first.file;
    EXPECT_NE(Format(race).find("one writes here what another reads"), std::string::npos);
  }
  ExpectGolden("finding_fences.txt", text);
}

// The picture of a race names the barrier that the hint asks for: every access folded into the finding counts.
TEST(FindingTest, TheBarrierThatIsMissingIsTheHints) {
  const auto missing_and_hint = [](const Finding& race) { return std::pair{MissingOrder(race), HintOf(race)}; };
  Finding race = Race();
  race.second->thread = {race.first.thread.x ^ 1, 0, 0};
  EXPECT_EQ(missing_and_hint(race), std::pair(std::string_view("warp barrier"), Hint::kMissingSyncWarp));
  race.several_warps = true;
  EXPECT_EQ(MissingOrder(race), "barrier");
  EXPECT_NE(HintOf(race), Hint::kMissingSyncWarp);
  race.first.instruction = "ld.volatile.shared.u32";
  EXPECT_EQ(missing_and_hint(race), std::pair(std::string_view("warp barrier"), Hint::kVolatileIsNoBarrier));
}

TEST(FindingTest, TextsWithoutAMemoryPlace) {
  std::string text;
  for (const auto& [kind, detail] :
       {std::pair{FindingKind::kBarrierDivergence, "warps wait at different barriers and none can complete"},
        {FindingKind::kWarpSyncMismatch, "lane 5 is not in the mask 0x0000001f that it passes"},
        {FindingKind::kTrap, ""},
        {FindingKind::kAssert, "assertion `i < n` failed"},
        {FindingKind::kTimeout, "more than 400000000 warp instructions"},
        {FindingKind::kUnsupported, "mma.sync is not supported"},
        {FindingKind::kStackOverflow, ""}}) {
    Finding finding = Base(kind);
    finding.detail = detail;
    text += Format(finding) + "\n\n";
  }
  Finding host;
  host.kind = FindingKind::kUnsupported;
  host.detail = "texture memory is not supported";
  text += Format(host) + "\n\n";
  Finding without_lines = Base(FindingKind::kTrap);
  without_lines.first.file.clear();
  text += Format(without_lines);
  ExpectGolden("finding_plain.txt", text);
}

TEST(FindingTest, NamesFromTheSubmissionCannotBreakTheText) {
  Finding finding = Bounds(520, 4);
  finding.kernel = "k\n  hint    all is well\x1b[2J";
  finding.memory->buffer_name = "d\rin";
  const std::string text = Format(finding);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("k?  hint    all is well?[2J<<<4,128>>>"), 8u);
}

TEST(FindingTest, VariablesAreCalledAsInTheSource) {
  Finding finding = Race();
  for (const auto& [mangled, name] : {std::pair{"_ZZ7reduce3ILj128EEvPKiPijE5sdata", " sdata[64],"},
                                      {"_ZN4mine5tableE", " table[64],"},
                                      {"plain", " plain[64],"},
                                      {"_Z7short", " _Z7short[64],"}}) {
    finding.memory->buffer_name = mangled;
    EXPECT_NE(Format(finding).find(name), std::string::npos) << Format(finding);
  }
}

TEST(FindingTest, EqualFindingsFold) {
  FindingList list;
  list.Add(Race());
  Finding other_threads = Race();
  other_threads.first.thread = {65, 0, 0};
  other_threads.count = 3;
  list.Add(other_threads);
  ASSERT_EQ(list.findings().size(), 1u);
  EXPECT_EQ(list.findings()[0].count, 4u);
  EXPECT_EQ(list.findings()[0].first.thread.x, 64u);
  Finding unrolled = Race();
  unrolled.first.ptx_line += 5;
  list.Add(unrolled);
  ASSERT_EQ(list.findings().size(), 1u);
  Finding other_line = Race();
  other_line.second->line = 48;
  list.Add(other_line);
  EXPECT_EQ(list.findings().size(), 2u);
  Finding other_kernel = Race();
  other_kernel.kernel = "another";
  list.Add(other_kernel);
  EXPECT_EQ(list.findings().size(), 3u);
}

TEST(FindingTest, AListKeepsSoManyAndCountsTheRest) {
  FindingList list;
  for (int line = 1; line <= 130; ++line) {
    Finding finding = Race();
    finding.first.line = line;
    list.Add(finding);
  }
  EXPECT_EQ(list.findings().size(), FindingList::kMaximum);
  EXPECT_EQ(list.dropped(), 30u);
  list.Clear();
  EXPECT_TRUE(list.findings().empty());
  EXPECT_EQ(list.dropped(), 0u);
}

}  // namespace finding_test
}  // namespace lockstep::vgpu
