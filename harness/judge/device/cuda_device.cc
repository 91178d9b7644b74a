// A real GPU through NVIDIA's own runtime, which is loaded at first use so that the judge builds without it.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <thread>

#include "judge/device/device.h"
#include "judge/device/gpu_kernels.h"

namespace lockstep::judge {
namespace {

// The parts of the documented runtime API that we need. Handles are passed by value, as the header declares them.
struct IpcHandle {
  std::array<char, worker::kIpcHandleBytes> reserved;
};
struct GridSize {
  uint32_t x, y, z;
};
constexpr int kCopyHostToDevice = 1;
constexpr int kCopyDeviceToHost = 2;
constexpr int kCopyDeviceToDevice = 3;
// Values of cudaDeviceAttr; their units are kHz, bits and bytes.
constexpr int kMemoryClockRate = 36, kMemoryBusWidth = 37, kL2CacheSize = 38;

// Never closed: a context keeps using it.
void* Library() {
  void* library = nullptr;
  const char* given = std::getenv("LOCKSTEP_CUDART");
  for (const char* name : {given, "libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13"}) {
    if (name != nullptr && library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    throw HarnessError(
        "--device=cuda needs NVIDIA's libcudart.so.13, which was not found; set LOCKSTEP_CUDART=PATH to the file");
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
    Find(memcpy_async, "cudaMemcpyAsync");
    Find(get_attribute, "cudaDeviceGetAttribute");
    Find(get_pci_bus_id, "cudaDeviceGetPCIBusId");
    Find(reset_persisting_cache, "cudaCtxResetPersistingL2Cache");
    Find(library_load_data, "cudaLibraryLoadData");
    Find(library_get_kernel, "cudaLibraryGetKernel");
    Find(launch_kernel, "cudaLaunchKernel");
    Find(mem_get_info, "cudaMemGetInfo");
    int count = 0;
    const int error = get_device_count(&count);
    if (error != 0 || count == 0) {
      throw HarnessError("--device=cuda found no GPU (" + std::string(get_error_name(error)) +
                         "); --device=vgpu needs none");
    }
  }

  // Allocates memory. If there is none, ends the worker to free its memory and tries again for 10 s: a driver takes a
  // while to free much memory, and a sandbox's processes end a moment after the sandbox.
  void* Allocate(uint64_t bytes, const char* what, const std::function<void()>& reclaim) const {
    constexpr std::chrono::milliseconds kTryAgain{20};
    constexpr int kTries = 500;
    void* address = nullptr;
    int error = malloc(&address, bytes);
    if (error != 0) reclaim();
    for (int i = 0; error != 0 && i < kTries; ++i) {
      std::this_thread::sleep_for(kTryAgain);
      error = malloc(&address, bytes);
    }
    Check(error, what);
    return address;
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
  int (*memcpy_async)(void*, const void*, size_t, int, void*) = nullptr;
  int (*get_attribute)(int*, int, int) = nullptr;
  int (*get_pci_bus_id)(char*, int, int) = nullptr;
  int (*reset_persisting_cache)() = nullptr;
  int (*mem_get_info)(size_t*, size_t*) = nullptr;
  int (*library_load_data)(void**, const void*, void*, void*, unsigned, void*, void*, unsigned) = nullptr;
  int (*library_get_kernel)(void**, void*, const char*) = nullptr;
  int (*launch_kernel)(const void*, GridSize, GridSize, void**, size_t, void*) = nullptr;

 private:
  template <class Function>
  void Find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw HarnessError(std::string("NVIDIA's libcudart has no ") + name);
  }

  void* library_;
};

// The name comes from the driver: the runtime returns it in a structure that changes between versions.
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

class CudaGpu : public Gpu {
 public:
  CudaGpu(const Runtime& runtime, std::function<void()> reclaim) : runtime_(runtime), reclaim_(std::move(reclaim)) {
    char bus[32] = "";
    runtime_.Check(runtime_.get_pci_bus_id(bus, sizeof bus, 0), "cudaDeviceGetPCIBusId");
    pci_bus_id_ = bus;
  }
  ~CudaGpu() override {
    for (Memory* memory : {&scratch_, &jobs_, &wrong_}) {
      if (memory->address != nullptr) runtime_.free(memory->address);
    }
  }

  uint64_t free_bytes() const override {
    size_t free = 0, total = 0;
    runtime_.Check(runtime_.mem_get_info(&free, &total), "cudaMemGetInfo");
    return free;
  }
  // Two transfers per clock.
  double peak_bytes_per_second() const override {
    return 2.0 * 1000 * Attribute(kMemoryClockRate) * Attribute(kMemoryBusWidth) / 8;
  }

  void ClearCache() override {
    // Persisting lines of another process become ordinary ones, and are then evicted.
    runtime_.Check(runtime_.reset_persisting_cache(), "cudaCtxResetPersistingL2Cache");
    const uint64_t bytes = kCacheFolds * static_cast<uint64_t>(Attribute(kL2CacheSize));
    Need(scratch_, bytes);
    runtime_.Check(runtime_.memset(scratch_.address, 0, bytes), "a fill");
    runtime_.Check(runtime_.device_synchronize(), "a fill");
  }

  double TimeCopy(uint64_t bytes, uint32_t copies) override {
    const uint64_t pitch = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const uint64_t places = std::clamp<uint64_t>(kCopyBytes / (2 * pitch), 1, copies);
    Need(scratch_, 2 * pitch * places);
    const auto begin = std::chrono::steady_clock::now();
    for (uint32_t copy = 0; copy < copies; ++copy) {
      uint8_t* const from = scratch_.address + 2 * pitch * (copy % places);
      runtime_.Check(runtime_.memcpy_async(from + pitch, from, bytes, kCopyDeviceToDevice, nullptr), "a copy");
    }
    runtime_.Check(runtime_.device_synchronize(), "a copy");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / copies;
  }

  GpuState State() const override { return ReadGpuState(pci_bus_id_); }

  void Fill(std::span<const GpuJob> jobs) override {
    job_count_ = static_cast<uint32_t>(jobs.size());
    Need(jobs_, jobs.size_bytes());
    runtime_.Check(runtime_.memcpy(jobs_.address, jobs.data(), jobs.size_bytes(), kCopyHostToDevice), "a copy of jobs");
    void* arguments[] = {&jobs_.address};
    Launch("lockstep_fill", {kBlocksPerJob, job_count_, 1}, arguments);
    Need(wrong_, sizeof(uint64_t) + job_count_ * sizeof(GpuWrong));
    runtime_.Check(runtime_.memset(wrong_.address, 0, wrong_.bytes), "a fill");
    runtime_.Check(runtime_.device_synchronize(), "a fill");
  }

  GlanceResult Glance(const SeedKey& seed) override {
    const auto begin = std::chrono::steady_clock::now();
    void* arguments[] = {&jobs_.address, &wrong_.address, const_cast<SeedKey*>(&seed)};
    Launch("lockstep_glance", {job_count_, 1, 1}, arguments);
    GlanceResult result;
    runtime_.Check(runtime_.memcpy(&result.wrong, wrong_.address, sizeof result.wrong, kCopyDeviceToHost), "a glance");
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    runtime_.Check(runtime_.memset(wrong_.address, 0, sizeof result.wrong), "a fill");
    runtime_.Check(runtime_.device_synchronize(), "a fill");
    return result;
  }

  std::vector<GpuWrong> Check() override {
    std::vector<GpuWrong> wrong(job_count_);
    const uint64_t bytes = wrong.size() * sizeof(GpuWrong);
    void* counts = wrong_.address + sizeof(uint64_t);
    runtime_.Check(runtime_.memset(counts, 0, bytes), "a fill");
    void* arguments[] = {&jobs_.address, &counts};
    Launch("lockstep_check", {kBlocksPerJob, job_count_, 1}, arguments);
    runtime_.Check(runtime_.memcpy(wrong.data(), counts, bytes, kCopyDeviceToHost), "a check");
    return wrong;
  }

  double SecondsToAnswer() override {
    double least = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto begin = std::chrono::steady_clock::now();
      // A kernel, because copies and fills may overtake other processes' kernels.
      Launch("lockstep_nothing", {1, 1, 1}, nullptr);
      runtime_.Check(runtime_.device_synchronize(), "a launch");
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return least;
  }

 private:
  static constexpr uint64_t kCacheFolds = 4, kAlignment = 512;
  static constexpr uint64_t kCopyBytes = uint64_t{8} << 30;  // limits the memory that timed copies are spread over
  static constexpr uint32_t kBlocksPerJob = 64, kThreads = 256;
  static constexpr int kAttempts = 5;

  struct Memory {
    uint8_t* address = nullptr;
    uint64_t bytes = 0;
  };

  int Attribute(int attribute) const {
    int value = 0;
    runtime_.Check(runtime_.get_attribute(&value, attribute, 0), "cudaDeviceGetAttribute");
    return value;
  }
  // Does not wait.
  void Launch(const char* name, GridSize grid, void** arguments) {
    void*& kernel = kernels_[name];
    if (library_ == nullptr) {
      runtime_.Check(runtime_.library_load_data(&library_, GpuKernelsPtx(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                     "loading the judge's kernels");
    }
    if (kernel == nullptr) runtime_.Check(runtime_.library_get_kernel(&kernel, library_, name), name);
    runtime_.Check(runtime_.launch_kernel(kernel, grid, {kThreads, 1, 1}, arguments, 0, nullptr), name);
  }

  void Need(Memory& memory, uint64_t bytes) {
    if (bytes <= memory.bytes) return;
    if (memory.address != nullptr) runtime_.free(memory.address);
    memory = {};
    void* const address = runtime_.Allocate(bytes, "an allocation for timing", reclaim_);
    memory = {static_cast<uint8_t*>(address), bytes};
    runtime_.Check(runtime_.memset(address, 0, bytes), "a fill");
    runtime_.Check(runtime_.device_synchronize(), "a fill");
  }

  const Runtime& runtime_;
  std::function<void()> reclaim_;
  std::string pci_bus_id_;
  Memory scratch_;
  Memory jobs_, wrong_;  // wrong_: a count for a glance, then one per job for a check
  uint32_t job_count_ = 0;
  void* library_ = nullptr;
  std::map<std::string, void*> kernels_;
};

class CudaJudgeDevice : public JudgeDevice {
 public:
  DeviceDescription Describe() const override { return {"cuda", "", GpuName(), 1}; }

  int most_devices() const override {
    int count = 0;
    runtime_.Check(runtime_.get_device_count(&count), "cudaGetDeviceCount");
    return count;
  }

  uint64_t Allocate(uint64_t bytes, const std::string& label) override {
    // Small allocations share a page, and IPC shares pages: each gets its own.
    const uint64_t whole = (bytes + kIpcGranularity - 1) / kIpcGranularity * kIpcGranularity;
    return reinterpret_cast<uint64_t>(runtime_.Allocate(whole, label.c_str(), [this] { Reclaim(); }));
  }
  void Free(uint64_t address) override { runtime_.free(Pointer(address)); }
  bool Write(uint64_t to, const void* from, uint64_t bytes) override {
    runtime_.Check(runtime_.memcpy(Pointer(to), from, bytes, kCopyHostToDevice), "a copy to the device");
    // A copy from pageable memory returns once the runtime has the bytes, which may be before they are in place. The
    // worker's kernels run in another context: nothing orders them after it.
    runtime_.Check(runtime_.device_synchronize(), "a copy to the device");
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

  // A fault stays in the worker's context and does not affect the judge's own.
  void Reset() override { ++generation_; }
  bool faulted() const override { return false; }
  Gpu* gpu() override { return &gpu_; }

 private:
  static constexpr uint64_t kIpcGranularity = uint64_t{2} << 20;
  Runtime runtime_;
  CudaGpu gpu_{runtime_, [this] { Reclaim(); }};
};

}  // namespace

std::string CudaLibraryFolder() {
  const link_map* map = nullptr;
  if (dlinfo(Library(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) throw HarnessError(dlerror());
  return std::filesystem::canonical(map->l_name).parent_path().string();
}

std::vector<std::string> ChosenGpu() {
  std::vector<std::string> chosen;
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    if (const char* value = std::getenv(name)) chosen.push_back(std::string(name) + "=" + value);
  }
  return chosen;
}

std::unique_ptr<JudgeDevice> MakeCudaJudgeDevice() { return std::make_unique<CudaJudgeDevice>(); }

}  // namespace lockstep::judge
