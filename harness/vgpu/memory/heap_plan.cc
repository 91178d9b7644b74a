#include "vgpu/memory/heap_plan.h"

#include <algorithm>

namespace lockstep::vgpu {
namespace {

constexpr uint64_t kCell = 80, kHead = 16;  // kHead: bytes before the memory returned to a program
constexpr uint64_t kOwn = 288, kOwnOfNode = 256;
constexpr uint64_t kSlot = 24 * kCell + kOwn, kGroup = 24 * kSlot + kOwn, kNode = 24 * kGroup + kOwnOfNode;
constexpr uint64_t kOwnOfRest = 1696;                 // inferred from counts: more than 1536, at most 1856
constexpr uint64_t kPart[] = {kCell, kSlot, kGroup};  // bytes of a part of a slot, a group, a node
constexpr uint64_t kMost = uint64_t{1} << 40;         // more than any device has
constexpr int kNodes = 3;                             // the level of whole nodes

// The first of `count` free neighbours; -1: there are none.
int FindRun(uint32_t taken, int parts, int count) {
  const uint32_t run = (uint32_t{1} << count) - 1;
  for (int first = 0; first + count <= parts; ++first) {
    if ((taken & run << first) == 0) return first;
  }
  return -1;
}

// Node counts are rounded up to a power of two, or three times one.
int RoundedNodes(int count) {
  int most = 1;
  while (most < count) most *= 2;
  return most / 4 * 3 >= count ? most / 4 * 3 : most;
}

}  // namespace

HeapPlan::HeapPlan(uint64_t bytes) : whole_(std::min(bytes, kMost) / kNode) {
  // The rest of the heap: some groups, and in a last one some slots.
  const uint64_t rest = std::min(bytes, kMost) % kNode;
  auto node = std::make_unique<Area>();
  node->parts = static_cast<int>(rest / kGroup);
  const uint64_t left = rest % kGroup;
  const int slots = left > kOwnOfRest ? static_cast<int>((left - kOwnOfRest) / kSlot) : 0;
  if (slots > 0 && node->parts < kParts) {
    auto group = std::make_unique<Area>();
    group->parts = slots;
    node->taken = uint32_t{1} << node->parts;
    node->cut[static_cast<size_t>(node->parts++)] = std::move(group);
  }
  cut_[static_cast<int>(whole_.size())] = std::move(node);
}

bool HeapPlan::Put(Area& area, int level, Place& place) {
  int& too_many = area.too_many[static_cast<size_t>(place.level)];
  if (place.count >= too_many) return false;
  if (level == place.level) {
    const int first = FindRun(area.taken, area.parts, place.count);
    if (first < 0) {
      too_many = place.count;
      return false;
    }
    area.taken |= ((uint32_t{1} << place.count) - 1) << first;
    place.steps.push_back(first);
    return true;
  }
  // Prefers a part that is divided already, then a free one.
  for (const bool is_cut : {true, false}) {
    for (int part = 0; part < area.parts; ++part) {
      std::unique_ptr<Area>& within = area.cut[static_cast<size_t>(part)];
      const bool is_taken = (area.taken >> part & 1) != 0;
      if (is_cut ? within == nullptr : is_taken) continue;
      if (within == nullptr) within = std::make_unique<Area>();
      place.steps.push_back(part);
      if (Put(*within, level - 1, place)) {
        area.taken |= uint32_t{1} << part;
        return true;
      }
      place.steps.pop_back();
    }
  }
  too_many = place.count;
  return false;
}

bool HeapPlan::Take(uint64_t address, uint64_t bytes) {
  Place place;
  const auto counted = [&](uint64_t unit) { return static_cast<int>((bytes + kHead + unit - 1) / unit); };
  if (bytes > kNode * (whole_.size() + 1)) return false;
  while (place.level < kNodes && counted(kPart[place.level]) > kParts) ++place.level;
  place.count = place.level < kNodes ? counted(kPart[place.level]) : RoundedNodes(counted(kNode));
  if (place.level == kNodes) {
    const auto is_free = [](bool taken) { return !taken; };
    for (size_t first = 0; first + static_cast<size_t>(place.count) <= whole_.size(); ++first) {
      const auto begin = whole_.begin() + static_cast<std::ptrdiff_t>(first);
      if (!std::all_of(begin, begin + place.count, is_free)) continue;
      std::fill_n(begin, place.count, true);
      place.steps = {static_cast<int>(first)};
      return taken_.emplace(address, place), true;
    }
    return false;
  }
  for (auto& [node, area] : cut_) {
    place.steps = {node};
    if (Put(*area, kNodes - 1, place)) return taken_.emplace(address, place), true;
  }
  const auto free = std::find(whole_.begin(), whole_.end(), false);
  if (free == whole_.end()) return false;
  *free = true;
  const int node = static_cast<int>(free - whole_.begin());
  place.steps = {node};
  Put(*(cut_[node] = std::make_unique<Area>()), kNodes - 1, place);
  return taken_.emplace(address, place), true;
}

void HeapPlan::Give(uint64_t address) {
  const auto found = taken_.find(address);
  if (found == taken_.end()) return;
  const Place place = std::move(found->second);
  taken_.erase(found);
  if (place.level == kNodes) {
    std::fill_n(whole_.begin() + place.steps[0], place.count, false);
    return;
  }
  std::vector<Area*> path = {cut_[place.steps[0]].get()};
  for (size_t k = 1; k + 1 < place.steps.size(); ++k) {
    path.push_back(path.back()->cut[static_cast<size_t>(place.steps[k])].get());
  }
  path.back()->taken &= ~(((uint32_t{1} << place.count) - 1) << place.steps.back());
  for (Area* const area : path) area->too_many.fill(kParts + 1);
  // An empty area can be taken whole again. The rest of the heap stays divided.
  for (size_t k = path.size() - 1; k > 0 && path[k]->taken == 0 && path[k]->parts == kParts; --k) {
    path[k - 1]->taken &= ~(uint32_t{1} << place.steps[k]);
    path[k - 1]->cut[static_cast<size_t>(place.steps[k])].reset();
  }
  if (path[0]->taken == 0 && place.steps[0] < static_cast<int>(whole_.size())) {
    cut_.erase(place.steps[0]);
    whole_[static_cast<size_t>(place.steps[0])] = false;
  }
}

}  // namespace lockstep::vgpu
