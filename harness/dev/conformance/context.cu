// Contexts of the driver API, names of errors, entry points, virtual memory.
#define CONFORMANCE_CLASS "context"
#include "ask.h"

namespace {

void Contexts() {
  Say("init", cuInit(0));
  CUcontext a = nullptr, b = nullptr, current = nullptr, popped = nullptr;
  const auto now = [&](const char* name) {
    current = nullptr;
    Say(F("%s/current", name), cuCtxGetCurrent(&current));
    Say(F("%s/current_is", name), current == nullptr ? "null" : current == a ? "a" : current == b ? "b" : "other");
  };
  now("start");
  Say("create_a", cuCtxCreate(&a, nullptr, 0, 0));
  now("create_a");
  Say("create_b", cuCtxCreate(&b, nullptr, CU_CTX_SCHED_SPIN, 0));
  now("create_b");
  unsigned flags = 77;
  Say("flags_b", cuCtxGetFlags(&flags));
  Say("flags_b_are", flags);
  for (unsigned f : {0u, 1u, 2u, 3u, 4u, 8u, 16u, 32u, 64u, 128u, 256u}) {
    Say(F("setflags%u", f), cuCtxSetFlags(f));
    flags = 77;
    cuCtxGetFlags(&flags);
    Say(F("setflags%u_are", f), flags);
    CUcontext c = nullptr;
    const CUresult made = cuCtxCreate(&c, nullptr, f, 0);
    Say(F("create_flags%u", f), made);
    if (made != CUDA_SUCCESS) continue;
    flags = 77;
    cuCtxGetFlags(&flags);
    Say(F("create_flags%u_are", f), flags);
    cuCtxDestroy(c);
  }
  now("flags");
  Say("pop", cuCtxPopCurrent(&popped));
  Say("pop_is", popped == b ? "b" : popped == a ? "a" : IsSet(popped));
  now("pop");
  Say("set_b", cuCtxSetCurrent(b));
  now("set_b");
  Say("push_b", cuCtxPushCurrent(b));
  Say("push_a", cuCtxPushCurrent(a));
  now("push_a");
  for (int i = 0; i < 5; ++i) {
    popped = nullptr;
    Say(F("pop%d", i), cuCtxPopCurrent(&popped));
    Say(F("pop%d_is", i), popped == b ? "b" : popped == a ? "a" : IsSet(popped));
  }
  now("empty");
  CUdevice device = 77;
  Say("device_none", cuCtxGetDevice(&device));
  CUdeviceptr p = 0;
  Say("alloc_none", cuMemAlloc(&p, 64));
  Say("sync_none", cuCtxSynchronize());
  unsigned version = 77;
  Say("api_none", cuCtxGetApiVersion(nullptr, &version));
  Say("api_a", cuCtxGetApiVersion(a, &version));
  Say("api_a_is", version);
  unsigned long long id = 77, other = 77;
  Say("id_none", cuCtxGetId(nullptr, &id));
  Say("id_a", cuCtxGetId(a, &id));
  Say("id_b", cuCtxGetId(b, &other));
  Say("ids_differ", id != other);
  CUcontext primary = nullptr, again = nullptr;
  Say("retain", cuDevicePrimaryCtxRetain(&primary, 0));
  Say("retain_again", cuDevicePrimaryCtxRetain(&again, 0));
  Say("retain_same", primary == again);
  int active = 77;
  Say("state", cuDevicePrimaryCtxGetState(0, &flags, &active));
  Say("state_is", F("%u %d", flags, active));
  Say("setprimaryflags", cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
  Say("state2", cuDevicePrimaryCtxGetState(0, &flags, &active));
  Say("state2_is", F("%u %d", flags, active));
  Say("destroy_primary", cuCtxDestroy(primary));
  Say("setprimary", cuCtxSetCurrent(primary));
  Say("alloc_primary", cuMemAlloc(&p, 64));
  Say("release", cuDevicePrimaryCtxRelease(0));
  Say("release2", cuDevicePrimaryCtxRelease(0));
  Say("release3", cuDevicePrimaryCtxRelease(0));
  Say("state3", cuDevicePrimaryCtxGetState(0, &flags, &active));
  Say("state3_is", F("%u %d", flags, active));
  Say("alloc_released", cuMemAlloc(&p, 64));
  Say("set_a", cuCtxSetCurrent(a));
  CUdeviceptr of_a = 0;
  Say("alloc_a", cuMemAlloc(&of_a, 64));
  CUstream stream = nullptr;
  Say("stream_a", cuStreamCreate(&stream, 0));
  Say("set_b2", cuCtxSetCurrent(b));
  Say("memset_of_a", cuMemsetD8(of_a, 0, 64));
  Say("streamsync_of_a", cuStreamSynchronize(stream));
  Say("memsetasync_of_a", cuMemsetD8Async(of_a, 0, 64, stream));
  CUcontext of_stream = nullptr;
  Say("streamctx", cuStreamGetCtx(stream, &of_stream));
  Say("streamctx_is", of_stream == a ? "a" : "other");
  Say("free_of_a", cuMemFree(of_a));
  Say("recordid_null", cuCtxGetId(b, nullptr));
  Say("attach_null", cuCtxPushCurrent(nullptr));
  Say("sync_v2", cuCtxSynchronize());
  Say("destroy_a", cuCtxDestroy(a));
  now("destroy_a");
  Say("destroy_b", cuCtxDestroy(b));
  Say("device_after", cuCtxGetDevice(&device));
  Say("create_null", cuCtxCreate(nullptr, nullptr, 0, 0));
  Say("create_device9", cuCtxCreate(&a, nullptr, 0, 9));
  Say("destroy_null", cuCtxDestroy(nullptr));
}

void Errors() {
  for (int code = 0; code <= 1000; ++code) {
    if (code > 140 && code < 180) continue;
    const auto rt = static_cast<cudaError_t>(code);
    const std::string name = cudaGetErrorName(rt);
    const char *drv = nullptr, *text = nullptr;
    const CUresult known = cuGetErrorName(static_cast<CUresult>(code), &drv);
    const CUresult told = cuGetErrorString(static_cast<CUresult>(code), &text);
    if (name == "unrecognized error code" && known != CUDA_SUCCESS && code % 50 != 0) continue;
    Say(F("name%d", code), name);
    Say(F("string%d", code), cudaGetErrorString(rt));
    Say(F("drvname%d", code), F("%d %s", known, drv == nullptr ? "null" : drv));
    Say(F("drvstring%d", code), F("%d %s", told, text == nullptr ? "null" : text));
  }
  for (int code : {-1, 10000, 1 << 30}) {
    Say(F("name%d", code), cudaGetErrorName(static_cast<cudaError_t>(code)));
    Say(F("string%d", code), cudaGetErrorString(static_cast<cudaError_t>(code)));
  }
}

void EntryPoints() {
  for (const char* symbol :
       {"cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuCtxCreate", "cuLaunchKernel", "cuLaunchKernel_ptsz",
        "cuGetProcAddress", "cuNoSuch", "", "cudaMalloc", "cuTensorMapEncodeTiled", "cuGreenCtxCreate",
        "cuStreamBeginCapture", "cuEventElapsedTime", "cuGraphAddNode", "cuMulticastCreate",
        "cuGraphKernelNodeGetParams", "cuMemcpyBatchAsync"}) {
    for (int version : {0, 1000, 2000, 3020, 8000, 10000, 11040, 12000, 12080, 13000, 14000}) {
      void* f = nullptr;
      auto status = static_cast<CUdriverProcAddressQueryResult>(77);
      const CUresult result = cuGetProcAddress(symbol, &f, version, 0, &status);
      Say(F("drv'%s'_%d", symbol, version), F("%d %s %d", result, IsSet(f).c_str(), status));
    }
    for (unsigned long long flags : {0ull, 1ull, 2ull, 3ull, 4ull}) {
      void* f = nullptr;
      auto status = static_cast<cudaDriverEntryPointQueryResult>(77);
      const cudaError_t error = cudaGetDriverEntryPoint(symbol, &f, flags, &status);
      cudaGetLastError();
      Say(F("rt'%s'_f%llu", symbol, flags), F("%d %s %d", error, IsSet(f).c_str(), status));
      f = nullptr;
      const cudaError_t by = cudaGetDriverEntryPointByVersion(symbol, &f, 12000, flags, &status);
      cudaGetLastError();
      Say(F("by'%s'_f%llu", symbol, flags), F("%d %s %d", by, IsSet(f).c_str(), status));
    }
  }
}

void VirtualMemory() {
  for (int type = 0; type <= 3; ++type) {
    for (int location = 0; location <= 5; ++location) {
      for (int id : {-1, 0, 1}) {
        CUmemAllocationProp prop{};
        prop.type = static_cast<CUmemAllocationType>(type);
        prop.location.type = static_cast<CUmemLocationType>(location);
        prop.location.id = id;
        const std::string name = F("t%d_l%d.%d", type, location, id);
        for (int how : {0, 1, 2}) {
          size_t granularity = 77;
          const CUresult result =
              cuMemGetAllocationGranularity(&granularity, &prop, static_cast<CUmemAllocationGranularity_flags>(how));
          Say(name + F("/granularity%d", how), F("%d %zu", result, granularity));
        }
        CUmemGenericAllocationHandle handle = 0;
        const CUresult result = cuMemCreate(&handle, 2 << 20, &prop, 0);
        Say(name + "/create", result);
        if (result == CUDA_SUCCESS) Say(name + "/release", cuMemRelease(handle));
      }
    }
  }
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  for (int types : {0, 1, 2, 3, 4, 8, 9}) {
    prop.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(types);
    CUmemGenericAllocationHandle handle = 0;
    if (types == 8 || types == 9) continue;
    Say(F("handletypes%d", types), cuMemCreate(&handle, 2 << 20, &prop, 0));
  }
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  CUmemGenericAllocationHandle handle = 0, second = 0;
  for (size_t bytes :
       {size_t{0}, size_t{1}, size_t{4096}, size_t{65536}, size_t{1} << 20, size_t{2} << 20, size_t{3} << 20}) {
    handle = 0;
    Say(F("create%zu", bytes), cuMemCreate(&handle, bytes, &prop, 0));
    for (size_t alignment :
         {size_t{0}, size_t{1}, size_t{3}, size_t{4096}, size_t{2} << 20, size_t{4} << 20, size_t{1} << 30}) {
      CUdeviceptr address = 0;
      const CUresult result = cuMemAddressReserve(&address, bytes, alignment, 0, 0);
      Say(F("reserve%zu_a%zu", bytes, alignment), result);
      if (result == CUDA_SUCCESS)
        Say(F("reserve%zu_a%zu_aligned", bytes, alignment), address % (alignment == 0 ? 1 : alignment) == 0);
      if (result == CUDA_SUCCESS) Say(F("reserve%zu_a%zu_free", bytes, alignment), cuMemAddressFree(address, bytes));
    }
  }
  Say("create_flags1", cuMemCreate(&handle, 2 << 20, &prop, 1));
  Say("create", cuMemCreate(&handle, 4 << 20, &prop, 0));
  cuMemCreate(&second, 2 << 20, &prop, 0);
  CUdeviceptr address = 0;
  Say("reserve", cuMemAddressReserve(&address, 16 << 20, 0, 0, 0));
  Say("reserve_flags1", [&] {
    CUdeviceptr d = 0;
    return cuMemAddressReserve(&d, 2 << 20, 0, 0, 1);
  }());
  Say("map_offset1", cuMemMap(address, 2 << 20, 1, handle, 0));
  Say("map_flags1", cuMemMap(address, 2 << 20, 0, handle, 1));
  Say("map_size1", cuMemMap(address, 1, 0, handle, 0));
  Say("map_large", cuMemMap(address, 8 << 20, 0, handle, 0));
  Say("map_offset", cuMemMap(address, 2 << 20, 2 << 20, handle, 0));
  Say("map", cuMemMap(address, 4 << 20, 0, handle, 0));
  Say("map_again", cuMemMap(address, 4 << 20, 0, handle, 0));
  Say("map_beyond", cuMemMap(address + (15 << 20), 4 << 20, 0, handle, 0));
  Say("map_second", cuMemMap(address + (8 << 20), 2 << 20, 0, second, 0));
  Say("memset_noaccess", cuMemsetD8(address, 1, 16));
  for (int access : {0, 1, 2, 3, 4}) {
    CUmemAccessDesc desc{prop.location, static_cast<CUmemAccess_flags>(access)};
    Say(F("access%d", access), cuMemSetAccess(address, 4 << 20, &desc, 1));
    unsigned long long read = 77;
    CUmemLocation location = prop.location;
    Say(F("access%d_get", access), cuMemGetAccess(&read, &location, address));
    Say(F("access%d_is", access), read);
  }
  CUmemAccessDesc desc{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  Say("access_unmapped", cuMemSetAccess(address + (12 << 20), 2 << 20, &desc, 1));
  Say("access_gap", cuMemSetAccess(address, 10 << 20, &desc, 1));
  Say("access_0", cuMemSetAccess(address, 4 << 20, &desc, 0));
  Say("access_part", cuMemSetAccess(address, 2 << 20, &desc, 1));
  Say("access_all", cuMemSetAccess(address, 4 << 20, &desc, 1));
  Say("memset", cuMemsetD8(address, 1, 16));
  CUmemAllocationProp back{};
  Say("props", cuMemGetAllocationPropertiesFromHandle(&back, handle));
  Say("props_are", F("%d %d %d %d", back.type, back.location.type, back.location.id, back.requestedHandleTypes));
  CUmemGenericAllocationHandle retained = 0;
  Say("retain", cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(address)));
  Say("retain_same", retained == handle);
  Say("retain_null", cuMemRetainAllocationHandle(&retained, nullptr));
  Say("free_mapped", cuMemAddressFree(address, 16 << 20));
  Say("memfree_mapped", cuMemFree(address));
  Say("unmap_part", cuMemUnmap(address, 2 << 20));
  Say("unmap_gap", cuMemUnmap(address, 16 << 20));
  Say("unmap", cuMemUnmap(address, 4 << 20));
  Say("unmap_again", cuMemUnmap(address, 4 << 20));
  Say("unmap_second", cuMemUnmap(address + (8 << 20), 2 << 20));
  Say("release", cuMemRelease(handle));
  Say("release_retained", cuMemRelease(retained));
  Say("release0", cuMemRelease(0));
  Say("free_part", cuMemAddressFree(address, 2 << 20));
  Say("free", cuMemAddressFree(address, 16 << 20));
  Say("free_again", cuMemAddressFree(address, 16 << 20));
}

}  // namespace

void AddCases(Cases& cases) {
  cases("context", Contexts);
  cases("error", Errors);
  cases("entry", [] { Start(), EntryPoints(); });
  cases("virtual", [] { Start(), VirtualMemory(); });
}
