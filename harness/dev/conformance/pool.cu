// Memory pools: their properties, attributes, how much they keep, who may free.
#define CONFORMANCE_CLASS "pool"
#include "ask.h"

namespace {

void Show(const char* name, cudaMemPool_t pool) {
  for (int attribute = 0; attribute <= 12; ++attribute) {
    unsigned long long value = 0;
    const cudaError_t error = cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), &value);
    cudaGetLastError();
    Say(F("%s/a%d", name, attribute), F("%d %llu", error, value));
  }
}

cudaMemPool_t Make(size_t most = 0) {
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  props.maxSize = most;
  cudaMemPool_t pool = nullptr;
  cudaMemPoolCreate(&pool, &props);
  return pool;
}

void Creation() {
  for (int type = 0; type <= 5; ++type) {
    for (int id : {-1, 0, 1}) {
      for (int alloc = 0; alloc <= 3; ++alloc) {
        for (int handle : {0, 1, 2, 3, 4, 8, 16}) {
          if (handle > 1 && (alloc != 1 || id != 0 || type != 1)) continue;
          cudaMemPoolProps props{};
          props.allocType = static_cast<cudaMemAllocationType>(alloc);
          props.location = {static_cast<cudaMemLocationType>(type), id};
          props.handleTypes = static_cast<cudaMemAllocationHandleType>(handle);
          cudaMemPool_t pool = nullptr;
          const cudaError_t error = cudaMemPoolCreate(&pool, &props);
          Say(F("l%d.%d_a%d_h%d", type, id, alloc, handle), error);
          if (error == cudaSuccess) Say(F("l%d.%d_a%d_h%d_destroy", type, id, alloc, handle), cudaMemPoolDestroy(pool));
          cudaMemLocation location = props.location;
          pool = nullptr;
          if (handle == 0) {
            Say(F("default_l%d.%d_a%d", type, id, alloc), cudaMemGetDefaultMemPool(&pool, &location, props.allocType));
            Say(F("get_l%d.%d_a%d", type, id, alloc), cudaMemGetMemPool(&pool, &location, props.allocType));
          }
        }
      }
    }
  }
  for (size_t most : {size_t{0}, size_t{1}, size_t{1} << 20, size_t{1} << 25, size_t{1} << 40, ~size_t{0}}) {
    cudaMemPool_t pool = Make(most);
    Say(F("max%zu", most), IsSet(pool));
    cudaGetLastError();
    if (pool != nullptr) Show(F("max%zu", most).c_str(), pool);
  }
  Say("null", cudaMemPoolCreate(nullptr, nullptr));
  cudaMemPool_t pool = nullptr;
  Say("nullprops", cudaMemPoolCreate(&pool, nullptr));
  Say("destroy_null", cudaMemPoolDestroy(nullptr));
  cudaDeviceGetDefaultMemPool(&pool, 0);
  Say("destroy_default", cudaMemPoolDestroy(pool));
  Say("default_null", cudaDeviceGetDefaultMemPool(nullptr, 0));
  Say("get_null", cudaDeviceGetMemPool(nullptr, 0));
  cudaMemPool_t own = Make();
  Say("set", cudaDeviceSetMemPool(0, own));
  Say("set1", cudaDeviceSetMemPool(1, own));
  Say("set_null", cudaDeviceSetMemPool(0, nullptr));
  cudaMemPool_t now = nullptr;
  cudaDeviceGetMemPool(&now, 0);
  Say("set_same", now == own);
  Say("destroy_current", cudaMemPoolDestroy(own));
  cudaDeviceGetMemPool(&now, 0);
  Say("destroy_current_now", now == pool);
}

void Attributes() {
  cudaMemPool_t pool = nullptr;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  Show("default", pool);
  Show("own", Make());
  for (int attribute = 0; attribute <= 12; ++attribute) {
    for (unsigned long long value : {0ull, 1ull, 2ull, 1000ull, 1ull << 20, ~0ull}) {
      unsigned long long set = value;
      cudaMemPool_t fresh = Make();
      Say(F("set%d_%llu", attribute, value),
          cudaMemPoolSetAttribute(fresh, static_cast<cudaMemPoolAttr>(attribute), &set));
      unsigned long long read = 0;
      cudaMemPoolGetAttribute(fresh, static_cast<cudaMemPoolAttr>(attribute), &read);
      cudaGetLastError();
      Say(F("set%d_%llu_is", attribute, value), read);
      Say(F("drvset%d_%llu", attribute, value),
          cuMemPoolSetAttribute(reinterpret_cast<CUmemoryPool>(fresh), static_cast<CUmemPool_attribute>(attribute),
                                &set));
      cudaMemPoolDestroy(fresh);
    }
    Say(F("get%d_null", attribute), cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), nullptr));
  }
  unsigned long long value = 0;
  Say("get_nullpool", cudaMemPoolGetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &value));
  Say("set_nullpool", cudaMemPoolSetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &value));
  Say("trim_null", cudaMemPoolTrimTo(nullptr, 0));
  for (int type = 0; type <= 5; ++type) {
    for (int id : {-1, 0, 1}) {
      cudaMemLocation location{static_cast<cudaMemLocationType>(type), id};
      auto flags = static_cast<cudaMemAccessFlags>(77);
      Say(F("access_l%d.%d", type, id), cudaMemPoolGetAccess(&flags, pool, &location));
      Say(F("access_l%d.%d_is", type, id), static_cast<int>(flags));
      for (int access : {0, 1, 3}) {
        cudaMemAccessDesc desc{location, static_cast<cudaMemAccessFlags>(access)};
        Say(F("setaccess_l%d.%d_%d", type, id, access), cudaMemPoolSetAccess(pool, &desc, 1));
      }
    }
  }
  Say("setaccess_0", cudaMemPoolSetAccess(pool, nullptr, 0));
  int handle = -1;
  Say("export_default", cudaMemPoolExportToShareableHandle(&handle, pool, cudaMemHandleTypePosixFileDescriptor, 0));
}

// What a pool holds as memory comes and goes.
void Use(cudaMemPool_t pool, const char* kind) {
  cudaStream_t stream = nullptr, other = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  for (size_t bytes :
       {size_t{0}, size_t{1}, size_t{511}, size_t{512}, size_t{513}, size_t{4096}, size_t{1} << 20,
        (size_t{1} << 20) + 1, size_t{2} << 20, size_t{32} << 20, (size_t{32} << 20) + 1, size_t{100} << 20}) {
    void* p = nullptr;
    Say(F("%s_%zu", kind, bytes), cudaMallocFromPoolAsync(&p, bytes, pool, stream));
    Say(F("%s_%zu_ptr", kind, bytes), IsSet(p));
    Show(F("%s_%zu", kind, bytes).c_str(), pool);
    Say(F("%s_%zu_free", kind, bytes), cudaFreeAsync(p, stream));
    cudaStreamSynchronize(stream);
    Show(F("%s_%zu_freed", kind, bytes).c_str(), pool);
    Say(F("%s_%zu_trim", kind, bytes), cudaMemPoolTrimTo(pool, 0));
    Show(F("%s_%zu_trimmed", kind, bytes).c_str(), pool);
    unsigned long long zero = 0;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &zero);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero);
  }
  unsigned long long threshold = ~0ull;
  cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  void *a = nullptr, *b = nullptr, *c = nullptr;
  cudaMallocFromPoolAsync(&a, 1000, pool, stream);
  cudaMallocFromPoolAsync(&b, 1000, pool, stream);
  Say(F("%s_distance", kind), Relative(b, a));
  Show(F("%s_two", kind).c_str(), pool);
  cudaFreeAsync(a, stream);
  cudaMallocFromPoolAsync(&c, 1000, pool, stream);
  Say(F("%s_reused", kind), c == a);
  cudaFreeAsync(c, stream);
  cudaMallocFromPoolAsync(&c, 500, pool, stream);
  Say(F("%s_reused_smaller", kind), c == a);
  cudaFreeAsync(c, stream);
  cudaStreamSynchronize(stream);
  cudaMallocFromPoolAsync(&c, 1000, pool, other);
  Say(F("%s_reused_otherstream", kind), c == a);
  cudaFreeAsync(c, other);
  cudaFreeAsync(b, stream);
  cudaDeviceSynchronize();
  Show(F("%s_kept", kind).c_str(), pool);
  for (size_t keep : {size_t{1} << 30, size_t{64} << 20, size_t{32} << 20, size_t{1}, size_t{0}}) {
    Say(F("%s_trim%zu", kind, keep), cudaMemPoolTrimTo(pool, keep));
    Show(F("%s_trim%zu", kind, keep).c_str(), pool);
  }
  // Pool memory freed by cudaFree, or from an address inside it.
  cudaMallocFromPoolAsync(&a, 1000, pool, stream);
  Say(F("%s_cudafree", kind), cudaFree(a));
  Say(F("%s_cudafree_again", kind), cudaFree(a));
  Show(F("%s_cudafreed", kind).c_str(), pool);
  cudaMallocFromPoolAsync(&a, 1000, pool, stream);
  Say(F("%s_freeasync_inside", kind), cudaFreeAsync(static_cast<char*>(a) + 16, stream));
  Say(F("%s_freeasync", kind), cudaFreeAsync(a, stream));
  Say(F("%s_freeasync_again", kind), cudaFreeAsync(a, stream));
  Say(F("%s_sync", kind), cudaDeviceSynchronize());
  Say(F("%s_freehost", kind), (cudaMallocFromPoolAsync(&a, 1000, pool, stream), cudaFreeHost(a)));
  Say(F("%s_drvfree", kind), cuMemFree(Dev(a)));
}

void Frees() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  void* p = nullptr;
  cudaMalloc(&p, 4096);
  Say("malloc", cudaFreeAsync(p, stream));
  cudaDeviceSynchronize();
  Say("malloc_again", cudaFree(p));
  cudaMallocManaged(&p, 4096);
  Say("managed", cudaFreeAsync(p, stream));
  cudaMallocHost(&p, 4096);
  Say("pinned", cudaFreeAsync(p, stream));
  int local = 0;
  Say("pageable", cudaFreeAsync(&local, stream));
  Say("null", cudaFreeAsync(nullptr, stream));
  Say("drv0", cuMemFreeAsync(0, stream));
  Say("null_pointer", cudaMallocAsync(nullptr, 100, stream));
  Say("zero", cudaMallocAsync(&p, 0, stream));
  Say("zero_is", IsSet(p));
  CUdeviceptr d = 0;
  Say("drvzero", cuMemAllocAsync(&d, 0, stream));
  Say("drvnull", cuMemAllocAsync(nullptr, 100, stream));
  Say("nullpool", cudaMallocFromPoolAsync(&p, 100, nullptr, stream));
  cudaMemPool_t pool = Make();
  Say("frompool_zero", cudaMallocFromPoolAsync(&p, 0, pool, stream));
  Say("frompool", cudaMallocFromPoolAsync(&p, 100, pool, stream));
  Say("destroy_used", cudaMemPoolDestroy(pool));
  Say("destroy_used_memset", cudaMemsetAsync(p, 0, 100, stream));
  Say("destroy_used_free", cudaFreeAsync(p, stream));
  Say("destroy_used_sync", cudaDeviceSynchronize());
  for (size_t most : {size_t{1} << 20, size_t{1} << 21, size_t{1} << 25, size_t{1} << 26}) {
    for (size_t bytes : {size_t{1}, size_t{1} << 20, size_t{2} << 20, (size_t{2} << 20) + 1, size_t{32} << 20,
                         (size_t{32} << 20) + 1, size_t{64} << 20, size_t{65} << 20}) {
      pool = Make(most);
      Say(F("max%zu_%zu", most, bytes), cudaMallocFromPoolAsync(&p, bytes, pool, stream));
      Show(F("max%zu_%zu", most, bytes).c_str(), pool);
      cudaMemPoolDestroy(pool);
    }
  }
}

}  // namespace

void AddCases(Cases& cases) {
  cases("create", [] { Start(), Creation(); });
  cases("attribute", [] { Start(), Attributes(); });
  cases("use", [] {
    Start();
    Use(Make(), "own");
  });
  cases("usedefault", [] {
    Start();
    cudaMemPool_t pool = nullptr;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    Use(pool, "default");
  });
  cases("free", [] { Start(), Frees(); });
}
