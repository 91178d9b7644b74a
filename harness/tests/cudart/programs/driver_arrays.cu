// Arrays, texture objects and surface objects of the driver API. driver_arrays.h100.txt is what it printed on an H100,
// built with
//   nvcc -arch=sm_90 driver_arrays.cu -lcuda
#include <cstdint>
#include <cstring>

#include "driver_show.h"

static const char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry fetch(.param .u64 texture, .param .u64 surface, .param .u64 to) {
  .reg .b32 %r<6>;
  .reg .f32 %f<8>;
  .reg .b64 %a<4>;
  ld.param.u64 %a0, [texture];
  ld.param.u64 %a1, [surface];
  ld.param.u64 %a2, [to];
  mov.u32 %r0, %tid.x;
  cvt.rn.f32.u32 %f0, %r0;
  add.f32 %f0, %f0, 0f3F000000;
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%a0, {%f0, 0f3FC00000}];
  shl.b32 %r1, %r0, 2;
  suld.b.2d.b32.clamp {%r2}, [%a1, {%r1, 1}];
  add.u32 %r3, %r2, 1;
  sust.b.2d.b32.clamp [%a1, {%r1, 1}], {%r3};
  mul.wide.u32 %a3, %r0, 8;
  add.u64 %a2, %a2, %a3;
  st.global.f32 [%a2], %f1;
  st.global.u32 [%a2+4], %r2;
  ret;
}
)";

static void Dump(const void* data, size_t bytes) {
  for (size_t k = 0; k < bytes; ++k) std::printf("%02x", static_cast<const uint8_t*>(data)[k]);
  std::printf("\n");
}

int main() {
  CUdevice device;
  CUcontext context;
  CUarray a = nullptr, b = nullptr, box = nullptr;
  CUDA_ARRAY_DESCRIPTOR plane = {4, 2, CU_AD_FORMAT_FLOAT, 1}, got = {};
  SHOW(cuArrayCreate(&a, &plane));
  SHOW(cuInit(0));
  SHOW(cuArrayCreate(&a, &plane));
  SHOW(cuDeviceGet(&device, 0));
  SHOW(cuDevicePrimaryCtxRetain(&context, device));
  SHOW(cuCtxSetCurrent(context));
  SHOW(cuArrayCreate(&a, &plane));
  SHOW(cuArrayCreate(nullptr, &plane));
  SHOW(cuArrayCreate(&b, nullptr));
  SHOW(cuArrayGetDescriptor(&got, a));
  std::printf("%zu %zu %x %u\n", got.Width, got.Height, got.Format, got.NumChannels);
  CUDA_ARRAY3D_DESCRIPTOR solid = {4, 2, 3, CU_AD_FORMAT_UNSIGNED_INT8, 2, 0}, back = {};
  SHOW(cuArray3DCreate(&box, &solid));
  SHOW(cuArray3DGetDescriptor(&back, box));
  std::printf("%zu %zu %zu %x %u %x\n", back.Width, back.Height, back.Depth, back.Format, back.NumChannels, back.Flags);
  SHOW(cuArrayGetDescriptor(&got, box));
  std::printf("%zu %zu %x %u\n", got.Width, got.Height, got.Format, got.NumChannels);
  SHOW(cuArray3DGetDescriptor(&back, a));
  std::printf("%zu %zu %zu %x %u %x\n", back.Width, back.Height, back.Depth, back.Format, back.NumChannels, back.Flags);
  solid = {4, 2, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  SHOW(cuArray3DCreate(&b, &solid));
  solid.NumChannels = 3;
  CUarray none = nullptr;
  SHOW(cuArray3DCreate(&none, &solid));
  solid.NumChannels = 1;
  solid.Width = 0;
  SHOW(cuArray3DCreate(&none, &solid));

  float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = a;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  SHOW(cuMemcpy2D(&copy));
  copy.dstArray = b;
  SHOW(cuMemcpy2DUnaligned(&copy));
  copy.dstXInBytes = 12;
  copy.WidthInBytes = 8;
  SHOW(cuMemcpy2D(&copy));
  copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = a;
  copy.srcXInBytes = 4;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = b;
  copy.dstXInBytes = 8;
  copy.WidthInBytes = 8;
  copy.Height = 1;
  SHOW(cuMemcpy2DAsync(&copy, nullptr));
  uint8_t bytes[64];
  std::memset(bytes, 0xee, sizeof bytes);
  copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = b;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = bytes;
  copy.dstPitch = 20;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  SHOW(cuMemcpy2D(&copy));
  for (int k = 0; k < 64; ++k) bytes[k] = static_cast<uint8_t>(k);
  CUDA_MEMCPY3D three = {};
  three.srcMemoryType = CU_MEMORYTYPE_HOST;
  three.srcHost = bytes;
  three.srcPitch = 8;
  three.srcHeight = 2;
  three.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  three.dstArray = box;
  three.WidthInBytes = 8;
  three.Height = 2;
  three.Depth = 3;
  SHOW(cuMemcpy3D(&three));
  three = {};
  three.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  three.srcArray = box;
  three.srcXInBytes = 2;
  three.srcZ = 1;
  three.dstMemoryType = CU_MEMORYTYPE_HOST;
  three.dstHost = bytes;
  three.dstPitch = 4;
  three.dstHeight = 2;
  three.WidthInBytes = 4;
  three.Height = 2;
  three.Depth = 2;
  std::memset(bytes, 0xee, sizeof bytes);
  SHOW(cuMemcpy3DAsync(&three, nullptr));
  SHOW(cuCtxSynchronize());
  Dump(bytes, 20);

  CUDA_RESOURCE_DESC resource = {}, of_texture = {};
  CUDA_TEXTURE_DESC desc = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = a;
  desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  SHOW(cuTexObjectCreate(&texture, &resource, &desc, nullptr));
  SHOW(cuTexObjectGetResourceDesc(&of_texture, texture));
  std::printf("%d %d\n", of_texture.resType, of_texture.res.array.hArray == a);
  SHOW(cuSurfObjectCreate(&surface, &resource));
  resource.res.array.hArray = b;
  SHOW(cuSurfObjectCreate(&surface, &resource));
  SHOW(cuSurfObjectGetResourceDesc(&of_texture, surface));
  std::printf("%d %d\n", of_texture.resType, of_texture.res.array.hArray == b);

  CUmodule module;
  CUfunction fetch;
  CUdeviceptr to;
  SHOW(cuModuleLoadData(&module, kPtx));
  SHOW(cuModuleGetFunction(&fetch, module, "fetch"));
  SHOW(cuMemAlloc(&to, 64));
  void* arguments[] = {&texture, &surface, &to};
  SHOW(cuLaunchKernel(fetch, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  SHOW(cuMemcpyDtoH(bytes, to, 32));

  // 16-bit integers are read as floats, unless a flag asks for integers.
  CUDA_RESOURCE_DESC linear = {};
  linear.resType = CU_RESOURCE_TYPE_LINEAR;
  linear.res.linear = {to, CU_AD_FORMAT_SIGNED_INT16, 2, 64};
  CUtexObject second = 0;
  SHOW(cuTexObjectCreate(&second, &linear, &desc, nullptr));
  SHOW(cuTexObjectGetResourceDesc(&of_texture, second));
  std::printf("%d %x %u %zu\n", of_texture.resType, of_texture.res.linear.format, of_texture.res.linear.numChannels,
              of_texture.res.linear.sizeInBytes);
  SHOW(cuTexObjectDestroy(second));
  desc.flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES;
  linear.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
  SHOW(cuTexObjectCreate(&second, &linear, &desc, nullptr));
  desc.flags = 0;
  SHOW(cuTexObjectCreate(&second, &linear, &desc, nullptr));
  linear.res.linear.numChannels = 3;
  SHOW(cuTexObjectCreate(&second, &linear, &desc, nullptr));
  SHOW(cuTexObjectCreate(nullptr, &linear, &desc, nullptr));
  SHOW(cuTexObjectDestroy(texture));
  SHOW(cuSurfObjectDestroy(surface));
  SHOW(cuTexObjectDestroy(0));
  SHOW(cuSurfObjectDestroy(0));
  SHOW(cuMemFree(to));
  SHOW(cuArrayDestroy(a));
  SHOW(cuArrayDestroy(b));
  SHOW(cuArrayDestroy(box));
  SHOW(cuArrayDestroy(nullptr));
}
