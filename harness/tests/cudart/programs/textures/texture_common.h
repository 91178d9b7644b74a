// What the programs on arrays, textures and surfaces share: pseudo-random bits, creation, output in hexadecimal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "../check.h"

// The same numbers on any machine.
class Bits {
 public:
  explicit Bits(uint32_t seed) : state_(seed * 2654435761u + 12345u) {}
  uint32_t Next() {
    state_ = state_ * 1664525u + 1013904223u;
    uint32_t x = state_;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x;
  }
  float Unit() { return static_cast<float>(Next() >> 8) * (1.0f / 16777216.0f); }

 private:
  uint32_t state_;
};

inline float AsFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t AsBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct Sampling {
  cudaTextureAddressMode x = cudaAddressModeClamp, y = cudaAddressModeClamp, z = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  bool normalized = false;
  cudaTextureReadMode read = cudaReadModeElementType;
  bool srgb = false;
  bool seamless = false;
  float border[4] = {0, 0, 0, 0};
};

inline cudaTextureObject_t Texture(const cudaResourceDesc& resource, const Sampling& s) {
  cudaTextureDesc desc = {};
  desc.addressMode[0] = s.x;
  desc.addressMode[1] = s.y;
  desc.addressMode[2] = s.z;
  desc.filterMode = s.filter;
  desc.normalizedCoords = s.normalized;
  desc.readMode = s.read;
  desc.sRGB = s.srgb;
  desc.seamlessCubemap = s.seamless;
  for (int k = 0; k < 4; ++k) desc.borderColor[k] = s.border[k];
  cudaTextureObject_t texture = 0;
  const cudaError_t error = cudaCreateTextureObject(&texture, &resource, &desc, nullptr);
  if (error == cudaSuccess) return texture;
  cudaGetLastError();
  return 0;
}

inline cudaResourceDesc Of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

// An array of these elements, row after row.
inline cudaArray_t Array(cudaChannelFormatDesc format, const void* elements, size_t width, size_t height, size_t depth,
                         unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaExtent extent = {width, height, depth};
  CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
  const size_t bytes = static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(elements), width * bytes, width, height ? height : 1);
  copy.dstArray = array;
  copy.extent = {width, height ? height : 1, depth ? depth : 1};
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

enum How {
  kFetch,
  k1D,
  k2D,
  k3D,
  k1DLayered,
  k2DLayered,
  kCube,
  kCubeLayered,
  kGather,
  k1DLod,
  k2DLod,
  k3DLod,
  k2DLayeredLod,
  kCubeLod,
  k1DGrad,
  k2DGrad,
  k3DGrad,
  k2DLayeredGrad
};

template <typename T>
__device__ T FetchOne(cudaTextureObject_t t, int how, float4 c) {
  const int layer = static_cast<int>(c.w);
  switch (how) {
    case kFetch:
      return tex1Dfetch<T>(t, static_cast<int>(c.x));
    case k1D:
      return tex1D<T>(t, c.x);
    case k2D:
      return tex2D<T>(t, c.x, c.y);
    case k3D:
      return tex3D<T>(t, c.x, c.y, c.z);
    case k1DLayered:
      return tex1DLayered<T>(t, c.x, layer);
    case k2DLayered:
      return tex2DLayered<T>(t, c.x, c.y, layer);
    case kCube:
      return texCubemap<T>(t, c.x, c.y, c.z);
    case kCubeLayered:
      return texCubemapLayered<T>(t, c.x, c.y, c.z, layer);
    case kGather:
      return layer == 0   ? tex2Dgather<T>(t, c.x, c.y, 0)
             : layer == 1 ? tex2Dgather<T>(t, c.x, c.y, 1)
             : layer == 2 ? tex2Dgather<T>(t, c.x, c.y, 2)
                          : tex2Dgather<T>(t, c.x, c.y, 3);
    case k1DLod:
      return tex1DLod<T>(t, c.x, c.w);
    case k2DLod:
      return tex2DLod<T>(t, c.x, c.y, c.w);
    case k3DLod:
      return tex3DLod<T>(t, c.x, c.y, c.z, c.w);
    case k2DLayeredLod:
      return tex2DLayeredLod<T>(t, c.x, c.y, layer, c.z);
    case kCubeLod:
      return texCubemapLod<T>(t, c.x, c.y, c.z, c.w);
    case k1DGrad:
      return tex1DGrad<T>(t, c.x, c.z, c.w);
    case k2DGrad:
      return tex2DGrad<T>(t, c.x, c.y, make_float2(c.z, 0), make_float2(0, c.w));
    case k3DGrad:
      return tex3DGrad<T>(t, c.x, c.y, c.z, make_float4(c.w, 0, 0, 0), make_float4(0, c.w, 0, 0));
    default:
      return tex2DLayeredGrad<T>(t, c.x, c.y, layer, make_float2(c.z, 0), make_float2(0, c.z));
  }
}

template <typename T>
__global__ void FetchAll(cudaTextureObject_t t, int how, const float4* at, T* out, int n) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < n) out[k] = FetchOne<T>(t, how, at[k]);
}

// The four values at each coordinate.
template <typename T>
std::vector<uint4> Fetch(cudaTextureObject_t t, How how, const std::vector<float4>& at) {
  if (t == 0) return {};
  const int n = static_cast<int>(at.size());
  float4* coordinates = nullptr;
  T* out = nullptr;
  CHECK(cudaMalloc(&coordinates, at.size() * sizeof(float4)));
  CHECK(cudaMalloc(&out, at.size() * sizeof(T)));
  CHECK(cudaMemcpy(coordinates, at.data(), at.size() * sizeof(float4), cudaMemcpyHostToDevice));
  FetchAll<T><<<(n + 127) / 128, 128>>>(t, how, coordinates, out, n);
  std::vector<uint4> result(at.size());
  CHECK(cudaMemcpy(result.data(), out, at.size() * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(coordinates));
  CHECK(cudaFree(out));
  return result;
}

// One line: the first `channels` values at each coordinate.
inline void Print(const char* what, const std::vector<uint4>& values, int channels) {
  std::printf("%s:", what);
  for (const uint4& v : values) {
    const uint32_t all[4] = {v.x, v.y, v.z, v.w};
    std::printf(" ");
    for (int k = 0; k < channels; ++k) std::printf("%s%x", k ? "," : "", all[k]);
  }
  std::printf("\n");
}
