// Copies of tiles of tensors (TMA): cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, tiled mode.
//
// A tile is in shared memory row by row, its first dimension fastest, without gaps. Elements outside of the tensor are
// zero or NaN there, count as bytes, and are not written to global memory. With swizzling, the number of a 16-byte unit
// within its 128 bytes of shared memory is xored with the low bits of the number of these 128 bytes, so that a column
// of the tile lies in different banks. Source: PTX ISA 9.0, 5.5 and 9.7.9.25.5; CUDA driver API, tensor maps.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/isa/memory/memory_bulk.h"
#include "vgpu/memory/tensor_map.h"

namespace lockstep::vgpu {
namespace {

constexpr uint64_t kNarrowShared = 1;
constexpr uint64_t kNarrowMap = 2;
constexpr uint64_t kNarrowBarrier = 4;
constexpr uint64_t kMulticast = 8;
constexpr int kDimensionShift = 4;  // three bits
constexpr int kReductionShift = 8;  // four bits: a word
constexpr uint32_t kTileAlignment = 128;

// Rows are in Program::operand_rows.
const RowRef* Rows(const Warp& warp, const Insn& insn) {
  return warp.engine->program().operand_rows.data() + (insn.extra >> 32);
}

uint64_t Address(const Warp& warp, RowRef row, uint64_t offset, bool narrow, int lane) {
  if (narrow) return static_cast<uint32_t>(Source<uint32_t>(warp, row)[lane] + offset);
  return Source<uint64_t>(warp, row)[lane] + offset;
}

void Fault(Warp& warp, int lane, FindingKind kind, const std::string& what) {
  warp.engine->Fault(warp, warp.engine->MakeFinding(warp, warp.pc - 1, lane, kind, what));
}

// The map at a generic address; false: the lane has faulted.
bool ReadMap(Warp& warp, const Insn& insn, int lane, uint64_t generic, TensorMap* map) {
  constexpr uint64_t kMapAlignment = 64;
  const uint8_t* at = generic % kMapAlignment == 0 ? LocateLane(warp, lane, generic, kTensorMapBytes) : nullptr;
  if (at != nullptr) std::memcpy(map, at, sizeof *map);
  const uint32_t dimensions = insn.extra >> kDimensionShift & 7;
  if (at != nullptr && map->valid() && !map->is_supported) {
    Fault(warp, lane, FindingKind::kUnsupported,
          "copies of tiles by im2col or of an interleaved tensor are not supported");
    return false;
  }
  if (at != nullptr && map->valid() && map->dimensions == dimensions) return true;
  Fault(warp, lane, FindingKind::kInvalidAddress,
        at == nullptr   ? "a copy of a tile whose tensor map is at an invalid address"
        : !map->valid() ? "a copy of a tile whose tensor map was not made by cuTensorMapEncodeTiled"
                        : "a copy of a tile that differs from its tensor map in the number of dimensions");
  return false;
}

// Calls f(global address, offset in the tile, bytes) for the parts of the tile's rows that are in the tensor.
template <typename F>
void ForRowsOfTile(const TensorMap& map, const int32_t at[TensorMap::kMostDimensions], const F& f) {
  const auto element = static_cast<uint32_t>(ptx::SizeOf(map.element()));
  const uint32_t row_bytes = map.box[0] * element;
  const int64_t first = std::max<int64_t>(0, -int64_t{at[0]});
  const int64_t end = std::min<int64_t>(map.box[0], int64_t{map.last[0]} + 1 - at[0]);
  uint32_t rows = 1;
  for (uint32_t d = 1; d < map.dimensions; ++d) rows *= map.Extent(d);
  for (uint32_t row = 0; row < rows; ++row) {
    uint64_t address = map.address;
    bool inside = first < end;
    uint32_t rest = row;
    for (uint32_t d = 1; d < map.dimensions; ++d) {
      const int64_t c = int64_t{at[d]} + int64_t{rest % map.Extent(d)} * map.steps[d];
      rest /= map.Extent(d);
      inside &= c >= 0 && c <= int64_t{map.last[d]};
      address += static_cast<uint64_t>(c) * map.strides[d - 1];
    }
    if (!inside) continue;
    f(address + static_cast<uint64_t>(at[0] + first) * element,
      row * row_bytes + static_cast<uint32_t>(first) * element, static_cast<uint32_t>(end - first) * element);
  }
}

uint32_t TileBytes(const TensorMap& map) {
  uint32_t bytes = map.box[0] * static_cast<uint32_t>(ptx::SizeOf(map.element()));
  for (uint32_t d = 1; d < map.dimensions; ++d) bytes *= map.Extent(d);
  return bytes;
}

// The destination of the byte at this address of shared memory.
uint64_t Swizzled(const TensorMap& map, uint64_t address) {
  if (map.swizzle_bytes == 0) return address;
  return address ^ (address >> 3 & (map.swizzle_bytes - 1u) & ~(kBulkUnit - 1u));
}

// The same for a part of a row, in contiguous pieces.
template <typename F>
void ForPieces(const TensorMap& map, uint64_t tile, uint32_t offset, uint32_t bytes, const F& f) {
  if (map.swizzle_bytes == 0) return f(offset, offset, bytes);
  for (uint32_t done = 0; done < bytes;) {
    const uint32_t here = offset + done;
    const auto piece = std::min(bytes - done, kBulkUnit - static_cast<uint32_t>((tile + here) % kBulkUnit));
    f(here, static_cast<uint32_t>(Swizzled(map, tile + here) - tile), piece);
    done += piece;
  }
}

bool CheckStart(Warp& warp, int lane, const TensorMap& map, const int32_t at[TensorMap::kMostDimensions]) {
  if (int64_t{at[0]} * ptx::SizeOf(map.element()) % int64_t{kBulkUnit} != 0) {
    Fault(warp, lane, FindingKind::kIllegalInstruction,
          "a tile begins at element " + std::to_string(at[0]) + " of a row: its offset is not a multiple of 16 bytes");
    return false;
  }
  return true;
}

bool CheckTile(Warp& warp, int lane, const TensorMap& map, const int32_t at[TensorMap::kMostDimensions],
               AccessKind access, uint64_t tile) {
  if (!CheckStart(warp, lane, map, at)) return false;
  const uint32_t bytes = TileBytes(map);
  const uint32_t row_bytes = map.box[0] * static_cast<uint32_t>(ptx::SizeOf(map.element()));
  if (map.swizzle_bytes != 0 && row_bytes != map.swizzle_bytes) {
    Fault(warp, lane, FindingKind::kUnsupported,
          "a swizzled tile whose rows are shorter than the swizzle's span is not supported");
    return false;
  }
  if (map.swizzle_bytes != 0 && bytes % kTileAlignment != 0) {
    Fault(warp, lane, FindingKind::kUnsupported,
          "a swizzled tile whose size is no multiple of 128 bytes is not supported");
    return false;
  }
  return CheckBulkShared(warp, lane, access, tile, bytes, kTileAlignment);
}

bool CheckRow(Warp& warp, int lane, AccessKind access, uint64_t address, uint32_t bytes) {
  if (GlobalRangeOk(warp, access, address, address + bytes)) return true;
  warp.engine->MemoryFault(warp, lane, FindingKind::kOutOfBounds, access, MemorySpace::kGlobal, address, bytes);
  return false;
}

struct Tile {
  TensorMap map;
  int32_t at[TensorMap::kMostDimensions] = {};
};

// Rows: destination; map, its offset, coordinates; mbarrier, its offset; mask of blocks.
void LoadTile(Warp& warp, const Insn& insn, LaneMask mask) {
  const RowRef* rows = Rows(warp, insn);
  for (const int lane : EachLane(mask)) {
    Tile tile;
    const uint64_t address =
        Address(warp, rows[1], *Source<uint64_t>(warp, rows[2]), (insn.extra & kNarrowMap) != 0, lane);
    if (!ReadMap(warp, insn, lane, address, &tile.map)) return;
    for (uint32_t d = 0; d < tile.map.dimensions; ++d) tile.at[d] = Source<int32_t>(warp, rows[3 + d])[lane];
    BulkLoad load;
    load.lane = lane;
    load.to = Address(warp, rows[0], insn.immediate, (insn.extra & kNarrowShared) != 0, lane);
    load.barrier = Address(warp, rows[8], *Source<uint64_t>(warp, rows[9]), (insn.extra & kNarrowBarrier) != 0, lane);
    if (!CheckTile(warp, lane, tile.map, tile.at, AccessKind::kStore, load.to)) return;
    load.data.resize(TileBytes(tile.map));
    for (size_t k = 0; tile.map.fills_nan && k < load.data.size(); ++k) load.data[k] = k % 2 == 0 ? 0xf7 : 0x7f;
    bool ok = true;
    ForRowsOfTile(tile.map, tile.at, [&](uint64_t from, uint32_t offset, uint32_t bytes) {
      if (!ok || !CheckRow(warp, lane, AccessKind::kLoad, from, bytes)) {
        ok = false;
        return;
      }
      ObserveBulk(warp, lane, Region::kGlobal, AccessKind::kLoad, from, bytes);
      CountBulk(warp, Region::kGlobal, AccessKind::kLoad, from, bytes);
      ForPieces(tile.map, load.to & kOffsetMask, offset, bytes, [&](uint32_t in_tile, uint32_t to, uint32_t piece) {
        std::memcpy(load.data.data() + to, reinterpret_cast<const uint8_t*>(from) + (in_tile - offset), piece);
        for (uint32_t at = to; tile.map.is_tf32 && at < to + piece; at += sizeof(float)) {
          load.data[at] = 0;
          load.data[at + 1] &= 0xe0;
        }
      });
    });
    if (!ok) return;
    const bool to_many = (insn.extra & kMulticast) != 0;
    if (!IssueToBlocks(warp, std::move(load), to_many ? Source<uint16_t>(warp, rows[10])[lane] : 0, to_many)) return;
  }
}

// Rows: map, coordinates; source, its offset.
void StoreTile(Warp& warp, const Insn& insn, LaneMask mask) {
  const RowRef* rows = Rows(warp, insn);
  for (const int lane : EachLane(mask)) {
    Tile tile;
    const uint64_t address = Address(warp, rows[0], insn.immediate, (insn.extra & kNarrowMap) != 0, lane);
    if (!ReadMap(warp, insn, lane, address, &tile.map)) return;
    for (uint32_t d = 0; d < tile.map.dimensions; ++d) tile.at[d] = Source<int32_t>(warp, rows[1 + d])[lane];
    BulkStore store;
    store.lane = lane;
    store.from = Address(warp, rows[6], *Source<uint64_t>(warp, rows[7]), (insn.extra & kNarrowShared) != 0, lane);
    if (const uint64_t word = insn.extra >> kReductionShift & 0xf; word != 0) {
      store.reduction = ReductionOf(word, tile.map.element());
      if (store.reduction.operation == nullptr) {
        Fault(warp, lane, FindingKind::kUnsupported, "this reduction of a tile of this type is not supported");
        return;
      }
    }
    if (!CheckTile(warp, lane, tile.map, tile.at, AccessKind::kLoad, store.from)) return;
    if (std::any_of(tile.at, tile.at + tile.map.dimensions, [](int32_t at) { return at < 0; })) {
      Fault(warp, lane, FindingKind::kIllegalInstruction, "a tile is stored before the start of its tensor");
      return;
    }
    bool ok = true;
    ForRowsOfTile(tile.map, tile.at, [&](uint64_t to, uint32_t offset, uint32_t bytes) {
      if (!ok || !CheckRow(warp, lane, AccessKind::kStore, to, bytes)) {
        ok = false;
        return;
      }
      ForPieces(tile.map, store.from, offset, bytes, [&](uint32_t in_tile, uint32_t from, uint32_t piece) {
        store.pieces.push_back({to + (in_tile - offset), from, piece});
      });
    });
    if (!ok) return;
    IssueBulkStore(warp, std::move(store));
  }
}

// Nothing is fetched. Rows: map, coordinates.
void PrefetchTile(Warp& warp, const Insn& insn, LaneMask mask) {
  const RowRef* rows = Rows(warp, insn);
  for (const int lane : EachLane(mask)) {
    Tile tile;
    const uint64_t address = Address(warp, rows[0], insn.immediate, (insn.extra & kNarrowMap) != 0, lane);
    if (!ReadMap(warp, insn, lane, address, &tile.map)) return;
    for (uint32_t d = 0; d < tile.map.dimensions; ++d) tile.at[d] = Source<int32_t>(warp, rows[1 + d])[lane];
    if (!CheckStart(warp, lane, tile.map, tile.at)) return;
  }
}

void Nothing(Warp&, const Insn&, LaneMask) {}

// Takes ".2d" and ".tile"; false: another mode, or no dimension.
bool TakeDimension(Modifiers& m, uint64_t* extra) {
  constexpr const char* kWords[] = {"1d", "2d", "3d", "4d", "5d"};
  m.Take("tile");
  for (uint64_t k = 0; k < 5; ++k) {
    if (!m.Take(kWords[k])) continue;
    *extra |= (k + 1) << kDimensionShift;
    return true;
  }
  return false;
}

Selection SelectStore(Modifiers& m, uint64_t word) {
  Selection selection;
  selection.flags = kRowsInTable;
  selection.extra = word << kReductionShift;
  if (!TakeDimension(m, &selection.extra)) return {};
  const uint64_t dimensions = selection.extra >> kDimensionShift & 7;
  if (!m.Take("global") || !m.Take("shared::cta") || !m.Take("bulk_group")) return {};
  if (m.operand_bytes(0) == 4) selection.extra |= kNarrowMap;
  if (m.operand_bytes(1 + static_cast<int>(dimensions)) == 4) selection.extra |= kNarrowShared;
  selection.insn_class = InsnClass::kStore;
  selection.handler = StoreTile;
  selection.form = m.Take("L2::cache_hint") ? "ac a su64" : "ac a";
  return selection;
}

Selection SelectTensor(Modifiers& m) {
  Selection selection;
  selection.flags = kRowsInTable;
  if (m.Take("mbarrier::complete_tx::bytes")) {
    if (!TakeDimension(m, &selection.extra)) return {};
    const uint64_t dimensions = selection.extra >> kDimensionShift & 7;
    const bool cluster = m.Take("shared::cluster"), cta = m.Take("shared::cta");
    if (cluster == cta || !m.Take("global")) return {};
    const bool to_many = m.Take("multicast::cluster"), hint = m.Take("L2::cache_hint");
    if (to_many && !cluster) return {};
    if (m.operand_bytes(0) == 4) selection.extra |= kNarrowShared;
    if (m.operand_bytes(1) == 4) selection.extra |= kNarrowMap;
    if (m.operand_bytes(2 + static_cast<int>(dimensions)) == 4) selection.extra |= kNarrowBarrier;
    selection.extra |= to_many ? kMulticast : 0;
    selection.insn_class = InsnClass::kLoad;
    selection.handler = LoadTile;
    if (to_many) {
      selection.form = hint ? "a ac a su16 su64" : "a ac a su16";
    } else {
      selection.form = hint ? "a ac a su64" : "a ac a";
    }
    return selection;
  }
  return SelectStore(m, 0);
}

Selection SelectTensorReduction(Modifiers& m) {
  const uint64_t word = TakeReductionWord(m);
  return word == 0 ? Selection{} : SelectStore(m, word);
}

Selection SelectPrefetchTile(Modifiers& m) {
  Selection selection{PrefetchTile};
  selection.flags = kRowsInTable;
  if (!TakeDimension(m, &selection.extra) || !m.Take("L2") || !m.Take("global")) return {};
  if (m.operand_bytes(0) == 4) selection.extra |= kNarrowMap;
  selection.form = m.Take("L2::cache_hint") ? "ac su64" : "ac";
  return selection;
}

Selection SelectPrefetchMap(Modifiers& m) {
  m.TakeAny({"param", "const"});
  return {Nothing};
}

std::vector<std::string> TensorVariants() {
  std::vector<std::string> variants;
  for (int d = 1; d <= 5; ++d) {
    const std::string dimension = "." + std::to_string(d) + "d";
    for (const char* from : {".shared::cta", ".shared::cluster"}) {
      variants.push_back(dimension + from + ".global.tile.mbarrier::complete_tx::bytes");
    }
    variants.push_back(dimension + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster");
    variants.push_back(dimension + ".global.shared::cta.tile.bulk_group");
  }
  return variants;
}

std::vector<std::string> TensorReductionVariants() {
  std::vector<std::string> variants;
  for (int d = 1; d <= 5; ++d) {
    for (const char* word : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
      variants.push_back("." + std::to_string(d) + "d.global.shared::cta." + word + ".tile.bulk_group");
    }
  }
  return variants;
}

LOCKSTEP_OPCODES(memory_tensor,
                 {
                     {.name = "cp.async.bulk.tensor",
                      .form = "a? ac a? su16? su64?",
                      .select = SelectTensor,
                      .insn_class = InsnClass::kLoad,
                      .traits = kAnyOrder | kAsynchronous,
                      .variants = TensorVariants},
                     {.name = "cp.reduce.async.bulk.tensor",
                      .form = "ac a su64?",
                      .select = SelectTensorReduction,
                      .insn_class = InsnClass::kLoad,
                      .traits = kOrderUnlessCommutes | kAsynchronous,
                      .variants = TensorReductionVariants},
                     {"cp.async.bulk.prefetch.tensor", "ac su64?", SelectPrefetchTile, InsnClass::kOther, kAnyOrder},
                     {"prefetch.tensormap", "a", SelectPrefetchMap, InsnClass::kOther, kAnyOrder},
                     {"prefetch.param.tensormap", "a", SelectPrefetchMap, InsnClass::kOther, kAnyOrder},
                     {"prefetch.const.tensormap", "a", SelectPrefetchMap, InsnClass::kOther, kAnyOrder},
                 });

}  // namespace
}  // namespace lockstep::vgpu
