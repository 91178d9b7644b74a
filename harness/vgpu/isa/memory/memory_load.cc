// What ld moves: every type and vector width.
#include <cstring>

#include "vgpu/isa/memory/memory_in_space.h"

namespace lockstep::vgpu {
namespace {

// `kCount` elements of T per lane, registers as wide as the elements.
template <typename T, int kCount>
struct LoadSame {
  static constexpr bool kConverts = false;
  static constexpr AccessKind kAccess = AccessKind::kLoad;
  static constexpr uint32_t kBytes = sizeof(T) * kCount;
  static constexpr uint32_t Bytes(const Insn&) { return kBytes; }
  static RowRef Address(const Insn& insn) { return insn.Row(kCount); }

  static void Unit(Warp& warp, const Insn& insn, LaneMask mask, const uint8_t* lane0) {
    const T* from = reinterpret_cast<const T*>(lane0);
    if constexpr (kCount == 1) {
      T* to = Destination<T>(warp, insn.row[0]);
      if (mask == kFullMask) {
        std::memcpy(to, from, sizeof(T) * kWarpSize);
      } else {
        // Bytes next to the active lanes' are readable: there are gaps between buffers, and shared memory is padded.
        for (int lane = 0; lane < kWarpSize; ++lane) to[lane] = (mask >> lane) & 1 ? from[lane] : to[lane];
      }
    } else {
      for (int k = 0; k < kCount; ++k) {
        T* to = Destination<T>(warp, insn.row[k]);
        ForActive(mask, [&](int lane) { to[lane] = from[lane * kCount + k]; });
      }
    }
  }

  static void Lanes(Warp& warp, const Insn& insn, LaneMask mask, const RegionMemory& memory, const uint64_t* address) {
    const uint64_t origin = reinterpret_cast<uint64_t>(memory.origin);
    T* to[kCount];
    for (int k = 0; k < kCount; ++k) to[k] = Destination<T>(warp, insn.row[k]);
    ForActive(mask, [&](int lane) {
      const T* from =
          reinterpret_cast<const T*>(origin + address[lane] + static_cast<uint64_t>(lane) * memory.lane_stride);
      for (int k = 0; k < kCount; ++k) to[k][lane] = from[k];
    });
  }

  // Half-warps with 16 bytes per lane are not phases of shared memory.
  static constexpr bool kHalves = kCount == 1 && sizeof(T) <= 8;
  static void Half(Warp& warp, const Insn& insn, int half, const uint8_t* at, bool uniform) {
    T* to = Destination<T>(warp, insn.row[0]) + half * (kWarpSize / 2);
    if (uniform) {
      const T value = *reinterpret_cast<const T*>(at);
      for (int lane = 0; lane < kWarpSize / 2; ++lane) to[lane] = value;
    } else {
      std::memcpy(to, at, sizeof(T) * (kWarpSize / 2));
    }
  }
};

// Elements M in memory, registers R at least as wide; Insn::count elements per lane.
template <typename M, typename R>
struct LoadWider {
  static constexpr bool kConverts = true;
  static constexpr AccessKind kAccess = AccessKind::kLoad;
  static uint32_t Bytes(const Insn& insn) { return static_cast<uint32_t>(sizeof(M) * insn.count); }
  static constexpr bool kHalves = false;
  static RowRef Address(const Insn& insn) { return insn.row[insn.count]; }

  static void Unit(Warp& warp, const Insn& insn, LaneMask mask, const uint8_t* lane0) {
    const M* from = reinterpret_cast<const M*>(lane0);
    const int count = insn.count;
    for (int k = 0; k < count; ++k) {
      R* to = Destination<R>(warp, insn.row[k]);
      for (int lane = 0; lane < kWarpSize; ++lane) {
        if ((mask >> lane) & 1) to[lane] = static_cast<R>(from[lane * count + k]);
      }
    }
  }

  static void Lanes(Warp& warp, const Insn& insn, LaneMask mask, const RegionMemory& memory, const uint64_t* address) {
    const uint64_t origin = reinterpret_cast<uint64_t>(memory.origin);
    ForActive(mask, [&](int lane) {
      const M* from =
          reinterpret_cast<const M*>(origin + address[lane] + static_cast<uint64_t>(lane) * memory.lane_stride);
      for (int k = 0; k < insn.count; ++k) Destination<R>(warp, insn.row[k])[lane] = static_cast<R>(from[k]);
    });
  }
};

}  // namespace

Handler SelectLoad(const MoveShape& s) {
  if (const Handler handler = SelectSame<LoadSame>(s)) return handler;
  if (IsWide(s)) return nullptr;
  return ForTypes(s, [&]<typename M, typename R>() -> Handler {
    if constexpr (sizeof(M) == sizeof(R) && sizeof(M) >= 4) return nullptr;  // LoadSame's
    return InSpace<LoadWider<M, R>>(s.space, s.address_bytes);
  });
}

}  // namespace lockstep::vgpu
