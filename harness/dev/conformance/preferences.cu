// Cache preferences and occupancy, 3D copies at offsets, how much memory pools hold after each kind of wait, and what
// is left of a primary context that was released.
#define CONFORMANCE_CLASS "preferences"
#include "ask.h"

__global__ void Empty(int* p) {
  if (p != nullptr) *p = 1;
}
namespace {

void AskCache(int config, bool of_device) {
  Start();
  const auto* const f = reinterpret_cast<const void*>(Empty);
  cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 120000);
  const auto cache = static_cast<cudaFuncCache>(config);
  of_device ? cudaDeviceSetCacheConfig(cache) : cudaFuncSetCacheConfig(f, cache);
  for (const int threads : {32, 256, 1024}) {
    for (const int shared : {0, 1024, 8192, 49152, 100000}) {
      int n = -7;
      const int e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, threads, shared);
      Say(F("x_o%d_%d", threads, shared), F("%d %d", e, n));
    }
  }
  for (const int blocks : {1, 2, 3, 4, 8, 16}) {
    size_t n = 7;
    const int e = cudaOccupancyAvailableDynamicSMemPerBlock(&n, f, blocks, 32);
    Say(F("x_a%d", blocks), F("%d %zu", e, n));
  }
}

// Between a pitched block and an array.
void AskCopies() {
  Start();
  CUdeviceptr block = 0;
  cuMemAlloc(&block, 65536);
  const auto texel = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  cudaMalloc3DArray(&array, &texel, make_cudaExtent(16, 8, 4));
  for (const size_t x : {0, 4, 16, 60, 64})
    for (const size_t y : {0, 1, 7})
      for (const size_t z : {0, 1, 3})
        for (const size_t pitch : {16, 64})
          for (const size_t rows : {1, 2, 8})
            for (const size_t width : {1, 4, 16})
              for (const int to : {0, 1}) {
                cudaMemcpy3DParms copy{};
                copy.extent = make_cudaExtent(width, 2, 2);
                copy.kind = cudaMemcpyDefault;
                (to ? copy.srcPtr : copy.dstPtr) = make_cudaPitchedPtr(reinterpret_cast<void*>(block), pitch, 16, rows);
                (to ? copy.srcPos : copy.dstPos) = make_cudaPos(x, y, z);
                (to ? copy.dstArray : copy.srcArray) = array;
                Say(F("r%d_%zu_%zu_%zu_%zu_%zu_%zu", to, x, y, z, pitch, rows, width), cudaMemcpy3D(&copy));
              }
}

void AskPool() {
  Start();
  cudaMemPool_t pool = nullptr;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  const auto tell = [&](const std::string& name) {
    unsigned long long used = 0, reserved = 0;
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
    Say(name, F("%llu %llu", used, reserved));
  };
  cudaStream_t s = nullptr, other = nullptr;
  cudaStreamCreate(&s);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  const std::pair<int, std::function<void()>> waits[] = {
      {0, [&] { cudaStreamSynchronize(other); }},
      {1, [&] { cudaEventRecord(event, other), cudaEventSynchronize(event); }},
      {5, [&] { cudaEventRecord(event, s), cudaEventSynchronize(event); }},
      {6, [&] { cudaDeviceSynchronize(); }},
      {13, [&] { cudaFree(nullptr); }}};
  void* memory = nullptr;
  for (const auto& [which, wait] : waits) {
    cudaMallocAsync(&memory, 50 << 20, s);
    cudaFreeAsync(memory, s);
    tell(F("f%d", which));
    wait();
    tell(F("a%d", which));
    cudaDeviceSynchronize();
    tell(F("z%d", which));
  }
  for (unsigned long long threshold :
       {0ull, 1ull, 32ull << 20, 33ull << 20, 64ull << 20, 65ull << 20, 100ull << 20, ~0ull}) {
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    tell(F("t%llu", threshold));
    cudaMallocAsync(&memory, 90 << 20, s);
    cudaFreeAsync(memory, s);
    cudaStreamSynchronize(s);
    tell(F("u%llu", threshold));
    for (const size_t kept : {size_t{40} << 20, size_t{33} << 20, size_t{1}, size_t{0}}) {
      cudaMemPoolTrimTo(pool, kept);
      tell(F("k%llu_%zu", threshold, kept));
    }
  }
}

void AskReleased(bool reset) {
  cuInit(0);
  CUcontext context = nullptr;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  void* host = nullptr;
  cuMemAllocHost(&host, 8192);
  CUdeviceptr block = 0;
  cuMemAlloc(&block, 8192);
  CUmodule module = nullptr;
  cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(){ret;}\n");
  CUfunction function = nullptr;
  cuModuleGetFunction(&function, module, "k");
  reset ? cuDevicePrimaryCtxReset(0) : cuDevicePrimaryCtxRelease(0);
  int type = 0;
  Say("attr", cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Dev(host)));
  Say("freehost", cuMemFreeHost(host));
  Say("free", cuMemFree(block));
  Say("fn", cuModuleGetFunction(&function, module, "k"));
}

}  // namespace

void AddCases(Cases& cases) {
  for (const int config : {0, 1, 2, 3})
    for (const int of_device : {0, 1})
      cases(F("cache%d_%d_0", config, of_device), [=] { AskCache(config, of_device); });
  cases("copy3d", AskCopies);
  cases("pooled", AskPool);
  cases("released0", [] { AskReleased(false); });
  cases("released2", [] { AskReleased(true); });
}
