// Raw findings, folded by kind, space, pair of instructions and, except for races, detail.
#pragma once

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {

// Of equal findings the table prefers one between two blocks, then the one from the lowest block, then the one with the
// lowest threads, then the first. So the result does not depend on which CPU thread ran which block, and rarely on the
// order of a block's warps.
class FindingTable {
 public:
  void Add(const RawFinding& raw) {
    const RawFinding finding = WithReach(raw);
    const Key key = KeyOf(finding);
    const auto [entry, added] = table_.try_emplace(key, finding);
    if (!added) return Merge(entry->second, finding);
    newest_ = &entry->second;
  }

  // The last one that was added as a new entry; null: none since the last Take().
  const RawFinding* newest() const { return newest_; }
  size_t size() const { return table_.size(); }

  void Absorb(FindingTable& other) {
    for (const auto& [key, finding] : other.table_) {
      const auto [entry, added] = table_.try_emplace(key, finding);
      if (!added) Merge(entry->second, finding);
    }
    other.table_.clear();
  }

  std::vector<RawFinding> Take() {
    std::vector<RawFinding> findings;
    for (const auto& [key, finding] : table_) findings.push_back(finding);
    table_.clear();
    newest_ = nullptr;
    std::stable_sort(findings.begin(), findings.end(),
                     [](const RawFinding& a, const RawFinding& b) { return BlockOf(a) < BlockOf(b); });
    return findings;
  }

 private:
  using Key = std::tuple<FindingKind, uint32_t, uint32_t, MemorySpace, std::string_view>;

  // For a race, the order of the two accesses does not matter.
  static Key KeyOf(const RawFinding& finding) {
    const auto [low, high] = std::minmax(finding.first.pc, finding.second.pc);
    if (finding.kind == FindingKind::kRace) return {finding.kind, low, high, finding.space, ""};
    return {finding.kind, finding.first.pc, finding.second.pc, finding.space, finding.detail};
  }
  // The block in which the finding was made.
  static uint32_t BlockOf(const RawFinding& finding) {
    return finding.has_second ? finding.second.block_index : finding.first.block_index;
  }
  using Place = std::tuple<bool, uint32_t, uint32_t, uint32_t>;  // within a block?, the block, and its threads
  static Place PlaceOf(const RawFinding& finding) {
    const uint32_t first = finding.first.thread_index;
    const uint32_t second = finding.has_second ? finding.second.thread_index : first;
    return {!finding.across_blocks, BlockOf(finding), std::min(first, second), std::max(first, second)};
  }
  // Sets whether a race is between warps of one block or between blocks.
  static RawFinding WithReach(RawFinding finding) {
    if (finding.kind != FindingKind::kRace) return finding;
    finding.across_blocks = finding.first.block_index != finding.second.block_index;
    finding.several_warps =
        !finding.across_blocks && finding.first.thread_index / kWarpSize != finding.second.thread_index / kWarpSize;
    return finding;
  }
  static void Merge(RawFinding& into, const RawFinding& finding) {
    const uint64_t count = into.count + finding.count;
    const bool across_blocks = into.across_blocks || finding.across_blocks;
    const bool several_warps = into.several_warps || finding.several_warps ||
                               into.first.thread_index / kWarpSize != finding.first.thread_index / kWarpSize;
    if (PlaceOf(finding) < PlaceOf(into)) into = finding;
    into.count = count;
    into.across_blocks = across_blocks;
    into.several_warps = several_warps;
  }

  std::map<Key, RawFinding> table_;
  const RawFinding* newest_ = nullptr;
};

}  // namespace lockstep::vgpu
