// Which loads the values in a warp's registers come from; maintained by exec/read_tracker.h.
//
// Theory of operation. A register's slot has a list of *origins*, each with the lanes whose value comes from it. An
// origin is an element of a read, or a node: a value that an instruction computed, with references to the origins of
// its operands. So an instruction costs the same, however many reads contributed to its operands. A use marks lanes of
// an origin and of all origins reachable from it, each once. An origin that all its lanes have used is *spent*: a spent
// node drops its references, so a value that a loop stores and computes on leaves no chain behind. An origin without
// references is freed. An element is *closed* once it is freed or spent.
//
// An unused sum in a loop makes a chain with a node per iteration. So when there are many origins, Flatten replaces
// each slot's origin by one that refers to the elements directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

class ValueOrigins {
 public:
  // In these lanes, the value has this origin.
  struct Held {
    uint32_t origin;
    LaneMask lanes;
  };
  struct Element {
    uint32_t read, part;
  };
  static constexpr size_t kFlattenAt = 1u << 14;  // origins of a warp: a megabyte

  explicit ValueOrigins(size_t slots, size_t flatten_at = kFlattenAt)
      : slots_(slots), holds_((slots + 63) / 64), flatten_at_(flatten_at), limit_(flatten_at) {}

  // No slot holds a value from a read.
  bool empty() const { return held_ == 0; }

  const std::vector<Held>& Of(uint32_t slot) const { return slots_[slot]; }
  // The subset of lanes whose value comes from an element that they have not used.
  LaneMask LanesOf(uint32_t slot, LaneMask lanes);

  // The slot's value in these lanes is the element of a read.
  void Load(uint32_t slot, Element element, LaneMask lanes);
  // Appends the slot's origins in these lanes to `to`, except for lanes that have used them.
  void Gather(uint32_t slot, LaneMask lanes, std::vector<Held>& to);
  // Assigns a new value with these origins to the slot in these lanes. Their lanes may be a superset: then the new
  // value also depends on the old one.
  void Put(uint32_t slot, LaneMask lanes, const std::vector<Held>& from);
  void Drop(uint32_t slot, LaneMask lanes);
  // Between Keep and LetGo, gathered origins stay alive even without references.
  void Keep(const std::vector<Held>& gathered) {
    for (const Held& held : gathered) Name(held.origin);
  }
  void LetGo(const std::vector<Held>& gathered) {
    for (const Held& held : gathered) Release(held.origin);
  }
  void DropAll(LaneMask lanes);
  // Calls f(element, lanes) for each element that these lanes use for the first time.
  template <typename F>
  void Use(Held held, const F& f);
  // Calls f(element) for each element that was closed since the last call.
  template <typename F>
  void ForClosed(const F& f) {
    for (const Element& element : closed_) f(element);
    closed_.clear();
  }
  // Call it periodically.
  void LimitMemory() {
    if (live_ > limit_) Flatten();
  }
  size_t live() const { return live_; }  // number of origins

 private:
  static constexpr uint32_t kMostParts = 3;  // the most references of one origin
  static constexpr size_t kMostOfSlot = 8;   // the most origins of one slot
  struct Origin {
    uint32_t named = 0;  // number of references from slots and origins
    LaneMask used = 0;   // lanes that have used the value
    uint8_t parts = 0;   // number of a node's references; 0 once it is spent
    bool is_element = false;
    bool open = false;  // an element that is not closed
    Element element{};
    LaneMask lanes = 0;  // the element's: lanes that loaded it; a node's: lanes of its parts
    LaneMask seen = 0;   // lanes that Unused has visited in its run number seen_in
    uint32_t seen_in = 0;
    Held from[kMostParts];
  };

  uint32_t New();
  void Name(uint32_t origin) { ++origins_[origin].named; }
  void Release(uint32_t origin);
  void ReleaseAll();
  void Close(Origin& origin);
  void Spend(Origin& origin);
  Held Join(const Held* from, size_t parts);
  uint32_t Combine(std::vector<Held> from);
  LaneMask Unused(Held held);
  void Hold(uint32_t slot, Held held);
  void Prune(uint32_t slot, LaneMask dropped);
  void Flatten();
  template <typename F>
  void ForHolding(const F& f);

  std::vector<std::vector<Held>> slots_;  // by slot of the program's UsePlan
  std::vector<uint64_t> holds_;           // a bit for each slot, set if it may hold something
  size_t held_ = 0;                       // entries in all slots
  std::vector<Origin> origins_;
  std::vector<uint32_t> free_;
  const size_t flatten_at_;
  size_t live_ = 0, limit_;
  std::vector<Element> closed_;
  std::vector<Held> todo_;          // scratch for Use and Unused
  uint32_t runs_ = 0;               // calls of Unused so far
  std::vector<uint32_t> released_;  // references to give up, for ReleaseAll
};

template <typename F>
void ValueOrigins::Use(Held held, const F& f) {
  todo_.push_back(held);
  while (!todo_.empty()) {
    const auto [number, asked] = todo_.back();
    todo_.pop_back();
    Origin& origin = origins_[number];
    const LaneMask lanes = asked & ~origin.used;
    if (lanes == 0) continue;
    origin.used |= lanes;
    for (uint32_t k = 0; k < origin.parts; ++k) {
      if ((origin.from[k].lanes & lanes) != 0) todo_.push_back({origin.from[k].origin, origin.from[k].lanes & lanes});
    }
    if (origin.is_element) f(origin.element, lanes);
    if ((origin.lanes & ~origin.used) == 0) Spend(origin);
  }
  ReleaseAll();
}

}  // namespace lockstep::vgpu
