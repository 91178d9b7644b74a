#include "vgpu/isa/texture/image_access.h"

#include <cstring>
#include <utility>

#include "vgpu/core/row.h"
#include "vgpu/exec/control.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu::images {

const std::vector<Geometry>& TextureGeometries() {
  static const std::vector<Geometry> all = {
      {".1d", ImageShape::k1D, 1, 1, false},           {".2d", ImageShape::k2D, 2, 2, false},
      {".3d", ImageShape::k3D, 4, 3, false},           {".a1d", ImageShape::k1DLayered, 2, 1, true},
      {".a2d", ImageShape::k2DLayered, 4, 2, true},    {".cube", ImageShape::kCube, 4, 3, false},
      {".acube", ImageShape::kCubeLayered, 4, 3, true}};
  return all;
}

const std::vector<Geometry>& SurfaceGeometries() {
  static const std::vector<Geometry> all = {{".1d", ImageShape::k1D, 1, 1, false},
                                            {".2d", ImageShape::k2D, 2, 2, false},
                                            {".3d", ImageShape::k3D, 4, 3, false},
                                            {".a1d", ImageShape::k1DLayered, 2, 1, true},
                                            {".a2d", ImageShape::k2DLayered, 4, 2, true}};
  return all;
}

void RefuseAccess(Warp& warp, int lane, FindingKind kind, std::string why) {
  warp.engine->Fault(warp, warp.engine->MakeFinding(warp, warp.pc - 1, lane, kind, std::move(why)));
}

const Texture* FindImage(Warp& warp, int lane, uint64_t handle, bool surface) {
  const TextureTable* const table = warp.engine->launch().textures;
  const Texture* const found = table == nullptr ? nullptr : table->Find(handle);
  if (found != nullptr && found->is_surface == surface) return found;
  const std::string what = surface ? "surface" : "texture";
  RefuseAccess(warp, lane, FindingKind::kInvalidAddress,
               found != nullptr ? "the handle is that of a " + std::string(surface ? "texture" : "surface") +
                                      " object, not of a " + what + " object"
                                : "there is no " + what + " object with the handle " + std::to_string(handle));
  return nullptr;
}

bool AccessTexels(Warp& warp, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask, uint32_t bytes) {
  if (mask == 0) return true;
  if (!CheckLanes(warp, Region::kGlobal, access, address, mask, bytes)) return false;
  if (access != AccessKind::kLoad) warp.state->wrote = true;
  if (warp.engine->observed()) {
    Insn weak;
    weak.extra = MemoryFlags().Pack();
    ObserveLanes(warp, weak, Region::kGlobal, access, address, mask, bytes, false);
  }
  return !warp.engine->faulted();
}

}  // namespace lockstep::vgpu::images

void lockstep::vgpu::TextureOfReference(Warp& warp, const Insn& insn, LaneMask mask) {
  uint64_t handle = 0;
  std::memcpy(&handle, reinterpret_cast<const void*>(insn.immediate), sizeof handle);
  if (handle == 0) handle = kNoTexture;
  ForLanes<uint64_t>(warp, insn.row[0], mask, [=](int) { return handle; });
}
