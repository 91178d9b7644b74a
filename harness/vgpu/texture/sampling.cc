#include "vgpu/texture/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "vgpu/core/half_format.h"

namespace lockstep::vgpu {
namespace {

constexpr int kWeightBits = 8;
constexpr int32_t kOutside = -1;

// A coordinate's texels along one axis.
struct Axis {
  int32_t lower = 0, upper = 0;
  uint32_t weight = 0;
};

// A texel's index by the address mode; kOutside for the border.
int32_t Wrap(int64_t index, uint32_t size, AddressMode mode) {
  const int64_t n = size;
  switch (mode) {
    case AddressMode::kWrap:
      return static_cast<int32_t>(((index % n) + n) % n);
    case AddressMode::kMirror: {
      const int64_t period = 2 * n;
      const int64_t k = ((index % period) + period) % period;
      return static_cast<int32_t>(k < n ? k : period - 1 - k);
    }
    case AddressMode::kClamp:
      return static_cast<int32_t>(std::clamp<int64_t>(index, 0, n - 1));
    case AddressMode::kBorder:
      break;
  }
  return index < 0 || index >= n ? kOutside : static_cast<int32_t>(index);
}

// A normalized coordinate keeps this many fractional bits, enough for the weights; the rest is truncated.
int NormalizedBits(uint32_t size) { return std::max(21, static_cast<int>(std::bit_width(size - 1)) + kWeightBits); }

// A position in texels, with enough fractional bits that further steps are exact.
struct Fixed {
  int64_t value = 0;
  int bits = 0;
};

Fixed ToTexels(float x, uint32_t size, AddressMode mode, bool normalized) {
  double at = std::isnan(x) ? 0 : x;
  if (!normalized) {
    at = std::clamp(at, -1e6, 1e6);
    return {static_cast<int64_t>(std::floor(std::ldexp(at, 32))), 32};
  }
  if (mode == AddressMode::kWrap || mode == AddressMode::kMirror) {
    if (std::isinf(at)) at = 0;
    at -= (mode == AddressMode::kWrap ? 1 : 2) * std::floor(at / (mode == AddressMode::kWrap ? 1 : 2));
  }
  const int bits = NormalizedBits(size);
  at = std::clamp(at, -1e3, 1e3);
  return {static_cast<int64_t>(std::floor(std::ldexp(at, bits))) * size, bits};
}

Axis Place(float x, uint32_t size, AddressMode mode, bool normalized, bool filters) {
  // Repetition needs normalized coordinates.
  if (!normalized && (mode == AddressMode::kWrap || mode == AddressMode::kMirror)) mode = AddressMode::kClamp;
  const Fixed at = ToTexels(x, size, mode, normalized);
  Axis axis;
  if (!filters) {
    axis.lower = axis.upper = Wrap(at.value >> at.bits, size, mode);
    return axis;
  }
  const int shift = at.bits - kWeightBits;
  const int64_t fixed = ((at.value + (int64_t{1} << (shift - 1))) >> shift) - kWeightOne / 2;
  axis.lower = Wrap(fixed >> kWeightBits, size, mode);
  axis.upper = Wrap((fixed >> kWeightBits) + 1, size, mode);
  axis.weight = static_cast<uint32_t>(fixed & (kWeightOne - 1));
  if (mode == AddressMode::kClamp && axis.lower == axis.upper) axis.weight = 0;
  return axis;
}

// An out-of-range layer, even a negative one, means the last.
uint32_t LayerOf(int32_t layer, uint32_t layers) { return std::min(static_cast<uint32_t>(layer), layers - 1); }

float ToFloat(const Texture& texture, const uint8_t* texel, int channel) {
  return std::bit_cast<float>(ChannelOf(texture, texel, channel));
}

}  // namespace

void FindFace(const float direction[3], float on_face[2], uint32_t* face) {
  const float x = direction[0], y = direction[1], z = direction[2];
  // What is NaN, because of 0 or infinite coordinates, chooses no face and lies in its centre.
  const auto length = [](float value) { return std::isnan(value) ? -1 : std::fabs(value); };
  const float ax = length(x), ay = length(y), az = length(z);
  float s = 0, t = 0;
  if (az >= ax && az >= ay) {
    *face = z < 0 ? 5 : 4;
    s = z < 0 ? -x : x;
    t = -y;
  } else if (ay >= ax) {
    *face = y < 0 ? 3 : 2;
    s = x;
    t = y < 0 ? -z : z;
  } else {
    *face = x < 0 ? 1 : 0;
    s = x < 0 ? z : -z;
    t = -y;
  }
  const auto place = [](float value) {
    constexpr double kUnit = 0x1p21;  // truncated, as normalized coordinates are
    return std::isnan(value) ? 0.5f : static_cast<float>(std::floor((double{value} + 1) / 2 * kUnit) / kUnit);
  };
  on_face[0] = place(s);
  on_face[1] = place(t);
}

Sample LocateInBuffer(const Texture& texture, int32_t index) {
  Sample sample;
  if (index >= 0 && static_cast<uint32_t>(index) < texture.image.width) {
    sample.address[0] = texture.image.AddressOf(static_cast<uint32_t>(index), 0, 0);
  }
  return sample;
}

namespace {

Sample LocateIn(const Image& image, const Sampler& sampler, const Coordinates& c, bool filters) {
  const bool is_cube = image.shape == ImageShape::kCube || image.shape == ImageShape::kCubeLayered;
  const uint32_t size[3] = {image.width, image.height, image.depth};
  int axes = 1;
  uint32_t layer = 0;
  float at[3] = {c.at[0], c.at[1], c.at[2]};
  switch (image.shape) {
    case ImageShape::kNone:
    case ImageShape::kBuffer:
      break;
    case ImageShape::k1D:
      // A line is a plane one texel high, fetched at y = 0, between that texel and the border.
      if (filters && sampler.mode[1] == AddressMode::kBorder) axes = 2;
      break;
    case ImageShape::k2D:
      axes = 2;
      break;
    case ImageShape::k3D:
      axes = 3;
      break;
    case ImageShape::k1DLayered:
      layer = LayerOf(c.layer, image.depth);
      break;
    case ImageShape::k2DLayered:
      axes = 2;
      layer = LayerOf(c.layer, image.depth);
      break;
    case ImageShape::kCube:
    case ImageShape::kCubeLayered: {
      axes = 2;
      uint32_t face = 0;
      FindFace(c.at, at, &face);
      const int32_t cube = image.shape == ImageShape::kCube ? 0 : c.layer;
      layer = LayerOf(cube, image.depth / 6) * 6 + face;
      break;
    }
  }
  Axis axis[3];
  Sample sample;
  for (int a = 0; a < axes; ++a) {
    axis[a] = Place(at[a], size[a], sampler.mode[a], sampler.normalized || is_cube, filters);
    sample.weight[a] = axis[a].weight;
  }
  sample.axes = filters ? axes : 0;
  for (int k = 0; k < 1 << sample.axes; ++k) {
    int32_t index[3] = {0, 0, static_cast<int32_t>(layer)};
    bool inside = true;
    for (int a = 0; a < axes; ++a) {
      index[a] = (k >> a) & 1 ? axis[a].upper : axis[a].lower;
      inside = inside && index[a] != kOutside;
    }
    if (inside) {
      sample.address[k] = image.AddressOf(static_cast<uint32_t>(index[0]), static_cast<uint32_t>(index[1]),
                                          static_cast<uint32_t>(index[2]));
    }
  }
  return sample;
}

}  // namespace

int LevelParts(float level) {
  constexpr float kMost = 64;
  return static_cast<int>(std::ldexp(std::clamp(std::isnan(level) ? 0 : level, -kMost, kMost), kLevelBits));
}

Sample Locate(const Texture& texture, const Coordinates& c, bool filters) {
  return LocateIn(texture.image, texture.sampler, c, filters);
}

Sample LocateAtLevel(const Texture& texture, const Coordinates& c, std::optional<float> level) {
  const Sampler& sampler = texture.sampler;
  constexpr int kOne = 1 << kLevelBits;
  const int last = static_cast<int>(texture.smaller.size());
  const int wanted = std::max(std::min(level ? LevelParts(*level) + sampler.bias : 0, sampler.highest), sampler.lowest);
  const int at = std::clamp(wanted, 0, last * kOne);
  const int nearest = sampler.levels_linear ? at / kOne : (at + kOne / 2) / kOne;
  const auto in = [&](int k) {
    const Image& image = k == 0 ? texture.image : texture.smaller[static_cast<size_t>(k - 1)];
    return LocateIn(image, sampler, c, sampler.linear);
  };
  Sample sample = in(nearest);
  if (!sampler.levels_linear || at % kOne == 0) return sample;
  const Sample smaller = in(nearest + 1);
  sample.axes = 3;
  sample.weight[2] = static_cast<uint32_t>(at % kOne) * (kWeightOne / kOne);
  sample.between_levels = true;
  for (int axis = 0; axis < 2; ++axis) sample.smaller_weight[axis] = smaller.weight[axis];
  std::copy_n(smaller.address, kMostCorners / 2, sample.address + kMostCorners / 2);
  return sample;
}

namespace {

// Linear values of sRGB colours, as upper halves of floats: read from an H100. They have 8 bits, and differ by at least
// 2^-14.
constexpr uint16_t kLight[] = {
    0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c, 0x3b70, 0x3b84,
    0x3b90, 0x3b9c, 0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c, 0x3c16, 0x3c1f, 0x3c29, 0x3c34,
    0x3c3e, 0x3c49, 0x3c55, 0x3c60, 0x3c6c, 0x3c7a, 0x3c83, 0x3c8a, 0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6,
    0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9, 0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c,
    0x3d22, 0x3d28, 0x3d2d, 0x3d33, 0x3d39, 0x3d3f, 0x3d45, 0x3d4c, 0x3d52, 0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74,
    0x3d7a, 0x3d81, 0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0, 0x3da4, 0x3da9, 0x3dad, 0x3db1,
    0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea, 0x3df0, 0x3df4,
    0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17, 0x3e1a, 0x3e1d, 0x3e20, 0x3e23,
    0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d, 0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52,
    0x3e56, 0x3e59, 0x3e5d, 0x3e61, 0x3e65, 0x3e68, 0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84,
    0x3e86, 0x3e88, 0x3e8a, 0x3e8d, 0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3,
    0x3ea5, 0x3ea8, 0x3eaa, 0x3ead, 0x3eaf, 0x3eb2, 0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6,
    0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb, 0x3ede, 0x3ee1, 0x3ee4, 0x3ee7, 0x3eea, 0x3eed,
    0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05, 0x3f07, 0x3f09, 0x3f0a, 0x3f0c,
    0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19, 0x3f1b, 0x3f1c, 0x3f1e, 0x3f20, 0x3f21, 0x3f23,
    0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e, 0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d,
    0x3f3f, 0x3f41, 0x3f43, 0x3f45, 0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59,
    0x3f5b, 0x3f5d, 0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76,
    0x3f7a, 0x3f7c, 0x3f7e, 0x3f80};

bool IsColor(const Texture& texture, int channel) {
  const TexelFormat& format = texture.image.format;
  const bool bytes = format.kind == TexelKind::kUnsigned && format.channel_bytes == 1;
  return texture.sampler.srgb && texture.sampler.as_float && bytes && channel < (format.channels == 4 ? 3 : 1);
}

}  // namespace

float LightOf(uint8_t color) { return std::bit_cast<float>(uint32_t{kLight[color]} << 16); }

uint8_t ColorOf(float light) {
  const double x = std::clamp(std::isnan(light) ? 0.0 : static_cast<double>(light), 0.0, 1.0);
  const double color = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(color * 255));
}

uint32_t ChannelOf(const Texture& texture, const uint8_t* texel, int channel) {
  const TexelFormat& format = texture.image.format;
  if (channel >= format.channels) return 0;
  if (texel == nullptr) return std::bit_cast<uint32_t>(texture.sampler.border[channel]);
  uint32_t bits = 0;
  std::memcpy(&bits, texel + channel * format.channel_bytes, format.channel_bytes);
  if (format.kind == TexelKind::kFloat) {
    return format.channel_bytes == 4 ? bits : std::bit_cast<uint32_t>(Half::ToFloat(static_cast<uint16_t>(bits)));
  }
  const int width = 8 * format.channel_bytes;
  if (format.kind == TexelKind::kSigned)
    bits = static_cast<uint32_t>(static_cast<int32_t>(bits << (32 - width)) >> (32 - width));
  if (!texture.sampler.as_float) return bits;
  if (IsColor(texture, channel)) return std::bit_cast<uint32_t>(LightOf(static_cast<uint8_t>(bits)));
  if (format.kind == TexelKind::kSigned) {
    const float most = static_cast<float>((1 << (width - 1)) - 1);
    return std::bit_cast<uint32_t>(std::max(static_cast<float>(static_cast<int32_t>(bits)) / most, -1.0f));
  }
  return std::bit_cast<uint32_t>(static_cast<float>(bits) / static_cast<float>((1 << width) - 1));
}

namespace {

// A product of weights, rounded; a tie goes up.
uint32_t RoundedProduct(uint32_t a, uint32_t b) { return (a * b + kWeightOne / 2) >> kWeightBits; }

// The corners' weights, with sum kWeightOne. Split by slices, then columns, then texels.
void WeightsOf(const Sample& sample, uint32_t weight[kMostCorners]) {
  const uint32_t z = sample.weight[2];
  for (int slice = 0; slice < 2; ++slice) {
    const uint32_t x = sample.WeightAt(4 * slice, 0), y = sample.WeightAt(4 * slice, 1);
    uint32_t* const w = weight + 4 * slice;
    const uint32_t all = slice == 1 ? z : kWeightOne - z;
    const uint32_t right = RoundedProduct(x, all), left = all - right;
    w[3] = RoundedProduct(right, y);
    w[1] = right - w[3];
    w[0] = RoundedProduct(left, kWeightOne - y);
    w[2] = left - w[0];
  }
}

constexpr int kSliceBits = 16;  // fractional bits of slices' sums
constexpr int kNone = -100000;

// The result's precision: bits of the significand, and the least exponent. Texels aligned to the largest one keep this
// many bits; sRGB values only their own eight.
struct Precision {
  int bits, least, aligned;
  bool of_light = false;
};
constexpr Precision kFloat = {24, -149, 28}, kHalf = {11, -24, 15}, kOfLight = {11, -24, 8, true};

// The exponent by which a texel is aligned. An sRGB value just below a power of two uses that power: verified for all
// pairs of colours on a Hopper.
int ExponentOf(float texel, const Precision& precision) {
  constexpr float kUnit = 16384;
  const int exponent = std::ilogb(texel);
  if (!precision.of_light) return exponent;
  for (const float from : {236.0f, 484.0f, 840.0f, 1920.0f, 4032.0f, 7872.0f, 15360.0f}) {
    if (texel >= from / kUnit && exponent == std::ilogb(from / kUnit)) return exponent + 1;
  }
  return exponent;
}

// sum * 2^exponent
struct Sum {
  __int128 sum = 0;
  int exponent = kNone;
};

float Flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0.0f : x; }

// Weighted sum of texels: bits below the largest texel's `aligned` bits are truncated.
Sum SumOf(const float texels[], const uint32_t weights[], int count, const Precision& precision) {
  int most = kNone;
  for (int k = 0; k < count; ++k) {
    if (weights[k] != 0 && Flushed(texels[k]) != 0) most = std::max(most, ExponentOf(texels[k], precision));
  }
  Sum sum;
  if (most == kNone) return sum;
  sum.exponent = most - (precision.aligned - 1);
  for (int k = 0; k < count; ++k) {
    if (weights[k] == 0) continue;
    const double aligned = std::trunc(std::ldexp(static_cast<double>(Flushed(texels[k])), -sum.exponent));
    sum.sum += static_cast<__int128>(static_cast<int64_t>(aligned)) * weights[k];
  }
  return sum;
}

// Rounds to the nearest value of that precision, ties away from zero.
float Rounded(const Sum& sum, const Precision& precision) {
  if (sum.sum == 0) return 0;
  const bool negative = sum.sum < 0;
  auto size = static_cast<unsigned __int128>(negative ? -sum.sum : sum.sum);
  int exponent = sum.exponent;
  int bits = 0;
  for (unsigned __int128 left = size; left != 0; left >>= 1) ++bits;
  const int drop = std::max(bits - precision.bits, precision.least - exponent);
  if (drop > 0) {
    size = (size + (static_cast<unsigned __int128>(1) << (drop - 1))) >> drop;
    exponent += drop;
  }
  const auto value = static_cast<float>(std::ldexp(static_cast<double>(static_cast<uint64_t>(size)), exponent));
  return Flushed(negative ? -value : value);
}

// A slice's sum in units of 2^exponent, rounded down.
__int128 In(int exponent, const Sum& sum) {
  const int shift = sum.exponent - exponent;
  if (shift >= 0) return sum.sum << shift;
  return -shift > 126 ? (sum.sum < 0 ? -1 : 0) : sum.sum >> -shift;
}

float Filtered(const float texels[], const uint32_t weights[], int corners, const Precision& precision) {
  // A NaN makes the sum NaN; infinities of one sign make it infinite.
  float special = 0;
  bool any = false;
  for (int k = 0; k < corners; ++k) {
    if (std::isfinite(texels[k])) continue;
    any = true;
    special += texels[k] * static_cast<float>(weights[k]);
  }
  if (any) return std::isnan(special) ? std::bit_cast<float>(0x7fffffffu) : special;
  bool negative = true;  // all texels with a weight are negative or -0
  for (int k = 0; k < corners; ++k) negative = negative && (weights[k] == 0 || std::signbit(texels[k]));
  Sum first = SumOf(texels, weights, std::min(corners, 4), precision);
  if (corners == kMostCorners) {
    const Sum second = SumOf(texels + 4, weights + 4, 4, precision);
    if (second.exponent != kNone && first.exponent != kNone) {
      const int exponent =
          std::max(first.exponent, second.exponent) - (kSliceBits - (precision.aligned - precision.bits));
      first = {In(exponent, first) + In(exponent, second), exponent};
    } else if (second.exponent != kNone) {
      first = second;
    }
  }
  first.exponent -= kWeightBits;
  const float rounded = Rounded(first, precision);
  return rounded == 0 && negative ? -0.0f : rounded;
}

// Integers read as floats are filtered with 16 bits.
float FilteredInteger(const Texture& texture, const uint8_t* const texels[], const uint32_t weights[], int corners,
                      int channel) {
  const TexelFormat& format = texture.image.format;
  if (channel >= format.channels) return 0;
  const int64_t most = format.kind == TexelKind::kSigned ? 32767 : 65535;
  int64_t sum = 0;
  for (int k = 0; k < corners; ++k) {
    sum += std::llround(ToFloat(texture, texels[k], channel) * static_cast<float>(most)) * weights[k];
  }
  return static_cast<float>((sum + kWeightOne / 2) >> kWeightBits) / static_cast<float>(most);
}

}  // namespace

void Combine(const Texture& texture, const Sample& sample, const uint8_t* const texels[kMostCorners],
             uint32_t result[4]) {
  if (sample.axes == 0) {
    for (int channel = 0; channel < 4; ++channel) result[channel] = ChannelOf(texture, texels[0], channel);
    return;
  }
  uint32_t weights[kMostCorners];
  WeightsOf(sample, weights);
  const int bytes = texture.image.format.channel_bytes;
  const Precision& precision = bytes == 4 ? kFloat : bytes == 2 ? kHalf : kOfLight;
  const int corners = 1 << sample.axes;
  for (int channel = 0; channel < 4; ++channel) {
    if (texture.sampler.as_float && !IsColor(texture, channel)) {
      result[channel] = std::bit_cast<uint32_t>(FilteredInteger(texture, texels, weights, corners, channel));
      continue;
    }
    float values[kMostCorners];
    for (int k = 0; k < corners; ++k) values[k] = ToFloat(texture, texels[k], channel);
    result[channel] = std::bit_cast<uint32_t>(Filtered(values, weights, corners, precision));
  }
}

}  // namespace lockstep::vgpu
