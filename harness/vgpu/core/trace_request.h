// The request of vgpu-run --trace: which warp, and which of its instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::vgpu {

struct TraceRequest {
  static constexpr uint64_t kDefaultLimit = 1000;

  uint64_t block = 0;                     // index in the grid
  uint32_t warp = 0;                      // in the block
  uint64_t from = 1, to = kDefaultLimit;  // instruction numbers within the warp, from 1
  std::string kernel;                     // empty: any
};

// "BLOCK,WARP", "BLOCK,WARP,FROM" or "BLOCK,WARP,FROM,TO". No value for any other text; *why then says what is wrong.
std::optional<TraceRequest> ParseTrace(std::string_view text, std::string* why);

// Whether the user's name for a kernel matches it: with or without template arguments and namespaces, or mangled.
bool IsNameOf(std::string_view name, std::string_view mangled, std::string_view demangled);

}  // namespace lockstep::vgpu
