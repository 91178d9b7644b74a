// What the decoder passes to a memory instruction's handler and to the engine.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

enum class MemoryOrder : uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcquireRelease };
enum class MemoryScope : uint8_t { kCta, kCluster, kGpu, kSystem };

// Insn::extra of a memory instruction.
struct MemoryFlags {
  MemoryOrder order = MemoryOrder::kWeak;
  MemoryScope scope = MemoryScope::kGpu;
  bool returns_value = true;
  bool waits = false;       // a thread may wait on it: analysis/waiting_loads.h; mbarriers
  bool constant = false;    // loads with .nc: the program promises that nothing stores there while the kernel runs
  bool overwrites = false;  // an atomic exchange whose result nobody reads
  static constexpr uint64_t kWaits = uint64_t{1} << 17;
  static constexpr uint64_t kConstant = uint64_t{1} << 18;
  static constexpr uint64_t kOverwrites = uint64_t{1} << 19;

  uint64_t Pack() const {
    return static_cast<uint64_t>(order) | static_cast<uint64_t>(scope) << 8 | uint64_t{returns_value} << 16 |
           (waits ? kWaits : 0) | (constant ? kConstant : 0) | (overwrites ? kOverwrites : 0);
  }
  static MemoryFlags Unpack(uint64_t extra) {
    return {static_cast<MemoryOrder>(extra & 0xff),
            static_cast<MemoryScope>(extra >> 8 & 0xff),
            (extra >> 16 & 1) != 0,
            (extra & kWaits) != 0,
            (extra & kConstant) != 0,
            (extra & kOverwrites) != 0};
  }
};

}  // namespace lockstep::vgpu
