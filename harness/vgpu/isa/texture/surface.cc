// suld, sust: reads and writes of surfaces. x counts bytes, y and z rows and slices.
//
// Beyond the surface, .zero reads zeros and writes nothing, .clamp takes the nearest place, .trap is a fault.
#include <algorithm>
#include <cstring>

#include "vgpu/core/row.h"
#include "vgpu/isa/texture/image_access.h"

namespace lockstep::vgpu::images {
namespace {

constexpr int kMostElements = 4;
constexpr uint32_t kMostBytes = 16;  // per access

enum class Beyond : uint8_t { kTrap, kClamp, kZero };
constexpr std::pair<std::string_view, Beyond> kBeyond[] = {
    {".trap", Beyond::kTrap}, {".clamp", Beyond::kClamp}, {".zero", Beyond::kZero}};

struct Variant {
  std::string name;
  const Geometry* geometry = nullptr;
  uint32_t elements = 1;
  uint32_t element_bytes = 4;
  Beyond beyond = Beyond::kTrap;

  uint32_t Bytes() const { return elements * element_bytes; }
};

const std::vector<Variant>& MoveVariants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> variants;
    for (const Geometry& geometry : SurfaceGeometries()) {
      for (const uint32_t elements : {1u, 2u, 4u}) {
        for (const uint32_t bytes : {1u, 2u, 4u, 8u}) {
          if (elements * bytes > kMostBytes) continue;
          for (const auto& [word, beyond] : kBeyond) {
            Variant variant{"", &geometry, elements, bytes, beyond};
            variant.name = std::string(geometry.name) + (elements == 1 ? "" : ".v" + std::to_string(elements)) + ".b" +
                           std::to_string(8 * bytes) + std::string(word);
            variants.push_back(std::move(variant));
          }
        }
      }
    }
    return variants;
  }();
  return all;
}

// Each lane's access address.
struct Places {
  uint64_t address[kWarpSize] = {};
  LaneMask inside = 0;  // the other lanes access nothing
};

// A lane's coordinates: x in bytes, y, and the slice or layer.
struct Point {
  int64_t x = 0, y = 0, z = 0;
};

void ReadPoints(const Warp& warp, const Variant& variant, const RowRef* rows, Point points[kWarpSize]) {
  const Geometry& geometry = *variant.geometry;
  const auto row = [&](int k) { return Source<int32_t>(warp, rows[k]); };
  for (int lane = 0; lane < kWarpSize; ++lane) {
    Point& point = points[lane];
    const int first = geometry.layered ? 1 : 0;
    point.x = row(first)[lane];
    if (geometry.axes > 1) point.y = row(first + 1)[lane];
    if (geometry.axes > 2) point.z = row(first + 2)[lane];
    if (geometry.layered) point.z = row(0)[lane];
  }
}

bool ShapeFits(ImageShape have, ImageShape want) {
  const bool cube = have == ImageShape::kCube || have == ImageShape::kCubeLayered;
  return have == want || (cube && want == ImageShape::k2DLayered);
}

// False: it has faulted.
bool FindPlaces(Warp& warp, const Variant& variant, const Texture& surface, const Point points[kWarpSize],
                LaneMask lanes, Places& places) {
  const Image& image = surface.image;
  if (!ShapeFits(image.shape, variant.geometry->shape)) {
    RefuseAccess(warp, std::countr_zero(lanes), FindingKind::kUnsupported,
                 "the surface's array and the access differ in dimensions (1D, 2D, 3D …)");
    return false;
  }
  const int64_t bytes = variant.Bytes();
  const int64_t most_x = int64_t{image.width} * image.format.Bytes() - bytes;
  for (const int lane : EachLane(lanes)) {
    Point p = points[lane];
    if (p.x % bytes != 0) {
      RefuseAccess(warp, lane, FindingKind::kMisaligned,
                   "x = " + std::to_string(p.x) + " bytes is no multiple of the " + std::to_string(bytes) +
                       " bytes that are accessed");
      return false;
    }
    const bool inside = p.x >= 0 && p.x <= most_x && p.y >= 0 && p.y < image.height && p.z >= 0 && p.z < image.depth;
    if (!inside && variant.beyond == Beyond::kTrap) {
      RefuseAccess(warp, lane, FindingKind::kOutOfBounds,
                   "the access at x = " + std::to_string(p.x) + " bytes, y = " + std::to_string(p.y) +
                       ", z or layer = " + std::to_string(p.z) + " is beyond the surface, which has " +
                       std::to_string(most_x + bytes) + " bytes x " + std::to_string(image.height) + " x " +
                       std::to_string(image.depth));
      return false;
    }
    if (!inside && variant.beyond == Beyond::kZero) continue;
    p.x = std::clamp<int64_t>(p.x, 0, std::max<int64_t>(most_x, 0));
    p.y = std::clamp<int64_t>(p.y, 0, image.height - 1);
    // A negative layer counts as one beyond the last.
    p.z = variant.geometry->layered && p.z < 0 ? image.depth - 1 : std::clamp<int64_t>(p.z, 0, image.depth - 1);
    places.address[lane] =
        image.AddressOf(0, static_cast<uint32_t>(p.y), static_cast<uint32_t>(p.z)) + static_cast<uint64_t>(p.x);
    places.inside |= LaneMask{1} << lane;
  }
  return true;
}

// Calls f with a value of the type of the register row's elements: 8-bit elements use 16-bit rows.
template <typename F>
void WithRow(uint32_t element_bytes, F f) {
  switch (element_bytes) {
    case 1:
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

// Rows: d…, handle, coordinates….
void Load(Warp& warp, const Insn& insn, LaneMask mask) {
  const RowRef* rows = OperandRows(warp, insn);
  const Variant& variant = MoveVariants()[VariantOf(insn)];
  const uint32_t n = variant.elements, width = variant.element_bytes;
  uint64_t handles[kWarpSize];
  std::memcpy(handles, Source<uint64_t>(warp, rows[n]), sizeof handles);
  Point points[kWarpSize];
  ReadPoints(warp, variant, rows + n + 1, points);
  ForImages(warp, handles, mask, true, [&](const Texture& surface, LaneMask lanes) {
    Places places;
    if (!FindPlaces(warp, variant, surface, points, lanes, places)) return false;
    if (!AccessTexels(warp, AccessKind::kLoad, places.address, places.inside, variant.Bytes())) return false;
    for (const int lane : EachLane(lanes)) {
      const auto* from = reinterpret_cast<const uint8_t*>(places.address[lane]);
      for (uint32_t k = 0; k < n; ++k) {
        uint64_t value = 0;
        if ((places.inside >> lane & 1) != 0) std::memcpy(&value, from + k * width, width);
        WithRow(width, [&](auto type) {
          Destination<decltype(type)>(warp, rows[k])[lane] = static_cast<decltype(type)>(value);
        });
      }
    }
    return true;
  });
}

// Rows: handle, coordinates…, values….
void Store(Warp& warp, const Insn& insn, LaneMask mask) {
  const RowRef* rows = OperandRows(warp, insn);
  const Variant& variant = MoveVariants()[VariantOf(insn)];
  uint64_t handles[kWarpSize];
  std::memcpy(handles, Source<uint64_t>(warp, rows[0]), sizeof handles);
  Point points[kWarpSize];
  ReadPoints(warp, variant, rows + 1, points);
  const RowRef* values = rows + 1 + variant.geometry->coordinates;
  ForImages(warp, handles, mask, true, [&](const Texture& surface, LaneMask lanes) {
    Places places;
    if (!FindPlaces(warp, variant, surface, points, lanes, places)) return false;
    if (!AccessTexels(warp, AccessKind::kStore, places.address, places.inside, variant.Bytes())) return false;
    for (const int lane : EachLane(places.inside)) {
      auto* to = reinterpret_cast<uint8_t*>(places.address[lane]);
      for (uint32_t k = 0; k < variant.elements; ++k) {
        WithRow(variant.element_bytes, [&](auto type) {
          std::memcpy(to + k * variant.element_bytes, &Source<decltype(type)>(warp, values[k])[lane],
                      variant.element_bytes);
        });
      }
    }
    return true;
  });
}

Selection SelectIn(Modifiers& modifiers, const std::vector<Variant>& variants, Handler handler) {
  Selection selection;
  for (int k = 0; k < 2; ++k) modifiers.type(k);
  const std::string text = modifiers.TakeAll();
  for (size_t k = 0; k < variants.size(); ++k) {
    if (variants[k].name != text) continue;
    const bool loads = handler == Load;
    selection.handler = handler;
    selection.flags = kRowsInTable;
    selection.extra = uint64_t{k} << kVariantShift;
    selection.elements[loads ? 0 : 1] = static_cast<uint8_t>(variants[k].elements);
    selection.elements[loads ? 1 : 0] = static_cast<uint8_t>(variants[k].geometry->coordinates);
  }
  return selection;
}

Selection SelectLoad(Modifiers& modifiers) { return SelectIn(modifiers, MoveVariants(), Load); }
Selection SelectStore(Modifiers& modifiers) { return SelectIn(modifiers, MoveVariants(), Store); }

std::vector<std::string> NamesOf(const std::vector<Variant>& variants) {
  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  return names;
}
std::vector<std::string> MoveNames() { return NamesOf(MoveVariants()); }

LOCKSTEP_OPCODES(surfaces, {
                               {.name = "suld.b",
                                .form = "dv0 ac",
                                .select = SelectLoad,
                                .insn_class = InsnClass::kLoad,
                                .traits = kAnyOrder | kLoads | kByHandle | kWiderRegisters,
                                .variants = MoveNames},
                               {.name = "sust.b",
                                .form = "ac sv0",
                                .select = SelectStore,
                                .insn_class = InsnClass::kStore,
                                .traits = kAnyOrder | kStores | kByHandle | kWiderRegisters,
                                .variants = MoveNames},
                           });

}  // namespace
}  // namespace lockstep::vgpu::images
