// Managed memory: allocation, advice, attributes of ranges, prefetching, attachment to streams.
#define CONFORMANCE_CLASS "managed"
#include "ask.h"

__managed__ int managed_variable[1024];

namespace {

constexpr size_t kBytes = 1 << 16;

void Allocations() {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{4096}}) {
    for (unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 8u}) {
      void* p = nullptr;
      const cudaError_t error = cudaMallocManaged(&p, bytes, flags);
      cudaGetLastError();
      Say(F("rt%zu_f%u", bytes, flags), F("%d %s", error, IsSet(p).c_str()));
      Say(F("rt%zu_f%u_free", bytes, flags), cudaFree(p));
      CUdeviceptr d = 0;
      const CUresult result = cuMemAllocManaged(&d, bytes, flags);
      Say(F("drv%zu_f%u", bytes, flags), F("%d %s", result, IsSet(d).c_str()));
      if (d != 0) Say(F("drv%zu_f%u_free", bytes, flags), cuMemFree(d));
    }
  }
  Say("null", cudaMallocManaged(nullptr, 100));
  void* p = nullptr;
  cudaMallocManaged(&p, 4096);
  Say("freehost", cudaFreeHost(p));
  Say("freeasync", cudaFreeAsync(p, nullptr));
  Say("register", cudaHostRegister(p, 4096, 0));
  void* device = nullptr;
  Say("hostpointer", cudaHostGetDevicePointer(&device, p, 0));
  Say("memset", cudaMemset(p, 3, 4096));
  Say("read", static_cast<int>(static_cast<unsigned char*>(p)[100]));
  Say("free_inside", cudaFree(static_cast<char*>(p) + 8));
  Say("free", cudaFree(p));
  Say("free_again", cudaFree(p));
}

std::vector<std::pair<const char*, void*>> Ranges() {
  std::vector<std::pair<const char*, void*>> all;
  void* p = nullptr;
  cudaMallocManaged(&p, kBytes);
  all.emplace_back("managed", p);
  all.emplace_back("inside", static_cast<char*>(p) + 100);
  cudaMallocManaged(&p, kBytes, cudaMemAttachHost);
  all.emplace_back("attachhost", p);
  cudaMalloc(&p, kBytes);
  all.emplace_back("device", p);
  cudaMallocHost(&p, kBytes);
  all.emplace_back("pinned", p);
  all.emplace_back("pageable", std::calloc(1, kBytes));
  all.emplace_back("null", nullptr);
  return all;
}

constexpr std::pair<int, int> kLocations[] = {{0, 0}, {1, -1}, {1, 0},  {1, 1}, {2, 0}, {2, 5},
                                              {3, 0}, {3, 1},  {3, -1}, {4, 0}, {5, 0}, {9, 0}};

void ShowRange(const std::string& name, void* p) {
  for (int attribute = 0; attribute <= 9; ++attribute) {
    int value[2] = {-77, -77};
    const auto rt_attribute = static_cast<cudaMemRangeAttribute>(attribute);
    const cudaError_t error = cudaMemRangeGetAttribute(value, 4, rt_attribute, p, 4096);
    cudaGetLastError();
    Say(F("%s_a%d", name.c_str(), attribute), F("%d %d", error, value[0]));
    value[0] = value[1] = -77;
    const CUresult result =
        cuMemRangeGetAttribute(value, 8, static_cast<CUmem_range_attribute>(attribute), Dev(p), 4096);
    Say(F("%s_drv%d", name.c_str(), attribute), F("%d %d %d", result, value[0], value[1]));
  }
}

void Advice() {
  for (const auto& [name, p] : Ranges()) {
    ShowRange(F("%s_start", name), p);
    for (int advice = 0; advice <= 7; ++advice) {
      for (const auto& [type, id] : kLocations) {
        const cudaMemLocation location{static_cast<cudaMemLocationType>(type), id};
        const std::string key = F("%s_advice%d_l%d.%d", name, advice, type, id);
        Say(key, cudaMemAdvise(p, 4096, static_cast<cudaMemoryAdvise>(advice), location));
        if (std::strcmp(name, "managed") == 0) ShowRange(key, p);
        CUmemLocation drv{};
        drv.type = static_cast<CUmemLocationType>(type);
        drv.id = id;
        Say(key + "/drv", cuMemAdvise(Dev(p), 4096, static_cast<CUmem_advise>(advice), drv));
      }
    }
    for (const auto& [type, id] : kLocations) {
      const cudaMemLocation location{static_cast<cudaMemLocationType>(type), id};
      for (unsigned flags : {0u, 1u}) {
        const std::string key = F("%s_prefetch_l%d.%d_f%u", name, type, id, flags);
        Say(key, cudaMemPrefetchAsync(p, 4096, location, flags, nullptr));
        if (std::strcmp(name, "managed") == 0 && flags == 0) {
          Say(key + "/sync", cudaDeviceSynchronize());
          ShowRange(key, p);
        }
        CUmemLocation drv{};
        drv.type = static_cast<CUmemLocationType>(type);
        drv.id = id;
        Say(key + "/drv", cuMemPrefetchAsync(Dev(p), 4096, drv, flags, nullptr));
      }
    }
    const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
    for (size_t bytes : {size_t{0}, size_t{1}, kBytes, kBytes + 1, size_t{1} << 24}) {
      Say(F("%s_advise%zu", name, bytes), cudaMemAdvise(p, bytes, cudaMemAdviseSetReadMostly, device));
      Say(F("%s_prefetch%zu", name, bytes), cudaMemPrefetchAsync(p, bytes, device, 0, nullptr));
      int value = -77;
      Say(F("%s_range%zu", name, bytes),
          cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, p, bytes));
    }
    void* pointers[] = {p};
    size_t sizes[] = {4096};
    cudaMemLocation location = device;
    size_t first = 0;
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    Say(F("%s_prefetchbatch", name), cudaMemPrefetchBatchAsync(pointers, sizes, 1, &location, &first, 1, 0, stream));
    Say(F("%s_prefetchbatch_null", name),
        cudaMemPrefetchBatchAsync(pointers, sizes, 1, &location, &first, 1, 0, nullptr));
    Say(F("%s_discardbatch", name), cudaMemDiscardBatchAsync(pointers, sizes, 1, 0, stream));
    Say(F("%s_discardprefetch", name),
        cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, 1, &location, &first, 1, 0, stream));
    Say(F("%s_sync", name), cudaDeviceSynchronize());
    Say(F("%s_end", name), cudaDeviceSynchronize());
    ShowRange(F("%s_end", name), p);
  }
  void* values[3];
  int a = -77, b = -77;
  values[0] = &a;
  values[1] = &b;
  size_t sizes[] = {4, 4};
  cudaMemRangeAttribute two[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation};
  const auto ranges = Ranges();
  void* const p = ranges[0].second;
  Say("several", cudaMemRangeGetAttributes(values, sizes, two, 2, p, 4096));
  Say("several_are", F("%d %d", a, b));
  Say("several0", cudaMemRangeGetAttributes(values, sizes, two, 0, p, 4096));
  CUmem_range_attribute same[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
  cuMemRangeGetAttributes(values, sizes, same, 2, Dev(p), 4096);
  sizes[1] = 3;
  Say("several_size3", cudaMemRangeGetAttributes(values, sizes, two, 2, p, 4096));
  Say("range_null", cudaMemRangeGetAttribute(nullptr, 4, two[0], p, 4096));
  Say("range_size0", cudaMemRangeGetAttribute(&a, 0, two[0], p, 4096));
  Say("variable", cudaMemAdvise(managed_variable, 4096, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}));
  ShowRange("variable", managed_variable);
}

}  // namespace

void AddCases(Cases& cases) {
  cases("alloc", [] { Start(), Allocations(); });
  cases("advice", [] { Start(), Advice(); });
}
