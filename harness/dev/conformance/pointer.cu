// What pointers are: each attribute of each kind of memory, alone and together.
#define CONFORMANCE_CLASS "pointer"
#include "ask.h"

__device__ int device_variable[64];
__managed__ int managed_variable[64];
__constant__ int constant_variable[64];
__global__ void Kernel() {}

namespace {

constexpr size_t kBytes = 8192;
alignas(4096) char page[3 * 4096];

void* Symbol(const void* symbol) {
  void* address = nullptr;
  cudaGetSymbolAddress(&address, symbol);
  return address;
}

CUmemGenericAllocationHandle map_handle;
void* Mapped(bool access) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  CUdeviceptr address = 0;
  cuMemAddressReserve(&address, 4 << 20, 0, 0, 0);
  cuMemCreate(&map_handle, 2 << 20, &prop, 0);
  cuMemMap(address, 2 << 20, 0, map_handle, 0);
  CUmemAccessDesc desc{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (access) cuMemSetAccess(address, 2 << 20, &desc, 1);
  return reinterpret_cast<void*>(address);
}

// The pointer to ask about, in the memory that begins at base.
struct Asked {
  void* pointer = nullptr;
  void* base = nullptr;
};

std::vector<std::pair<std::string, std::function<Asked()>>> Kinds() {
  std::vector<std::pair<std::string, std::function<Asked()>>> kinds;
  const auto at = [](void* base, size_t offset) { return Asked{static_cast<char*>(base) + offset, base}; };
  kinds.emplace_back("null", [] { return Asked{}; });
  kinds.emplace_back("small", [] { return Asked{reinterpret_cast<void*>(0x10), reinterpret_cast<void*>(0x10)}; });
  kinds.emplace_back("stack", [] {
    static thread_local int local;
    return Asked{&local, &local};
  });
  kinds.emplace_back("heap", [=] { return at(std::malloc(kBytes), 0); });
  kinds.emplace_back("static", [=] { return at(page, 4096); });
  for (size_t offset : {size_t{0}, size_t{100}, kBytes - 1}) {
    const auto name = [&](const char* kind) { return offset == 0 ? std::string(kind) : F("%s+%zu", kind, offset); };
    kinds.emplace_back(name("device"), [=] {
      void* p = nullptr;
      cudaMalloc(&p, kBytes);
      return at(p, offset);
    });
    for (unsigned flags : {0u, 1u, 2u, 4u, 7u}) {
      if (offset == 100 && flags != 0) continue;
      kinds.emplace_back(name(F("host%u", flags).c_str()), [=] {
        void* p = nullptr;
        cudaHostAlloc(&p, kBytes, flags);
        return at(p, offset);
      });
    }
    for (unsigned flags : {0u, 1u, 2u}) {
      kinds.emplace_back(name(F("registered%u", flags).c_str()), [=] {
        cudaHostRegister(page + 4096, kBytes, flags);
        return at(page + 4096, offset);
      });
    }
    for (unsigned flags : {1u, 2u}) {
      kinds.emplace_back(name(F("managed%u", flags).c_str()), [=] {
        void* p = nullptr;
        cudaMallocManaged(&p, kBytes, flags);
        return at(p, offset);
      });
    }
    kinds.emplace_back(name("async"), [=] {
      void* p = nullptr;
      cudaMallocAsync(&p, kBytes, nullptr);
      cudaDeviceSynchronize();
      return at(p, offset);
    });
  }
  kinds.emplace_back("mallochost", [=] {
    void* p = nullptr;
    cudaMallocHost(&p, kBytes);
    return at(p, 0);
  });
  kinds.emplace_back("drvhost", [=] {
    void* p = nullptr;
    cuMemAllocHost(&p, kBytes);
    return at(p, 0);
  });
  kinds.emplace_back("registered_part", [=] {
    cudaHostRegister(page + 4096 + 16, 100, 0);
    return at(page + 4096 + 16, 50);
  });
  kinds.emplace_back("registered_samepage", [=] {
    cudaHostRegister(page + 4096 + 16, 100, 0);
    return at(page + 4096 + 16, 500);
  });
  kinds.emplace_back("unregistered", [=] {
    cudaHostRegister(page + 4096, kBytes, 0);
    cudaHostUnregister(page + 4096);
    return at(page + 4096, 0);
  });
  kinds.emplace_back("device1", [=] {
    void* p = nullptr;
    cudaMalloc(&p, 1);
    return at(p, 0);
  });
  kinds.emplace_back("device1+1", [=] {
    void* p = nullptr;
    cudaMalloc(&p, 1);
    return at(p, 1);
  });
  kinds.emplace_back("device1+600", [=] {
    void* p = nullptr;
    cudaMalloc(&p, 1);
    return at(p, 600);
  });
  kinds.emplace_back("pitch", [=] {
    void* p = nullptr;
    size_t pitch = 0;
    cudaMallocPitch(&p, &pitch, 100, 7);
    return at(p, pitch);
  });
  kinds.emplace_back("freed_async", [=] {
    void* p = nullptr;
    cudaMallocAsync(&p, kBytes, nullptr);
    cudaFreeAsync(p, nullptr);
    cudaDeviceSynchronize();
    return at(p, 0);
  });
  kinds.emplace_back("pool", [=] {
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    cudaMemPool_t pool = nullptr;
    cudaMemPoolCreate(&pool, &props);
    void* p = nullptr;
    cudaMallocFromPoolAsync(&p, kBytes, pool, nullptr);
    cudaDeviceSynchronize();
    return at(p, 256);
  });
  kinds.emplace_back("device_variable", [=] { return at(Symbol(device_variable), 4); });
  kinds.emplace_back("managed_variable", [=] { return at(Symbol(managed_variable), 4); });
  kinds.emplace_back("managed_variable_host", [=] {
    Start();
    return at(&managed_variable[0], 0);
  });
  kinds.emplace_back("constant_variable", [=] { return at(Symbol(constant_variable), 4); });
  kinds.emplace_back("symbol_shadow", [=] { return at(const_cast<int*>(device_variable), 0); });
  kinds.emplace_back("kernel", [=] { return at(reinterpret_cast<void*>(Kernel), 0); });
  kinds.emplace_back("mapped", [=] { return at(Mapped(true), 4096); });
  kinds.emplace_back("mapped_noaccess", [=] { return at(Mapped(false), 0); });
  kinds.emplace_back("reserved", [=] { return at(Mapped(true), 3 << 20); });
  kinds.emplace_back("drvmanaged", [=] {
    CUdeviceptr p = 0;
    cuMemAllocManaged(&p, kBytes, CU_MEM_ATTACH_GLOBAL);
    return at(reinterpret_cast<void*>(p), 0);
  });
  kinds.emplace_back("other_context", [=] {
    CUcontext made = nullptr, primary = nullptr;
    cuCtxGetCurrent(&primary);
    cuCtxCreate(&made, nullptr, 0, 0);
    CUdeviceptr p = 0;
    cuMemAlloc(&p, kBytes);
    cuCtxSetCurrent(primary);
    return at(reinterpret_cast<void*>(p), 0);
  });
  return kinds;
}

// The attribute's value, reduced to what two runs or two machines have in common.
std::string Shown(int attribute, const unsigned long long* words, const Asked& asked) {
  const void* const pointer = reinterpret_cast<const void*>(words[0]);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      CUcontext current = nullptr;
      cuCtxGetCurrent(&current);
      return pointer == nullptr               ? "null"
             : pointer == current             ? "current"
             : words[0] == 0x7777777777777777 ? "unwritten"
                                              : "other";
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return words[0] == 0x7777777777777777 ? "unwritten" : Relative(pointer, asked.pointer);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return words[0] == 0x7777777777777777 ? "unwritten" : Relative(pointer, asked.base);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return words[0] == 0 ? "0" : words[0] == 0x7777777777777777 ? "unwritten" : "set";
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return "";
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: {
      cudaMemPool_t pool = nullptr;
      cudaDeviceGetDefaultMemPool(&pool, 0);
      return pointer == nullptr               ? "null"
             : pointer == pool                ? "default"
             : words[0] == 0x7777777777777777 ? "unwritten"
                                              : "other";
    }
    default:
      return F("%llx", words[0]);
  }
}

void Ask(const Asked& asked) {
  void* const p = asked.pointer;
  cudaPointerAttributes known;
  std::memset(&known, 0x77, sizeof known);
  Say("rt", cudaPointerGetAttributes(&known, p));
  Say("type", static_cast<int>(known.type));
  Say("device", known.device);
  Say("devicePointer", Relative(known.devicePointer, p));
  Say("hostPointer", Relative(known.hostPointer, p));
  constexpr int kEnd = 23;
  for (int attribute = 0; attribute <= kEnd; ++attribute) {
    unsigned long long words[4] = {0x7777777777777777, 0x7777777777777777};
    const CUresult result = cuPointerGetAttribute(words, static_cast<CUpointer_attribute>(attribute), Dev(p));
    Say(F("a%d", attribute), F("%d %s", result, Shown(attribute, words, asked).c_str()));
    unsigned long long more[4] = {0x7777777777777777, 0x7777777777777777};
    void* data[] = {more};
    auto one = static_cast<CUpointer_attribute>(attribute);
    const CUresult several = cuPointerGetAttributes(1, &one, data, Dev(p));
    Say(F("as%d", attribute), F("%d %s", several, Shown(attribute, more, asked).c_str()));
  }
  CUdeviceptr base = 7;
  size_t bytes = 7;
  Say("range", cuMemGetAddressRange(&base, &bytes, Dev(p)));
  Say("range_base", base == 7 ? "unwritten" : Relative(base, asked.base));
  Say("range_bytes", bytes);
  Say("range_nullbase", cuMemGetAddressRange(nullptr, &bytes, Dev(p)));
  void* device = nullptr;
  Say("hostdevice", cudaHostGetDevicePointer(&device, p, 0));
  Say("hostdevice_is", Relative(device, p));
  CUdeviceptr drv = 0;
  Say("drvhostdevice", cuMemHostGetDevicePointer(&drv, p, 0));
  unsigned flags = 77;
  Say("hostflags", cudaHostGetFlags(&flags, p));
  Say("hostflags_are", flags);
  flags = 77;
  Say("drvhostflags", cuMemHostGetFlags(&flags, p));
  Say("drvhostflags_are", flags);
  int on = 1;
  Say("setsync", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, Dev(p)));
  unsigned long long sync = 0x77777777;
  Say("getsync", cuPointerGetAttribute(&sync, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, Dev(p)));
  Say("getsync_is", sync);
  Say("setmapped", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MAPPED, Dev(p)));
  CUmemGenericAllocationHandle handle = 0;
  Say("retain", cuMemRetainAllocationHandle(&handle, p));
  unsigned long long access = 77;
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  Say("getaccess", cuMemGetAccess(&access, &location, Dev(p)));
  Say("getaccess_is", access);
  Say("free", cudaFree(p));
  Say("freehost", cudaFreeHost(p));
  Say("unregister", cudaHostUnregister(p));
  Say("freeasync", cudaFreeAsync(p, nullptr));
  Say("sync", cudaDeviceSynchronize());
}

}  // namespace

void AddCases(Cases& cases) {
  for (const auto& [name, make] : Kinds()) {
    cases(name, [make = make] {
      Start();
      Ask(make());
    });
  }
  cases("arguments", [] {
    Start();
    void* p = nullptr;
    cudaMalloc(&p, kBytes);
    cudaPointerAttributes known;
    Say("rt_null", cudaPointerGetAttributes(nullptr, p));
    Say("drv_null", cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Dev(p)));
    CUpointer_attribute two[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, static_cast<CUpointer_attribute>(99)};
    unsigned type = 7, other = 7;
    void* data[] = {&type, &other};
    Say("several_0", cuPointerGetAttributes(0, two, data, Dev(p)));
    Say("several_null", cuPointerGetAttributes(1, nullptr, data, Dev(p)));
    Say("several_nulldata", cuPointerGetAttributes(1, two, nullptr, Dev(p)));
    Say("several_bad", cuPointerGetAttributes(2, two, data, Dev(p)));
    Say("several_bad_type", type);
    Say("several_ok", cuPointerGetAttributes(1, two, data, Dev(p)));
    Say("several_ok_type", type);
    Say("range_bothnull", cuMemGetAddressRange(nullptr, nullptr, Dev(p)));
    void* device = nullptr;
    Say("hostdevice_flags", cudaHostGetDevicePointer(&device, p, 1));
    Say("hostdevice_null", cudaHostGetDevicePointer(nullptr, p, 0));
    Say("last", cudaPointerGetAttributes(&known, reinterpret_cast<void*>(1)));
    for (unsigned flags : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u, 32u}) {
      void* host = nullptr;
      Say(F("hostalloc%u", flags), cudaHostAlloc(&host, 100, flags));
      unsigned read = 77;
      if (host != nullptr) cudaHostGetFlags(&read, host);
      Say(F("hostalloc%u_flags", flags), read);
      host = nullptr;
      Say(F("drvhostalloc%u", flags), cuMemHostAlloc(&host, 100, flags));
      read = 77;
      if (host != nullptr) cuMemHostGetFlags(&read, host);
      Say(F("drvhostalloc%u_flags", flags), read);
      Say(F("register%u", flags), cudaHostRegister(page + 4096, 4096, flags));
      read = 77;
      cudaHostGetFlags(&read, page + 4096);
      cudaGetLastError();
      Say(F("register%u_flags", flags), read);
      Say(F("unregister%u", flags), cudaHostUnregister(page + 4096));
      Say(F("drvregister%u", flags), cuMemHostRegister(page + 4096, 4096, flags));
      Say(F("drvunregister%u", flags), cuMemHostUnregister(page + 4096));
    }
    Say("register_null", cudaHostRegister(nullptr, 100, 0));
    Say("register_0", cudaHostRegister(page, 0, 0));
    Say("register_once", cudaHostRegister(page, 100, 0));
    Say("register_twice", cudaHostRegister(page, 100, 0));
    Say("register_same_page", cudaHostRegister(page + 200, 100, 0));
    Say("register_overlap", cudaHostRegister(page + 50, 100, 0));
    Say("register_around", cudaHostRegister(page, 8192, 0));
    Say("unregister_inside", cudaHostUnregister(page + 10));
    Say("unregister", cudaHostUnregister(page));
    Say("unregister_again", cudaHostUnregister(page));
    Say("register_device", cudaHostRegister(p, 100, 0));
    void* pinned = nullptr;
    cudaMallocHost(&pinned, 4096);
    Say("register_pinned", cudaHostRegister(pinned, 100, 0));
    Say("unregister_pinned", cudaHostUnregister(pinned));
    Say("freehost_registered", (cudaHostRegister(page, 100, 0), cudaFreeHost(page)));
    Say("free_registered", cudaFree(page));
    Say("hostalloc_0", cudaHostAlloc(&pinned, 0, 0));
    Say("hostalloc_0_is", IsSet(pinned));
    Say("mallochost_0", cudaMallocHost(&pinned, 0));
    Say("drvhost_0", cuMemAllocHost(&pinned, 0));
    Say("drvhostalloc_0", cuMemHostAlloc(&pinned, 0, 0));
    Say("hostalloc_null", cudaHostAlloc(nullptr, 100, 0));
    Say("hostalloc_huge", cudaHostAlloc(&pinned, size_t{1} << 50, 0));
  });
}
