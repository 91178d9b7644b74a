// Arrays, mipmaps, textures, surfaces: which can be made, what they report, what is copied and read.
#define CONFORMANCE_CLASS "texture"
#include "ask.h"

template <typename T>
__global__ void Fetch(cudaTextureObject_t texture, float x, float y, T* out) {
  *out = tex2D<T>(texture, x, y);
}
template <typename T>
__global__ void FetchLinear(cudaTextureObject_t texture, int x, T* out) {
  *out = tex1Dfetch<T>(texture, x);
}
__global__ void FetchLod(cudaTextureObject_t texture, float x, float y, float level, float* out) {
  *out = tex2DLod<float>(texture, x, y, level);
}

namespace {

cudaChannelFormatDesc Desc(int channels, int bits, cudaChannelFormatKind kind) {
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
}

constexpr cudaChannelFormatKind kKinds[] = {cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned,
                                            cudaChannelFormatKindFloat};

void Formats() {
  for (int kind = 0; kind <= 34; ++kind) {
    for (int bits : {1, 4, 8, 16, 24, 32, 64}) {
      for (int channels : {1, 2, 3, 4}) {
        if (kind > 2 && (channels == 3 || bits > 16 || bits < 8)) continue;
        const auto desc = Desc(channels, bits, static_cast<cudaChannelFormatKind>(kind));
        cudaArray_t array = nullptr;
        const cudaError_t error = cudaMallocArray(&array, &desc, 64, 64);
        cudaGetLastError();
        cudaChannelFormatDesc back{-1, -1, -1, -1, cudaChannelFormatKindNone};
        if (array != nullptr) cudaGetChannelDesc(&back, array);
        Say(F("k%d_%dx%d", kind, channels, bits),
            F("%d %d %d %d %d %d", error, back.x, back.y, back.z, back.w, back.f));
        cudaFreeArray(array);
      }
    }
  }
  for (int format = 0; format <= 0xFF; ++format) {
    for (unsigned channels : {1u, 2u, 3u, 4u}) {
      if (channels == 3 && format != 0x20) continue;
      CUDA_ARRAY_DESCRIPTOR desc{64, 64, static_cast<CUarray_format>(format), channels};
      CUarray array = nullptr;
      const CUresult result = cuArrayCreate(&array, &desc);
      if (result != CUDA_ERROR_INVALID_VALUE || format < 0x30) Say(F("drv%02x_%u", format, channels), result);
      if (array != nullptr) cuArrayDestroy(array);
    }
  }
}

void Extents() {
  const auto desc = cudaCreateChannelDesc<float>();
  const size_t extents[][3] = {{0, 0, 0},         {64, 0, 0},     {0, 64, 0},      {0, 0, 64},      {64, 64, 0},
                               {64, 0, 64},       {64, 64, 64},   {131072, 0, 0},  {131073, 0, 0},  {131072, 65536, 0},
                               {131073, 64, 0},   {64, 65537, 0}, {16384, 16, 16}, {16385, 16, 16}, {16, 16, 16385},
                               {64, 64, 6},       {64, 64, 7},    {64, 32, 6},     {64, 64, 12},    {64, 64, 13},
                               {32768, 32768, 6}, {64, 0, 2048},  {64, 0, 2049},   {64, 64, 2048},  {64, 64, 2049}};
  for (const auto& e : extents) {
    if (e[0] * e[1] * (e[2] + 1) > (size_t{1} << 28)) continue;
    for (unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 16u, 32u, 64u, 128u, 256u}) {
      if ((flags >= 64) && e[0] > 64) continue;
      cudaArray_t array = nullptr;
      const std::string name = F("%zu.%zu.%zu_f%u", e[0], e[1], e[2], flags);
      const cudaError_t error = cudaMalloc3DArray(&array, &desc, {e[0], e[1], e[2]}, flags);
      cudaGetLastError();
      Say(name, error);
      if (error != cudaSuccess) continue;
      cudaExtent extent{};
      unsigned read = 77;
      cudaChannelFormatDesc back{};
      cudaArrayGetInfo(&back, &extent, &read, array);
      Say(name + "/info", F("%zu %zu %zu %u", extent.width, extent.height, extent.depth, read));
      cudaArrayMemoryRequirements needs{};
      Say(name + "/needs", cudaArrayGetMemoryRequirements(&needs, array, 0));
      if (flags < 32) Say(name + "/needs_are", F("%zu %zu", needs.size, needs.alignment));
      cudaArraySparseProperties sparse{};
      Say(name + "/sparse", cudaArrayGetSparseProperties(&sparse, array));
      Say(name + "/sparse_is", F("%u %u %u %u %llu %u", sparse.tileExtent.width, sparse.tileExtent.height,
                                 sparse.tileExtent.depth, sparse.miptailFirstLevel, sparse.miptailSize, sparse.flags));
      cudaArray_t plane = nullptr;
      Say(name + "/plane", cudaArrayGetPlane(&plane, array, 0));
      CUDA_ARRAY3D_DESCRIPTOR drv{};
      Say(name + "/drv", cuArray3DGetDescriptor(&drv, reinterpret_cast<CUarray>(array)));
      Say(name + "/drv_is",
          F("%zu %zu %zu %d %u %u", drv.Width, drv.Height, drv.Depth, drv.Format, drv.NumChannels, drv.Flags));
      CUDA_ARRAY_DESCRIPTOR two{};
      Say(name + "/drv2", cuArrayGetDescriptor(&two, reinterpret_cast<CUarray>(array)));
      cudaFreeArray(array);
    }
    for (unsigned levels : {1u, 7u}) {
      if (e[0] > 64) continue;
      for (unsigned flags : {0u, 2u}) {
        cudaMipmappedArray_t mipmap = nullptr;
        const std::string name = F("mip_%zu.%zu.%zu_l%u_f%u", e[0], e[1], e[2], levels, flags);
        const cudaError_t error = cudaMallocMipmappedArray(&mipmap, &desc, {e[0], e[1], e[2]}, levels, flags);
        Say(name, error);
        if (error != cudaSuccess) continue;
        for (unsigned level : {0u, 6u}) {
          cudaArray_t array = nullptr;
          Say(name + F("/level%u", level), cudaGetMipmappedArrayLevel(&array, mipmap, level));
          if (array == nullptr) continue;
          cudaExtent extent{};
          cudaChannelFormatDesc back{};
          unsigned read = 77;
          cudaArrayGetInfo(&back, &extent, &read, array);
          Say(name + F("/level%u_info", level), F("%zu %zu %zu %u", extent.width, extent.height, extent.depth, read));
        }
        cudaArrayMemoryRequirements needs{};
        Say(name + "/needs", cudaMipmappedArrayGetMemoryRequirements(&needs, mipmap, 0));
        Say(name + "/needs_are", F("%zu %zu", needs.size, needs.alignment));
        cudaFreeMipmappedArray(mipmap);
      }
    }
  }
  cudaArray_t array = nullptr;
  Say("null", cudaMallocArray(nullptr, &desc, 64, 64));
  Say("nulldesc", cudaMallocArray(&array, nullptr, 64, 64));
  Say("free_null", cudaFreeArray(nullptr));
  Say("drvfree_null", cuArrayDestroy(nullptr));
  Say("freemip_null", cudaFreeMipmappedArray(nullptr));
  Say("drvfreemip_null", cuMipmappedArrayDestroy(nullptr));
  cudaMallocArray(&array, &desc, 64, 64);
  Say("info_nulls", cudaArrayGetInfo(nullptr, nullptr, nullptr, array));
  Say("desc_null", cudaGetChannelDesc(nullptr, array));
  Say("desc_of_null", OUT(cudaChannelFormatDesc, cudaGetChannelDesc(&out, nullptr)));
  Say("free", cudaFreeArray(array));
}

void Copies() {
  const auto desc = cudaCreateChannelDesc<float>();
  cudaArray_t a = nullptr, b = nullptr, one = nullptr, box = nullptr;
  cudaMallocArray(&a, &desc, 64, 32);
  cudaMallocArray(&b, &desc, 64, 32);
  cudaMallocArray(&one, &desc, 64);
  cudaMalloc3DArray(&box, &desc, {16, 8, 4});
  char* const host = static_cast<char*>(std::calloc(1, 1 << 20));
  char* device = nullptr;
  cudaMalloc(&device, 1 << 20);
  for (size_t x : {size_t{0}, size_t{1}, size_t{4}, size_t{252}, size_t{256}}) {
    for (size_t y : {size_t{0}, size_t{31}, size_t{32}}) {
      for (size_t width : {size_t{0}, size_t{1}, size_t{4}, size_t{256}, size_t{260}}) {
        for (size_t height : {size_t{0}, size_t{1}, size_t{32}, size_t{33}}) {
          const std::string name = F("%zu.%zu_%zux%zu", x, y, width, height);
          Say(name + "/to", cudaMemcpy2DToArray(a, x, y, host, 256, width, height, cudaMemcpyHostToDevice));
          Say(name + "/from", cudaMemcpy2DFromArray(host, 256, a, x, y, width, height, cudaMemcpyDeviceToHost));
          Say(name + "/between", cudaMemcpy2DArrayToArray(b, 0, 0, a, x, y, width, height, cudaMemcpyDeviceToDevice));
        }
      }
    }
  }
  for (int kind = -1; kind <= 5; ++kind) {
    const auto k = static_cast<cudaMemcpyKind>(kind);
    for (char* memory : {host, device}) {
      const std::string name = F("k%d_%s", kind, memory == host ? "host" : "device");
      Say(name + "/to", cudaMemcpy2DToArray(a, 0, 0, memory, 256, 256, 4, k));
      Say(name + "/from", cudaMemcpy2DFromArray(memory, 256, a, 0, 0, 256, 4, k));
      Say(name + "/toasync", cudaMemcpy2DToArrayAsync(a, 0, 0, memory, 256, 256, 4, k, nullptr));
      Say(name + "/one", cudaMemcpyToArray(one, 0, 0, memory, 256, k));
      Say(name + "/onefrom", cudaMemcpyFromArray(memory, one, 0, 0, 256, k));
      cudaMemcpy3DParms parms{};
      parms.dstArray = box;
      parms.srcPtr = {memory, 64, 16, 8};
      parms.extent = {16, 8, 4};
      parms.kind = k;
      Say(name + "/3d", cudaMemcpy3D(&parms));
    }
    Say(F("k%d/between", kind), cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 256, 4, k));
  }
  for (size_t bytes : {size_t{0}, size_t{4}, size_t{256}, size_t{260}, size_t{8192}, size_t{8196}}) {
    Say(F("toarray%zu", bytes), cudaMemcpyToArray(a, 0, 0, host, bytes, cudaMemcpyHostToDevice));
    Say(F("fromarray%zu", bytes), cudaMemcpyFromArray(host, a, 0, 0, bytes, cudaMemcpyDeviceToHost));
    Say(F("toarray%zu_at4.1", bytes), cudaMemcpyToArray(a, 4, 1, host, bytes, cudaMemcpyHostToDevice));
    Say(F("arrays%zu", bytes), cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, bytes));
    Say(F("drvatoh%zu", bytes), cuMemcpyAtoH(host, reinterpret_cast<CUarray>(one), 0, bytes));
    Say(F("drvhtoa%zu", bytes), cuMemcpyHtoA(reinterpret_cast<CUarray>(one), 0, host, bytes));
    Say(F("drvdtoa%zu", bytes), cuMemcpyDtoA(reinterpret_cast<CUarray>(one), 0, Dev(device), bytes));
    Say(F("drvatoh2d%zu", bytes), cuMemcpyAtoH(host, reinterpret_cast<CUarray>(a), 0, bytes));
  }
  for (size_t pitch : {size_t{0}, size_t{255}, size_t{256}, size_t{257}}) {
    Say(F("pitch%zu", pitch), cudaMemcpy2DToArray(a, 0, 0, host, pitch, 256, 2, cudaMemcpyHostToDevice));
    Say(F("pitch%zu_from", pitch), cudaMemcpy2DFromArray(host, pitch, a, 0, 0, 256, 2, cudaMemcpyDeviceToHost));
  }
  for (size_t x : {size_t{0}, size_t{15}, size_t{16}}) {
    for (size_t z : {size_t{0}, size_t{3}, size_t{4}}) {
      for (size_t width : {size_t{0}, size_t{1}, size_t{16}, size_t{17}}) {
        cudaMemcpy3DParms parms{};
        parms.dstArray = box;
        parms.srcPtr = {host, 64, 16, 8};
        parms.dstPos = {x, 0, z};
        parms.extent = {width, 8, 1};
        parms.kind = cudaMemcpyHostToDevice;
        Say(F("box_x%zu_z%zu_w%zu", x, z, width), cudaMemcpy3D(&parms));
        parms.dstPos.x = 0;
        parms.srcPos.x = x;
        Say(F("box_srcx%zu_z%zu_w%zu", x, z, width), cudaMemcpy3D(&parms));
      }
    }
  }
  Say("null_to", cudaMemcpy2DToArray(nullptr, 0, 0, host, 256, 256, 2, cudaMemcpyHostToDevice));
  Say("null_from", cudaMemcpy2DFromArray(host, 256, nullptr, 0, 0, 256, 2, cudaMemcpyDeviceToHost));
  Say("null_src", cudaMemcpy2DToArray(a, 0, 0, nullptr, 256, 256, 2, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms both{};
  both.srcArray = box;
  both.srcPtr = {host, 64, 16, 8};
  both.dstPtr = {device, 64, 16, 8};
  both.extent = {16, 8, 4};
  both.kind = cudaMemcpyDefault;
  Say("bothsources", cudaMemcpy3D(&both));
  Say("sync", cudaDeviceSynchronize());
}

template <typename T>
void Fetches(const char* name, int bits, cudaChannelFormatKind kind, int first_read = 0) {
  const auto desc = Desc(1, bits, kind);
  cudaArray_t array = nullptr;
  cudaMallocArray(&array, &desc, 8, 4);
  std::vector<unsigned char> texels(8 * 4 * bits / 8);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<unsigned char>(i * 37 + 11);
  if (bits == 32 && kind == cudaChannelFormatKindFloat) {
    for (int i = 0; i < 32; ++i) reinterpret_cast<float*>(texels.data())[i] = i * 1.25f - 7;
  }
  if (bits == 16 && kind == cudaChannelFormatKindFloat) {
    for (int i = 0; i < 32; ++i)
      reinterpret_cast<unsigned short*>(texels.data())[i] = static_cast<unsigned short>(0x3C00 + i * 70);
  }
  cudaMemcpy2DToArray(array, 0, 0, texels.data(), bits, bits, 4, cudaMemcpyHostToDevice);
  T* out = nullptr;
  cudaMallocManaged(&out, sizeof(T));
  for (int read = first_read; read <= 1; ++read) {
    for (int filter = 0; filter <= 1; ++filter) {
      for (int normalized = 0; normalized <= 1; ++normalized) {
        for (int mode = 0; mode <= 3; ++mode) {
          for (int srgb = 0; srgb <= 1; ++srgb) {
            cudaResourceDesc resource{};
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array;
            cudaTextureDesc texture{};
            for (auto& each : texture.addressMode) each = static_cast<cudaTextureAddressMode>(mode);
            texture.filterMode = static_cast<cudaTextureFilterMode>(filter);
            texture.readMode = static_cast<cudaTextureReadMode>(read);
            texture.normalizedCoords = normalized;
            texture.sRGB = srgb;
            texture.borderColor[0] = 2;
            cudaTextureObject_t object = 0;
            const std::string key = F("%s_r%d_f%d_n%d_m%d_s%d", name, read, filter, normalized, mode, srgb);
            const cudaError_t error = cudaCreateTextureObject(&object, &resource, &texture, nullptr);
            Say(key, error);
            if (error != cudaSuccess || srgb != 0) {
              if (error == cudaSuccess) cudaDestroyTextureObject(object);
              continue;
            }
            for (float x : {-3.3f, -0.5f, 0.f, 0.5f, 2.f, 3.7f, 7.99f, 8.f, 9.3f}) {
              const float at = normalized != 0 ? x / 8 : x;
              Fetch<T><<<1, 1>>>(object, at, normalized != 0 ? 0.4f : 1.6f, out);
              cudaDeviceSynchronize();
              Say(F("%s_x%g", key.c_str(), x), static_cast<double>(*out));
            }
            cudaTextureDesc back{};
            cudaGetTextureObjectTextureDesc(&back, object);
            Say(key + "/desc", F("%d %d %d %d %d %d", back.addressMode[0], back.addressMode[1], back.addressMode[2],
                                 back.filterMode, back.readMode, back.normalizedCoords));
            cudaDestroyTextureObject(object);
          }
        }
      }
    }
  }
}

void Objects() {
  const auto desc = cudaCreateChannelDesc<float>();
  char* device = nullptr;
  cudaMalloc(&device, 1 << 20);
  cudaTextureDesc plain{};
  cudaTextureObject_t object = 0;
  for (size_t offset : {size_t{0}, size_t{4}, size_t{16}, size_t{32}, size_t{256}, size_t{512}}) {
    for (size_t bytes : {size_t{0}, size_t{4}, size_t{100}, size_t{4096}, size_t{1} << 20, size_t{1} << 30,
                         (size_t{1} << 30) + 4, size_t{1} << 34}) {
      cudaResourceDesc resource{};
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear = {device + offset, desc, bytes};
      Say(F("linear+%zu_%zu", offset, bytes), cudaCreateTextureObject(&object, &resource, &plain, nullptr));
    }
    for (size_t pitch :
         {size_t{0}, size_t{16}, size_t{32}, size_t{100}, size_t{128}, size_t{512}, size_t{2097120}, size_t{2097152}}) {
      for (size_t width : {size_t{0}, size_t{8}, size_t{32}, size_t{131072}, size_t{131073}}) {
        if (width > 32 && pitch < 1000) continue;
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypePitch2D;
        resource.res.pitch2D = {device + offset, desc, width, 1, pitch};
        Say(F("pitch+%zu_w%zu_p%zu", offset, width, pitch),
            cudaCreateTextureObject(&object, &resource, &plain, nullptr));
      }
    }
  }
  cudaResourceDesc linear{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {device, desc, 4096};
  for (int filter = 0; filter <= 2; ++filter) {
    for (int mode = 0; mode <= 4; ++mode) {
      for (int normalized = 0; normalized <= 1; ++normalized) {
        cudaTextureDesc texture{};
        texture.filterMode = static_cast<cudaTextureFilterMode>(filter);
        texture.addressMode[0] = texture.addressMode[1] = static_cast<cudaTextureAddressMode>(mode);
        texture.normalizedCoords = normalized;
        Say(F("linear_f%d_m%d_n%d", filter, mode, normalized),
            cudaCreateTextureObject(&object, &linear, &texture, nullptr));
        cudaTextureDesc back{};
        cudaGetTextureObjectTextureDesc(&back, object);
        Say(F("linear_f%d_m%d_n%d_back", filter, mode, normalized),
            F("%d %d %d", back.filterMode, back.addressMode[0], back.normalizedCoords));
      }
    }
  }
  for (int channels : {1, 2, 3, 4}) {
    for (int bits : {8, 16, 32, 64}) {
      for (auto kind : kKinds) {
        cudaResourceDesc resource = linear;
        resource.res.linear.desc = Desc(channels, bits, kind);
        Say(F("linear_%dx%d_%d", channels, bits, kind), cudaCreateTextureObject(&object, &resource, &plain, nullptr));
      }
    }
  }
  cudaArray_t array = nullptr, surface = nullptr, layered = nullptr, gather = nullptr;
  cudaMallocArray(&array, &desc, 64, 64);
  cudaMallocArray(&surface, &desc, 64, 64, cudaArraySurfaceLoadStore);
  cudaMallocArray(&gather, &desc, 64, 64, cudaArrayTextureGather);
  cudaMalloc3DArray(&layered, &desc, {64, 64, 4}, cudaArrayLayered);
  cudaMipmappedArray_t mipmap = nullptr;
  cudaMallocMipmappedArray(&mipmap, &desc, {64, 64, 0}, 4);
  const auto of_array = [](cudaArray_t which) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = which;
    return resource;
  };
  cudaSurfaceObject_t written = 0;
  for (const auto& [name, which] : {std::pair{"array", array},
                                    {"surface", surface},
                                    {"gather", gather},
                                    {"layered", layered},
                                    {"null", cudaArray_t{}}}) {
    const cudaResourceDesc resource = of_array(which);
    Say(F("tex_%s", name), cudaCreateTextureObject(&object, &resource, &plain, nullptr));
    Say(F("surf_%s", name), cudaCreateSurfaceObject(&written, &resource));
    for (int format = 0; format <= 34; ++format) {
      cudaResourceViewDesc view{};
      view.format = static_cast<cudaResourceViewFormat>(format);
      view.width = view.height = 64;
      view.depth = 0;
      if (which != nullptr)
        Say(F("view_%s_%d", name, format), cudaCreateTextureObject(&object, &resource, &plain, &view));
    }
  }
  Say("surf_linear", cudaCreateSurfaceObject(&written, &linear));
  cudaResourceDesc mip{};
  mip.resType = cudaResourceTypeMipmappedArray;
  mip.res.mipmap.mipmap = mipmap;
  for (float bias : {-20.f, 0.f, 20.f}) {
    for (unsigned anisotropy : {0u, 1u, 2u, 16u, 17u, 100u}) {
      for (int normalized : {0, 1}) {
        cudaTextureDesc texture{};
        texture.normalizedCoords = normalized;
        texture.mipmapLevelBias = bias;
        texture.maxAnisotropy = anisotropy;
        texture.maxMipmapLevelClamp = 3;
        Say(F("mip_b%g_a%u_n%d", bias, anisotropy, normalized),
            cudaCreateTextureObject(&object, &mip, &texture, nullptr));
        cudaResourceDesc a = of_array(array);
        Say(F("array_b%g_a%u_n%d", bias, anisotropy, normalized),
            cudaCreateTextureObject(&object, &a, &texture, nullptr));
        cudaTextureDesc back{};
        cudaGetTextureObjectTextureDesc(&back, object);
        Say(F("array_b%g_a%u_n%d_back", bias, anisotropy, normalized),
            F("%g %u %d %g %g", back.mipmapLevelBias, back.maxAnisotropy, back.mipmapFilterMode,
              back.minMipmapLevelClamp, back.maxMipmapLevelClamp));
      }
    }
  }
  if (mipmap != nullptr) {
    for (unsigned level = 0; level < 4; ++level) {
      cudaArray_t at = nullptr;
      cudaGetMipmappedArrayLevel(&at, mipmap, level);
      const size_t side = 64u >> level;
      std::vector<float> texels(side * side, 10.f * level);
      Say(F("miplevel%u", level),
          cudaMemcpy2DToArray(at, 0, 0, texels.data(), side * 4, side * 4, side, cudaMemcpyHostToDevice));
    }
    float* out = nullptr;
    cudaMallocManaged(&out, 4);
    for (int filter : {0, 1}) {
      cudaTextureDesc texture{};
      texture.normalizedCoords = 1;
      texture.mipmapFilterMode = static_cast<cudaTextureFilterMode>(filter);
      texture.maxMipmapLevelClamp = 3;
      cudaCreateTextureObject(&object, &mip, &texture, nullptr);
      for (float level : {-1.f, 0.f, 0.25f, 0.5f, 0.75f, 1.f, 2.5f, 3.f, 9.f}) {
        FetchLod<<<1, 1>>>(object, 0.5f, 0.5f, level, out);
        cudaDeviceSynchronize();
        Say(F("lod_f%d_%g", filter, level), static_cast<double>(*out));
      }
    }
  }
  Say("null_object", cudaCreateTextureObject(nullptr, &linear, &plain, nullptr));
  Say("null_resource", cudaCreateTextureObject(&object, nullptr, &plain, nullptr));
  Say("null_desc", cudaCreateTextureObject(&object, &linear, nullptr, nullptr));
  Say("destroy_0", cudaDestroyTextureObject(0));
  Say("destroysurf_0", cudaDestroySurfaceObject(0));
  Say("destroy_bad", cudaDestroyTextureObject(12345));
  cudaResourceDesc back{};
  Say("resource_of_0", cudaGetTextureObjectResourceDesc(&back, 0));
  cudaTextureDesc texture{};
  Say("desc_of_0", cudaGetTextureObjectTextureDesc(&texture, 0));
  cudaResourceViewDesc view{};
  Say("view_of_0", cudaGetTextureObjectResourceViewDesc(&view, 0));
  cudaCreateTextureObject(&object, &linear, &plain, nullptr);
  Say("view_of_linear", cudaGetTextureObjectResourceViewDesc(&view, object));
  Say("resource_of_linear", cudaGetTextureObjectResourceDesc(&back, object));
  Say("resource_of_linear_is",
      F("%d %s %zu", back.resType, Relative(back.res.linear.devPtr, device).c_str(), back.res.linear.sizeInBytes));
  Say("destroy", cudaDestroyTextureObject(object));
}

}  // namespace

void AddCases(Cases& cases) {
  cases("formats", [] { Start(), Formats(); });
  cases("extents", [] { Start(), Extents(); });
  cases("copies", [] { Start(), Copies(); });
  cases("objects", [] { Start(), Objects(); });
  cases("fetch_float", [] { Start(), Fetches<float>("f32", 32, cudaChannelFormatKindFloat); });
  cases("fetch_half", [] { Start(), Fetches<float>("f16", 16, cudaChannelFormatKindFloat); });
  cases("fetch_u8", [] { Start(), Fetches<float>("u8f", 8, cudaChannelFormatKindUnsigned, 1); });
  cases("fetch_s16", [] { Start(), Fetches<float>("s16f", 16, cudaChannelFormatKindSigned, 1); });
  cases("fetch_s32", [] { Start(), Fetches<int>("s32", 32, cudaChannelFormatKindSigned); });
}
