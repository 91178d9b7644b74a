// vgpu-run --page: the steps of one block's warps, by source line, recorded for stepping through them on the page.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/core/dim3.h"
#include "vgpu/core/listing.h"
#include "vgpu/exec/instruction_hook.h"

namespace lockstep::vgpu {

class Engine;
struct LaunchInfo;  // observers/observer.h

// A launch whose block is recorded.
struct ReplayJob {
  ReplayJob(const LaunchInfo& launch, uint64_t block, Listing listing);

  uint64_t block, launch;  // block: its index in the grid
  std::string mangled;
  Listing listing;
  nlohmann::ordered_json json;  // in the format of page.html
  bool has_findings = false;
};
std::unique_ptr<InstructionHook> RecordBlock(Engine& engine, ReplayJob& job, std::vector<Insn>& code);

// The recordings: for each kernel the first launch with a finding, else its first launch.
struct ReplayLog {
  uint64_t block = 0;
  std::optional<Dim3> at;                    // if set, used instead of `block`: the position in the grid
  std::map<std::string, ReplayJob> replays;  // by mangled name

  uint64_t BlockOf(const LaunchInfo& launch) const;
  bool Wants(const LaunchInfo& launch) const;
  void Keep(ReplayJob job, bool has_findings);
};

}  // namespace lockstep::vgpu
