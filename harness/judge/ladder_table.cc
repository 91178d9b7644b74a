#include "judge/ladder_table.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "judge/text.h"
#include "vgpu/model/profile.h"

namespace lockstep::judge {
namespace {

size_t Columns(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

const RungProfile* Find(const std::vector<RungProfile>& profiles, const std::string& rung, std::string_view source) {
  const auto found = std::find_if(profiles.begin(), profiles.end(),
                                  [&](const RungProfile& p) { return p.rung == rung && p.source == source; });
  return found == profiles.end() ? nullptr : &*found;
}

std::string Fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

constexpr const char* kNone = "–";

std::vector<std::string> Row(const Rung& rung, const RungProfile& own, const RungProfile* reference,
                             const RungProfile* first) {
  const vgpu::Counters& counters = own.counters;
  const uint64_t requests = counters.global_load_requests + counters.global_store_requests;
  const uint64_t sectors = counters.global_load_sectors + counters.global_store_sectors;
  const bool comparable = first != nullptr && own.microseconds > 0;
  return {rung.id,
          Fixed(own.microseconds, 1),
          reference != nullptr ? Fixed(reference->microseconds, 1) : kNone,
          comparable ? Fixed(first->microseconds / own.microseconds, 2) + "×" : kNone,
          Grouped(counters.divergent_branches),
          Grouped(counters.shared_conflicts()),
          requests > 0 ? Fixed(static_cast<double>(sectors) / static_cast<double>(requests), 2) : kNone,
          Grouped(counters.barriers),
          Grouped(counters.warp_instructions),
          rung.published_ms && rung.published_gb_s
              ? Fixed(*rung.published_ms, 3) + " (" + Fixed(*rung.published_gb_s, 1) + ")"
              : kNone};
}

}  // namespace

std::string LadderTable(const Suite& suite, bool color) {
  const Results& results = suite.results();
  if (results.profiles.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"rung", "modelled µs", "reference µs", "speed-up", "divergent",
                                                 "conflicts", "sectors/request", "barriers", "warp instr.",
                                                 "course ms (GB/s)"}};
  const std::vector<Rung>& rungs = suite.assignment().rungs;
  const std::vector<std::string> selected = suite.SelectedRungs();
  for (const Rung& rung : rungs) {
    if (std::find(selected.begin(), selected.end(), rung.id) == selected.end()) continue;
    const RungProfile* own = Find(results.profiles, rung.id, "submission");
    if (own == nullptr) continue;
    rows.push_back(Row(rung, *own, Find(results.profiles, rung.id, "reference"),
                       Find(results.profiles, rungs.front().id, "submission")));
  }
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  const vgpu::DeviceProfile* profile = vgpu::FindProfile(suite.options().evidence_profile);
  std::string text = "\nEvidence at n = " + Grouped(suite.assignment().evidence_elements) + ", modelled on " +
                     (profile != nullptr ? profile->name : suite.options().evidence_profile) + "; speed-up over " +
                     rungs.front().id + "; the course's figures are a GeForce 8800's\n\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string gap(widths[i] - Columns(rows[r][i]), ' ');
      line += (i == 0 ? rows[r][i] + gap : "  " + gap + rows[r][i]);
    }
    text += "  " + (r == 0 && color ? "\033[1m" + line + "\033[0m" : line) + "\n";
  }
  return text;
}

}  // namespace lockstep::judge
