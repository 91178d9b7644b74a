// What st moves: every type and vector width.
#include <cstring>

#include "vgpu/isa/memory/memory_in_space.h"

namespace lockstep::vgpu {
namespace {

template <typename T, int kCount>
struct StoreSame {
  static constexpr bool kConverts = false;
  static constexpr AccessKind kAccess = AccessKind::kStore;
  static constexpr uint32_t kBytes = sizeof(T) * kCount;
  static constexpr uint32_t Bytes(const Insn&) { return kBytes; }
  static RowRef Address(const Insn& insn) { return insn.row[0]; }

  static void Unit(Warp& warp, const Insn& insn, LaneMask mask, uint8_t* lane0) {
    T* to = reinterpret_cast<T*>(lane0);
    if constexpr (kCount == 1) {
      const T* from = Source<T>(warp, insn.row[1]);
      if (mask == kFullMask) {
        std::memcpy(to, from, sizeof(T) * kWarpSize);
      } else {
        // Inactive lanes' bytes may be in use by another CPU thread: they must not even be written back unchanged.
        ForActive(mask, [&](int lane) { to[lane] = from[lane]; });
      }
    } else {
      for (int k = 0; k < kCount; ++k) {
        const T* from = Source<T>(warp, insn.Row(1 + k));
        ForActive(mask, [&](int lane) { to[lane * kCount + k] = from[lane]; });
      }
    }
  }

  static void Lanes(Warp& warp, const Insn& insn, LaneMask mask, const RegionMemory& memory, const uint64_t* address) {
    const uint64_t origin = reinterpret_cast<uint64_t>(memory.origin);
    const T* from[kCount];
    for (int k = 0; k < kCount; ++k) from[k] = Source<T>(warp, insn.Row(1 + k));
    ForActive(mask, [&](int lane) {
      T* to = reinterpret_cast<T*>(origin + address[lane] + static_cast<uint64_t>(lane) * memory.lane_stride);
      for (int k = 0; k < kCount; ++k) to[k] = from[k][lane];
    });
  }

  static constexpr bool kHalves = kCount == 1 && sizeof(T) <= 8;
  static void Half(Warp& warp, const Insn& insn, int half, uint8_t* at, bool) {
    std::memcpy(at, Source<T>(warp, insn.row[1]) + half * (kWarpSize / 2), sizeof(T) * (kWarpSize / 2));
  }

  static bool SameValue(const Warp& warp, const Insn& insn, int a, int b) {
    for (int k = 0; k < kCount; ++k) {
      const T* from = Source<T>(warp, insn.Row(1 + k));
      if (from[a] != from[b]) return false;
    }
    return true;
  }
  static bool Keeps(const Warp& warp, const Insn& insn, int lane, const uint8_t* at) {
    const T* to = reinterpret_cast<const T*>(at);
    for (int k = 0; k < kCount; ++k) {
      if (to[k] != Source<T>(warp, insn.Row(1 + k))[lane]) return false;
    }
    return true;
  }
};

template <typename M, typename R>
struct StoreNarrower {
  static constexpr bool kConverts = true;
  static constexpr AccessKind kAccess = AccessKind::kStore;
  static constexpr bool kHalves = false;
  static uint32_t Bytes(const Insn& insn) { return static_cast<uint32_t>(sizeof(M) * insn.count); }
  static RowRef Address(const Insn& insn) { return insn.row[0]; }

  static void Unit(Warp& warp, const Insn& insn, LaneMask mask, uint8_t* lane0) {
    M* to = reinterpret_cast<M*>(lane0);
    for (int k = 0; k < insn.count; ++k) {
      const R* from = Source<R>(warp, insn.row[1 + k]);
      ForActive(mask, [&](int lane) { to[lane * insn.count + k] = static_cast<M>(from[lane]); });
    }
  }

  static void Lanes(Warp& warp, const Insn& insn, LaneMask mask, const RegionMemory& memory, const uint64_t* address) {
    const uint64_t origin = reinterpret_cast<uint64_t>(memory.origin);
    ForActive(mask, [&](int lane) {
      M* to = reinterpret_cast<M*>(origin + address[lane] + static_cast<uint64_t>(lane) * memory.lane_stride);
      for (int k = 0; k < insn.count; ++k) to[k] = static_cast<M>(Source<R>(warp, insn.row[1 + k])[lane]);
    });
  }

  static bool SameValue(const Warp& warp, const Insn& insn, int a, int b) {
    for (int k = 0; k < insn.count; ++k) {
      const R* from = Source<R>(warp, insn.row[1 + k]);
      if (static_cast<M>(from[a]) != static_cast<M>(from[b])) return false;
    }
    return true;
  }
  static bool Keeps(const Warp& warp, const Insn& insn, int lane, const uint8_t* at) {
    const M* to = reinterpret_cast<const M*>(at);
    for (int k = 0; k < insn.count; ++k) {
      if (to[k] != static_cast<M>(Source<R>(warp, insn.Row(1 + k))[lane])) return false;
    }
    return true;
  }
};

}  // namespace

Handler SelectStore(MoveShape s) {
  if (const Handler handler = SelectSame<StoreSame>(s)) return handler;
  if (IsWide(s)) return nullptr;
  s.is_signed = false;
  return ForTypes(s, [&]<typename M, typename R>() -> Handler {
    if constexpr (sizeof(M) == sizeof(R) && sizeof(M) >= 4) return nullptr;  // StoreSame's
    return InSpace<StoreNarrower<M, R>>(s.space, s.address_bytes);
  });
}

}  // namespace lockstep::vgpu
