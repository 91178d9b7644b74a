// The flags of a suite, in addition to GoogleTest's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "judge/input/seed.h"
#include "vgpu/core/dim3.h"

namespace lockstep::judge {

enum class DeviceKind : uint8_t { kVgpu, kCuda };

struct Options {
  std::filesystem::path assignment;  // folder
  std::filesystem::path worker, witness, reference, figures, prefix, result, record;
  std::optional<SeedNumber> seed;
  DeviceKind device = DeviceKind::kVgpu;
  std::string profile = "h200";
  bool has_profile = false;               // set by a flag
  std::string evidence_profile = "h200";  // for evidence runs: --profile, else [evidence] profile
  int threads = 0;                        // 0: one per CPU
  std::string rung;                       // see RungMatches
  bool checks = true;
  bool all_evidence = true;  // also for rungs without a criterion among the selected tests
  bool one_failure = false;  // after a failed test the rest of its rung is skipped
  bool quiet = false;
  int edit_seconds = 0;  // to look for an edit that lets the first failing test pass (suite/edit_search.h); 0: don't
  std::filesystem::path page;          // the file for a page's data about the calls (vgpu/device/page_data.h)
  std::optional<vgpu::Dim3> replayed;  // the block whose steps the page shows
  std::optional<uint64_t> debug;       // stop after this many launches and start the debugger (vgpu/exec/debugger.h)
  bool help = false;
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> errors;  // one sentence each, saying what to type
};

// Removes our flags from `arguments` (argv without the program's name); the rest is GoogleTest's.
ParsedOptions ParseOptions(std::vector<std::string>& arguments);

std::string HelpText(const std::string& program);

}  // namespace lockstep::judge
