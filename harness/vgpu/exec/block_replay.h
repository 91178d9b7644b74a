// vgpu-run --page: what the warps of one block do, by source line, kept to be stepped through on the page.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
  nlohmann::ordered_json json;  // what page.html reads
  bool has_findings = false;
};
std::unique_ptr<InstructionHook> RecordBlock(Engine& engine, ReplayJob& job, std::vector<Insn>& code);

// What is recorded, and what has been: of each kernel the first launch in which something was found, else its first.
struct ReplayLog {
  uint64_t block = 0;
  std::map<std::string, ReplayJob> replays;  // by mangled name

  bool Wants(const LaunchInfo& launch) const;
  void Keep(ReplayJob job, bool has_findings);
};

}  // namespace lockstep::vgpu
