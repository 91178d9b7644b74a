#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "judge/device/device.h"

namespace lockstep::judge {
namespace {

class VgpuJudgeDevice : public JudgeDevice {
 public:
  VgpuJudgeDevice(const vgpu::DeviceProfile& profile, vgpu::DeviceOptions options, uint64_t print_bytes)
      : print_bytes_(print_bytes), device_(profile, Capture(std::move(options))) {}

  DeviceDescription Describe() const override {
    return {"vgpu", device_.profile().id, device_.profile().name, device_.options().threads};
  }

  int most_devices() const override { return std::numeric_limits<int>::max(); }

  uint64_t Allocate(uint64_t bytes, const std::string& label) override {
    uint64_t address = device_.Allocate(bytes, label);
    if (address == 0) {
      Reclaim();
      address = device_.Allocate(bytes, label);
    }
    if (address == 0) throw HarnessError("no room on the virtual GPU for " + label);
    return address;
  }
  void Free(uint64_t address) override { device_.Free(address); }
  bool Write(uint64_t to, const void* from, uint64_t bytes) override { return device_.Write(to, from, bytes); }
  bool Read(void* to, uint64_t from, uint64_t bytes) override { return device_.Read(to, from, bytes); }
  const void* Look(uint64_t from, uint64_t bytes) override { return device_.Look(from, bytes); }

  // Device addresses are addresses of this process. A direct write bypasses the observers, so that the checker for
  // uninitialised memory still sees the buffer as unwritten.
  bool Poison(uint64_t address, uint64_t bytes) override {
    if (bytes == 0) return true;
    if (!device_.Contains(address, bytes)) return false;
    std::memset(reinterpret_cast<void*>(address), kPoisonByte, bytes);
    return true;
  }
  bool ChecksBounds() const override { return true; }

  worker::Argument PointerArgument(uint64_t /*base*/, uint64_t address) override {
    return worker::Argument::DevicePointer(address);
  }

  void Reset() override {
    device_.Reset();
    device_.ClearRecords();
    ++generation_;
  }
  bool faulted() const override { return device_.faulted(); }
  vgpu::Device* virtual_device() override { return &device_; }

  std::string TakePrinted() override { return std::exchange(printed_, ""); }

 private:
  vgpu::DeviceOptions Capture(vgpu::DeviceOptions options) {
    options.print = [this](std::string_view text) {
      printed_ += text.substr(0, print_bytes_ - std::min<uint64_t>(print_bytes_, printed_.size()));
    };
    return options;
  }

  uint64_t print_bytes_;
  std::string printed_;
  vgpu::Device device_;
};

}  // namespace

const vgpu::DeviceProfile& ProfileNamed(const std::string& id) {
  if (const vgpu::DeviceProfile* found = vgpu::FindProfile(id)) return *found;
  std::string names;
  for (const vgpu::DeviceProfile* known : vgpu::AllProfiles()) {
    names += std::string(names.empty() ? "" : ", ") + known->id;
  }
  throw HarnessError("there is no device profile \"" + id + "\"; --profile takes one of " + names);
}

std::unique_ptr<JudgeDevice> MakeVgpuJudgeDevice(const std::string& profile, vgpu::DeviceOptions options,
                                                 uint64_t print_bytes) {
  return std::make_unique<VgpuJudgeDevice>(ProfileNamed(profile), std::move(options), print_bytes);
}

}  // namespace lockstep::judge
