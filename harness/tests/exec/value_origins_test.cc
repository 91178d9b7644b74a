// Origins of values compared with a simple definition: the set of elements that each slot's value in a lane comes from.
// Takes 0.5 s optimised, 2 s without.
#include "vgpu/exec/value_origins.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace lockstep::vgpu {
namespace value_origins_test {

using Held = ValueOrigins::Held;
using Element = std::pair<uint32_t, uint32_t>;
constexpr uint32_t kSlots = 9;

class Plain {
 public:
  using Values = std::array<std::set<Element>, kWarpSize>;  // by lane

  void Load(uint32_t slot, Element element, LaneMask lanes) {
    ForLanes(lanes, [&](size_t lane) { slots_[slot][lane].insert(element); });
  }
  void Drop(uint32_t slot, LaneMask lanes) {
    ForLanes(lanes, [&](size_t lane) { slots_[slot][lane].clear(); });
  }
  void Gather(uint32_t slot, LaneMask lanes, Values& to) const {
    ForLanes(lanes, [&](size_t lane) { to[lane].insert(slots_[slot][lane].begin(), slots_[slot][lane].end()); });
  }
  void Put(uint32_t slot, LaneMask lanes, const Values& from) {
    Drop(slot, lanes);
    for (size_t lane = 0; lane < kWarpSize; ++lane) slots_[slot][lane].insert(from[lane].begin(), from[lane].end());
  }
  // By element: lanes that use it for the first time.
  std::map<Element, LaneMask> Use(const Values& from) {
    std::map<Element, LaneMask> fresh;
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      for (const Element& element : from[lane]) {
        const LaneMask bit = LaneMask{1} << lane;
        if ((used_[element] & bit) == 0) fresh[element] |= bit;
        used_[element] |= bit;
      }
    }
    return fresh;
  }
  LaneMask LanesOf(uint32_t slot) const {
    LaneMask lanes = 0;
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      for (const Element& element : slots_[slot][lane]) lanes |= LaneMask{!IsUsed(element, lane)} << lane;
    }
    return lanes;
  }
  bool MayBeUsed(const Element& element) const {
    for (const Values& slot : slots_) {
      for (size_t lane = 0; lane < kWarpSize; ++lane) {
        if (slot[lane].contains(element) && !IsUsed(element, lane)) return true;
      }
    }
    return false;
  }

 private:
  template <typename F>
  static void ForLanes(LaneMask lanes, const F& f) {
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      if ((lanes >> lane & 1) != 0) f(lane);
    }
  }
  bool IsUsed(const Element& element, size_t lane) const {
    const auto found = used_.find(element);
    return found != used_.end() && (found->second >> lane & 1) != 0;
  }
  std::array<Values, kSlots> slots_;
  std::map<Element, LaneMask> used_;
};

// Random instructions of a warp: loads, results of up to three operands (some under a guard, which the result depends
// on in all lanes), uses, deaths.
class RandomWarp {
 public:
  RandomWarp(uint64_t seed, size_t flatten_at) : random_(seed), origins_(kSlots, flatten_at) {}

  void Run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      Step();
      origins_.LimitMemory();
      origins_.ForClosed([&](ValueOrigins::Element closed) {
        const Element element{closed.read, closed.part};
        EXPECT_TRUE(open_.erase(element)) << "closed twice";
        EXPECT_FALSE(plain_.MayBeUsed(element)) << "read " << closed.read << " is closed too early";
      });
      const uint32_t slot = Slot();
      ASSERT_EQ(origins_.LanesOf(slot, kFullMask), plain_.LanesOf(slot));
    }
    origins_.DropAll(kFullMask);
    origins_.ForClosed([&](ValueOrigins::Element closed) { open_.erase({closed.read, closed.part}); });
    EXPECT_TRUE(open_.empty());
    EXPECT_TRUE(origins_.empty());
    EXPECT_EQ(origins_.live(), 0u);
  }

 private:
  uint32_t Number(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  uint32_t Slot() { return Number(kSlots); }
  LaneMask Lanes() { return Number(3) == 0 ? static_cast<LaneMask>(random_()) | 1 : kFullMask; }

  void Step() {
    const LaneMask lanes = Lanes();
    switch (Number(8)) {
      case 0: {
        const Element element{next_++, Number(2)};
        const uint32_t slot = Slot();
        origins_.Drop(slot, lanes);
        plain_.Drop(slot, lanes);
        origins_.Load(slot, {element.first, element.second}, lanes);
        plain_.Load(slot, element, lanes);
        open_.insert(element);
        return;
      }
      case 1: {
        const uint32_t slot = Slot();
        origins_.Drop(slot, lanes);
        plain_.Drop(slot, lanes);
        return;
      }
      default:
        break;
    }
    std::vector<Held> gathered;
    Plain::Values values;
    for (uint32_t operands = 1 + Number(3); operands > 0; --operands) {
      const uint32_t slot = Slot();
      const LaneMask some = Number(2) == 0 ? lanes & static_cast<LaneMask>(random_()) : lanes;
      origins_.Gather(slot, some, gathered);
      plain_.Gather(slot, some, values);
    }
    if (Number(10) == 0) {  // the guard
      const uint32_t slot = Slot();
      origins_.Gather(slot, kFullMask, gathered);
      plain_.Gather(slot, kFullMask, values);
    }
    if (Number(8) == 0) {
      std::map<Element, LaneMask> fresh;
      for (const Held& held : gathered) {
        origins_.Use(held, [&](ValueOrigins::Element element, LaneMask by) {
          EXPECT_EQ(fresh[Element(element.read, element.part)] & by, 0u);
          fresh[{element.read, element.part}] |= by;
        });
      }
      EXPECT_EQ(fresh, plain_.Use(values));
      return;
    }
    const bool several = Number(4) == 0;
    if (several) origins_.Keep(gathered);
    for (int results = several ? 2 : 1; results > 0; --results) {
      const uint32_t slot = Slot();
      origins_.Put(slot, lanes, gathered);
      plain_.Put(slot, lanes, values);
    }
    if (several) origins_.LetGo(gathered);
  }

  std::mt19937_64 random_;
  ValueOrigins origins_;
  Plain plain_;
  std::set<Element> open_;
  uint32_t next_ = 0;
};

TEST(ValueOriginsTest, RandomInstructionsAsDefined) {  // in turn
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomWarp(seed, seed % 2 == 0 ? 12 : ValueOrigins::kFlattenAt).Run(300);
  }
}

// An unused sum in a loop: as many origins as reads, not as iterations.
TEST(ValueOriginsTest, ALongChainStaysSmall) {
  ValueOrigins origins(2);
  origins.Load(0, {0, 0}, kFullMask);
  origins.Load(1, {1, 0}, kFullMask);
  std::vector<Held> gathered;
  for (int turn = 0; turn < 1'000'000; ++turn) {
    gathered.clear();
    origins.Gather(0, kFullMask, gathered);
    origins.Gather(1, kFullMask, gathered);
    origins.Put(0, kFullMask, gathered);
    origins.LimitMemory();
    ASSERT_LE(origins.live(), ValueOrigins::kFlattenAt + 2);
  }
  int elements = 0;
  for (const Held& held : gathered) {
    origins.Use(held, [&](ValueOrigins::Element, LaneMask lanes) { elements += lanes == kFullMask ? 1 : 0; });
  }
  EXPECT_EQ(elements, 2);
}

}  // namespace value_origins_test
}  // namespace lockstep::vgpu
