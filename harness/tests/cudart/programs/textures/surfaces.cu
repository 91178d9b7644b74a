// What surface reads and writes do: types, boundary modes, dimensions.
// surfaces.h100.txt is this program's output on a machine with an H100.
#include <string>

#include "texture_common.h"

namespace {

template <typename T>
__device__ T Load(cudaSurfaceObject_t s, int how, int4 c, cudaSurfaceBoundaryMode mode) {
#define LOAD(mode)                                              \
  switch (how) {                                                \
    case k1D:                                                   \
      return surf1Dread<T>(s, c.x, mode);                       \
    case k2D:                                                   \
      return surf2Dread<T>(s, c.x, c.y, mode);                  \
    case k3D:                                                   \
      return surf3Dread<T>(s, c.x, c.y, c.z, mode);             \
    case k1DLayered:                                            \
      return surf1DLayeredread<T>(s, c.x, c.w, mode);           \
    case k2DLayered:                                            \
      return surf2DLayeredread<T>(s, c.x, c.y, c.w, mode);      \
    case kCube:                                                 \
      return surfCubemapread<T>(s, c.x, c.y, c.w, mode);        \
    default:                                                    \
      return surfCubemapLayeredread<T>(s, c.x, c.y, c.w, mode); \
  }
  if (mode == cudaBoundaryModeZero) LOAD(cudaBoundaryModeZero)
  if (mode == cudaBoundaryModeClamp) LOAD(cudaBoundaryModeClamp)
  LOAD(cudaBoundaryModeTrap)
#undef LOAD
}

template <typename T>
__device__ void Store(T v, cudaSurfaceObject_t s, int how, int4 c, cudaSurfaceBoundaryMode mode) {
#define STORE(mode)                                              \
  switch (how) {                                                 \
    case k1D:                                                    \
      return surf1Dwrite(v, s, c.x, mode);                       \
    case k2D:                                                    \
      return surf2Dwrite(v, s, c.x, c.y, mode);                  \
    case k3D:                                                    \
      return surf3Dwrite(v, s, c.x, c.y, c.z, mode);             \
    case k1DLayered:                                             \
      return surf1DLayeredwrite(v, s, c.x, c.w, mode);           \
    case k2DLayered:                                             \
      return surf2DLayeredwrite(v, s, c.x, c.y, c.w, mode);      \
    case kCube:                                                  \
      return surfCubemapwrite(v, s, c.x, c.y, c.w, mode);        \
    default:                                                     \
      return surfCubemapLayeredwrite(v, s, c.x, c.y, c.w, mode); \
  }
  if (mode == cudaBoundaryModeZero) STORE(cudaBoundaryModeZero)
  if (mode == cudaBoundaryModeClamp) STORE(cudaBoundaryModeClamp)
  STORE(cudaBoundaryModeTrap)
#undef STORE
}

template <typename T>
__global__ void LoadAll(cudaSurfaceObject_t s, int how, cudaSurfaceBoundaryMode mode, const int4* at, T* out, int n) {
  const int k = static_cast<int>(threadIdx.x);
  if (k < n) out[k] = Load<T>(s, how, at[k], mode);
}
// One thread makes all stores, in order, as some of the places coincide.
template <typename T>
__global__ void StoreAll(cudaSurfaceObject_t s, int how, cudaSurfaceBoundaryMode mode, const int4* at, const T* from,
                         int n) {
  for (int k = 0; k < n; ++k) Store<T>(from[k], s, how, at[k], mode);
}

cudaSurfaceObject_t Surface(cudaArray_t array) {
  const cudaResourceDesc resource = Of(array);
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  return surface;
}

void PrintBytes(const std::string& what, const void* data, size_t bytes) {
  std::printf("%s: ", what.c_str());
  for (size_t k = 0; k < bytes; ++k) std::printf("%02x", static_cast<const uint8_t*>(data)[k]);
  std::printf("\n");
}

void PrintArray(const std::string& what, cudaArray_t array, size_t width_bytes, size_t height, size_t depth,
                size_t width) {
  std::vector<uint8_t> all(width_bytes * height * depth);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = array;
  copy.dstPtr = make_cudaPitchedPtr(all.data(), width_bytes, width, height);
  copy.extent = {width, height, depth};
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  PrintBytes(what, all.data(), all.size());
}

template <typename T>
void Try(const char* name, cudaArray_t array, How how, size_t width_bytes, size_t width, size_t height, size_t depth) {
  const int e = sizeof(T), w = static_cast<int>(width_bytes);
  const std::vector<int4> at = {
      {0, 0, 0, 0},     {e, 1, 1, 1},    {w - e, 2, 0, 2},    {w, 0, 0, 0},        {w + 4 * e, 1, 1, 1},
      {-e, 0, 0, 0},    {0, -1, 0, -1},  {0, 5, 9, 9},        {-1000, 7, -7, 100}, {1 << 30, 1 << 20, 0, 1},
      {2 * e, 3, 2, 5}, {-e, -1, -1, 6}, {w - 2 * e, 1, 4, 3}};
  const int n = static_cast<int>(at.size());
  std::vector<uint8_t> values(n * sizeof(T)), loaded(n * sizeof(T));
  Bits bits(e);
  for (uint8_t& b : values) b = static_cast<uint8_t>(bits.Next());
  int4* places = nullptr;
  T *from = nullptr, *to = nullptr;
  CHECK(cudaMalloc(&places, n * sizeof(int4)));
  CHECK(cudaMalloc(&from, n * sizeof(T)));
  CHECK(cudaMalloc(&to, n * sizeof(T)));
  CHECK(cudaMemcpy(places, at.data(), n * sizeof(int4), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(from, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  const cudaSurfaceObject_t s = Surface(array);
  for (const auto mode : {cudaBoundaryModeZero, cudaBoundaryModeClamp}) {
    const std::string tail = mode == cudaBoundaryModeZero ? " zero" : " clamp";
    LoadAll<T><<<1, 32>>>(s, how, mode, places, to, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(loaded.data(), to, n * sizeof(T), cudaMemcpyDeviceToHost));
    PrintBytes(std::string(name) + tail + " reads", loaded.data(), loaded.size());
    StoreAll<T><<<1, 1>>>(s, how, mode, places, from, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    PrintArray(std::string(name) + tail + " wrote", array, width_bytes, height, depth, width);
  }
  CHECK(cudaDestroySurfaceObject(s));
  for (void* p : {static_cast<void*>(places), static_cast<void*>(from), static_cast<void*>(to)}) CHECK(cudaFree(p));
}

cudaArray_t Bytes(cudaChannelFormatDesc desc, size_t width, size_t height, size_t depth, unsigned flags) {
  Bits bits(77);
  std::vector<uint8_t> all(width * (height ? height : 1) * (depth ? depth : 1) * 16);
  for (uint8_t& b : all) b = static_cast<uint8_t>(bits.Next());
  return Array(desc, all.data(), width, height, depth, flags | cudaArraySurfaceLoadStore);
}

void Types() {
  Try<unsigned char>("uchar", Bytes(cudaCreateChannelDesc<unsigned char>(), 6, 4, 0, 0), k2D, 6, 6, 4, 1);
  Try<char2>("char2", Bytes(cudaCreateChannelDesc<char2>(), 6, 4, 0, 0), k2D, 12, 6, 4, 1);
  Try<uchar4>("uchar4", Bytes(cudaCreateChannelDesc<uchar4>(), 6, 4, 0, 0), k2D, 24, 6, 4, 1);
  Try<short>("short", Bytes(cudaCreateChannelDesc<short>(), 6, 4, 0, 0), k2D, 12, 6, 4, 1);
  Try<ushort2>("ushort2", Bytes(cudaCreateChannelDesc<ushort2>(), 6, 4, 0, 0), k2D, 24, 6, 4, 1);
  Try<ushort4>("ushort4", Bytes(cudaCreateChannelDesc<ushort4>(), 6, 4, 0, 0), k2D, 48, 6, 4, 1);
  Try<float>("float", Bytes(cudaCreateChannelDesc<float>(), 6, 4, 0, 0), k2D, 24, 6, 4, 1);
  Try<int2>("int2", Bytes(cudaCreateChannelDesc<int2>(), 6, 4, 0, 0), k2D, 48, 6, 4, 1);
}

void Dimensions() {
  const auto f = cudaCreateChannelDesc<float>();
  Try<float>("1d", Bytes(f, 6, 0, 0, 0), k1D, 24, 6, 1, 1);
  Try<float>("3d", Bytes(f, 6, 4, 3, 0), k3D, 24, 6, 4, 3);
  Try<float>("1d layered", Bytes(f, 6, 0, 3, cudaArrayLayered), k1DLayered, 24, 6, 1, 3);
  Try<float>("2d layered", Bytes(f, 6, 4, 3, cudaArrayLayered), k2DLayered, 24, 6, 4, 3);
  Try<float>("cube", Bytes(f, 4, 4, 6, cudaArrayCubemap), kCube, 16, 4, 4, 6);
  Try<float>("cubes", Bytes(f, 4, 4, 12, cudaArrayCubemap | cudaArrayLayered), kCubeLayered, 16, 4, 4, 12);
}

}  // namespace

int main() {
  Types();
  Dimensions();
  return 0;
}
