// Which texels a fetch reads, and what it makes of them.
//
// Theory of operation. A coordinate becomes, along each axis, one texel or two neighbours with a weight of 8 bits
// (sampling.cc has the hardware's rounding). A fetch of the nearest texel reads one; linear filtering reads 2, 4 or 8,
// corner k being the upper neighbour along axis a where bit a of k is set. Beyond the image the address mode chooses
// another texel or the border's color, which is read from nowhere.
#pragma once

#include <cstdint>

#include "vgpu/texture/texture.h"

namespace lockstep::vgpu {

inline constexpr int kMostCorners = 8;
inline constexpr uint32_t kWeightOne = 256;

struct Sample {
  int axes = 0;                         // that are filtered: 1 << axes corners
  uint64_t address[kMostCorners] = {};  // 0: the border's color
  uint32_t weight[3] = {};              // of the upper neighbour along each axis, of kWeightOne
  // Between two levels of a mipmap there are 8 corners, the smaller level's behind the larger one's four, and weight[2]
  // is the smaller level's; in it these are the upper neighbours'.
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

// `filters`: as the sampler says, or as gathering needs it.
Sample Locate(const Texture& texture, const Coordinates& coordinates, bool filters);
// Samples a mipmap at a level; 1.5 is halfway between the second and the third.
Sample LocateAtLevel(const Texture& texture, const Coordinates& coordinates, float level);
// A buffer's texel.
Sample LocateInBuffer(const Texture& texture, int32_t index);

// The four channels of the result, as bits of floats or integers. texels[k]: where corner k's texel is in this process;
// nullptr for the border.
void Combine(const Texture& texture, const Sample& sample, const uint8_t* const texels[kMostCorners],
             uint32_t result[4]);
// One channel of one texel.
uint32_t ChannelOf(const Texture& texture, const uint8_t* texel, int channel);

// The 8-bit color of sRGB whose light is nearest, and the light of one: both in [0, 1], as a Hopper has it.
float LightOf(uint8_t color);
uint8_t ColorOf(float light);

// Coordinates on a cube's face, in [0, 1], and the face.
void FindFace(const float direction[3], float on_face[2], uint32_t* face);

}  // namespace lockstep::vgpu
