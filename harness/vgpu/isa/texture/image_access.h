// The common part of texture and surface instructions: variants, handles, and texel accesses, which checkers see like
// any access to global memory. Memory counters ignore them: docs/concepts/counting.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/exec/operand_rows.h"
#include "vgpu/texture/texture.h"

namespace lockstep::vgpu::images {

// The number of an instruction's variant in its family's list, in bits of Insn::extra that memory flags leave free.
inline constexpr int kVariantShift = 20;
inline constexpr size_t kMostVariants = 1 << 12;
inline size_t VariantOf(const Insn& insn) { return (insn.extra >> kVariantShift) & (kMostVariants - 1); }

// As in a variant's name: ".2d". kBuffer has none.
struct Geometry {
  std::string_view name;
  ImageShape shape;
  int coordinates;  // number of the vector's elements
  int axes;         // those that select a texel, without the layer
  bool layered;     // the first one is the layer
};
const std::vector<Geometry>& TextureGeometries();  // .cube among them
const std::vector<Geometry>& SurfaceGeometries();

// Raises a fault for the lane's access.
void RefuseAccess(Warp& warp, int lane, FindingKind kind, std::string why);

// The texture or surface of a lane's handle; nullptr: it has faulted.
const Texture* FindImage(Warp& warp, int lane, uint64_t handle, bool surface);

// Calls f(texture, lanes) for each different handle among the lanes. Stops and returns false at the first fault.
template <typename F>
bool ForImages(Warp& warp, const uint64_t handles[kWarpSize], LaneMask mask, bool surface, F f) {
  for (LaneMask left = mask; left != 0;) {
    const int first = std::countr_zero(left);
    LaneMask lanes = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) lanes |= LaneMask{handles[lane] == handles[first]} << lane;
    lanes &= left;
    left &= ~lanes;
    const Texture* const texture = FindImage(warp, first, handles[first], surface);
    if (texture == nullptr || !f(*texture, lanes)) return false;
  }
  return true;
}

// Checks each lane's access of `bytes` at a device address, and notifies observers. False: it has faulted.
bool AccessTexels(Warp& warp, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask, uint32_t bytes);

}  // namespace lockstep::vgpu::images
