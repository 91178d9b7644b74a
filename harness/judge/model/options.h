// The flags of a suite, in addition to GoogleTest's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "judge/input/seed.h"

namespace lockstep::judge {

enum class DeviceKind : uint8_t { kVgpu, kCuda };

struct Options {
  std::filesystem::path assignment;  // folder
  std::filesystem::path worker, witness, reference, figures, prefix, result, record;
  std::optional<SeedNumber> seed;
  DeviceKind device = DeviceKind::kVgpu;
  std::string profile = "h200";
  bool has_profile = false;               // given by flag
  std::string evidence_profile = "h200";  // of the evidence runs: --profile, else as [evidence] profile says
  int threads = 0;                        // 0: one a CPU
  std::string rung;                       // see RungMatches
  bool checks = true;
  bool all_evidence = true;  // also of rungs that no criterion among the selected tests measures
  bool one_failure = false;  // a test that failed settles its rung: the rest of the rung is left out
  bool quiet = false;
  int edit_seconds = 0;  // to look for an edit that lets the first failing test pass (suite/edit_search.h); 0: don't
  std::optional<uint64_t> debug;  // stop behind so many launches, and ask (vgpu/exec/debugger.h)
  bool help = false;
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> errors;  // one sentence each; it says what to type
};

// Takes the flags out of `arguments` (argv without the program's name) that are ours; what is left is GoogleTest's.
ParsedOptions ParseOptions(std::vector<std::string>& arguments);

std::string HelpText(const std::string& program);

}  // namespace lockstep::judge
