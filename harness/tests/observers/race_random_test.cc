// The race checker against the plain definition (race_oracle.h), on random programs of several blocks: accesses of
// every width and form to shared and global memory, some of them in loops, barriers, asynchronous copies, atomics and
// fences.
//
// Both are told of each access. Every finding has to be a race by the definition too: of the same two threads and
// instructions, at the same address. And each word that races for the first time has to be found; the checker may lose
// track of words that have raced, or that several threads have stored one value to. race_order_random_test.cc has more
// of fences and flags.
// LOCKSTEP_RANDOM_PROGRAMS sets how many programs of each kind run.
// Optimised: its oracle takes 60 s of processor time unoptimised.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/observers/observer_events.h"
#include "tests/observers/race_oracle.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace race_random_test {

struct Style {
  const char* name;
  bool shared, global;
  bool partial;  // also barriers of some warps, syncs of some lanes
  bool atomics;  // also strong and volatile accesses and fences
};
void PrintTo(const Style& style, std::ostream* out) { *out << style.name; }

struct Tally {
  uint64_t accesses = 0, racing = 0, missed = 0, left_out = 0;
};

class RandomProgram {
 public:
  RandomProgram(std::mt19937& random, const Style& style, Tally& tally)
      : random_(random), style_(style), tally_(tally), checker_(MakeRaceChecker(true, true)) {
    small_ = Pick(4) == 0;
    if (Pick(4) == 0) shared_bytes_ = 96;
    events_.emplace(*checker_, kOracleBlocks, kOracleWarps * kWarpSize, static_cast<uint32_t>(shared_bytes_),
                    kOracleClusterBlocks);
    careful_ = Pick(4) != 0;
    at_once_ = Pick(3) == 0;
    for (uint32_t n = 4 + Pick(10); n > 0; --n) instructions_.push_back(MakeInstruction());
  }

  // Returns false if the checker is wrong.
  bool Run() {
    for (int k = 0; k < 100 && good_; ++k) Step();
    events_->Finish();
    return good_;
  }

 private:
  using Values = std::array<uint32_t, kWarpSize>;  // what each byte that a lane stores becomes; 0: something new
  struct Instruction {
    EventSource::Options options;
    bool copy = false;
    uint32_t values = 0;  // what a store stores: something new, one value, one for a few lanes
    uint32_t shape = 0;   // how the lanes' addresses lie, in nearly all of its accesses
  };

  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Pick(static_cast<uint32_t>(choices.size()))];
  }

  MemoryScope Scope() {
    return OneOf(
        {MemoryScope::kCta, MemoryScope::kCluster, MemoryScope::kGpu, MemoryScope::kGpu, MemoryScope::kSystem});
  }
  Instruction MakeInstruction() {
    Instruction made;
    EventSource::Options& options = made.options;
    const bool shared = style_.shared && (!style_.global || Pick(2));
    options.space = shared ? MemorySpace::kShared : MemorySpace::kGlobal;
    options.kind = Pick(2) ? AccessKind::kStore : AccessKind::kLoad;
    options.bytes = Pick(3) == 0 ? 4 << Pick(3) : 4;
    if (small_ && Pick(2)) options.bytes = 1 << Pick(2);
    made.values = Pick(3);
    made.shape = Pick(6);
    made.copy =
        shared && shared_bytes_ == kPart && options.kind == AccessKind::kStore && options.bytes >= 4 && Pick(4) == 0;
    options.constant = !shared && options.kind == AccessKind::kLoad && Pick(6) == 0;
    options.plain_shared_load = shared && options.kind == AccessKind::kLoad && !at_once_;
    if (!style_.atomics || made.copy || Pick(3) != 0) return made;
    options.constant = options.plain_shared_load = false;
    if (Pick(2)) options.kind = AccessKind::kAtomic;
    options.bytes = std::clamp(options.bytes, options.kind == AccessKind::kAtomic ? 4 : 1, 8);
    options.scope = Scope();
    options.order = MemoryOrder::kRelaxed;
    if (options.kind == AccessKind::kAtomic) {
      options.returns_value = Pick(3) != 0;
      if (options.returns_value) {
        options.order = OneOf({MemoryOrder::kRelaxed, MemoryOrder::kRelaxed, MemoryOrder::kAcquire,
                               MemoryOrder::kRelease, MemoryOrder::kAcquireRelease});
      }
    } else if (Pick(3) == 0) {
      options.order = options.kind == AccessKind::kLoad ? MemoryOrder::kAcquire : MemoryOrder::kRelease;
    } else if (Pick(2)) {
      options.order = MemoryOrder::kVolatile;
      options.scope = MemoryScope::kGpu;
      options.waits = options.kind == AccessKind::kLoad && Pick(2);
    }
    return made;
  }

  void Step() {
    const uint32_t warp = Pick(kOracleAllWarps), block = warp / kOracleWarps;
    if (oracle_.exited(warp)) return;
    switch (Pick(40)) {
      case 0:
        return Launch();
      case 1:
      case 2:
      case 3:
        return SyncBlock(block);
      case 4:
      case 5:
        return style_.partial ? SyncSome(warp) : SyncBlock(block);
      case 6:
      case 7:
        return SyncWarp(warp, kFullMask);
      case 8:
      case 9:
      case 10:
        return SyncWarp(warp, !style_.partial ? kFullMask : Pick(2) ? 0xffffu << (16 * Pick(2)) : random_() | 1u);
      case 11:
        return EndCopy();
      case 12:
      case 13:
        if (style_.atomics) Fence(warp, Scope());
        return;
      case 14:
        if (Pick(3) == 0) Exit(warp);
        return;
      case 15:
        return style_.global ? ReadPage(warp) : EndCopy();
      default:
        return Access(warp, Pick(static_cast<uint32_t>(instructions_.size())));
    }
  }

  void Launch() {
    events_->Launch();
    oracle_.Launch();
    memory_.clear();
    unsure_.clear();
    under_way_.clear();
    arrived_.clear();
    fenced_ = 0;
  }
  EventSource& At(uint32_t warp, LaneMask mask = kFullMask) {
    return events_->At(warp / kOracleWarps, warp % kOracleWarps, mask);
  }
  void Arrive(uint32_t warp, uint32_t barrier, bool stays, bool waits) {
    At(warp).Arrive(barrier, 0, stays, waits);
    oracle_.Arrive(warp, barrier, waits);
  }
  void SyncBlock(uint32_t block) {
    const uint32_t stays = Pick(3);  // none, all, some
    uint32_t warps = 0;
    for (uint32_t w = 0; w < kOracleWarps; ++w) {
      const uint32_t warp = block * kOracleWarps + w;
      if (oracle_.exited(warp)) continue;
      Arrive(warp, 0, stays != 0 && (stays == 1 || Pick(2)), true);
      warps |= 1u << w;
    }
    events_->Complete(warps, 0);
    oracle_.Complete(block, 0);
  }
  // A barrier of some of a block's warps: either one warp arrives and goes on, or warps wait and the barrier completes.
  void SyncSome(uint32_t warp) {
    const uint32_t block = warp / kOracleWarps, barrier = 1 + Pick(2);
    uint32_t& arrived = arrived_[{block, barrier}];
    if (Pick(2)) {
      if (arrived >> (warp % kOracleWarps) & 1) return;
      arrived |= 1u << (warp % kOracleWarps);
      return Arrive(warp, barrier, false, false);
    }
    uint32_t waiting = 0;
    for (uint32_t w = 0; w < kOracleWarps; ++w) {
      const uint32_t other = block * kOracleWarps + w;
      if (oracle_.exited(other) || (arrived >> w & 1) || Pick(3) == 0) continue;
      Arrive(other, barrier, Pick(2), true);
      waiting |= 1u << w;
    }
    if (waiting == 0) return;
    events_->At(block, 0).Complete(waiting | arrived, barrier);
    oracle_.Complete(block, barrier);
    arrived = 0;
  }
  void SyncWarp(uint32_t warp, LaneMask mask) {
    At(warp, mask).SyncWarp();
    oracle_.SyncWarp(warp, mask);
  }
  void Fence(uint32_t warp, MemoryScope scope) {
    At(warp).Fence(scope);
    oracle_.Fence(warp, scope == MemoryScope::kCta ? 0 : scope == MemoryScope::kCluster ? 1 : 2);
    fenced_ |= 1u << warp;
  }
  void Exit(uint32_t warp) {
    At(warp).Exit();
    oracle_.Exit(warp);
  }

  void Access(uint32_t warp, uint32_t which) {
    const Instruction& instruction = instructions_[which];
    OracleStep step;
    step.warp = warp;
    step.pc = which;
    step.options = instruction.options;
    const uint32_t all_lanes = Pick(2);
    step.mask = all_lanes
                    ? kFullMask
                    : OneOf<LaneMask>({(2u << Pick(31)) - 1, static_cast<LaneMask>(random_()) | 1u, 1u << Pick(32)});
    const uint32_t shape = Pick(5) ? instruction.shape : Pick(6), stride = 1 + Pick(3);
    const uint64_t bytes = static_cast<uint64_t>(step.options.bytes);
    // The block's own part, or one for all.
    const uint64_t part = Pick(3) ? step.block() * 1024 : 512 * Pick(2);
    const uint64_t shift = 64 * Pick(3);
    const uint32_t apart = instruction.copy ? 2 : Pick(3);
    const uint32_t uniform = step.load() ? Pick(4) : 0;  // a bit per half
    Values value{};
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      uint32_t element = lane;                                           // neighbours
      if (shape == 1) element = warp % kOracleWarps * kWarpSize + lane;  // each warp's own
      if (shape == 2 && !instruction.copy) element = 0;                  // uniform
      if (shape == 3) element = lane * stride;                           // strided
      if (shape == 4 && !instruction.copy) element = lane / 8;           // rows
      if (shape == 5) {  // two halves, side by side or, of loads, uniform
        const uint32_t half = lane / 16;
        element = 16 * half * apart + (uniform >> half & 1 ? 0 : lane % 16);
      }
      step.address[lane] = (part + shift + element * bytes) % (step.shared() ? shared_bytes_ : kPart) +
                           (step.shared() ? 0 : kOracleGlobal);
      value[lane] = instruction.values == 0 ? ++value_ : instruction.values == 1 ? 1 : 1 + lane / 8;
    }
    if (instruction.copy) {
      if (!oracle_.copying(step)) Tell(step, Told::kIssue, value);
    } else {
      Tell(step, Told::kAccess, value);
    }
  }
  // Reads all of a page, like a buffer that all blocks read.
  void ReadPage(uint32_t warp) {
    for (uint64_t row = 0; row < 8 && good_; ++row) {
      OracleStep step;
      step.warp = warp;
      step.pc = static_cast<uint32_t>(100 + row);
      step.options.space = MemorySpace::kGlobal;
      step.options.bytes = 16;
      for (uint64_t lane = 0; lane < kWarpSize; ++lane) step.address[lane] = 0x200000001000 + 512 * row + 16 * lane;
      Tell(step, Told::kAccess, {});
    }
  }
  void EndCopy() {
    if (under_way_.empty()) return;
    const uint32_t which = Pick(static_cast<uint32_t>(under_way_.size()));
    const OracleStep step = *under_way_[which];
    if (oracle_.exited(step.warp)) return;
    under_way_.erase(under_way_.begin() + which);
    oracle_.EndCopy(step);
    Tell(step, Told::kEnd, {});
  }

  enum class Told { kAccess, kIssue, kEnd };
  void Tell(OracleStep step, Told told, const Values& value) {
    step.behind_fence = (fenced_ >> step.warp & 1) != 0;
    if (told == Told::kAccess) CompareValues(step, value);
    std::optional<RaceOracle::Before> before;
    if (careful_ && step.synchronises()) before = oracle_.Keep(step.warp);
    oracle_.Synchronise(step);

    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> pairs;  // an earlier access's thread and pc, and this one's lane
    std::set<RaceOracle::Place> words, same;                   // words that race; that would if the values differed
    std::set<std::pair<uint32_t, RaceOracle::Place>> copied;   // lanes and words that race with a copy under way
    oracle_.ForRaces(step, [&](uint32_t lane, const RaceOracle::Place& place, const RaceOracle::Past& past,
                               RaceOracle::Verdict verdict) {
      const RaceOracle::Place word{place.first, place.second / 4 * 4};
      if (verdict == RaceOracle::kSameValue) {
        same.insert(word);
        return;
      }
      pairs.insert({past.thread(), past.step->pc, lane});
      if (verdict == RaceOracle::kRace) words.insert(word);
      if (verdict == RaceOracle::kCopyRace) copied.insert({lane, word});
    });
    if (!pairs.empty() && careful_ && told != Told::kEnd && Pick(8) != 0) {
      if (before) oracle_.Restore(step.warp, std::move(*before));
      ++tally_.left_out;
      return;
    }
    fenced_ &= ~(1u << step.warp);
    steps_.push_back(step);
    oracle_.Remember(steps_.back());
    At(step.warp, step.mask);
    const auto address = [&](uint32_t lane) { return step.address[lane]; };
    if (told == Told::kIssue) {
      oracle_.BeginCopy(steps_.back());
      under_way_.push_back(&steps_.back());
      events_->IssueCopy(step.pc, step.options, address);
    } else {
      Store(step, value);
      events_->Access(step.pc, step.options, address);
    }

    const std::vector<RawFinding> findings = checker_->TakeFindings();
    uint64_t found = 0;
    for (const RawFinding& finding : findings) {
      found += finding.count;
      const bool is_race = IsRace(step, finding, pairs);
      EXPECT_TRUE(is_race) << Describe(step) << "\n  against pc " << finding.first.pc << " of thread "
                           << ThreadOf(finding.first) << ", pc " << finding.second.pc << " of thread "
                           << ThreadOf(finding.second) << " at " << std::hex << finding.address << ", "
                           << finding.detail;
      good_ &= is_race;
    }
    // One word is reported for a lane that races with a copy.
    uint64_t fresh = 0;
    for (const RaceOracle::Place& word : words) fresh += !unsure_.contains(word) && !same.contains(word);
    std::set<uint32_t> lanes;
    for (const auto& [lane, word] : copied) {
      if (!unsure_.contains(word) && !words.contains(word)) lanes.insert(lane);
    }
    fresh += lanes.size();
    unsure_.merge(words);
    unsure_.merge(same);
    for (const auto& [lane, word] : copied) unsure_.insert(word);
    ++tally_.accesses;
    tally_.racing += fresh != 0;
    if (found >= fresh) return;
    ++tally_.missed;
    if (std::getenv("LOCKSTEP_SHOW_MISSED") != nullptr) {
      const auto [thread, pc, lane] = *pairs.begin();
      std::printf("missed: %s\n  found %d of %d; thread %u pc %u %s and lane %u\n", Describe(step).c_str(),
                  static_cast<int>(found), static_cast<int>(fresh), thread, pc,
                  pc < 100 ? Describe(instructions_[pc].options).c_str() : "", lane);
    }
  }

  // Finds the lanes that store the value already in memory, and whether lanes that share an address agree.
  void CompareValues(OracleStep& step, const Values& value) {
    if (!step.store()) return;
    bool agree = true;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!step.has(lane)) continue;
      bool keeps = true;
      for (uint64_t k = 0; k < static_cast<uint64_t>(step.options.bytes); ++k) {
        const auto at = memory_.find(RaceOracle::PlaceOf(step, lane, k));
        keeps &= at != memory_.end() && at->second == value[lane];
      }
      step.options.keeps |= LaneMask{keeps} << lane;
      for (uint32_t lower = 0; lower < lane; ++lower) {
        agree &= !step.has(lower) || step.address[lower] != step.address[lane] || value[lower] == value[lane];
      }
    }
    const AccessForm form =
        FormOf(step.address.data(), step.mask, static_cast<uint64_t>(step.options.bytes), step.load());
    step.options.same_value = agree && form == AccessForm::kScattered;
  }
  void Store(const OracleStep& step, const Values& value) {
    if (step.load()) return;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint64_t k = 0; step.has(lane) && k < static_cast<uint64_t>(step.options.bytes); ++k) {
        memory_[RaceOracle::PlaceOf(step, lane, k)] = step.atomic() || value[lane] == 0 ? ++value_ : value[lane];
      }
    }
  }

  static uint32_t ThreadOf(const Party& party) {
    return party.block_index * kOracleWarps * kWarpSize + party.thread_index;
  }
  static bool IsRace(const OracleStep& step, const RawFinding& finding,
                     const std::set<std::tuple<uint32_t, uint32_t, uint32_t>>& pairs) {
    for (const auto& [old, now] : {std::pair{finding.first, finding.second}, {finding.second, finding.first}}) {
      const uint32_t thread = ThreadOf(now), lane = thread % kWarpSize;
      if (now.pc == step.pc && thread / kWarpSize == step.warp && finding.address == step.address[lane] &&
          pairs.contains({ThreadOf(old), old.pc, lane})) {
        return true;
      }
    }
    return false;
  }
  static std::string Describe(const EventSource::Options& options) {
    return std::string(options.space == MemorySpace::kShared ? "shared " : "global ") +
           (options.kind == AccessKind::kLoad    ? "load"
            : options.kind == AccessKind::kStore ? "store"
                                                 : "atomic") +
           " of " + std::to_string(options.bytes) + " order " + std::to_string(static_cast<int>(options.order)) +
           " scope " + std::to_string(static_cast<int>(options.scope)) + (options.constant ? " constant" : "") +
           (options.waits ? " waits" : "") + (options.same_value ? " same value" : "");
  }
  std::string Describe(const OracleStep& step) const {
    char place[80];
    std::snprintf(place, sizeof place, ", mask %08x at %llx, %llx, .., %llx keeps %08x", step.mask,
                  static_cast<unsigned long long>(step.address[0]), static_cast<unsigned long long>(step.address[1]),
                  static_cast<unsigned long long>(step.address[31]), step.options.keeps);
    return "pc " + std::to_string(step.pc) + " warp " + std::to_string(step.warp) + ", " + Describe(step.options) +
           place;
  }

  static constexpr uint64_t kPart = 4096;

  std::mt19937& random_;
  const Style style_;
  Tally& tally_;
  const std::unique_ptr<Checker> checker_;
  std::optional<EventSource> events_;
  RaceOracle oracle_;
  bool small_ = false;  // accesses of one and two bytes
  uint64_t shared_bytes_ = kPart;
  bool careful_ = false;  // most accesses that would race are left out
  bool at_once_ = false;  // no load of shared memory is a plain_shared_load
  std::vector<Instruction> instructions_;
  std::deque<OracleStep> steps_;
  std::map<RaceOracle::Place, uint32_t> memory_;
  std::set<RaceOracle::Place> unsure_;  // words that have raced, or that several threads have stored one value to
  std::vector<const OracleStep*> under_way_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> arrived_;  // by block and barrier: warps that went on
  uint32_t fenced_ = 0;                                        // warps that have done nothing since their last fence
  uint32_t value_ = 1000;
  bool good_ = true;
};

Tally Compare(const Style& style, uint32_t seed, int usual) {
  const char* asked = std::getenv("LOCKSTEP_RANDOM_PROGRAMS");
  const int programs = asked == nullptr ? usual : std::atoi(asked);
  std::mt19937 random(seed);
  Tally tally;
  for (int k = 0; k < programs; ++k) {
    if (!RandomProgram(random, style, tally).Run()) {
      std::printf("program %d of seed %u\n", k, seed);
      break;
    }
  }
  std::printf("%s: %d programs, %llu accesses, %llu that race, %llu missed, %llu left out\n", style.name, programs,
              static_cast<unsigned long long>(tally.accesses), static_cast<unsigned long long>(tally.racing),
              static_cast<unsigned long long>(tally.missed), static_cast<unsigned long long>(tally.left_out));
  EXPECT_GT(tally.accesses, static_cast<uint64_t>(programs) * 20);
  EXPECT_GT(tally.racing, static_cast<uint64_t>(programs));
  return tally;
}

class RaceRandomTest : public ::testing::TestWithParam<Style> {};

TEST_P(RaceRandomTest, FindsRacesAndNothingElse) {
  const Style& style = GetParam();
  const Tally tally = Compare(style, 1, 300);
  // docs/concepts/fault-checking.md, "What it cannot see", lists what it may miss.
  const uint64_t allowed = style.atomics ? tally.racing / 100 : style.partial ? tally.racing / 1000 : 0;
  EXPECT_LE(tally.missed, allowed);
}

INSTANTIATE_TEST_SUITE_P(
    Styles, RaceRandomTest,
    ::testing::Values(Style{"Shared", true, false, false, false}, Style{"Global", false, true, false, false},
                      Style{"Both", true, true, false, false}, Style{"Partial", true, true, true, false},
                      Style{"Atomics", true, true, false, true}, Style{"AtomicsPartial", true, true, true, true}),
    [](const auto& style) { return std::string(style.param.name); });

}  // namespace race_random_test
}  // namespace lockstep::vgpu
