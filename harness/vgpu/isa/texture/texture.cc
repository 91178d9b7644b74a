// tex: fetches from textures; tld4: gathers one channel of four texels.
//
// Each texel that a lane's fetch needs is an access of its own to checkers, one corner of all lanes at a time. Without
// a mipmap, levels and gradients have no effect. A fetch without a level reads the largest one, as in kernels on a GPU,
// whatever its neighbours fetch.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "vgpu/core/row.h"
#include "vgpu/exec/control.h"
#include "vgpu/isa/special_unit.h"
#include "vgpu/isa/texture/image_access.h"
#include "vgpu/texture/sampling.h"

namespace lockstep::vgpu::images {
namespace {

constexpr int kChannels = 4;
constexpr std::array<std::string_view, 4> kChannelNames = {".r", ".g", ".b", ".a"};

enum class Extra : uint8_t { kNone, kLevel, kGradients };

struct Variant {
  std::string name;
  const Geometry* geometry = nullptr;
  bool integers = false;     // result; else floats
  bool by_integers = false;  // whether coordinates are integers
  int channel = -1;          // to gather; -1: none
  Extra extra = Extra::kNone;
};

bool IsCube(const Geometry& geometry) {
  return geometry.shape == ImageShape::kCube || geometry.shape == ImageShape::kCubeLayered;
}

std::vector<Variant> FetchVariants(Extra extra) {
  std::vector<Variant> variants;
  for (const Geometry& geometry : TextureGeometries()) {
    if (IsCube(geometry) && extra == Extra::kGradients) continue;
    for (const char* type : {"f32", "s32", "u32"}) {
      Variant variant{std::string(geometry.name) + ".v4." + type, &geometry, type[0] != 'f', false, -1, extra};
      variant.name += ".f32";
      variants.push_back(variant);
      if (geometry.shape != ImageShape::k1D || extra != Extra::kNone) continue;
      variant.name.replace(variant.name.size() - 3, 3, "s32");
      variant.by_integers = true;
      variants.push_back(variant);
    }
  }
  return variants;
}

// All variants of tex, tex.level and tex.grad, then those of tld4.
const std::vector<Variant>& Variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> variants = FetchVariants(Extra::kNone);
    for (const Extra extra : {Extra::kLevel, Extra::kGradients}) {
      for (const Variant& variant : FetchVariants(extra)) variants.push_back(variant);
    }
    for (size_t channel = 0; channel < kChannelNames.size(); ++channel) {
      for (const char* type : {"f32", "s32", "u32"}) {
        variants.push_back({std::string(kChannelNames[channel]) + ".2d.v4." + type + ".f32", &TextureGeometries()[1],
                            type[0] != 'f', false, static_cast<int>(channel)});
      }
    }
    return variants;
  }();
  return all;
}

// Why a fetch from this texture is not possible; "" if it is.
std::string Mismatch(const Texture& texture, const Variant& variant) {
  const Image& image = texture.image;
  if (image.shape == ImageShape::kNone) return "the texture has no memory, no size, or no pitch";
  const bool buffer = image.shape == ImageShape::kBuffer;
  if (variant.by_integers != buffer) {
    return buffer ? "linear memory is fetched by integer coordinates (tex1Dfetch) only"
                  : "integer coordinates are supported only for linear memory";
  }
  if (!buffer && image.shape != variant.geometry->shape) {
    return "the texture's array and the fetch differ in dimensions (1D, 2D, 3D …)";
  }
  const bool floats = image.format.kind == TexelKind::kFloat || texture.sampler.as_float;
  if (floats == variant.integers) {
    return floats ? "the texture gives floats, the fetch is for integers"
                  : "the texture gives integers, the fetch is for floats";
  }
  if (!texture.smaller.empty()) {
    const Sampler& sampler = texture.sampler;
    if (variant.extra == Extra::kGradients) return "gradients that choose among a mipmap's levels are not supported";
    if (variant.channel >= 0) return "gathering from a mipmap is not supported";
    if (!sampler.normalized) return "unnormalized coordinates in a mipmap are not supported";
    if (image.shape == ImageShape::k3D && sampler.linear && sampler.levels_linear)
      return "linear filtering of a three-dimensional mipmap between levels is not supported";
    if (image.format.channel_bytes == 2 && image.format.kind == TexelKind::kFloat && sampler.levels_linear)
      return "filtering 16-bit floats between a mipmap's levels is not supported";
  }
  if (variant.channel >= 0 && texture.sampler.as_float && image.format.kind == TexelKind::kSigned &&
      image.format.channel_bytes == 1) {
    return "gathering signed 8-bit texels as floats is not supported";
  }
  return "";
}

Coordinates CoordinatesOf(const Warp& warp, const RowRef* rows, const Geometry& geometry, int lane) {
  Coordinates c;
  if (geometry.layered) c.layer = Source<int32_t>(warp, rows[0])[lane];
  for (int axis = 0; axis < geometry.axes; ++axis) {
    c.at[axis] = Source<float>(warp, rows[axis + (geometry.layered ? 1 : 0)])[lane];
  }
  if (IsCube(geometry)) {  // ptxas scales a direction by the reciprocal of its longest coordinate
    const float longest = std::fmax(std::fmax(std::fabs(c.at[0]), std::fabs(c.at[1])), std::fabs(c.at[2]));
    auto scale = std::bit_cast<uint32_t>(longest);
    special_unit::Evaluate<special_unit::Reciprocal, 1>(&scale, &scale);
    for (float& at : c.at) at *= std::bit_cast<float>(scale);
  }
  return c;
}

// Corners with no weight are not read.
bool HasWeight(const Sample& sample, int corner) {
  for (int axis = 0; axis < sample.axes; ++axis) {
    if (((corner >> axis) & 1) != 0 && sample.WeightAt(corner, axis) == 0) return false;
  }
  return true;
}

bool FetchFrom(Warp& warp, const Variant& variant, const RowRef* rows, const Texture& texture, LaneMask lanes) {
  if (const std::string why = Mismatch(texture, variant); !why.empty()) {
    RefuseAccess(warp, std::countr_zero(lanes), FindingKind::kUnsupported, why);
    return false;
  }
  const bool gathers = variant.channel >= 0;
  Sample samples[kWarpSize];
  for (const int lane : EachLane(lanes)) {
    if (variant.by_integers) {
      samples[lane] = LocateInBuffer(texture, Source<int32_t>(warp, rows[kChannels + 1])[lane]);
      continue;
    }
    const Coordinates coordinates = CoordinatesOf(warp, rows + kChannels + 1, *variant.geometry, lane);
    if (texture.smaller.empty()) {
      samples[lane] = Locate(texture, coordinates, gathers || texture.sampler.linear);
    } else {
      const RowRef& level = rows[kChannels + 1 + variant.geometry->coordinates];
      const bool has_level = variant.extra == Extra::kLevel;
      samples[lane] = LocateAtLevel(texture, coordinates,
                                    has_level ? std::optional(Source<float>(warp, level)[lane]) : std::nullopt);
      if (samples[lane].between_levels && texture.sampler.trilinear_optimized) {
        RefuseAccess(warp, lane, FindingKind::kUnsupported, "anisotropic filtering between a mipmap's levels");
        return false;
      }
    }
  }
  int axes = 0;  // largest of any lane; a sample between two mipmap levels has one more
  for (LaneMask left = lanes; left != 0; left &= left - 1) axes = std::max(axes, samples[std::countr_zero(left)].axes);
  const int corners = 1 << axes;
  for (int corner = 0; corner < corners; ++corner) {
    uint64_t address[kWarpSize] = {};
    LaneMask reads = 0;
    for (const int lane : EachLane(lanes)) {
      address[lane] = samples[lane].address[corner];
      if (address[lane] != 0 && (gathers || HasWeight(samples[lane], corner))) reads |= LaneMask{1} << lane;
    }
    if (!AccessTexels(warp, AccessKind::kLoad, address, reads, texture.image.format.Bytes())) return false;
  }
  // A gather returns the texels of linear filtering, counterclockwise from the lower left.
  static constexpr int kOrder[kChannels] = {2, 3, 1, 0};
  for (const int lane : EachLane(lanes)) {
    const uint8_t* texels[kMostCorners] = {};
    for (int corner = 0; corner < corners; ++corner) {
      texels[corner] = reinterpret_cast<const uint8_t*>(samples[lane].address[corner]);
    }
    uint32_t result[kChannels];
    if (gathers) {
      for (int k = 0; k < kChannels; ++k) result[k] = ChannelOf(texture, texels[kOrder[k]], variant.channel);
    } else {
      Combine(texture, samples[lane], texels, result);
    }
    for (int k = 0; k < kChannels; ++k) Destination<uint32_t>(warp, rows[k])[lane] = result[k];
  }
  return true;
}

// Rows: d × 4, handle, coordinates…, level or gradients.
void Fetch(Warp& warp, const Insn& insn, LaneMask mask) {
  const RowRef* rows = OperandRows(warp, insn);
  const Variant& variant = Variants()[VariantOf(insn)];
  uint64_t handles[kWarpSize];
  std::memcpy(handles, Source<uint64_t>(warp, rows[kChannels]), sizeof handles);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (((mask >> lane) & 1) == 0 || handles[lane] != kNoTexture) continue;
    for (int k = 0; k < kChannels; ++k) Destination<uint32_t>(warp, rows[k])[lane] = 0;
    mask &= ~(LaneMask{1} << lane);
  }
  ForImages(warp, handles, mask, false,
            [&](const Texture& texture, LaneMask lanes) { return FetchFrom(warp, variant, rows, texture, lanes); });
}

template <Extra kExtra, bool kGathers = false>
Selection Select(Modifiers& modifiers) {
  const std::string text = modifiers.TakeAll();
  const std::vector<Variant>& variants = Variants();
  for (size_t k = 0; k < variants.size(); ++k) {
    if (variants[k].name != text || variants[k].extra != kExtra || (variants[k].channel >= 0) != kGathers) continue;
    const int axes = variants[k].geometry->coordinates;
    Selection selection;
    selection.handler = Fetch;
    selection.flags = kRowsInTable;
    selection.extra = uint64_t{k} << kVariantShift;
    selection.elements[0] = kChannels;
    selection.elements[1] = static_cast<uint8_t>(axes);
    if (kExtra == Extra::kGradients) {
      const int components = variants[k].geometry->shape == ImageShape::k3D ? 4 : variants[k].geometry->axes;
      selection.elements[2] = selection.elements[3] = static_cast<uint8_t>(components);
    }
    return selection;
  }
  return {};
}

template <Extra kExtra, bool kGathers = false>
std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Variant& variant : Variants()) {
    if (variant.extra == kExtra && (variant.channel >= 0) == kGathers) names.push_back(variant.name);
  }
  return names;
}

using enum Extra;
constexpr Traits kFetches = kAnyOrder | kLoads | kByHandle;

// clang-format off
LOCKSTEP_OPCODES(textures, {
  {"tex", "dvb32 ac", Select<kNone>, InsnClass::kLoad, kFetches, {}, {}, Names<kNone>},
  {"tex.level", "dvb32 ac sb32", Select<kLevel>, InsnClass::kLoad, kFetches, {}, {}, Names<kLevel>},
  {"tex.grad", "dvb32 ac svb32 svb32", Select<kGradients>, InsnClass::kLoad, kFetches, {}, {}, Names<kGradients>},
  {"tld4", "dvb32 ac", Select<kNone, true>, InsnClass::kLoad, kFetches, {}, {}, Names<kNone, true>},
});
// clang-format on

}  // namespace
}  // namespace lockstep::vgpu::images
