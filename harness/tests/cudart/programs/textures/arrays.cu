// What calls on arrays, texture objects and surface objects return, and what they put where.
// arrays.h100.txt is this program's output on a machine with an H100.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#define SHOW(call) std::printf("  %s = %s\n", #call, cudaGetErrorName(call))

namespace {

void Info(const char* name, cudaArray_t array) {
  cudaChannelFormatDesc d = {};
  cudaExtent e = {};
  unsigned flags = 99;
  const cudaError_t error = cudaArrayGetInfo(&d, &e, &flags, array);
  std::printf("  %s: %s %d %d %d %d kind %d, %zu x %zu x %zu, flags %u\n", name, cudaGetErrorName(error), d.x, d.y, d.z,
              d.w, static_cast<int>(d.f), e.width, e.height, e.depth, flags);
}

void Make(const char* name, cudaChannelFormatDesc d, size_t width, size_t height, size_t depth, unsigned flags) {
  cudaArray_t a = nullptr;
  const cudaExtent extent = {width, height, depth};
  const cudaError_t error = cudaMalloc3DArray(&a, &d, extent, flags);
  std::printf("  array %s: %s\n", name, cudaGetErrorName(error));
  if (error == cudaSuccess) {
    Info(name, a);
    SHOW(cudaFreeArray(a));
  } else {
    cudaGetLastError();
  }
}

void Creation() {
  std::printf("creation\n");
  const auto f = cudaCreateChannelDesc<float>();
  cudaArray_t a = nullptr;
  SHOW(cudaMallocArray(&a, &f, 8));
  Info("line", a);
  SHOW(cudaFreeArray(a));
  SHOW(cudaMallocArray(&a, &f, 8, 4));
  Info("plane", a);
  cudaChannelFormatDesc d = {};
  SHOW(cudaGetChannelDesc(&d, a));
  std::printf("  %d %d %d %d %d\n", d.x, d.y, d.z, d.w, static_cast<int>(d.f));
  SHOW(cudaGetChannelDesc(nullptr, a));
  SHOW(cudaArrayGetInfo(nullptr, nullptr, nullptr, a));
  SHOW(cudaArrayGetInfo(&d, nullptr, nullptr, nullptr));
  SHOW(cudaGetChannelDesc(&d, nullptr));
  SHOW(cudaFreeArray(a));
  SHOW(cudaFreeArray(nullptr));
  SHOW(cudaMallocArray(nullptr, &f, 8, 4));
  SHOW(cudaMallocArray(&a, nullptr, 8, 4));
  SHOW(cudaMallocArray(&a, &f, 0, 4));
  SHOW(cudaMallocArray(&a, &f, 0, 0));
  SHOW(cudaMallocArray(&a, &f, 131072, 0));
  SHOW(cudaFreeArray(a));
  SHOW(cudaMallocArray(&a, &f, 131073, 0));
  SHOW(cudaMallocArray(&a, &f, 131072, 1));
  SHOW(cudaMallocArray(&a, &f, 16, 65537));
  Make("float", f, 8, 0, 0, 0);
  Make("char4", cudaCreateChannelDesc<char4>(), 8, 3, 0, 0);
  Make("half2", cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat), 8, 3, 2, 0);
  Make("float3", cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat), 8, 3, 0, 0);
  Make("mixed", cudaCreateChannelDesc(32, 16, 0, 0, cudaChannelFormatKindSigned), 8, 3, 0, 0);
  Make("gap", cudaCreateChannelDesc(32, 0, 32, 0, cudaChannelFormatKindSigned), 8, 3, 0, 0);
  Make("none", cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindNone), 8, 3, 0, 0);
  Make("empty", cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindSigned), 8, 3, 0, 0);
  Make("float8", cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat), 8, 3, 0, 0);
  Make("double", cudaCreateChannelDesc(64, 0, 0, 0, cudaChannelFormatKindFloat), 8, 3, 0, 0);
  Make("depth without height", f, 8, 0, 3, 0);
  Make("layered line", f, 8, 0, 3, cudaArrayLayered);
  Make("layered plane", f, 8, 4, 3, cudaArrayLayered);
  Make("layered without depth", f, 8, 4, 0, cudaArrayLayered);
  Make("cube", f, 8, 8, 6, cudaArrayCubemap);
  Make("cube not square", f, 8, 4, 6, cudaArrayCubemap);
  Make("cube of 5", f, 8, 8, 5, cudaArrayCubemap);
  Make("cubes", f, 8, 8, 12, cudaArrayCubemap | cudaArrayLayered);
  Make("cubes of 9", f, 8, 8, 9, cudaArrayCubemap | cudaArrayLayered);
  Make("surface", f, 8, 8, 0, cudaArraySurfaceLoadStore);
  Make("gather", f, 8, 8, 0, cudaArrayTextureGather);
  Make("gather line", f, 8, 0, 0, cudaArrayTextureGather);
  Make("gather box", f, 8, 8, 8, cudaArrayTextureGather);
  Make("gather layered", f, 8, 8, 8, cudaArrayTextureGather | cudaArrayLayered);
  Make("long 3d", f, 16385, 1, 1, 0);
  Make("deep", f, 1, 1, 16384, 0);
  Make("layers", f, 1, 0, 2048, cudaArrayLayered);
  Make("too many layers", f, 1, 0, 2049, cudaArrayLayered);
  cudaExtent zero = {0, 0, 0};
  SHOW(cudaMalloc3DArray(&a, &f, zero, 0));
}

void Dump(const char* name, const void* data, size_t bytes) {
  std::printf("  %s ", name);
  for (size_t k = 0; k < bytes; ++k) std::printf("%02x", static_cast<const uint8_t*>(data)[k]);
  std::printf("\n");
}

void Copies() {
  std::printf("copies\n");
  const auto d = cudaCreateChannelDesc<short>();
  cudaArray_t a, b, line, box;
  SHOW(cudaMallocArray(&a, &d, 8, 4));
  SHOW(cudaMallocArray(&b, &d, 8, 4));
  SHOW(cudaMallocArray(&line, &d, 16));
  SHOW(cudaMalloc3DArray(&box, &d, make_cudaExtent(4, 3, 2)));
  uint8_t from[64], to[64];
  for (int k = 0; k < 64; ++k) from[k] = static_cast<uint8_t>(k);
  const auto show = [&](const char* name, cudaArray_t array) {
    std::memset(to, 0xee, sizeof to);
    SHOW(cudaMemcpy2DFromArray(to, 16, array, 0, 0, 16, 4, cudaMemcpyDeviceToHost));
    Dump(name, to, 64);
  };
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 16, 16, 4, cudaMemcpyHostToDevice));
  show("a", a);
  SHOW(cudaMemcpy2DToArray(b, 0, 0, to, 16, 16, 4, cudaMemcpyDefault));
  SHOW(cudaMemcpy2DToArray(b, 4, 1, from, 10, 6, 2, cudaMemcpyHostToDevice));
  show("b", b);
  SHOW(cudaMemcpy2DToArray(b, 1, 1, from, 10, 5, 1, cudaMemcpyHostToDevice));
  show("b", b);
  SHOW(cudaMemcpy2DArrayToArray(b, 2, 0, a, 6, 2, 8, 2));
  show("b", b);
  SHOW(cudaMemcpyToArray(a, 0, 0, from, 64, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyToArray(b, 4, 1, from, 30, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyArrayToArray(b, 0, 0, a, 10, 1, 20));
  std::memset(to, 0xee, sizeof to);
  SHOW(cudaMemcpyFromArray(to, a, 12, 1, 21, cudaMemcpyDeviceToHost));
  Dump("from a", to, 32);
  SHOW(cudaMemcpyToArrayAsync(a, 0, 1, from, 16, cudaMemcpyHostToDevice, nullptr));
  SHOW(cudaMemcpyFromArrayAsync(to, a, 0, 1, 16, cudaMemcpyDeviceToHost, nullptr));
  SHOW(cudaMemcpy2DToArrayAsync(a, 0, 0, from, 20, 16, 2, cudaMemcpyHostToDevice, nullptr));
  SHOW(cudaMemcpy2DFromArrayAsync(to, 16, a, 0, 0, 16, 2, cudaMemcpyDeviceToHost, nullptr));
  SHOW(cudaDeviceSynchronize());
  Dump("async", to, 32);
  SHOW(cudaMemcpyToArray(line, 0, 0, from, 32, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(line, 4, 0, from, 8, 8, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(line, 0, 1, from, 8, 8, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyFromArray(to, line, 0, 0, 32, cudaMemcpyDeviceToHost));
  Dump("line", to, 32);
  // Bad arguments.
  SHOW(cudaMemcpy2DToArray(nullptr, 0, 0, from, 16, 16, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, nullptr, 16, 16, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 8, 16, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 18, 18, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 2, 0, from, 16, 16, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 2, from, 16, 16, 3, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 4, from, 16, 16, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 16, 0, 3, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 16, 16, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 16, 16, 1, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 16, 16, 1, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 16, 16, 1, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, from, 16, 16, 1, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemcpy2DFromArray(to, 16, a, 0, 0, 16, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 16, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 16, 1, cudaMemcpyDefault));
  SHOW(cudaMemcpyToArray(a, 0, 0, from, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(box, 0, 0, from, 8, 8, 3, cudaMemcpyHostToDevice));
  // 3-D.
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(from, 8, 4, 3);
  p.dstArray = box;
  p.extent = make_cudaExtent(4, 3, 2);
  p.kind = cudaMemcpyHostToDevice;
  SHOW(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q = {};
  q.srcArray = box;
  q.srcPos = make_cudaPos(1, 1, 0);
  q.dstPtr = make_cudaPitchedPtr(to, 6, 3, 2);
  q.extent = make_cudaExtent(3, 2, 2);
  q.kind = cudaMemcpyDeviceToHost;
  std::memset(to, 0xee, sizeof to);
  SHOW(cudaMemcpy3D(&q));
  Dump("part of the box", to, 28);
  cudaMemcpy3DParms m = {};
  m.srcArray = box;
  m.dstArray = a;
  m.srcPos = make_cudaPos(1, 0, 1);
  m.dstPos = make_cudaPos(2, 1, 0);
  m.extent = make_cudaExtent(2, 2, 1);
  m.kind = cudaMemcpyDeviceToDevice;
  SHOW(cudaMemcpy3D(&m));
  m.extent = make_cudaExtent(2, 2, 2);
  SHOW(cudaMemcpy3D(&m));
  m.extent = make_cudaExtent(4, 2, 1);
  SHOW(cudaMemcpy3D(&m));
  m.extent = make_cudaExtent(2, 2, 0);
  SHOW(cudaMemcpy3D(&m));
  p.dstPtr = make_cudaPitchedPtr(to, 8, 4, 3);
  SHOW(cudaMemcpy3D(&p));
  p.dstPtr = {};
  p.kind = cudaMemcpyDeviceToHost;
  SHOW(cudaMemcpy3D(&p));
  p.kind = cudaMemcpyHostToDevice;
  p.dstArray = nullptr;
  SHOW(cudaMemcpy3D(&p));
  p.dstArray = box;
  SHOW(cudaMemcpy3DAsync(&p, nullptr));
  q.srcPos = {};
  q.dstPtr = make_cudaPitchedPtr(to, 8, 4, 3);
  q.extent = make_cudaExtent(4, 3, 2);
  SHOW(cudaMemcpy3DAsync(&q, nullptr));
  SHOW(cudaDeviceSynchronize());
  q.dstPtr.pitch = 6;
  SHOW(cudaMemcpy3D(&q));
  uint8_t* memory;
  SHOW(cudaMalloc(&memory, 64));
  SHOW(cudaMemcpy2DFromArray(memory, 16, a, 0, 0, 16, 4, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DToArray(b, 0, 0, memory, 16, 16, 4, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DFromArray(memory, 16, a, 0, 0, 16, 5, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DFromArray(memory, 17, a, 0, 0, 16, 4, cudaMemcpyDeviceToDevice));
  SHOW(cudaFree(memory));
  SHOW(cudaFree(a));
  SHOW(cudaFreeArray(a));
  SHOW(cudaFreeArray(b));
  SHOW(cudaFreeArray(line));
  SHOW(cudaFreeArray(box));
}

void Objects() {
  std::printf("objects\n");
  const auto f = cudaCreateChannelDesc<float>();
  cudaArray_t a, s, box;
  float* memory;
  size_t pitch;
  SHOW(cudaMallocArray(&a, &f, 8, 4));
  SHOW(cudaMallocArray(&s, &f, 8, 4, cudaArraySurfaceLoadStore));
  SHOW(cudaMalloc3DArray(&box, &f, make_cudaExtent(4, 3, 2)));
  SHOW(cudaMallocPitch(&memory, &pitch, 32, 4));
  cudaResourceDesc of_array = {}, of_memory = {}, of_pitched = {}, back = {};
  of_array.resType = cudaResourceTypeArray;
  of_array.res.array.array = a;
  of_memory.resType = cudaResourceTypeLinear;
  of_memory.res.linear = {memory, f, 4 * pitch};
  of_pitched.resType = cudaResourceTypePitch2D;
  of_pitched.res.pitch2D = {memory, f, 8, 4, pitch};
  cudaTextureDesc desc = {}, got = {};
  cudaTextureObject_t t = 0;
  SHOW(cudaCreateTextureObject(&t, &of_array, &desc, nullptr));
  SHOW(cudaGetTextureObjectResourceDesc(&back, t));
  std::printf("  %d %d\n", static_cast<int>(back.resType), back.res.array.array == a);
  SHOW(cudaGetTextureObjectTextureDesc(&got, t));
  std::printf("  %d %d %d %d %d %d %d %d %u %d %d %d\n", got.addressMode[0], got.addressMode[1], got.addressMode[2],
              got.filterMode, got.readMode, got.sRGB, got.normalizedCoords, static_cast<int>(got.borderColor[0]),
              got.maxAnisotropy, got.mipmapFilterMode, got.disableTrilinearOptimization, got.seamlessCubemap);
  SHOW(cudaGetTextureObjectResourceDesc(nullptr, t));
  SHOW(cudaGetTextureObjectResourceDesc(&back, 0));
  SHOW(cudaDestroyTextureObject(t));
  SHOW(cudaDestroyTextureObject(0));
  SHOW(cudaCreateTextureObject(nullptr, &of_array, &desc, nullptr));
  SHOW(cudaCreateTextureObject(&t, nullptr, &desc, nullptr));
  const auto attempt = [&](const char* what, const cudaResourceDesc& r, const cudaTextureDesc& d) {
    cudaTextureObject_t made = 0;
    const cudaError_t error = cudaCreateTextureObject(&made, &r, &d, nullptr);
    std::printf("  texture %s: %s\n", what, cudaGetErrorName(error));
    if (error == cudaSuccess) cudaDestroyTextureObject(made);
    cudaGetLastError();
  };
  cudaTextureDesc linear = {}, normalized = {};
  linear.filterMode = cudaFilterModeLinear;
  normalized.readMode = cudaReadModeNormalizedFloat;
  attempt("of memory", of_memory, desc);
  attempt("of memory, linear", of_memory, linear);
  attempt("of pitched memory", of_pitched, desc);
  attempt("of pitched memory, linear", of_pitched, linear);
  attempt("of floats as normalized floats", of_array, normalized);
  cudaResourceDesc bad = of_array;
  bad.res.array.array = nullptr;
  attempt("of no array", bad, desc);
  bad = of_memory;
  bad.res.linear.devPtr = nullptr;
  attempt("of no memory", bad, desc);
  bad.res.linear.devPtr = memory + 1;
  attempt("4 bytes on", bad, desc);
  bad.res.linear.devPtr = memory + 8;
  attempt("32 bytes on", bad, desc);
  bad.res.linear.devPtr = memory + 128;
  attempt("512 bytes on", bad, desc);
  bad = of_memory;
  bad.res.linear.sizeInBytes = 8 * pitch;
  attempt("of more memory than there is", bad, desc);
  bad.res.linear.sizeInBytes = 0;
  attempt("of 0 bytes", bad, desc);
  bad.res.linear.sizeInBytes = 3;
  attempt("of 3 bytes", bad, desc);
  bad.res.linear.sizeInBytes = 64;
  bad.res.linear.desc = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
  attempt("of float3", bad, desc);
  bad.res.linear.desc = cudaCreateChannelDesc<int>();
  attempt("of int", bad, desc);
  attempt("of int, linear", bad, linear);
  attempt("of int as float", bad, normalized);
  bad.res.linear.desc = cudaCreateChannelDesc<short>();
  attempt("of short as float", bad, normalized);
  float host[64];
  bad = of_memory;
  bad.res.linear.devPtr = host;
  attempt("of host memory", bad, desc);
  bad = of_pitched;
  bad.res.pitch2D.pitchInBytes = 40;
  attempt("with a pitch of 40", bad, desc);
  bad.res.pitch2D.pitchInBytes = 64;
  attempt("with a pitch of 64", bad, desc);
  bad.res.pitch2D.pitchInBytes = 0;
  bad = of_pitched;
  bad.res.pitch2D.width = 0;
  bad = of_pitched;
  bad.res.pitch2D.height = 0;
  bad.res.pitch2D.height = 400;
  attempt("of height 400", bad, desc);
  bad = of_pitched;
  bad.res.pitch2D.width = 400;
  bad = of_pitched;
  bad.res.pitch2D.devPtr = memory + 4;
  attempt("pitched 16 bytes on", bad, desc);
  bad.res.pitch2D.devPtr = memory + 8;
  attempt("pitched 32 bytes on", bad, desc);
  bad = of_array;
  bad.resType = static_cast<cudaResourceType>(9);
  attempt("of an unknown kind", bad, desc);
  cudaTextureDesc odd = {};
  odd.maxAnisotropy = 8;
  odd.maxAnisotropy = 99;
  odd = {};
  odd.addressMode[0] = static_cast<cudaTextureAddressMode>(9);
  attempt("of an unknown address mode", of_array, odd);
  odd = {};
  odd.filterMode = static_cast<cudaTextureFilterMode>(9);
  attempt("of an unknown filter", of_array, odd);
  odd = {};
  odd.readMode = static_cast<cudaTextureReadMode>(9);
  odd = {};
  odd.sRGB = 1;
  odd = {};
  odd.mipmapFilterMode = cudaFilterModeLinear;
  odd.maxMipmapLevelClamp = 4;
  attempt("with mipmap settings", of_array, odd);
  odd = {};
  odd.seamlessCubemap = 1;
  attempt("seamless, no cube", of_array, odd);
  cudaArray_t ints;
  const auto i = cudaCreateChannelDesc<int>();
  SHOW(cudaMallocArray(&ints, &i, 8, 4));
  bad = of_array;
  bad.res.array.array = ints;
  attempt("of an array of int, linear", bad, linear);
  attempt("of an array of int as float", bad, normalized);
  attempt("of an array of int", bad, desc);
  linear.readMode = cudaReadModeNormalizedFloat;
  attempt("of an array of int as float, linear", bad, linear);
  cudaSurfaceObject_t surface = 0;
  SHOW(cudaCreateSurfaceObject(&surface, &of_array));
  of_array.res.array.array = s;
  SHOW(cudaCreateSurfaceObject(&surface, &of_array));
  SHOW(cudaGetSurfaceObjectResourceDesc(&back, surface));
  std::printf("  %d %d\n", static_cast<int>(back.resType), back.res.array.array == s);
  SHOW(cudaGetSurfaceObjectResourceDesc(&back, 0));
  SHOW(cudaDestroySurfaceObject(surface));
  SHOW(cudaDestroySurfaceObject(0));
  SHOW(cudaCreateSurfaceObject(nullptr, &of_array));
  SHOW(cudaCreateSurfaceObject(&surface, nullptr));
  SHOW(cudaCreateSurfaceObject(&surface, &of_memory));
  of_array.res.array.array = nullptr;
  SHOW(cudaCreateSurfaceObject(&surface, &of_array));
  SHOW(cudaFreeArray(a));
  SHOW(cudaFreeArray(s));
  SHOW(cudaFreeArray(box));
  SHOW(cudaFreeArray(ints));
  SHOW(cudaFree(memory));
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 4096);
  Creation();
  Copies();
  Objects();
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  return 0;
}
