// How the lanes of an instruction lay in shared memory the last time, and what follows from that.
//
// Programs that don't go side by side (a tile's column, one row for each half-warp) do the same again and again with
// another start. Whether two accesses are alike takes one comparison of 32 differences; then conflicts, bounds and the
// access's form are known.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "vgpu/isa/insn.h"
#include "vgpu/observers/access_form.h"

namespace lockstep::vgpu {

struct AccessPattern {
  LaneMask mask = 0;   // 0: nothing is known
  uint32_t low = 0;    // the lowest address, from the first active lane's; modulo 2^32
  uint32_t span = 0;   // bytes from the lowest address to the end of the highest
  uint32_t phase = 0;  // the first active lane's place in a word of 4 bytes
  uint32_t wavefronts = 0, wavefronts_ideal = 0;
  AccessForm form = AccessForm::kScattered;
  bool uniform[2] = {false, false};  // kHalves: the half-warp's lanes share one address

  // Addresses from the first active lane's, 0 for lanes that are not; ~0 for those that are.
  alignas(32) uint32_t offset[kWarpSize];
  alignas(32) uint32_t care[kWarpSize];

  // Whether lanes at a[] lie as they did; first: the first active lane's address.
  [[gnu::always_inline]] bool Matches(const uint32_t* a, uint32_t first, LaneMask lanes) const {
    using Vector [[gnu::vector_size(32)]] = uint32_t;
    constexpr int kWidth = 8;
    if (lanes != mask) return false;
    const Vector start = first - Vector{};
    Vector different{};
    if (lanes == kFullMask) {
      for (int at = 0; at < kWarpSize; at += kWidth) {
        Vector value, expected;
        std::memcpy(&value, a + at, sizeof value);
        std::memcpy(&expected, offset + at, sizeof expected);
        different |= (value - start) ^ expected;
      }
    } else {
      for (int at = 0; at < kWarpSize; at += kWidth) {
        Vector value, expected, on;
        std::memcpy(&value, a + at, sizeof value);
        std::memcpy(&expected, offset + at, sizeof expected);
        std::memcpy(&on, care + at, sizeof on);
        different |= ((value - start) & on) ^ expected;
      }
    }
    using Quads [[gnu::vector_size(32)]] = uint64_t;
    const Quads all = reinterpret_cast<Quads>(different);
    return (all[0] | all[1] | all[2] | all[3]) == 0;
  }

  // Takes in an access of `bytes` a lane; address[] = a[] + the instruction's offset.
  void Learn(const uint32_t* a, const uint64_t address[kWarpSize], LaneMask lanes, uint32_t bytes, AccessKind access);
};

}  // namespace lockstep::vgpu
