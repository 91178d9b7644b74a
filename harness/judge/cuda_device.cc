// A real GPU through NVIDIA's own runtime, which is loaded when it is asked for: the judge needs none to be built.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "judge/device.h"

namespace lockstep::judge {
namespace {

// The part of the documented runtime API that is needed. Handles are passed by value, as the header declares them.
struct IpcHandle {
  std::array<char, worker::kIpcHandleBytes> reserved;
};
constexpr int kCopyHostToDevice = 1;
constexpr int kCopyDeviceToHost = 2;

// Never closed: a context holds on to it.
void* Library() {
  void* library = nullptr;
  const char* given = std::getenv("LOCKSTEP_CUDART");
  for (const char* name : {given, "libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13"}) {
    if (name != nullptr && library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    throw HarnessError("--device=cuda needs NVIDIA's libcudart.so.13; LOCKSTEP_CUDART=PATH says where it is");
  }
  return library;
}

class Runtime {
 public:
  Runtime() : library_(Library()) {
    Find(get_device_count, "cudaGetDeviceCount");
    Find(malloc, "cudaMalloc");
    Find(free, "cudaFree");
    Find(memcpy, "cudaMemcpy");
    Find(memset, "cudaMemset");
    Find(ipc_get_mem_handle, "cudaIpcGetMemHandle");
    Find(device_synchronize, "cudaDeviceSynchronize");
    Find(get_error_name, "cudaGetErrorName");
    int count = 0;
    const int error = get_device_count(&count);
    if (error != 0 || count == 0) {
      throw HarnessError("--device=cuda found no GPU (" + std::string(get_error_name(error)) +
                         "); --device=vgpu needs none");
    }
  }

  void Check(int error, const char* what) const {
    if (error != 0) throw HarnessError(std::string(what) + " failed in the judge: " + get_error_name(error));
  }

  int (*get_device_count)(int*) = nullptr;
  int (*malloc)(void**, size_t) = nullptr;
  int (*free)(void*) = nullptr;
  int (*memcpy)(void*, const void*, size_t, int) = nullptr;
  int (*memset)(void*, int, size_t) = nullptr;
  int (*ipc_get_mem_handle)(IpcHandle*, void*) = nullptr;
  int (*device_synchronize)() = nullptr;
  const char* (*get_error_name)(int) = nullptr;

 private:
  template <class Function>
  void Find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw HarnessError(std::string("NVIDIA's libcudart has no ") + name);
  }

  void* library_;
};

// The name comes from the driver: the runtime gives it in a structure that changes from version to version.
std::string GpuName() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return "GPU";
  const auto get_name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  char name[256] = "GPU";
  if (get_name == nullptr || get_name(name, sizeof name, 0) != 0) return "GPU";
  name[sizeof name - 1] = '\0';
  return name;
}

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

class CudaJudgeDevice : public JudgeDevice {
 public:
  DeviceDescription Describe() const override { return {"cuda", "", GpuName(), 1}; }

  uint64_t Allocate(uint64_t bytes, const std::string& label) override {
    void* address = nullptr;
    // Small allocations share a page, and IPC shares pages: each gets its own.
    const uint64_t whole = (bytes + kIpcGranularity - 1) / kIpcGranularity * kIpcGranularity;
    runtime_.Check(runtime_.malloc(&address, whole), label.c_str());
    return reinterpret_cast<uint64_t>(address);
  }
  void Free(uint64_t address) override { runtime_.free(Pointer(address)); }
  bool Write(uint64_t to, const void* from, uint64_t bytes) override {
    runtime_.Check(runtime_.memcpy(Pointer(to), from, bytes, kCopyHostToDevice), "a copy to the device");
    return true;
  }
  bool Read(void* to, uint64_t from, uint64_t bytes) override {
    runtime_.Check(runtime_.memcpy(to, Pointer(from), bytes, kCopyDeviceToHost), "a copy to the host");
    return true;
  }
  bool Poison(uint64_t address, uint64_t bytes) override {
    runtime_.Check(runtime_.memset(Pointer(address), kPoisonByte, bytes), "a fill");
    // The worker's kernels run in another context: nothing orders them after a fill that has not ended.
    runtime_.Check(runtime_.device_synchronize(), "a fill");
    return true;
  }
  bool ChecksBounds() const override { return false; }

  worker::Argument PointerArgument(uint64_t base, uint64_t address) override {
    IpcHandle handle;
    runtime_.Check(runtime_.ipc_get_mem_handle(&handle, Pointer(base)), "cudaIpcGetMemHandle");
    std::array<uint8_t, worker::kIpcHandleBytes> bytes;
    std::memcpy(bytes.data(), &handle, sizeof handle);
    return worker::Argument::IpcPointer(bytes, address - base);
  }

  // A fault stays in the worker's context; the judge's own is not touched by it.
  void Reset() override { ++generation_; }
  bool faulted() const override { return false; }

 private:
  static constexpr uint64_t kIpcGranularity = uint64_t{2} << 20;
  Runtime runtime_;
};

}  // namespace

std::string CudaLibraryFolder() {
  const link_map* map = nullptr;
  if (dlinfo(Library(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) throw HarnessError(dlerror());
  return std::filesystem::canonical(map->l_name).parent_path().string();
}

std::unique_ptr<JudgeDevice> MakeCudaJudgeDevice() { return std::make_unique<CudaJudgeDevice>(); }

}  // namespace lockstep::judge
