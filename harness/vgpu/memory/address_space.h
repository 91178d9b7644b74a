// The layout of the generic address space.
//
// Global and const addresses are addresses of this process: each device's arena is a fixed, 1-TiB-aligned range of it.
// The other windows are only numbers; nothing is mapped there, and every access to them is translated. The windows
// differ in bits 40 and up, so one shift classifies a generic address.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

inline constexpr int kWindowShift = 40;
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;  // size of every window except arenas
inline constexpr uint64_t kSharedWindow = uint64_t{0x10} << kWindowShift;
inline constexpr uint64_t kLocalWindow = uint64_t{0x11} << kWindowShift;
inline constexpr uint64_t kParamWindow = uint64_t{0x12} << kWindowShift;
inline constexpr uint64_t kFunctionWindow = uint64_t{0x13} << kWindowShift;  // "addresses" of functions
inline constexpr uint64_t kArenaWindow = uint64_t{0x20} << kWindowShift;     // of device 0
inline constexpr int kMaxArenas = 64;

inline constexpr bool InWindow(uint64_t address, uint64_t window) { return address - window < kWindowBytes; }

}  // namespace lockstep::vgpu
