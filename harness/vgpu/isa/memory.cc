// ld, ldu, st: every type and vector width, every space.
#include "vgpu/isa/memory.h"

#include <cstring>

#include "vgpu/isa/memory_access.h"
#include "vgpu/isa/memory_modifiers.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// `kCount` elements of T a lane, registers as wide as the elements.
template <typename T, int kCount>
struct LoadSame {
  static constexpr AccessKind kAccess = AccessKind::kLoad;
  static constexpr uint32_t Bytes(const Insn&) { return sizeof(T) * kCount; }
  static RowRef Address(const Insn& insn) { return insn.Row(kCount); }

  static void Unit(Warp& warp, const Insn& insn, LaneMask mask, const uint8_t* lane0) {
    const T* from = reinterpret_cast<const T*>(lane0);
    if constexpr (kCount == 1) {
      T* to = Destination<T>(warp, insn.row[0]);
      if (mask == kFullMask) {
        std::memcpy(to, from, sizeof(T) * kWarpSize);
      } else {
        // What lies beside the active lanes' bytes is readable: buffers lie apart and shared memory is padded.
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

  // Halves of 16 bytes a lane are no phases of shared memory.
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

// Elements M in memory, registers R at least as wide; Insn::count elements a lane.
template <typename M, typename R>
struct LoadWider {
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

template <typename T, int kCount>
struct StoreSame {
  static constexpr AccessKind kAccess = AccessKind::kStore;
  static constexpr uint32_t Bytes(const Insn&) { return sizeof(T) * kCount; }
  static RowRef Address(const Insn& insn) { return insn.row[0]; }

  static void Unit(Warp& warp, const Insn& insn, LaneMask mask, uint8_t* lane0) {
    T* to = reinterpret_cast<T*>(lane0);
    if constexpr (kCount == 1) {
      const T* from = Source<T>(warp, insn.row[1]);
      if (mask == kFullMask) {
        std::memcpy(to, from, sizeof(T) * kWarpSize);
      } else {
        // Other lanes' bytes may be another CPU thread's: they must not even be written back.
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

template <Region kRegion, typename Mover, typename Word>
void Access(Warp& warp, const Insn& insn, LaneMask mask) {
  Move<kRegion, Mover, Word>(warp, insn, mask, Source<Word>(warp, Mover::Address(insn)),
                             static_cast<Word>(insn.immediate));
}

// ld.shared::cluster and its like: in the own block mostly.
template <typename Mover, bool kNarrow>
void AccessCluster(Warp& warp, const Insn& insn, LaneMask mask) {
  uint64_t address[kWarpSize];
  ReadAddresses<kNarrow>(warp, Mover::Address(insn), insn.immediate, address);
  LaneMask far = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) far |= static_cast<LaneMask>(IsOfOtherBlock(address[lane])) << lane;
  far &= mask;
  if (far != mask) Move<Region::kShared, Mover, uint64_t>(warp, insn, mask & ~far, address, 0);
  if (far != 0 && !warp.stop) MoveLanes<Mover>(warp, insn, far, Region::kClusterShared, address);
}

template <typename Mover>
void AccessGeneric(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* base = Source<uint64_t>(warp, Mover::Address(insn));
  const uint64_t offset = insn.immediate;
  // All in global memory, mostly; nothing lies in the windows between the last special one and the first arena.
  uint64_t below = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    below |= (base[lane] + offset - kArenaWindow) & (uint64_t{0} - ((mask >> lane) & 1));
  }
  if ((below >> 63) == 0) {
    Move<Region::kGlobal, Mover, uint64_t>(warp, insn, mask, base, offset);
    return;
  }
  uint64_t generic[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) generic[lane] = base[lane] + offset;
  ForRegions(warp, mask, generic, [&](Region region, LaneMask lanes, const uint64_t* address) {
    if (region == Region::kShared) {
      Move<Region::kShared, Mover, uint64_t>(warp, insn, lanes, address, 0);
    } else {
      MoveLanes<Mover>(warp, insn, lanes, region, address);
    }
  });
}

// A kernel parameter at a fixed place: the same for all lanes.
template <typename M, typename R>
void LoadParameter(Warp& warp, const Insn& insn, LaneMask mask) {
  const LaunchState& launch = warp.engine->launch();
  const uint64_t bytes = sizeof(M) * insn.count;
  const uint64_t offset = *Source<uint64_t>(warp, insn.row[insn.count]) + insn.immediate;
  if (offset > launch.parameter_bytes || bytes > launch.parameter_bytes - offset || offset % bytes != 0) {
    const bool inside = offset <= launch.parameter_bytes && bytes <= launch.parameter_bytes - offset;
    warp.engine->MemoryFault(warp, std::countr_zero(mask),
                             inside ? FindingKind::kMisaligned : FindingKind::kOutOfBounds, AccessKind::kLoad,
                             MemorySpace::kParam, offset, static_cast<uint32_t>(bytes));
    return;
  }
  for (int k = 0; k < insn.count; ++k) {
    M element;
    std::memcpy(&element, launch.parameters + offset + static_cast<uint64_t>(k) * sizeof(M), sizeof element);
    const R value = static_cast<R>(element);
    ForLanes<R>(warp, insn.row[k], mask, [value](int) { return value; });
  }
}

template <typename Mover>
Handler InSpace(AccessSpace space, int address_bytes) {
  const bool narrow = address_bytes == 4;
  switch (space) {
    case AccessSpace::kGlobal:
      return narrow ? nullptr : Access<Region::kGlobal, Mover, uint64_t>;
    case AccessSpace::kConst:
      return narrow ? nullptr : Access<Region::kConst, Mover, uint64_t>;
    case AccessSpace::kGeneric:
      return narrow ? nullptr : AccessGeneric<Mover>;
    case AccessSpace::kShared:
      return narrow ? Access<Region::kShared, Mover, uint32_t> : Access<Region::kShared, Mover, uint64_t>;
    case AccessSpace::kCluster:
      return narrow ? AccessCluster<Mover, true> : AccessCluster<Mover, false>;
    case AccessSpace::kLocal:
      return narrow ? Access<Region::kLocal, Mover, uint32_t> : Access<Region::kLocal, Mover, uint64_t>;
    case AccessSpace::kParameters:
      return narrow ? nullptr : Access<Region::kParameters, Mover, uint64_t>;
    case AccessSpace::kArea:
      return narrow ? Access<Region::kArea, Mover, uint32_t> : Access<Region::kArea, Mover, uint64_t>;
  }
  return nullptr;
}

template <typename Mover>
Handler InGlobal(AccessSpace space, int address_bytes) {
  const bool possible = address_bytes != 4 && (space == AccessSpace::kGlobal || space == AccessSpace::kGeneric);
  return possible ? InSpace<Mover>(space, address_bytes) : nullptr;
}

struct Shape {
  int element_bytes;  // in memory
  bool is_signed;
  int register_bytes;
  int count;
  AccessSpace space;
  int address_bytes;
};

// Calls f.template operator()<M, R>() with the element's type in memory and the register's.
template <typename F>
Handler ForTypes(const Shape& s, const F& f) {
  const auto widths = [&]<typename M>() -> Handler {
    switch (s.register_bytes) {
      case 1:
      case 2:
        if constexpr (sizeof(M) <= 2) return f.template operator()<M, uint16_t>();
        break;
      case 4:
        if constexpr (sizeof(M) <= 4) return f.template operator()<M, uint32_t>();
        break;
      case 8:
        return f.template operator()<M, uint64_t>();
    }
    return nullptr;
  };
  switch (s.element_bytes) {
    case 1:
      return s.is_signed ? widths.template operator()<int8_t>() : widths.template operator()<uint8_t>();
    case 2:
      return s.is_signed ? widths.template operator()<int16_t>() : widths.template operator()<uint16_t>();
    case 4:
      return s.is_signed ? widths.template operator()<int32_t>() : widths.template operator()<uint32_t>();
    case 8:
      return widths.template operator()<uint64_t>();
  }
  return nullptr;
}

template <template <typename, int> typename Same>
Handler SelectSame(const Shape& s) {
  if (s.element_bytes != s.register_bytes) return nullptr;
  switch (s.element_bytes * 16 + s.count) {
    case 4 * 16 + 1:
      return InSpace<Same<uint32_t, 1>>(s.space, s.address_bytes);
    case 4 * 16 + 2:
      return InSpace<Same<uint32_t, 2>>(s.space, s.address_bytes);
    case 4 * 16 + 4:
      return InSpace<Same<uint32_t, 4>>(s.space, s.address_bytes);
    case 8 * 16 + 1:
      return InSpace<Same<uint64_t, 1>>(s.space, s.address_bytes);
    case 8 * 16 + 2:
      return InSpace<Same<uint64_t, 2>>(s.space, s.address_bytes);
    case 4 * 16 + 8:  // 32 bytes exist for global memory alone
      return InGlobal<Same<uint32_t, 8>>(s.space, s.address_bytes);
    case 8 * 16 + 4:
      return InGlobal<Same<uint64_t, 4>>(s.space, s.address_bytes);
    case 16 * 16 + 1:
      return InSpace<Same<unsigned __int128, 1>>(s.space, s.address_bytes);
    case 16 * 16 + 2:
      return InGlobal<Same<unsigned __int128, 2>>(s.space, s.address_bytes);
    default:
      return nullptr;
  }
}

// Elements as wide as their registers, or pieces of 32 bytes: no conversion.
bool IsWide(const Shape& s) { return s.element_bytes == 16 || s.element_bytes * s.count == 32; }

Handler SelectLoad(const Shape& s) {
  if (const Handler handler = SelectSame<LoadSame>(s)) return handler;
  if (IsWide(s)) return nullptr;
  return ForTypes(s, [&]<typename M, typename R>() { return InSpace<LoadWider<M, R>>(s.space, s.address_bytes); });
}

Handler SelectStore(Shape s) {
  if (const Handler handler = SelectSame<StoreSame>(s)) return handler;
  if (IsWide(s)) return nullptr;
  s.is_signed = false;
  return ForTypes(s, [&]<typename M, typename R>() { return InSpace<StoreNarrower<M, R>>(s.space, s.address_bytes); });
}

// Takes the modifiers that ld and st have in common. False: the combination is not supported.
bool TakeShape(Modifiers& m, bool stores, Shape& s) {
  const Type type = m.type(0);
  if (m.type_count() != 1 || type == Type::kPred) return false;
  s.element_bytes = ptx::SizeOf(type);
  s.is_signed = type == Type::kS8 || type == Type::kS16 || type == Type::kS32;
  s.count = m.Take("v2") ? 2 : m.Take("v4") ? 4 : m.Take("v8") ? 8 : 1;
  const int bytes_in_all = s.count * s.element_bytes;
  if (bytes_in_all > 32 || (s.count == 8 && bytes_in_all != 32)) return false;
  const int value = stores ? 1 : 0;
  for (int k = 0; k < s.count; ++k) {  // a vector's registers are of one width; sinks and immediates have none
    const int bytes = m.operand_bytes(value + k);
    if (bytes != 0 && s.register_bytes != 0 && bytes != s.register_bytes) return false;
    if (bytes != 0) s.register_bytes = bytes;
  }
  if (s.register_bytes == 0) s.register_bytes = s.element_bytes;
  s.address_bytes = m.operand_bytes(stores ? 0 : s.count);
  return true;
}

Selection Select(Modifiers& m, bool stores) {
  Shape s{};
  MemoryFlags flags;
  const bool ordered = stores ? TakeSemantics(m, {"weak", "volatile", "relaxed", "release"}, &flags)
                              : TakeSemantics(m, {"weak", "volatile", "relaxed", "acquire"}, &flags);
  if (!TakeShape(m, stores, s) || !ordered) return {};
  TakeCacheHints(m, stores);
  s.space = TakeSpace(m);
  if (stores && s.space == AccessSpace::kConst) return {};
  Selection selection{stores ? SelectStore(s) : SelectLoad(s), InsnClass::kOther, 0, flags.Pack()};
  selection.form = stores ? "a sv0" : "dv0 a";
  if (m.Take("L2::cache_hint")) {
    selection.form = stores ? "a sv0 su64" : "dv0 a su64";
    if (s.count == 8) return {};
  }
  return selection;
}

Selection SelectLd(Modifiers& m) { return Select(m, false); }
Selection SelectSt(Modifiers& m) { return Select(m, true); }

LOCKSTEP_OPCODES(memory, {
                             {"ld", "dv0 a su64?", SelectLd, InsnClass::kLoad},
                             {"ldu", "dv0 a", SelectLd, InsnClass::kLoad},
                             {"st", "a sv0 su64?", SelectSt, InsnClass::kStore},
                         });

}  // namespace

Selection SelectParameterAccess(Modifiers& m, bool kernel, bool stores) {
  Shape s{};
  if (!TakeShape(m, stores, s)) return {};
  for (const char* word : {"param", "param::entry", "param::func"}) m.Take(word);
  Selection selection;
  selection.form = stores ? "a sv0" : "dv0 a";
  selection.insn_class = InsnClass::kMove;  // parameters are not in memory, as far as counting goes
  s.space = kernel ? AccessSpace::kParameters : AccessSpace::kArea;
  if (kernel && !stores && s.address_bytes == 0) {
    selection.handler = s.element_bytes == 16
                            ? LoadParameter<unsigned __int128, unsigned __int128>
                            : ForTypes(s, []<typename M, typename R>() -> Handler { return LoadParameter<M, R>; });
  } else if (!(kernel && stores)) {
    selection.handler = stores ? SelectStore(s) : SelectLoad(s);
  }
  return selection;
}

}  // namespace lockstep::vgpu
