// NVIDIA's management library, which comes with the driver and is loaded at first use.
#include <dlfcn.h>

#include <array>

#include "judge/device/gpu.h"

namespace lockstep::judge {
namespace {

using Handle = void*;
constexpr int kSuccess = 0;
constexpr int kClockSm = 1, kClockMemory = 2;
constexpr int kTemperatureGpu = 0;

// Reasons for reduced clocks that load does not explain: bits of nvmlDeviceGetCurrentClocksThrottleReasons.
struct Reason {
  uint64_t bit;
  const char* text;
};
constexpr std::array<Reason, 5> kReasons = {{{0x4, "power cap"},
                                             {0x8, "hardware slowdown"},
                                             {0x20, "software thermal slowdown"},
                                             {0x40, "hardware thermal slowdown"},
                                             {0x80, "power brake"}}};

class ManagementLibrary {
 public:
  ManagementLibrary() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    const auto initialize = Find<int (*)()>("nvmlInit_v2");
    ready_ = initialize != nullptr && initialize() == kSuccess;
  }
  bool ready() const { return ready_; }

  template <class Function>
  Function Find(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library_, name));
  }

 private:
  void* library_;
  bool ready_ = false;
};

}  // namespace

GpuState ReadGpuState(const std::string& pci_bus_id) {
  static const ManagementLibrary library;
  GpuState state;
  if (!library.ready()) return state;
  Handle device = nullptr;
  const auto by_bus = library.Find<int (*)(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (by_bus == nullptr || by_bus(pci_bus_id.c_str(), &device) != kSuccess) return state;
  const auto add = [&](const char* name, std::string value) { state.facts.emplace_back(name, std::move(value)); };

  std::array<char, 96> driver{};
  const auto driver_version = library.Find<int (*)(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (driver_version != nullptr && driver_version(driver.data(), driver.size() - 1) == kSuccess) {
    add("driver", driver.data());
  }
  const auto clock = library.Find<int (*)(Handle, int, unsigned*)>("nvmlDeviceGetClockInfo");
  unsigned value = 0;
  if (clock != nullptr && clock(device, kClockSm, &value) == kSuccess) add("SM clock", std::to_string(value) + " MHz");
  if (clock != nullptr && clock(device, kClockMemory, &value) == kSuccess) {
    add("memory clock", std::to_string(value) + " MHz");
  }
  const auto temperature = library.Find<int (*)(Handle, int, unsigned*)>("nvmlDeviceGetTemperature");
  if (temperature != nullptr && temperature(device, kTemperatureGpu, &value) == kSuccess) {
    add("temperature", std::to_string(value) + " °C");
  }
  const auto reasons = library.Find<int (*)(Handle, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  unsigned long long bits = 0;
  if (reasons != nullptr && reasons(device, &bits) == kSuccess) {
    std::string text;
    for (const Reason& reason : kReasons) {
      if ((bits & reason.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(reason.text);
    }
    state.throttled = !text.empty();
    add("throttling", text.empty() ? "none" : text);
  }
  // Only the count is requested: the answer is "too small" with the count.
  const auto processes = library.Find<int (*)(Handle, unsigned*, void*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  if (processes != nullptr) {
    unsigned count = 0;
    processes(device, &count, nullptr);
    add("processes on the GPU", std::to_string(count));
  }
  const auto ecc = library.Find<int (*)(Handle, int*, int*)>("nvmlDeviceGetEccMode");
  int now = 0, pending = 0;
  if (ecc != nullptr && ecc(device, &now, &pending) == kSuccess) add("ECC", now != 0 ? "on" : "off");
  return state;
}

}  // namespace lockstep::judge
