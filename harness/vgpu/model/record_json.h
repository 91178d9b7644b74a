// Records of launches in JSON, with the names of docs/reference/result-json.md.
#pragma once

#include <nlohmann/json.hpp>

#include "vgpu/core/counters.h"
#include "vgpu/model/advice.h"

namespace lockstep::vgpu {

using Json = nlohmann::ordered_json;

inline Json JsonOf(const Counters& counters, bool with_zeros = false) {
  Json json = Json::object();
  for (const CounterInfo& info : AllCounters()) {
    if (with_zeros || counters.*info.field != 0) json[info.name] = counters.*info.field;
  }
  return json;
}

inline Json JsonOf(const AccessSample& sample) {
  const uint64_t origin = OriginOf(sample);
  Json lanes = Json::array();
  for (size_t lane = 0; lane < sample.at.size(); ++lane) {
    lanes.push_back((sample.mask >> lane & 1) != 0 ? static_cast<int64_t>(sample.at[lane] - origin) : -1);
  }
  return {{"space", sample.is_branch ? "branch" : NameOf(sample.space)},
          {"access", sample.is_branch ? "branch" : NameOf(sample.access)},
          {"bytes", sample.bytes},
          {"cost", sample.cost},
          {"ideal", sample.ideal},
          {"block", sample.block},
          {"warp", sample.warp},
          {"lanes", std::move(lanes)}};
}

inline Json JsonOf(const KernelAdvice& advice) {
  Json changes = Json::array();
  for (const Advice& one : advice.changes) {
    Json lines = Json::array();
    for (const auto& [file, line] : one.lines) lines.push_back({{"file", file}, {"line", line}});
    changes.push_back({{"technique", one.technique}, {"text", one.text}, {"saved_microseconds", one.saved_us}});
    changes.back()["lines"] = std::move(lines);
  }
  Json json = {{"kernel", advice.kernel}, {"microseconds", advice.microseconds}, {"bound_by", advice.bound_by}};
  json.update({{"intensity", advice.roofline.intensity}, {"ridge", advice.roofline.ridge}});
  json.update({{"share", advice.roofline.share}, {"changes", std::move(changes)}});
  const FilledSm& sm = advice.sm;
  json["sm"] = {{"blocks", sm.fits.blocks},       {"most_blocks", sm.most_blocks},    {"warps", sm.fits.warps},
                {"most_warps", sm.most_warps},    {"limited_by", sm.fits.limited_by}, {"threads", sm.threads},
                {"registers", sm.registers_each}, {"most_registers", sm.registers},   {"shared", sm.block_shared_bytes},
                {"most_shared", sm.shared_bytes}};
  return json;
}

}  // namespace lockstep::vgpu
