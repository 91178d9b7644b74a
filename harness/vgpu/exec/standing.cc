#include "vgpu/exec/standing.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "vgpu/core/source_place.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kMostRows = 4;    // rows before the summary row
constexpr size_t kMostPieces = 3;  // in a list of warps, lanes or blocks

using Lanes = std::vector<LaneMask>;  // by warp

// Threads in the same state.
struct Row {
  uint64_t threads = 0;
  std::map<uint32_t, Lanes> blocks;  // by index in the grid
};

// "a, b, c, …"
std::string Joined(const std::vector<std::string>& pieces, const char* between) {
  std::string text;
  for (size_t k = 0; k < pieces.size() && k <= kMostPieces; ++k) {
    text += (k == 0 ? "" : between) + (k == kMostPieces ? "…" : pieces[k]);
  }
  return text;
}

// "3" or "3-7"
std::string RangeText(size_t first, size_t end) {
  return std::to_string(first) + (end - first > 1 ? "-" + std::to_string(end - 1) : "");
}

std::string LanesText(LaneMask lanes) {
  constexpr LaneMask kEven = 0x55555555;
  if (lanes == kEven) return "even lanes";
  if (lanes == ~kEven) return "odd lanes";
  std::vector<std::string> ranges;
  for (size_t lane = 0; lane < kWarpSize; ++lane) {
    const size_t first = lane;
    while (lane < kWarpSize && (lanes >> lane & 1) != 0) ++lane;
    if (lane > first) ranges.push_back(RangeText(first, lane));
  }
  return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + Joined(ranges, ", ");
}

// "warps 1-3, warp 4 lanes 0-15"; empty: all of the block.
std::string WarpsText(const Lanes& lanes, const Lanes& all) {
  if (lanes == all) return "";
  std::vector<std::string> pieces;
  for (size_t w = 0; w < all.size(); ++w) {
    const size_t first = w;
    while (w < all.size() && lanes[w] == all[w]) ++w;
    if (w > first) pieces.push_back((w - first > 1 ? "warps " : "warp ") + RangeText(first, w));
    if (w < all.size() && lanes[w] != 0) pieces.push_back("warp " + std::to_string(w) + " " + LanesText(lanes[w]));
  }
  return Joined(pieces, ", ");
}

// " (2 blocks from (1,0,0): warp 0)"; empty: all threads of the only block.
std::string WhoText(const Row& row, size_t blocks, const Lanes& all, const Dim3& grid) {
  std::vector<std::pair<std::string, std::vector<uint32_t>>> alike;
  for (const auto& [block, lanes] : row.blocks) {
    const std::string warps = WarpsText(lanes, all);
    auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& other) { return other.first == warps; });
    if (same == alike.end()) same = alike.insert(same, {warps, {}});
    same->second.push_back(block);
  }
  std::vector<std::string> pieces;
  for (const auto& [warps, indices] : alike) {
    const std::string first = PointText(Unflatten(indices[0], grid));
    const std::string who = blocks == 1                ? ""
                            : indices.size() == blocks ? (warps.empty() ? "" : "each block")
                            : indices.size() == 1      ? "block " + first
                                                       : std::to_string(indices.size()) + " blocks from " + first;
    pieces.push_back(who + (who.empty() || warps.empty() ? "" : ": ") + warps);
  }
  const std::string text = Joined(pieces, "; ");
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::vector<Standing> StandingsOf(Block& block) {
  std::vector<Standing> all;
  for (Warp& warp : block.warps) {
    if ((block.live_warps >> warp.index & 1) == 0) continue;
    SaveGroup(warp);
    const uint32_t last = static_cast<uint32_t>(warp.engine->program().code.size()) - 1;
    for (const Group& group : warp.state->groups) {
      const bool waits = group.status != GroupStatus::kReady;
      all.push_back({&warp, group.mask, std::min(waits ? group.wait_pc : group.pc, last),
                     group.status == GroupStatus::kAtBarrier    ? Standing::Doing::kAtBarrier
                     : group.status == GroupStatus::kAtWarpSync ? Standing::Doing::kAtWarpSync
                                                                : Standing::Doing::kRuns,
                     group.barrier, group.members, group.spun});
    }
    for (const ConvergenceEntry& entry : warp.state->entries) {
      if (entry.pc == kNoPc || entry.arrived == 0) continue;
      all.push_back({&warp, entry.arrived, std::min(entry.pc, last), Standing::Doing::kAwaitsItsWarp});
    }
  }
  return all;
}

std::vector<std::string> StandingText(const LaunchState& launch, const std::vector<Block*>& blocks,
                                      std::optional<uint64_t> ended_blocks) {
  const SourcePlaces places(*launch.program);
  const uint64_t threads = launch.info.block.Count(), total = threads * blocks.size();
  Lanes all;
  for (uint64_t left = threads; left != 0; left -= std::min<uint64_t>(left, kWarpSize)) {
    all.push_back(left >= kWarpSize ? ~LaneMask{0} : (LaneMask{1} << left) - 1);
  }
  std::map<std::pair<int, std::string>, Row> rows;  // by state (waits first) and location
  const auto add = [&](int order, const std::string& what, const Block& block, uint32_t warp, LaneMask lanes) {
    if (lanes == 0) return;
    Row& row = rows[{order, what}];
    row.threads += static_cast<uint64_t>(std::popcount(lanes));
    row.blocks.try_emplace(block.index, all.size()).first->second[warp] |= lanes;
  };
  for (Block* block : blocks) {
    Lanes ended = all;
    for (const Standing& s : StandingsOf(*block)) {
      std::string where = places.Text(s.pc);
      if (where.empty()) where = "PTX line " + std::to_string(launch.program->info[s.pc].ptx_line);
      const std::string barrier = s.barrier == 0 ? "the barrier" : "barrier " + std::to_string(s.barrier);
      const std::string what[] = {"at " + barrier + " in " + where,
                                  "at " + where + ", waiting for lanes of the warp there",
                                  "at " + where + ", waiting for the rest of the warp", "at " + where};
      add(static_cast<int>(s.doing), what[static_cast<size_t>(s.doing)], *block, s.warp->index, s.lanes);
      ended[s.warp->index] &= ~s.lanes;
    }
    for (uint32_t w = 0; w < ended.size(); ++w) add(4, "ended", *block, w, ended[w]);
  }
  const uint64_t grid = launch.info.grid.Count();
  const bool tells_blocks = ended_blocks && grid > blocks.size();
  if (rows.size() < 2 && !tells_blocks) return {};
  std::vector<std::pair<std::pair<int, std::string>, Row>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.first.first, b.second.threads) < std::tuple(b.first.first, a.second.threads);
  });
  std::vector<std::string> lines;
  uint64_t shown = 0;
  for (size_t k = 0; k < sorted.size() && k < kMostRows; ++k) {
    const auto& [key, row] = sorted[k];
    lines.push_back(std::to_string(row.threads) + " of " + std::to_string(total) + " " + key.second +
                    WhoText(row, blocks.size(), all, launch.info.grid));
    shown += row.threads;
  }
  if (shown < total) {
    lines.push_back(std::to_string(total - shown) + " of " + std::to_string(total) + " in " +
                    std::to_string(sorted.size() - kMostRows) + " other places");
  }
  if (tells_blocks) {
    const uint64_t waiting = grid - blocks.size() - *ended_blocks;
    lines.push_back("blocks: " + std::to_string(blocks.size()) + " of " + std::to_string(grid) + " run" +
                    (*ended_blocks > 0 ? ", " + std::to_string(*ended_blocks) + " have ended" : "") +
                    (waiting > 0 ? ", " + std::to_string(waiting) + " have not begun" : ""));
  }
  return lines;
}

}  // namespace lockstep::vgpu
