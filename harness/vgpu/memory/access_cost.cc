#include "vgpu/memory/access_cost.h"

#include <algorithm>
#include <utility>

namespace lockstep::vgpu {
namespace {

// The first and the last chunk of 2^shift bytes that a half-warp touches.
std::pair<uint64_t, uint64_t> Ends(const Halves& halves, int half, int shift) {
  return {halves.first[half] >> shift, (halves.first[half] + halves.Span(half) - 1) >> shift};
}

}  // namespace

void AddressesOf(const Halves& halves, uint64_t address[kWarpSize]) {
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
    const int half = lane < kWarpSize / 2 ? 0 : 1;
    address[lane] = halves.first[half] + (halves.uniform[half] ? 0 : lane % (kWarpSize / 2) * halves.bytes);
  }
}

void AddHalvesGlobalCost(const Halves& halves, PcMemory& c) {
  const auto [a, a_end] = Ends(halves, 0, kSectorShift);
  const auto [b, b_end] = Ends(halves, 1, kSectorShift);
  const uint64_t both = std::max(a, b) <= std::min(a_end, b_end) ? std::min(a_end, b_end) - std::max(a, b) + 1 : 0;
  const uint64_t sectors = (a_end - a + 1) + (b_end - b + 1) - both;
  const uint64_t segment = halves.bytes * (kWarpSize / 2);
  c.requests += 1;
  c.sectors += sectors;
  c.sectors_ideal += IdealSectors(kFullMask, static_cast<int>(halves.bytes), static_cast<uint32_t>(sectors));
  c.bytes += kWarpSize * halves.bytes;
  for (int half = 0; half < 2; ++half) {
    const bool coalesced =
        !halves.uniform[half] && halves.bytes >= 4 && halves.bytes <= 16 && (halves.first[half] & (segment - 1)) == 0;
    c.strict_bytes += coalesced ? segment : 32 * (kWarpSize / 2);
  }
}

void AddHalvesSharedCost(AccessKind access, const Halves& halves, PcMemory& c) {
  if (halves.bytes > 4) {
    uint64_t address[kWarpSize];
    AddressesOf(halves, address);
    AddSharedCost(access, address, kFullMask, static_cast<int>(halves.bytes), c);
    return;
  }
  // Each half has at most 16 consecutive words. A word of one half shares a bank with one of the other if the distance
  // of their starts, modulo the number of banks, is less than a half's length. They are different words unless the
  // distance itself is that small.
  const auto [a, a_end] = Ends(halves, 0, 2);
  const auto [b, b_end] = Ends(halves, 1, 2);
  const uint64_t a_words = a_end - a + 1, b_words = b_end - b + 1;
  const bool meet = (b - a) % kSharedBanks < a_words || (a - b) % kSharedBanks < b_words;
  const bool same = b - a < a_words || a - b < b_words;
  c.shared_requests += 1;
  c.wavefronts += meet && !same ? 2 : 1;
  c.wavefronts_ideal += 1;
}

void AddHalvesConstCost(const Halves& halves, PcMemory& c) {
  if (halves.uniform[0] && halves.uniform[1]) {
    const uint64_t width = std::max<uint64_t>(halves.bytes, 4);
    c.const_replays += halves.first[0] / width != halves.first[1] / width ? width / 4 : 0;
    return;
  }
  uint64_t address[kWarpSize];
  AddressesOf(halves, address);
  AddConstCost(address, kFullMask, static_cast<int>(halves.bytes), c);
}

}  // namespace lockstep::vgpu
