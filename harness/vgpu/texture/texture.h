// Textures and surfaces, which kernels name by handles.
//
// An image is memory of the device read as texels, row after row: a CUDA array or memory that the program allocated. A
// texture is an image and how to sample it; a surface is an image. Handles have 64 bits; the device's table resolves
// them. They are never reused, so a stale one is detected.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep::vgpu {

enum class TexelKind : uint8_t { kSigned, kUnsigned, kFloat };

struct TexelFormat {
  TexelKind kind = TexelKind::kFloat;
  uint8_t channels = 1;       // 1, 2 or 4
  uint8_t channel_bytes = 4;  // 1, 2 or 4; kFloat: 2 or 4

  uint32_t Bytes() const { return uint32_t{channels} * channel_bytes; }
  bool operator==(const TexelFormat&) const = default;
};

enum class ImageShape : uint8_t {
  kNone,    // can be created, but not read
  kBuffer,  // linear memory, read by integer coordinates
  k1D,
  k2D,
  k3D,
  k1DLayered,
  k2DLayered,
  kCube,
  kCubeLayered,
};

struct Image {
  uint64_t base = 0;
  TexelFormat format;
  ImageShape shape = ImageShape::k1D;
  uint32_t width = 1, height = 1, depth = 1;  // in texels; depth: slices, layers, or the faces of all cubes
  uint64_t pitch = 0, slice = 0;              // bytes from row to row, from slice to slice
  bool is_array = false;                      // a CUDA array; else memory that the program can address

  uint64_t AddressOf(uint32_t x, uint32_t y, uint32_t z) const {
    return base + z * slice + y * pitch + uint64_t{x} * format.Bytes();
  }
};

enum class AddressMode : uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Sampler {
  AddressMode mode[3] = {AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  bool linear = false;      // linear filtering; else the nearest texel
  bool normalized = false;  // coordinates are fractions of the image
  bool as_float = false;    // integers become floats in [0, 1] or [-1, 1]
  bool srgb = false;        // bytes as floats are colors; see IsColor
  // The border's color; if texels are read as integers, the bits of integers.
  float border[4] = {0, 0, 0, 0};
  // For mipmaps: levels_linear: also filters between levels; trilinear_optimized: with anisotropy's own weights;
  // the others: in units of 2^-kLevelBits levels.
  bool levels_linear = false, trilinear_optimized = false;
  int bias = 0, lowest = 0, highest = 0;
};
inline constexpr int kLevelBits = 8;

struct Texture {
  Image image;
  std::vector<Image> smaller;  // the mipmap's other levels, each half as large as the one before
  Sampler sampler;
  bool is_surface = false;
};

class TextureTable {
 public:
  uint64_t Add(const Texture& texture) {
    textures_[++last_] = texture;
    return last_;
  }
  bool Remove(uint64_t handle) { return textures_.erase(handle) != 0; }
  const Texture* Find(uint64_t handle) const {
    const auto found = textures_.find(handle);
    return found == textures_.end() ? nullptr : &found->second;
  }
  void Clear() { textures_.clear(); }

 private:
  std::unordered_map<uint64_t, Texture> textures_;
  uint64_t last_ = 0;
};

}  // namespace lockstep::vgpu
