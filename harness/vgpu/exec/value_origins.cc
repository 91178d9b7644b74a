#include "vgpu/exec/value_origins.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace lockstep::vgpu {

uint32_t ValueOrigins::New() {
  ++live_;
  if (free_.empty()) {
    origins_.emplace_back();
    return static_cast<uint32_t>(origins_.size() - 1);
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  origins_[number] = {};
  return number;
}

void ValueOrigins::Close(Origin& origin) {
  if (std::exchange(origin.open, false)) closed_.push_back(origin.element);
}

// For an origin that all its lanes have used. The caller calls ReleaseAll when it no longer needs the origin's parts.
void ValueOrigins::Spend(Origin& origin) {
  Close(origin);
  for (uint32_t k = 0; k < origin.parts; ++k) released_.push_back(origin.from[k].origin);
  origin.parts = 0;
}

void ValueOrigins::Release(uint32_t origin) {
  released_.push_back(origin);
  ReleaseAll();
}

void ValueOrigins::ReleaseAll() {
  while (!released_.empty()) {
    const uint32_t number = released_.back();
    released_.pop_back();
    Origin& gone = origins_[number];
    if (--gone.named != 0) continue;
    for (uint32_t k = 0; k < gone.parts; ++k) released_.push_back(gone.from[k].origin);
    Close(gone);
    free_.push_back(number);
    --live_;
  }
}

// Makes a node from at most kMostParts origins. The caller has counted a reference to each; the node takes these over.
ValueOrigins::Held ValueOrigins::Join(const Held* from, size_t parts) {
  const uint32_t number = New();
  Origin& origin = origins_[number];
  origin.named = 1;
  origin.parts = static_cast<uint8_t>(parts);
  for (size_t k = 0; k < parts; ++k) {
    origin.from[k] = from[k];
    origin.lanes |= from[k].lanes;
  }
  return {number, origin.lanes};
}

// The same for any number of them: many become a tree.
uint32_t ValueOrigins::Combine(std::vector<Held> from) {
  while (from.size() > 1) {
    size_t made = 0;
    for (size_t at = 0; at < from.size(); at += kMostParts) {
      const size_t parts = std::min<size_t>(from.size() - at, kMostParts);
      from[made++] = parts > 1 ? Join(&from[at], parts) : from[at];
    }
    from.resize(made);
  }
  return from[0].origin;
}

// The caller has already counted the slot's reference to the origin.
void ValueOrigins::Hold(uint32_t slot, Held held) {
  std::vector<Held>& list = slots_[slot];
  for (Held& other : list) {
    if (other.origin != held.origin) continue;
    other.lanes |= held.lanes;
    Release(held.origin);
    return;
  }
  list.push_back(held);
  ++held_;
  holds_[slot / 64] |= uint64_t{1} << slot % 64;
  if (list.size() <= kMostOfSlot) return;
  LaneMask lanes = 0;
  for (const Held& entry : list) lanes |= entry.lanes;
  held_ -= list.size() - 1;
  const uint32_t whole = Combine(std::move(list));
  list.assign(1, {whole, lanes});
}

void ValueOrigins::Load(uint32_t slot, Element element, LaneMask lanes) {
  const uint32_t number = New();
  Origin& origin = origins_[number];
  origin.named = 1;
  origin.is_element = origin.open = true;
  origin.element = element;
  origin.lanes = lanes;
  Hold(slot, {number, lanes});
}

LaneMask ValueOrigins::Unused(Held held) {
  LaneMask found = 0;
  ++runs_;
  todo_.push_back(held);
  while (!todo_.empty()) {
    const auto [number, asked] = todo_.back();
    todo_.pop_back();
    Origin& origin = origins_[number];
    if (origin.seen_in != runs_) origin.seen = 0;
    origin.seen_in = runs_;
    const LaneMask lanes = asked & ~origin.used & ~origin.seen & ~found;
    if (lanes == 0) continue;
    origin.seen |= lanes;
    if (origin.is_element) found |= lanes;
    for (uint32_t k = 0; k < origin.parts; ++k) {
      if ((origin.from[k].lanes & lanes) != 0) todo_.push_back({origin.from[k].origin, origin.from[k].lanes & lanes});
    }
  }
  // The asked lanes that are not in `found` have used every element reachable from here, and so this origin.
  Origin& asked = origins_[held.origin];
  asked.used |= held.lanes & ~found;
  if ((asked.lanes & ~asked.used) == 0) Spend(asked);
  ReleaseAll();
  return found;
}

LaneMask ValueOrigins::LanesOf(uint32_t slot, LaneMask lanes) {
  LaneMask found = 0;
  for (const Held& held : slots_[slot]) {
    const LaneMask asked = held.lanes & lanes & ~found;
    if (asked != 0) found |= Unused({held.origin, asked});
  }
  return found;
}

void ValueOrigins::Gather(uint32_t slot, LaneMask lanes, std::vector<Held>& to) {
  std::vector<Held>& list = slots_[slot];
  if (list.empty()) return;
  bool spent = false;
  for (const Held& held : list) {
    const LaneMask left = held.lanes & ~origins_[held.origin].used;
    spent |= left == 0;
    if ((left & lanes) == 0) continue;
    const auto same = std::find_if(to.begin(), to.end(), [&](const Held& h) { return h.origin == held.origin; });
    if (same != to.end()) {
      same->lanes |= left & lanes;
    } else {
      to.push_back({held.origin, left & lanes});
    }
  }
  if (spent) Prune(slot, 0);
}

// Removes lanes from the slot, and origins that all their lanes have used.
void ValueOrigins::Prune(uint32_t slot, LaneMask dropped) {
  std::vector<Held>& list = slots_[slot];
  size_t kept = 0;
  for (Held held : list) {
    held.lanes &= ~dropped;
    if ((held.lanes & ~origins_[held.origin].used) != 0) {
      list[kept++] = held;
    } else {
      Release(held.origin);
    }
  }
  held_ -= list.size() - kept;
  list.resize(kept);
}

void ValueOrigins::Drop(uint32_t slot, LaneMask lanes) {
  if (!slots_[slot].empty()) Prune(slot, lanes);
}

template <typename F>
void ValueOrigins::ForHolding(const F& f) {
  for (size_t word = 0; word < holds_.size(); ++word) {
    for (uint64_t left = holds_[word]; left != 0; left &= left - 1) {
      const auto slot = static_cast<uint32_t>(word * 64 + static_cast<size_t>(std::countr_zero(left)));
      if (!slots_[slot].empty()) f(slot);
      if (slots_[slot].empty()) holds_[word] &= ~(left & -left);
    }
  }
}

void ValueOrigins::DropAll(LaneMask lanes) {
  ForHolding([&](uint32_t slot) { Prune(slot, lanes); });
}

void ValueOrigins::Put(uint32_t slot, LaneMask lanes, const std::vector<Held>& from) {
  // The slot may hold the only reference to them.
  for (const Held& held : from) Name(held.origin);
  Drop(slot, lanes);
  LaneMask all = 0;
  bool apart = true;
  for (const Held& held : from) {
    apart &= (all & held.lanes) == 0;
    all |= held.lanes;
  }
  if (apart) {
    for (const Held& held : from) Hold(slot, held);
  } else {
    Hold(slot, {from.size() <= kMostParts ? Join(from.data(), from.size()).origin : Combine(from), all});
  }
}

void ValueOrigins::Flatten() {
  std::map<std::pair<uint32_t, LaneMask>, std::vector<Held>> behind;
  std::vector<LaneMask> reached(origins_.size());
  std::vector<Held> todo;
  const auto elements_of = [&](Held held) -> const std::vector<Held>& {
    const auto [known, fresh] = behind.try_emplace({held.origin, held.lanes});
    if (!fresh) return known->second;
    std::vector<uint32_t> visited;
    todo.assign(1, held);
    while (!todo.empty()) {
      const Held at = todo.back();
      todo.pop_back();
      const Origin& origin = origins_[at.origin];
      const LaneMask lanes = at.lanes & ~origin.used & ~reached[at.origin];
      if (lanes == 0) continue;
      if (reached[at.origin] == 0) visited.push_back(at.origin);
      reached[at.origin] |= lanes;
      for (uint32_t k = 0; k < origin.parts; ++k) {
        todo.push_back({origin.from[k].origin, origin.from[k].lanes & lanes});
      }
    }
    for (const uint32_t number : visited) {
      if (origins_[number].is_element) known->second.push_back({number, reached[number]});
      reached[number] = 0;
    }
    std::sort(known->second.begin(), known->second.end(), [](Held a, Held b) { return a.origin < b.origin; });
    return known->second;
  };
  // New origins have numbers beyond the size of `reached`, so visit all existing ones first.
  std::vector<std::pair<uint32_t, Held>> old;
  ForHolding([&](uint32_t slot) {
    for (const Held& held : slots_[slot]) {
      if (origins_[held.origin].is_element) continue;
      elements_of(held);
      old.emplace_back(slot, held);
    }
  });
  std::map<std::pair<uint32_t, LaneMask>, Held> made;
  for (const auto& [slot, held] : old) {
    const std::vector<Held>& elements = behind[{held.origin, held.lanes}];
    const auto [known, fresh] = made.try_emplace({held.origin, held.lanes}, Held{0, 0});
    if (fresh && !elements.empty()) {
      for (const Held& element : elements) Name(element.origin);
      known->second.origin = Combine(elements);
      for (const Held& element : elements) known->second.lanes |= element.lanes;
    } else if (!elements.empty()) {
      Name(known->second.origin);
    }
    for (Held& entry : slots_[slot]) {
      if (entry.origin != held.origin || entry.lanes != held.lanes) continue;
      entry = known->second;
      break;
    }
  }
  for (const auto& [slot, held] : old) Release(held.origin);
  // If nothing is reachable from an origin, its entry is now empty.
  for (const auto& [slot, held] : old) {
    std::vector<Held>& list = slots_[slot];
    held_ -= std::erase_if(list, [](const Held& entry) { return entry.lanes == 0; });
  }
  limit_ = std::max(flatten_at_, 4 * live_);
}

}  // namespace lockstep::vgpu
