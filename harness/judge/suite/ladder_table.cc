#include "judge/suite/ladder_table.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "judge/model/text.h"
#include "vgpu/cudart/report/table.h"
#include "vgpu/model/profile.h"

namespace lockstep::judge {
namespace {

using vgpu::WithDecimals;

constexpr const char* kNone = "–";

// The data of a row.
struct Measured {
  const Rung* rung;
  const RungProfile* own;
  const RungProfile* reference;  // nullptr: there is none
  const RungProfile* first;      // the first measured rung's; nullptr: it was not measured
};

std::string Published(const Rung& rung) {
  if (!rung.published_ms) return kNone;
  std::string text = WithDecimals(*rung.published_ms, 3);
  if (rung.published_gb_s) text += " (" + WithDecimals(*rung.published_gb_s, 1) + ")";
  return text;
}

std::string SectorsPerRequest(const vgpu::Counters& counters) {
  const uint64_t requests = counters.global_load_requests + counters.global_store_requests;
  const uint64_t sectors = counters.global_load_sectors + counters.global_store_sectors;
  return requests > 0 ? WithDecimals(static_cast<double>(sectors) / static_cast<double>(requests), 2) : kNone;
}

std::string TimelineCell(const Measured& row, double StreamTimeline::* figure) {
  return row.own->timeline ? WithDecimals((*row.own->timeline).*figure, 1) : kNone;
}

// Including copies and gaps, if known.
double WholeTime(const RungProfile& profile) {
  return profile.timeline ? profile.timeline->timeline_us : profile.microseconds;
}

std::string TimelineText(const StreamTimeline& timeline) {
  return ": " + WithDecimals(timeline.timeline_us, 1) + " µs, " +
         WithDecimals(timeline.bound_us > 0 ? timeline.timeline_us / timeline.bound_us : 0, 2) +
         " times the bound; kernels overlapping copies " + WithDecimals(timeline.kernel_overlap_us, 1) +
         " µs, copies both ways " + WithDecimals(timeline.copy_overlap_us, 1) + " µs";
}

// A column of the table: its heading, and a function for its cells.
struct Column {
  const char* heading;
  std::string (*cell)(const Measured& row);
};

// Times first, then counters of kernels, then requests of the host code.
constexpr Column kColumns[] = {
    {"modelled µs", [](const Measured& row) { return WithDecimals(row.own->microseconds, 1); }},
    {"reference µs",
     [](const Measured& row) {
       return row.reference != nullptr ? WithDecimals(row.reference->microseconds, 1) : std::string(kNone);
     }},
    {"speed-up",
     [](const Measured& row) {
       const bool comparable = row.first != nullptr && WholeTime(*row.own) > 0;
       return comparable ? WithDecimals(WholeTime(*row.first) / WholeTime(*row.own), 2) + "×" : std::string(kNone);
     }},
    {"with copies µs", [](const Measured& row) { return TimelineCell(row, &StreamTimeline::timeline_us); }},
    {"bound µs", [](const Measured& row) { return TimelineCell(row, &StreamTimeline::bound_us); }},
    {"one engine µs", [](const Measured& row) { return TimelineCell(row, &StreamTimeline::one_engine_us); }},
    {"divergent", [](const Measured& row) { return Grouped(row.own->counters.divergent_branches); }},
    {"conflicts", [](const Measured& row) { return Grouped(row.own->counters.shared_conflicts()); }},
    {"sectors/request", [](const Measured& row) { return SectorsPerRequest(row.own->counters); }},
    {"barriers", [](const Measured& row) { return Grouped(row.own->counters.barriers); }},
    {"atomics", [](const Measured& row) { return Grouped(row.own->counters.atomics); }},
    {"warp instr.", [](const Measured& row) { return Grouped(row.own->counters.warp_instructions); }},
    {"copies to device", [](const Measured& row) { return Grouped(row.own->api.copies_to_device); }},
    {"on device", [](const Measured& row) { return Grouped(row.own->api.copies_on_device); }},
    {"to host", [](const Measured& row) { return Grouped(row.own->api.copies_to_host); }},
    {"bytes copied",
     [](const Measured& row) {
       const ApiCounts& api = row.own->api;
       return Grouped(api.bytes_to_device + api.bytes_on_device + api.bytes_to_host);
     }},
    {"allocations", [](const Measured& row) { return Grouped(row.own->api.allocations); }},
    {"page-locked", [](const Measured& row) { return Grouped(row.own->api.pinned_allocations); }},
    {"course ms (GB/s)", [](const Measured& row) { return Published(*row.rung); }},
};

bool IsNothing(const std::string& cell) { return cell == kNone || cell == "0" || cell == "0.0"; }

// Heading and cells of one column.
using Cells = std::vector<std::string>;

std::vector<Cells> MakeColumns(const std::vector<Measured>& rows) {
  std::vector<Cells> columns = {{"rung"}, {"n"}};
  bool same_size = true;
  for (const Measured& row : rows) {
    columns[0].push_back(row.rung->id);
    columns[1].push_back(Grouped(row.own->elements));
    same_size = same_size && row.own->elements == rows[0].own->elements;
  }
  if (same_size) columns.pop_back();
  for (const Column& column : kColumns) {
    Cells cells = {column.heading};
    for (const Measured& row : rows) cells.push_back(column.cell(row));
    if (!std::all_of(cells.begin() + 1, cells.end(), IsNothing)) columns.push_back(std::move(cells));
  }
  return columns;
}

bool HasColumn(const std::vector<Cells>& columns, std::string_view heading) {
  return std::any_of(columns.begin(), columns.end(), [&](const Cells& cells) { return cells[0] == heading; });
}

// The base of speed-ups. The ladder has a rung that launches kernels.
const Rung& FirstMeasured(const std::vector<Rung>& rungs) {
  return *std::find_if(rungs.begin(), rungs.end(), [](const Rung& rung) { return !rung.host_only; });
}

std::string Caption(const Suite& suite, const std::vector<Measured>& rows, const std::vector<Cells>& columns) {
  std::string text = "Evidence";
  if (!HasColumn(columns, "n")) text += " at n = " + Grouped(rows[0].own->elements);
  if (HasColumn(columns, "modelled µs")) {
    const vgpu::DeviceProfile* profile = vgpu::FindProfile(suite.options().evidence_profile);
    text += ", modelled on " + (profile != nullptr ? profile->name : suite.options().evidence_profile);
  }
  if (HasColumn(columns, "speed-up")) text += "; speed-up over " + FirstMeasured(suite.assignment().rungs).id;
  if (HasColumn(columns, "course ms (GB/s)")) text += "; the course's figures are a GeForce 8800's";
  return text;
}

// The lanes of rungs that have a timeline.
std::string Timelines(const std::vector<Measured>& rows) {
  constexpr size_t kColumnsOfLanes = 96;
  std::string text;
  for (const Measured& row : rows) {
    if (!row.own->timeline) continue;
    const std::string lanes = LanesText(*row.own->timeline, kColumnsOfLanes);
    if (!lanes.empty()) text += "\n" + row.rung->id + TimelineText(*row.own->timeline) + "\n" + lanes;
  }
  return text.empty() ? "" : "\nWhat ran when; 1 is the first stream that was used, d the default stream\n" + text;
}

}  // namespace

std::string LadderTable(const Suite& suite, bool color) {
  const Results& results = suite.results();
  const std::vector<Rung>& rungs = suite.assignment().rungs;
  const std::vector<std::string> selected = suite.SelectedRungs();
  std::vector<Measured> rows;
  for (const Rung& rung : rungs) {
    if (std::find(selected.begin(), selected.end(), rung.id) == selected.end()) continue;
    const RungProfile* own = results.FindProfile(rung.id, "submission");
    if (own == nullptr) continue;
    rows.push_back({&rung, own, results.FindProfile(rung.id, "reference"),
                    results.FindProfile(FirstMeasured(rungs).id, "submission")});
  }
  if (rows.empty()) return "";
  const std::vector<Cells> columns = MakeColumns(rows);
  const std::string text = "\n" + Caption(suite, rows, columns) + "\n\n";
  std::vector<std::string> headings;
  for (const Cells& cells : columns) headings.push_back(headings.empty() ? "<" + cells[0] : cells[0]);
  vgpu::Table table(headings);
  for (size_t r = 1; r <= rows.size(); ++r) {
    std::vector<std::string> row;
    for (const Cells& cells : columns) row.push_back(cells[r]);
    table.Add(row);
  }
  return text + table.Format(color ? "\033[1m" : "", color ? "\033[0m" : "") + Timelines(rows);
}

}  // namespace lockstep::judge
