// Copies and fills: every kind between every two kinds of memory, bounds, shapes, symbols, arrays.
#define CONFORMANCE_CLASS "copy"
#include "ask.h"

__device__ int device_variable[64];
__constant__ int constant_variable[64];
__managed__ int managed_variable[64];

namespace {

constexpr size_t kBytes = 4096;

std::vector<std::pair<const char*, char*>> Places() {
  std::vector<std::pair<const char*, char*>> places;
  const auto add = [&](const char* name, auto make) {
    void* p = nullptr;
    make(&p);
    places.emplace_back(name, static_cast<char*>(p));
  };
  add("pageable", [](void** p) { *p = std::malloc(kBytes), std::memset(*p, 1, kBytes); });
  add("pinned", [](void** p) { cudaMallocHost(p, kBytes); });
  add("registered", [](void** p) { *p = std::malloc(kBytes), cudaHostRegister(*p, kBytes, 0); });
  add("device", [](void** p) { cudaMalloc(p, kBytes), cudaMemset(*p, 2, kBytes); });
  add("managed", [](void** p) { cudaMallocManaged(p, kBytes); });
  add("async", [](void** p) { cudaMallocAsync(p, kBytes, nullptr), cudaDeviceSynchronize(); });
  add("symbol", [](void** p) { cudaGetSymbolAddress(p, device_variable); });
  add("null", [](void**) {});
  return places;
}

void Directions() {
  const auto to = Places(), from = Places();
  for (const auto& [to_name, t] : to) {
    for (const auto& [from_name, f] : from) {
      for (int kind = -1; kind <= 5; ++kind) {
        const std::string name = F("%s_%s_k%d", to_name, from_name, kind);
        const auto k = static_cast<cudaMemcpyKind>(kind);
        Say(name + "/sync", cudaMemcpy(t, f, 100, k));
        Say(name + "/async", cudaMemcpyAsync(t, f, 100, k, nullptr));
        Say(name + "/2d", cudaMemcpy2D(t, 16, f, 16, 16, 4, k));
        cudaMemcpy3DParms parms{};
        parms.srcPtr = {f, 16, 16, 4};
        parms.dstPtr = {t, 16, 16, 4};
        parms.extent = {16, 4, 1};
        parms.kind = k;
        Say(name + "/3d", cudaMemcpy3D(&parms));
        if (kind == 0) {
          Say(name + "/none", cudaMemcpy(t, f, 0, k));
          Say(name + "/drv", cuMemcpy(Dev(t), Dev(f), 100));
          Say(name + "/htod", cuMemcpyHtoD(Dev(t), f, 100));
          Say(name + "/dtoh", cuMemcpyDtoH(t, Dev(f), 100));
          Say(name + "/dtod", cuMemcpyDtoD(Dev(t), Dev(f), 100));
          Say(name + "/peer", cudaMemcpyPeer(t, 0, f, 0, 100));
        }
        if (kind == -1) Say(name + "/none", cudaMemcpy(t, f, 0, k));
      }
    }
    for (size_t bytes : {size_t{0}, size_t{100}}) {
      Say(F("set_%s_%zu", to_name, bytes), cudaMemset(t, 7, bytes));
      Say(F("set_%s_%zu_async", to_name, bytes), cudaMemsetAsync(t, 7, bytes, nullptr));
      Say(F("set_%s_%zu_drv", to_name, bytes), cuMemsetD8(Dev(t), 7, bytes));
      Say(F("set_%s_%zu_drv32", to_name, bytes), cuMemsetD32(Dev(t), 7, bytes / 4));
    }
  }
  Say("end", cudaDeviceSynchronize());
}

// Copies and fills past the memory's end, inside it, misaligned, overlapping; huge and empty allocations; wrong frees.
void Bounds() {
  char *device = nullptr, *pinned = nullptr;
  cudaMalloc(&device, kBytes);
  cudaMallocHost(&pinned, kBytes);
  char* const host = static_cast<char*>(std::malloc(64 << 20));
  std::memset(host, 1, 64 << 20);
  for (size_t bytes : {size_t{1}, kBytes, size_t{32} << 20}) {
    for (size_t offset : {size_t{0}, size_t{1}, kBytes - 1}) {
      if (bytes == kBytes && offset != 0) continue;  // what follows an allocation in memory varies
      const std::string name = F("%zu+%zu", bytes, offset);
      Say(name + "/htod", cudaMemcpy(device + offset, host, bytes, cudaMemcpyHostToDevice));
      Say(name + "/dtoh", cudaMemcpy(host, device + offset, bytes, cudaMemcpyDeviceToHost));
      Say(name + "/set", cudaMemset(device + offset, 1, bytes));
      Say(name + "/drvset", cuMemsetD8(Dev(device) + offset, 1, bytes));
      Say(name + "/default", cudaMemcpy(host, device + offset, bytes, cudaMemcpyDefault));
      Say(name + "/async", cudaMemcpyAsync(host, device + offset, bytes, cudaMemcpyDeviceToHost, nullptr));
      Say(name + "/sync", cudaDeviceSynchronize());
    }
  }
  for (unsigned shift : {40u, 63u}) {
    Say(F("2^%u/htod", shift), cudaMemcpy(device, host, size_t{1} << shift, cudaMemcpyHostToDevice));
    Say(F("2^%u/dtoh", shift), cudaMemcpy(host, device, size_t{1} << shift, cudaMemcpyDeviceToHost));
    Say(F("2^%u/set", shift), cudaMemset(device, 0, size_t{1} << shift));
    void* p = nullptr;
    Say(F("2^%u/malloc", shift), cudaMalloc(&p, size_t{1} << shift));
    Say(F("2^%u/malloc_is", shift), IsSet(p));
    Say(F("2^%u/async", shift), cudaMallocAsync(&p, size_t{1} << shift, nullptr));
  }
  for (size_t offset : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{4}}) {
    Say(F("d16+%zu", offset), cuMemsetD16(Dev(device) + offset, 1, 10));
    Say(F("d32+%zu", offset), cuMemsetD32(Dev(device) + offset, 1, 10));
    Say(F("d2d16+%zu", offset), cuMemsetD2D16(Dev(device) + offset, 64, 1, 10, 4));
    Say(F("d2d32+%zu", offset), cuMemsetD2D32(Dev(device) + offset, 64, 1, 10, 4));
    Say(F("d2d16p%zu", offset), cuMemsetD2D16(Dev(device), 64 + offset, 1, 10, 4));
    Say(F("d2d32p%zu", offset), cuMemsetD2D32(Dev(device), 64 + offset, 1, 10, 4));
  }
  for (size_t distance : {size_t{0}, size_t{1}, size_t{50}, size_t{100}}) {
    Say(F("overlap%zu", distance), cudaMemcpy(device + distance, device, 100, cudaMemcpyDeviceToDevice));
    Say(F("overlap%zu_host", distance), cudaMemcpy(host + distance, host, 100, cudaMemcpyHostToHost));
    Say(F("overlap%zu_pinned", distance), cudaMemcpy(pinned + distance, pinned, 100, cudaMemcpyDefault));
  }
  void* p = nullptr;
  Say("malloc0", cudaMalloc(&p, 0));
  Say("malloc0_is", IsSet(p));
  Say("malloc_null", cudaMalloc(nullptr, 100));
  CUdeviceptr d = 0;
  Say("drvalloc0", cuMemAlloc(&d, 0));
  Say("drvalloc_null", cuMemAlloc(nullptr, 100));
  Say("free_null", cudaFree(nullptr));
  Say("drvfree0", cuMemFree(0));
  Say("free_inside", cudaFree(device + 16));
  Say("drvfree_inside", cuMemFree(Dev(device) + 16));
  Say("free_host", cudaFree(host));
  Say("free_pinned", cudaFree(pinned));
  Say("drvfree_pinned", cuMemFree(Dev(pinned)));
  Say("freehost_device", cudaFreeHost(device));
  Say("freehost_inside", cudaFreeHost(pinned + 8));
  Say("freehost_pageable", cudaFreeHost(host));
  Say("drvfreehost_device", cuMemFreeHost(device));
  Say("drvfreehost_null", cuMemFreeHost(nullptr));
  Say("freehost_null", cudaFreeHost(nullptr));
  Say("free", cudaFree(device));
  Say("free_again", cudaFree(device));
  Say("freehost", cudaFreeHost(pinned));
  Say("freehost_again", cudaFreeHost(pinned));
  size_t free_bytes = 0, total = 0;
  Say("info", cudaMemGetInfo(&free_bytes, &total));
  Say("info_null", cudaMemGetInfo(nullptr, &total));
  Say("info_bothnull", cudaMemGetInfo(nullptr, nullptr));
  Say("drvinfo_null", cuMemGetInfo(&free_bytes, nullptr));
}

// 2D copies and fills of width × height with two pitches; pitched allocations; 3D copies.
void Rows() {
  char *a = nullptr, *b = nullptr;
  cudaMalloc(&a, 65536);
  cudaMalloc(&b, 65536);
  char* const host = static_cast<char*>(std::malloc(65536));
  for (size_t width : {size_t{0}, size_t{1}, size_t{64}, size_t{65}, size_t{1} << 31}) {
    for (size_t height : {size_t{0}, size_t{1}, size_t{4}}) {
      for (size_t to : {size_t{0}, size_t{64}, size_t{100}, size_t{2147483647}, size_t{2147483648}}) {
        for (size_t from : {size_t{64}, size_t{0}, size_t{2147483648}}) {
          if ((to > 100 || from > 100 || width > 100) && height > 1 && (to < width || from < width)) {
            // refused, whatever is in memory there
          } else if (width * height > 0 && (to > 100 || from > 100 || width > 100) && height > 1) {
            continue;
          }
          const std::string name = F("%zux%zu_p%zu_p%zu", width, height, to, from);
          Say(name + "/dd", cudaMemcpy2D(a, to, b, from, width, height, cudaMemcpyDeviceToDevice));
          if (width > 100) continue;
          Say(name + "/hd", cudaMemcpy2D(a, to, host, from, width, height, cudaMemcpyHostToDevice));
          Say(name + "/async", cudaMemcpy2DAsync(a, to, b, from, width, height, cudaMemcpyDefault, nullptr));
          CUDA_MEMCPY2D copy{};
          copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
          copy.srcDevice = Dev(b);
          copy.dstDevice = Dev(a);
          copy.srcPitch = from;
          copy.dstPitch = to;
          copy.WidthInBytes = width;
          copy.Height = height;
          Say(name + "/drv", cuMemcpy2D(&copy));
          Say(name + "/unaligned", cuMemcpy2DUnaligned(&copy));
        }
        const std::string name = F("set_%zux%zu_p%zu", width, height, to);
        if (width > 100 || (to > 100 && height > 1)) continue;
        Say(name, cudaMemset2D(a, to, 1, width, height));
        Say(name + "/async", cudaMemset2DAsync(a, to, 1, width, height, nullptr));
        Say(name + "/drv", cuMemsetD2D8(Dev(a), to, 1, width, height));
        Say(name + "/3d", cudaMemset3D({a, to, width, height}, 1, {width, height, 2}));
      }
    }
  }
  for (size_t height : {size_t{0}, size_t{1}, size_t{10}}) {
    for (size_t width : {size_t{0}, size_t{1}, size_t{100}, size_t{512}, size_t{513}, size_t{1000}}) {
      void* p = nullptr;
      size_t pitch = 77;
      cudaError_t error = cudaMallocPitch(&p, &pitch, width, height);
      Say(F("pitch_%zux%zu", width, height), F("%d %s %zu", error, IsSet(p).c_str(), pitch));
      cudaGetLastError();
      for (unsigned element : {0u, 1u, 2u, 3u, 4u, 8u, 12u, 16u, 32u}) {
        CUdeviceptr d = 0;
        pitch = 77;
        const CUresult result = cuMemAllocPitch(&d, &pitch, width, height, element);
        Say(F("drvpitch_%zux%zu_e%u", width, height, element), F("%d %s %zu", result, IsSet(d).c_str(), pitch));
      }
      for (size_t depth : {size_t{0}, size_t{1}, size_t{3}}) {
        cudaPitchedPtr pitched{reinterpret_cast<void*>(7), 77, 77, 77};
        error = cudaMalloc3D(&pitched, {width, height, depth});
        Say(F("malloc3d_%zux%zux%zu", width, height, depth),
            F("%d %s %zu %zu %zu", error, IsSet(pitched.ptr).c_str(), pitched.pitch, pitched.xsize, pitched.ysize));
        cudaGetLastError();
      }
    }
  }
  // 3D copies.
  for (size_t x : {size_t{0}, size_t{4}}) {
    for (size_t width : {size_t{0}, size_t{60}, size_t{64}, size_t{65}}) {
      for (size_t height : {size_t{0}, size_t{4}, size_t{5}}) {
        for (size_t depth : {size_t{0}, size_t{2}, size_t{3}}) {
          cudaMemcpy3DParms parms{};
          parms.srcPtr = {b, 64, 64, 4};
          parms.dstPtr = {a, 64, 64, 4};
          parms.srcPos.x = x;
          parms.extent = {width, height, depth};
          parms.kind = cudaMemcpyDeviceToDevice;
          Say(F("box_x%zu_%zux%zux%zu", x, width, height, depth), cudaMemcpy3D(&parms));
          cudaMemcpy3DPeerParms peer{};
          peer.srcPtr = parms.srcPtr;
          peer.dstPtr = parms.dstPtr;
          peer.srcPos = parms.srcPos;
          peer.extent = parms.extent;
          Say(F("peerbox_x%zu_%zux%zux%zu", x, width, height, depth), cudaMemcpy3DPeer(&peer));
          CUDA_MEMCPY3D drv{};
          drv.srcMemoryType = drv.dstMemoryType = CU_MEMORYTYPE_DEVICE;
          drv.srcDevice = Dev(b);
          drv.dstDevice = Dev(a);
          drv.srcPitch = drv.dstPitch = 64;
          drv.srcHeight = drv.dstHeight = 4;
          drv.srcXInBytes = x;
          drv.WidthInBytes = width;
          drv.Height = height;
          drv.Depth = depth;
          Say(F("drvbox_x%zu_%zux%zux%zu", x, width, height, depth), cuMemcpy3D(&drv));
          Say(F("setbox_x%zu_%zux%zux%zu", x, width, height, depth),
              cudaMemset3D({a, 64, 64, 4}, 1, {width, height, depth}));
        }
      }
    }
  }
  Say("box_null", cudaMemcpy3D(nullptr));
  Say("drvbox_null", cuMemcpy3D(nullptr));
  cudaMemcpy3DParms none{};
  Say("box_nothing", cudaMemcpy3D(&none));
  none.extent = {1, 1, 1};
  none.kind = cudaMemcpyDefault;
  Say("box_nowhere", cudaMemcpy3D(&none));
  for (int type = 0; type <= 5; ++type) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = static_cast<CUmemorytype>(type);
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = Dev(b);
    copy.srcHost = host;
    copy.dstDevice = Dev(a);
    copy.WidthInBytes = 16;
    copy.Height = 1;
    if (type == 3) continue;
    Say(F("type%d", type), cuMemcpy2D(&copy));
  }
}

void Symbols() {
  int values[64] = {};
  int* device = nullptr;
  cudaMalloc(&device, sizeof values);
  for (int kind = -1; kind <= 5; ++kind) {
    const auto k = static_cast<cudaMemcpyKind>(kind);
    Say(F("to_host_k%d", kind), cudaMemcpyToSymbol(device_variable, values, 16, 0, k));
    Say(F("to_device_k%d", kind), cudaMemcpyToSymbol(device_variable, device, 16, 0, k));
    Say(F("from_host_k%d", kind), cudaMemcpyFromSymbol(values, device_variable, 16, 0, k));
    Say(F("from_device_k%d", kind), cudaMemcpyFromSymbol(device, device_variable, 16, 0, k));
    Say(F("const_k%d", kind), cudaMemcpyToSymbol(constant_variable, values, 16, 0, k));
    Say(F("managed_k%d", kind), cudaMemcpyToSymbol(managed_variable, values, 16, 0, k));
    Say(F("toasync_k%d", kind), cudaMemcpyToSymbolAsync(device_variable, values, 16, 0, k, nullptr));
    Say(F("fromasync_k%d", kind), cudaMemcpyFromSymbolAsync(values, device_variable, 16, 0, k, nullptr));
  }
  for (size_t bytes : {size_t{0}, size_t{256}, size_t{257}, size_t{1} << 40}) {
    for (size_t offset : {size_t{0}, size_t{1}, size_t{256}, size_t{257}, ~size_t{0}}) {
      Say(F("to_%zu+%zu", bytes, offset), cudaMemcpyToSymbol(device_variable, values, bytes, offset));
      Say(F("from_%zu+%zu", bytes, offset), cudaMemcpyFromSymbol(values, device_variable, bytes, offset));
    }
  }
  void* address = nullptr;
  size_t bytes = 0;
  Say("address_of_data", cudaGetSymbolAddress(&address, values));
  Say("size_of_data", cudaGetSymbolSize(&bytes, values));
  Say("address_of_null", cudaGetSymbolAddress(&address, nullptr));
  Say("size", cudaGetSymbolSize(&bytes, device_variable));
  Say("size_is", bytes);
  Say("size_const", (cudaGetSymbolSize(&bytes, constant_variable), bytes));
  Say("size_managed", (cudaGetSymbolSize(&bytes, managed_variable), bytes));
  Say("to_data", cudaMemcpyToSymbol(values, values, 16));
  Say("to_null", cudaMemcpyToSymbol(device_variable, nullptr, 16));
  Say("from_null", cudaMemcpyFromSymbol(nullptr, device_variable, 16));
}

// Several copies by one call.
void Batches() {
  char *a = nullptr, *b = nullptr;
  cudaMalloc(&a, kBytes);
  cudaMalloc(&b, kBytes);
  char* const host = static_cast<char*>(std::malloc(kBytes));
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  const void* froms[] = {b, host};
  void* tos[] = {a, a + 100};
  size_t sizes[] = {100, 100};
  for (int order = 0; order <= 4; ++order) {
    for (unsigned flags : {0u, 1u, 2u}) {
      cudaMemcpyAttributes attributes{};
      attributes.srcAccessOrder = static_cast<cudaMemcpySrcAccessOrder>(order);
      attributes.flags = flags;
      size_t first = 0;
      for (size_t count : {size_t{0}, size_t{1}, size_t{2}}) {
        for (cudaStream_t in : {stream, cudaStream_t{nullptr}}) {
          Say(F("o%d_f%u_n%zu_%s", order, flags, count, in == nullptr ? "null" : "stream"),
              cudaMemcpyBatchAsync(tos, froms, sizes, count, &attributes, &first, 1, in));
        }
      }
    }
  }
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t second = 1, first = 0;
  Say("noattributes", cudaMemcpyBatchAsync(tos, froms, sizes, 2, nullptr, nullptr, 0, stream));
  Say("index1", cudaMemcpyBatchAsync(tos, froms, sizes, 2, &attributes, &second, 1, stream));
  sizes[1] = 0;
  Say("size0", cudaMemcpyBatchAsync(tos, froms, sizes, 2, &attributes, &first, 1, stream));
  tos[0] = nullptr;
  Say("null", cudaMemcpyBatchAsync(tos, froms, sizes, 1, &attributes, &first, 1, stream));
  Say("sync", cudaDeviceSynchronize());
}

}  // namespace

void AddCases(Cases& cases) {
  cases("dir", [] { Start(), Directions(); });
  cases("bounds", [] { Start(), Bounds(); });
  cases("rows", [] { Start(), Rows(); });
  cases("symbol", [] { Start(), Symbols(); });
  cases("batch", [] { Start(), Batches(); });
}
