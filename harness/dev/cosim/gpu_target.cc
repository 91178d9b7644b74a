// The driver is opened at run time, so that the program starts without one, and no CUDA header is needed.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "dev/cosim/target.h"

namespace lockstep::cosim {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr int kNotReady = 600;

class GpuTarget : public Target {
 public:
  GpuTarget(std::string options, std::string files, int seconds)
      : options_(std::move(options)), files_(std::move(files)), seconds_(seconds) {
    library_ = dlopen("libcuda.so.1", RTLD_NOW);
    if (library_ == nullptr) throw std::runtime_error("no driver: libcuda.so.1 is not found");
    Find(&init_, "cuInit");
    Find(&device_get_, "cuDeviceGet");
    Find(&retain_, "cuDevicePrimaryCtxRetain");
    Find(&set_current_, "cuCtxSetCurrent");
    Find(&load_, "cuModuleLoadData");
    Find(&unload_, "cuModuleUnload");
    Find(&function_, "cuModuleGetFunction");
    Find(&launch_, "cuLaunchKernel");
    Find(&query_, "cuStreamQuery");
    Find(&allocate_, "cuMemAlloc_v2");
    Find(&to_device_, "cuMemcpyHtoD_v2");
    Find(&to_host_, "cuMemcpyDtoH_v2");
    Find(&fill_, "cuMemsetD8_v2");
    int device = 0;
    void* context = nullptr;
    Check(init_(0), "cuInit");
    Check(device_get_(&device, 0), "cuDeviceGet");
    Check(retain_(&context, device), "cuDevicePrimaryCtxRetain");
    Check(set_current_(context), "cuCtxSetCurrent");
    const std::vector<uint64_t> table = InputTable();
    Check(allocate_(&input_, table.size() * 8), "cuMemAlloc");
    Check(allocate_(&output_, kOutputBytes), "cuMemAlloc");
    Check(to_device_(input_, table.data(), table.size() * 8), "cuMemcpyHtoD");
  }

  std::string Load(const std::string& ptx) override {
    if (module_ != nullptr) unload_(module_);
    module_ = nullptr;
    std::ofstream(files_ + ".ptx") << ptx;
    const std::string command =
        "ptxas -arch=sm_90 " + options_ + " -o " + files_ + ".cubin " + files_ + ".ptx > " + files_ + ".log 2>&1";
    if (std::system(command.c_str()) != 0) return "ptxas: " + ReadAll(files_ + ".log");
    const std::string cubin = ReadAll(files_ + ".cubin");
    const int error = load_(&module_, cubin.data());
    return error == 0 ? "" : "cuModuleLoadData: error " + std::to_string(error);
  }

  Outcome Run(const Kernel& kernel) override {
    Outcome outcome;
    void* function = nullptr;
    if (module_ == nullptr || function_(&function, module_, kernel.name.c_str()) != 0)
      return {"no such kernel", false, {}};
    void* arguments[] = {&input_, &output_};
    const unsigned blocks = static_cast<unsigned>(kernel.blocks), per_block = static_cast<unsigned>(kernel.threads);
    const size_t threads = size_t{blocks} * per_block, slots = kernel.slots.size();
    std::vector<uint32_t> rows(threads * kSlots), scratch(threads * kScratchWords);
    const uint64_t scratch_at = output_ + uint64_t{kMostThreads} * kSlots * 4;
    int error = fill_(output_, 0, kOutputBytes);
    if (error == 0) error = launch_(function, blocks, 1, 1, per_block, 1, 1, 0, nullptr, arguments, nullptr);
    if (error == 0) error = Wait();
    if (error == kNotReady) return {"not done on the GPU after " + std::to_string(seconds_) + " s", true, {}};
    if (error == 0) error = to_host_(rows.data(), output_, rows.size() * 4);
    if (error == 0) error = to_host_(scratch.data(), scratch_at, scratch.size() * 4);
    if (error != 0) return {"the GPU's launch failed with error " + std::to_string(error), true, {}};
    outcome.words.reserve(threads * (slots + kScratchWords));
    for (size_t t = 0; t < threads; ++t) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(t * kSlots);
      const auto own = scratch.begin() + static_cast<std::ptrdiff_t>(t * kScratchWords);
      outcome.words.insert(outcome.words.end(), row, row + static_cast<std::ptrdiff_t>(slots));
      outcome.words.insert(outcome.words.end(), own, own + kScratchWords);
    }
    return outcome;
  }

 private:
  template <typename F>
  void Find(F* function, const char* name) {
    *function = reinterpret_cast<F>(dlsym(library_, name));
    if (*function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
  }
  // A kernel takes well below a millisecond; a copy would wait forever for an endless one.
  int Wait() const {
    const auto begin = std::chrono::steady_clock::now();
    for (int polls = 0;; ++polls) {
      const int error = query_(nullptr);
      if (error != kNotReady || std::chrono::steady_clock::now() - begin > std::chrono::seconds(seconds_)) return error;
      if (polls > 1000) usleep(100);
    }
  }
  static void Check(int error, const char* what) {
    if (error != 0) throw std::runtime_error(std::string(what) + ": error " + std::to_string(error));
  }

  std::string options_, files_;
  int seconds_;
  void* library_ = nullptr;
  int (*init_)(unsigned) = nullptr;
  int (*device_get_)(int*, int) = nullptr;
  int (*retain_)(void**, int) = nullptr;
  int (*set_current_)(void*) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*unload_)(void*) = nullptr;
  int (*function_)(void**, void*, const char*) = nullptr;
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                 void**) = nullptr;
  int (*query_)(void*) = nullptr;
  int (*allocate_)(uint64_t*, size_t) = nullptr;
  int (*to_device_)(uint64_t, const void*, size_t) = nullptr;
  int (*to_host_)(void*, uint64_t, size_t) = nullptr;
  int (*fill_)(uint64_t, unsigned char, size_t) = nullptr;
  void* module_ = nullptr;
  uint64_t input_ = 0, output_ = 0;
};

}  // namespace

std::unique_ptr<Target> MakeGpuTarget(const std::string& options, const std::string& files, int seconds) {
  return std::make_unique<GpuTarget>(options, files, seconds);
}

}  // namespace lockstep::cosim
