// Which texels a fetch reads, and how it combines them.
//
// Theory of operation. A coordinate becomes, along each axis, one texel or two neighbours with a weight of 8 bits
// (sampling.cc has the hardware's rounding). A fetch of the nearest texel reads one; linear filtering reads 2, 4 or 8,
// corner k being the upper neighbour along axis a where bit a of k is set. Beyond the image the address mode chooses
// another texel or the border's color, which needs no read.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/texture/texture.h"

namespace lockstep::vgpu {

inline constexpr int kMostCorners = 8;
inline constexpr uint32_t kWeightOne = 256;

struct Sample {
  int axes = 0;                         // filtered axes: 1 << axes corners
  uint64_t address[kMostCorners] = {};  // 0: the border's color
  uint32_t weight[3] = {};              // of the upper neighbour along each axis; kWeightOne is 1
  // The sample is between two levels of a mipmap: corners 0 to 3 are the larger level's, 4 to 7 the smaller one's.
  // weight[2] is the weight of the smaller level; smaller_weight are those of the upper neighbours in it.
  bool between_levels = false;
  uint32_t smaller_weight[2] = {};

  uint32_t WeightAt(int corner, int axis) const {
    return between_levels && corner >= kMostCorners / 2 && axis < 2 ? smaller_weight[axis] : weight[axis];
  }
};

// One lane's coordinates: x, y, z, and of layered images the layer.
struct Coordinates {
  float at[3] = {};
  int32_t layer = 0;
};

// `filters`: whether to filter; the sampler says so, or gathering requires it.
Sample Locate(const Texture& texture, const Coordinates& coordinates, bool filters);
// Samples a mipmap at a level; 1.5 is halfway between the second and the third. nullopt: the first, without the bias.
Sample LocateAtLevel(const Texture& texture, const Coordinates& coordinates, std::optional<float> level);
// The level in units of 2^-kLevelBits, truncated.
int LevelParts(float level);
Sample LocateInBuffer(const Texture& texture, int32_t index);

// The four channels of the result, as bits of floats or integers. texels[k]: where corner k's texel is in this process;
// nullptr for the border.
void Combine(const Texture& texture, const Sample& sample, const uint8_t* const texels[kMostCorners],
             uint32_t result[4]);
uint32_t ChannelOf(const Texture& texture, const uint8_t* texel, int channel);

// LightOf: an 8-bit sRGB color's linear value, in [0, 1], as on a Hopper. ColorOf: a value's color by the sRGB formula.
float LightOf(uint8_t color);
uint8_t ColorOf(float light);

// Coordinates on a cube's face, in [0, 1], and the face. The direction's longest coordinate is about 1.
void FindFace(const float direction[3], float on_face[2], uint32_t* face);

}  // namespace lockstep::vgpu
