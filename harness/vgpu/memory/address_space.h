// Where the state spaces lie in the generic address space.
//
// Global and const addresses are addresses of this process: each device's arena is a fixed, 1-TiB-aligned piece of
// it. The other windows are numbers only; nothing is mapped there, every access to them is translated. All windows
// differ in bits 40 and up, so that a warp's generic addresses are classified by one shift.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

inline constexpr int kWindowShift = 40;
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;  // what a window other than an arena spans
inline constexpr uint64_t kSharedWindow = uint64_t{0x10} << kWindowShift;
inline constexpr uint64_t kLocalWindow = uint64_t{0x11} << kWindowShift;
inline constexpr uint64_t kParamWindow = uint64_t{0x12} << kWindowShift;
inline constexpr uint64_t kFunctionWindow = uint64_t{0x13} << kWindowShift;  // "addresses" of functions
inline constexpr uint64_t kArenaWindow = uint64_t{0x20} << kWindowShift;     // of the first device
inline constexpr int kMaxArenas = 64;

inline constexpr bool InWindow(uint64_t address, uint64_t window) { return address - window < kWindowBytes; }

}  // namespace lockstep::vgpu
