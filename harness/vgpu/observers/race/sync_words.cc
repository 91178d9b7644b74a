#include "vgpu/observers/race/sync_words.h"

#include <algorithm>
#include <bit>

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kGranule = 4;

// Visits each word of an access; words shared by consecutive lanes only once. reads: a small access also visits the
// word that contains it.
template <typename F>
void ForWords(const MemoryAccess& event, bool reads, const F& f) {
  uint64_t last = 0;
  bool any = false;
  for (LaneMask left = event.mask; left != 0; left &= left - 1) {
    const uint64_t address = event.address[std::countr_zero(left)];
    if (any && address == last) continue;
    any = true;
    last = address;
    f(address);
    for (uint32_t at = kGranule; at < event.bytes; at += kGranule) f(address + at);
    if (reads && address % kGranule != 0) f(address / kGranule * kGranule);
  }
}

template <typename Clocks>
auto Place(Clocks& clocks, uint32_t group) {
  return std::lower_bound(clocks.begin(), clocks.end(), group,
                          [](const auto& entry, uint32_t value) { return entry.first < value; });
}

}  // namespace

void SyncWords::Publish(const MemoryAccess& event, OrderLevel level, bool replaces, const LevelGroups& groups,
                        const LevelClocks& fenced) {
  // Whatever is fenced at a wider scope is also fenced at a narrower one.
  const bool nothing = fenced[kBlockLevel].empty();
  if (nothing && words_.empty()) return;
  ForWords(event, false, [&](uint64_t key) {
    if (nothing && !words_.contains(key)) return;
    PublishOn(key, level, replaces, groups, fenced);
  });
}

void SyncWords::PublishOn(uint64_t key, OrderLevel level, bool replaces, const LevelGroups& groups,
                          const LevelClocks& fenced) {
  auto at = words_.find(key);
  if (at == words_.end() && words_.size() < kMost) at = words_.try_emplace(key).first;
  was_generous_ |= at == words_.end();
  Word& word = at == words_.end() ? rest_ : at->second;
  if (replaces && at != words_.end()) {
    for (GroupClocks& clocks : word.clocks) clocks.clear();
  }
  word.observers.clear();
  word.observed_by_all = false;
  for (size_t k = 0; k <= level; ++k) {
    if (fenced[k].empty() || groups[k] == kNoGroup) continue;
    GroupClocks& clocks = word.clocks[k];
    const auto place = Place(clocks, groups[k]);
    if (place == clocks.end() || place->first != groups[k]) {
      clocks.insert(place, {groups[k], fenced[k]});
      ++published_;
    } else if (place->second.Join(fenced[k])) {
      ++published_;
    }
  }
}

bool SyncWords::Take(Word& word, OrderLevel level, const LevelGroups& groups, LevelClocks& pending) {
  bool more = false;
  for (size_t k = 0; k <= level; ++k) {
    if (groups[k] == kNoGroup) continue;
    const GroupClocks& clocks = word.clocks[k];
    const auto place = Place(clocks, groups[k]);
    if (place != clocks.end() && place->first == groups[k]) more |= pending[k].Join(place->second);
  }
  if (!word.observed_by_all &&
      std::find(word.observers.begin(), word.observers.end(), groups[kBlockLevel]) == word.observers.end()) {
    word.observers.push_back(groups[kBlockLevel]);
    word.observed_by_all = word.observers.size() > kMostObservers;
  }
  return more;
}

bool SyncWords::Read(const MemoryAccess& event, OrderLevel level, const LevelGroups& groups, LevelClocks& pending) {
  if (words_.empty()) return false;
  bool more = false;
  ForWords(event, true, [&](uint64_t key) {
    const auto at = words_.find(key);
    if (at != words_.end()) {
      at->second.is_flag |= event.order != MemoryOrder::kVolatile || event.waits;
      more |= Take(at->second, level, groups, pending);
    } else if (words_.size() >= kMost) {
      more |= Take(rest_, level, groups, pending);
    }
  });
  return more;
}

void SyncWords::NoteWait(const MemoryAccess& event) {
  ForWords(event, false, [&](uint64_t key) {
    if (awaited_.size() < kMost) awaited_.insert(key);
  });
}

bool SyncWords::Awaited(const MemoryAccess& event) const {
  if (awaited_.size() >= kMost) {
    was_generous_ = true;
    return true;
  }
  bool all = !awaited_.empty();
  ForWords(event, false, [&](uint64_t key) { all = all && awaited_.contains(key); });
  return all;
}

bool SyncWords::Observed(uint64_t address, uint32_t bytes, uint32_t block) const {
  if (words_.size() >= kMost) return true;
  for (uint32_t at = 0; at < bytes; at += kGranule) {
    const auto entry = words_.find(address + at);
    if (entry == words_.end()) continue;
    const Word& word = entry->second;
    was_generous_ |= word.observed_by_all;
    if (word.observed_by_all ||
        std::find(word.observers.begin(), word.observers.end(), block) != word.observers.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace lockstep::vgpu
