// What texture fetches return: address modes, filters, coordinates, formats, kinds of resources.
// textures.h100.txt is this program's output on a machine with an H100.
#include <cmath>
#include <string>

#include "texture_common.h"

namespace {

const char* const kModes[] = {"wrap", "clamp", "mirror", "border"};

std::vector<float> Line(bool normalized, float n) {
  std::vector<float> at;
  for (const float x :
       {0.0f,    0.25f,  0.5f,  0.75f, 1.0f,  1.25f, 1.5f,  1.998f, 2.002f, 2.5f,  3.1f,  4.0f,  4.4f,  4.5f,
        4.6f,    4.999f, 5.0f,  5.3f,  5.5f,  5.7f,  6.0f,  7.25f,  9.9f,   10.0f, 12.6f, 1e6f,  1e10f, -0.0f,
        -0.001f, -0.3f,  -0.5f, -0.7f, -1.0f, -1.5f, -2.3f, -4.9f,  -5.0f,  -5.1f, -7.7f, -1e6f, -1e10f}) {
    at.push_back(normalized ? x / n : x);
  }
  at.push_back(INFINITY);
  at.push_back(-INFINITY);
  at.push_back(NAN);
  at.push_back(1e-40f);
  return at;
}

std::vector<float> Floats(size_t n, uint32_t seed) {
  Bits bits(seed);
  std::vector<float> values(n);
  for (float& v : values) v = bits.Unit() * 200.0f - 100.0f;
  return values;
}

std::string Name(const char* what, const Sampling& s) {
  return std::string(what) + " " + kModes[s.x] + "," + kModes[s.y] + "," + kModes[s.z] +
         (s.filter == cudaFilterModeLinear ? " linear" : " point") + (s.normalized ? " normalized" : "");
}

template <typename F>
void ForSamplings(bool all_modes, F f) {
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    for (const bool normalized : {false, true}) {
      for (int mode = 0; mode < 4; ++mode) {
        Sampling s;
        s.filter = filter;
        s.normalized = normalized;
        s.x = static_cast<cudaTextureAddressMode>(mode);
        s.y = static_cast<cudaTextureAddressMode>(all_modes ? (mode + 1) % 4 : mode);
        s.z = static_cast<cudaTextureAddressMode>(all_modes ? (mode + 2) % 4 : mode);
        for (int k = 0; k < 4; ++k) s.border[k] = 0.5f + static_cast<float>(k);
        f(s);
      }
    }
  }
}

void Dimensions() {
  const auto one = cudaCreateChannelDesc<float>();
  const auto two = cudaCreateChannelDesc<float2>();
  const std::vector<float> texels = Floats(400, 1);
  const cudaArray_t line = Array(one, texels.data(), 5, 0, 0, 0);
  const cudaArray_t plane = Array(two, texels.data(), 5, 3, 0, cudaArrayTextureGather);
  const cudaArray_t box = Array(one, texels.data(), 4, 3, 5, 0);
  const cudaArray_t lines = Array(one, texels.data(), 5, 0, 3, cudaArrayLayered);
  const cudaArray_t planes = Array(one, texels.data(), 5, 4, 3, cudaArrayLayered);
  ForSamplings(true, [&](const Sampling& s) {
    const float nx = s.normalized ? 5.0f : 1.0f, ny = s.normalized ? 3.0f : 1.0f;
    std::vector<float4> at, in_plane, in_box, in_lines, in_planes;
    for (const float x : Line(s.normalized, 5.0f)) at.push_back({x, 0, 0, 0});
    const float few[] = {-3.3f, -0.4f, 0.2f, 0.5f, 1.3f, 2.7f, 4.9f, 6.1f};
    for (const float x : few) {
      for (const float y : few) in_plane.push_back({x / nx, y / ny, 0, 0});
    }
    in_plane.push_back({NAN, 1 / ny, 0, 0});
    in_plane.push_back({1 / nx, NAN, 0, 0});
    in_plane.push_back({INFINITY, -INFINITY, 0, 0});
    Bits bits(3);
    for (int k = 0; k < 60; ++k) {
      const float scale = s.normalized ? 1.0f : 4.0f;
      in_box.push_back(
          {(bits.Unit() * 3 - 1) * scale, (bits.Unit() * 3 - 1) * scale, (bits.Unit() * 3 - 1) * scale, 0});
    }
    for (const float layer : {-1.0f, 0.0f, 1.0f, 2.0f, 3.0f, 1000.0f}) {
      for (const float x : {-0.4f, 0.2f, 1.3f, 4.9f, 6.1f}) {
        in_lines.push_back({x / nx, 0, 0, layer});
        in_planes.push_back({x / nx, (x * 0.7f + 0.4f) / (s.normalized ? 4.0f : 1.0f), 0, layer});
      }
    }
    const auto show = [&](const char* what, cudaArray_t array, How how, const std::vector<float4>& where,
                          int channels) {
      const cudaTextureObject_t t = Texture(Of(array), s);
      Print(Name(what, s).c_str(), Fetch<float4>(t, how, where), channels);
      CHECK(cudaDestroyTextureObject(t));
    };
    show("1d", line, k1D, at, 1);
    show("2d", plane, k2D, in_plane, 2);
    show("3d", box, k3D, in_box, 1);
    show("1d layered", lines, k1DLayered, in_lines, 1);
    show("2d layered", planes, k2DLayered, in_planes, 1);
    for (float4& c : in_plane) c.w = 0;
    show("gather 0", plane, kGather, in_plane, 4);
    for (float4& c : in_plane) c.w = 1;
    show("gather 1", plane, kGather, in_plane, 4);
    for (float4& c : in_plane) c.w = 3;
    show("gather 3", plane, kGather, {in_plane[9], in_plane[10], in_plane[0]}, 4);
    std::vector<float4> level = {in_plane[20], in_plane[30], in_plane[40], in_plane[50]};
    const float levels[] = {0.0f, 0.6f, 3.0f, -2.0f};
    for (int k = 0; k < 4; ++k) level[k].w = levels[k];
    show("2d level", plane, k2DLod, level, 2);
    show("1d level", line, k1DLod, level, 1);
    for (int k = 0; k < 4; ++k) level[k].z = 0.1f;
    show("3d level", box, k3DLod, level, 1);
    show("2d grad", plane, k2DGrad, level, 2);
    show("1d grad", line, k1DGrad, level, 1);
    show("3d grad", box, k3DGrad, level, 1);
    for (int k = 0; k < 4; ++k) level[k].w = 1;
    show("2d layered level", planes, k2DLayeredLod, level, 1);
    show("2d layered grad", planes, k2DLayeredGrad, level, 1);
  });
  for (const cudaArray_t array : {line, plane, box, lines, planes}) CHECK(cudaFreeArray(array));
}

void Cubes() {
  const std::vector<float> texels = Floats(4 * 4 * 18, 5);
  const auto one = cudaCreateChannelDesc<float>();
  const cudaArray_t cube = Array(one, texels.data(), 4, 4, 6, cudaArrayCubemap);
  const cudaArray_t cubes = Array(one, texels.data(), 4, 4, 12, cudaArrayCubemap | cudaArrayLayered);
  std::vector<float4> at = {{1, 0, 0, 0},  {-1, 0, 0, 0},      {0, 1, 0, 0},    {0, -1, 0, 0},      {0, 0, 1, 0},
                            {0, 0, -1, 0}, {1, 1, 1, 0},       {-1, -1, -1, 0}, {1, -1, 0, 0},      {0, 1, -1, 0},
                            {0, 0, 0, 0},  {2, 0.3f, 0.4f, 0}, {NAN, 0, 0, 0},  {INFINITY, 1, 1, 0}};
  Bits bits(6);
  for (int k = 0; k < 80; ++k) at.push_back({bits.Unit() * 2 - 1, bits.Unit() * 2 - 1, bits.Unit() * 2 - 1, 0});
  std::vector<float4> layered(at.begin(), at.begin() + 30);
  for (size_t k = 0; k < layered.size(); ++k) layered[k].w = static_cast<float>(k % 4) - 1;
  // Left out, as the virtual GPU refuses them: a direction of zero length, and coordinates that are not finite.
  for (std::vector<float4>* const list : {&at, &layered}) {
    for (const int k : {13, 12, 10}) list->erase(list->begin() + k);
  }
  for (const bool linear : {false, true}) {
    for (const bool seamless : {false, true}) {
      for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp}) {
        Sampling s;
        s.normalized = true;
        s.seamless = seamless;
        s.x = s.y = s.z = mode;
        s.filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        const std::string name = Name(seamless ? "seamless cube" : "cube", s);
        cudaTextureObject_t t = Texture(Of(cube), s);
        Print(name.c_str(), Fetch<float4>(t, kCube, at), 1);
        CHECK(cudaDestroyTextureObject(t));
        t = Texture(Of(cubes), s);
        Print((name + " layered").c_str(), Fetch<float4>(t, kCubeLayered, layered), 1);
        CHECK(cudaDestroyTextureObject(t));
      }
    }
  }
  CHECK(cudaFreeArray(cube));
  CHECK(cudaFreeArray(cubes));
}

struct Format {
  const char* name;
  int bits;
  cudaChannelFormatKind kind;
};
const Format kFormats[] = {{"s8", 8, cudaChannelFormatKindSigned},   {"u8", 8, cudaChannelFormatKindUnsigned},
                           {"s16", 16, cudaChannelFormatKindSigned}, {"u16", 16, cudaChannelFormatKindUnsigned},
                           {"s32", 32, cudaChannelFormatKindSigned}, {"u32", 32, cudaChannelFormatKindUnsigned},
                           {"f16", 16, cudaChannelFormatKindFloat},  {"f32", 32, cudaChannelFormatKindFloat}};

cudaChannelFormatDesc Channels(const Format& f, int n) {
  return cudaCreateChannelDesc(f.bits, n > 1 ? f.bits : 0, n > 2 ? f.bits : 0, n > 3 ? f.bits : 0, f.kind);
}

// Elements of the format, none of them a NaN.
std::vector<uint8_t> Elements(const Format& f, size_t bytes, uint32_t seed) {
  Bits bits(seed);
  std::vector<uint8_t> all(bytes);
  for (uint8_t& b : all) b = static_cast<uint8_t>(bits.Next());
  if (f.kind == cudaChannelFormatKindFloat) {
    for (size_t k = f.bits / 8 - 1; k < bytes; k += f.bits / 8) all[k] = static_cast<uint8_t>((all[k] & 0x87) | 0x38);
  }
  return all;
}

void Formats() {
  const float special[] = {0, 1, -1, 0.25f, 300, -300, 1e10f, NAN};
  for (const Format& f : kFormats) {
    for (const int channels : {1, 2, 4}) {
      const auto desc = Channels(f, channels);
      const size_t bytes = static_cast<size_t>(f.bits / 8 * channels);
      const std::vector<uint8_t> elements = Elements(f, 16 * bytes, 7);
      const cudaArray_t plane = Array(desc, elements.data(), 4, 4, 0, cudaArrayTextureGather);
      uint8_t* memory = nullptr;
      size_t pitch = 0;
      CHECK(cudaMallocPitch(&memory, &pitch, 4 * bytes, 4));
      CHECK(cudaMemcpy2D(memory, pitch, elements.data(), 4 * bytes, 4 * bytes, 4, cudaMemcpyHostToDevice));
      cudaResourceDesc pitched = {}, linear = {};
      pitched.resType = cudaResourceTypePitch2D;
      pitched.res.pitch2D = {memory, desc, 4, 4, pitch};
      linear.resType = cudaResourceTypeLinear;
      linear.res.linear = {memory, desc, 3 * pitch + 4 * bytes};
      const bool is_float = f.kind == cudaChannelFormatKindFloat;
      for (const bool converts : {false, true}) {
        if (converts && (is_float || f.bits == 32)) continue;
        for (const bool smooth : {false, true}) {
          if (smooth && !converts && !is_float) continue;
          Sampling s;
          s.read = converts ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
          s.filter = smooth ? cudaFilterModeLinear : cudaFilterModePoint;
          s.x = s.y = cudaAddressModeBorder;
          for (int k = 0; k < 4; ++k) s.border[k] = special[(k + channels * 2) % 8];
          std::string name = std::string(f.name) + "x" + std::to_string(channels) + (converts ? " as float" : "") +
                             (smooth ? " linear" : "");
          const std::vector<float4> at = {{0.5f, 0.5f, 0, 0}, {2.5f, 1.5f, 0, 0}, {1.3f, 2.9f, 0, 0},
                                          {3.1f, 3.4f, 0, 0}, {-0.2f, 1, 0, 0},   {9, 9, 0, 0},
                                          {3.7f, 0.1f, 0, 0}};
          const auto fetch = [&](cudaTextureObject_t t, How how, const std::vector<float4>& where) {
            if (converts || is_float) return Fetch<float4>(t, how, where);
            return f.kind == cudaChannelFormatKindSigned ? Fetch<int4>(t, how, where) : Fetch<uint4>(t, how, where);
          };
          cudaTextureObject_t t = Texture(Of(plane), s);
          Print(name.c_str(), fetch(t, k2D, at), 4);
          // The virtual GPU refuses this for signed bytes that are read as floats.
          if (!(converts && f.bits == 8 && f.kind == cudaChannelFormatKindSigned)) {
            Print((name + " gather").c_str(), fetch(t, kGather, at), 4);
          }
          CHECK(cudaDestroyTextureObject(t));
          t = Texture(pitched, s);
          Print((name + " pitched").c_str(), fetch(t, k2D, at), 4);
          CHECK(cudaDestroyTextureObject(t));
          if (smooth) continue;
          s.filter = cudaFilterModePoint;
          t = Texture(linear, s);
          const float last = static_cast<float>((3 * pitch + 4 * bytes) / bytes);
          Print((name + " in memory").c_str(),
                fetch(t, kFetch,
                      {{0, 0, 0, 0},
                       {3, 0, 0, 0},
                       {last - 1, 0, 0, 0},
                       {last, 0, 0, 0},
                       {last + 9, 0, 0, 0},
                       {-1, 0, 0, 0},
                       {-100000, 0, 0, 0},
                       {1e9f, 0, 0, 0}}),
                4);
          CHECK(cudaDestroyTextureObject(t));
        }
      }
      CHECK(cudaFreeArray(plane));
      CHECK(cudaFree(memory));
    }
  }
}

// Pitched memory in every mode.
void Pitched() {
  const std::vector<float> texels = Floats(7 * 64, 9);
  float* memory = nullptr;
  CHECK(cudaMalloc(&memory, texels.size() * sizeof(float)));
  CHECK(cudaMemcpy(memory, texels.data(), texels.size() * sizeof(float), cudaMemcpyHostToDevice));
  cudaResourceDesc pitched = {};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D = {memory, cudaCreateChannelDesc<float>(), 50, 7, 64 * sizeof(float)};
  ForSamplings(true, [&](const Sampling& s) {
    std::vector<float4> at;
    Bits bits(10);
    for (int k = 0; k < 40; ++k) {
      at.push_back({(bits.Unit() * 3 - 1) * (s.normalized ? 1.0f : 50.0f),
                    (bits.Unit() * 3 - 1) * (s.normalized ? 1.0f : 7.0f), 0, 0});
    }
    const cudaTextureObject_t t = Texture(pitched, s);
    Print(Name("pitched", s).c_str(), Fetch<float4>(t, k2D, at), 1);
    CHECK(cudaDestroyTextureObject(t));
  });
  CHECK(cudaFree(memory));
}

// Every value of 8 bits, and many of 16.
void Conversions() {
  std::vector<uint8_t> bytes(256 * 4);
  for (int k = 0; k < 256; ++k) {
    for (int c = 0; c < 4; ++c) bytes[4 * k + c] = static_cast<uint8_t>(k);
  }
  std::vector<uint16_t> words(512);
  for (int k = 0; k < 512; ++k) words[k] = static_cast<uint16_t>(k * 127 + (k & 1) * 32768);
  words[511] = 0xffff;
  words[510] = 0x7fff;
  words[509] = 0x8000;
  std::vector<float4> at;
  for (int k = 0; k < 512; ++k) at.push_back({static_cast<float>(k) + 0.5f, 0, 0, 0});
  const std::vector<float4> half(at.begin(), at.begin() + 256);
  Sampling s;
  s.read = cudaReadModeNormalizedFloat;
  const auto show = [&](const char* name, cudaChannelFormatDesc desc, const void* data, size_t width,
                        const std::vector<float4>& where, int channels) {
    const cudaArray_t array = Array(desc, data, width, 0, 0, 0);
    const cudaTextureObject_t t = Texture(Of(array), s);
    Print(name, Fetch<float4>(t, k1D, where), channels);
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFreeArray(array));
  };
  show("u8 as float", cudaCreateChannelDesc<uchar4>(), bytes.data(), 256, half, 1);
  show("s8 as float", cudaCreateChannelDesc<char4>(), bytes.data(), 256, half, 1);
  show("u16 as float", cudaCreateChannelDesc<unsigned short>(), words.data(), 512, at, 1);
  show("s16 as float", cudaCreateChannelDesc<short>(), words.data(), 512, at, 1);
  s.srgb = true;
  show("srgb", cudaCreateChannelDesc<uchar4>(), bytes.data(), 256, half, 4);
  s.filter = cudaFilterModeLinear;
  std::vector<float4> between;
  for (int k = 0; k < 256; ++k) between.push_back({static_cast<float>(k) + 0.7f, 0, 0, 0});
  show("srgb linear", cudaCreateChannelDesc<uchar4>(), bytes.data(), 256, between, 1);
  s.srgb = false;
  show("u8 linear", cudaCreateChannelDesc<uchar4>(), bytes.data(), 256, between, 1);
}

}  // namespace

int main(int count, char** arguments) {
  void (*const parts[])() = {Dimensions, Cubes, Formats, Pitched, Conversions};
  for (int k = 0; k < 5; ++k) {
    if (count < 2 || std::atoi(arguments[1]) == k) parts[k]();
  }
  return 0;
}
