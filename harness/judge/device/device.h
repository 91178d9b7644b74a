// The device that holds a test's buffers: virtual or real. It belongs to the judge; a submission only gets addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "judge/device/gpu.h"
#include "judge/model/options.h"
#include "judge/model/results.h"
#include "protocol/wire_call.h"
#include "vgpu/device/device.h"

namespace lockstep::judge {

// The harness can't work; never the submission's fault.
class HarnessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class JudgeDevice {
 public:
  virtual ~JudgeDevice() = default;

  virtual DeviceDescription Describe() const = 0;
  // How many such devices a program may have.
  virtual int most_devices() const { return 1; }

  // Never 0; throws HarnessError if there is no room even after freeing the memory that workers allocated.
  virtual uint64_t Allocate(uint64_t bytes, const std::string& label) = 0;
  // Frees memory that workers allocated and kept. A submission must not be able to make the judge fail.
  void set_reclaim(std::function<void()> reclaim) { reclaim_ = std::move(reclaim); }
  virtual void Free(uint64_t address) = 0;
  // False if the memory no longer exists (a fault destroyed the context).
  virtual bool Write(uint64_t to, const void* from, uint64_t bytes) = 0;
  virtual bool Read(void* to, uint64_t from, uint64_t bytes) = 0;
  // Reads without a copy if this process can map device memory: a pointer valid until the bytes change. Else nullptr.
  virtual const void* Look(uint64_t /*from*/, uint64_t /*bytes*/) { return nullptr; }
  // Fills with a recognizable value; a device that tracks writes keeps a fresh buffer marked as unwritten.
  virtual bool Poison(uint64_t address, uint64_t bytes) = 0;
  // Whether the device detects out-of-bounds accesses by itself, so that guard zones are unnecessary.
  virtual bool ChecksBounds() const = 0;

  // The argument to send to a worker for an address in the buffer that begins at base.
  virtual worker::Argument PointerArgument(uint64_t base, uint64_t address) = 0;

  // After a fault: resets to an empty device, with a new generation.
  virtual void Reset() = 0;
  virtual bool faulted() const = 0;
  uint64_t generation() const { return generation_; }

  // The output of kernels since the last call.
  virtual std::string TakePrinted() { return ""; }
  // The virtual device behind it; nullptr on a real GPU.
  virtual vgpu::Device* virtual_device() { return nullptr; }
  // The real GPU behind it; nullptr on a virtual one.
  virtual Gpu* gpu() { return nullptr; }

 protected:
  void Reclaim() const {
    if (reclaim_) reclaim_();
  }

  uint64_t generation_ = 0;

 private:
  std::function<void()> reclaim_;
};

inline constexpr uint8_t kPoisonByte = 0xA5;

// Throws HarnessError listing the known profiles.
const vgpu::DeviceProfile& ProfileNamed(const std::string& id);

// Kernel output beyond print_bytes is dropped; options.print is not used.
std::unique_ptr<JudgeDevice> MakeVgpuJudgeDevice(const std::string& profile, vgpu::DeviceOptions options,
                                                 uint64_t print_bytes);
// Loads NVIDIA's libcudart at run time; throws HarnessError if there is none, or no GPU.
std::unique_ptr<JudgeDevice> MakeCudaJudgeDevice();
// The folder of that libcudart: workers on a real GPU need it in LD_LIBRARY_PATH.
std::string CudaLibraryFolder();
// "NAME=value" of the variables that select a GPU on a machine with several: this process's, passed on to its workers.
std::vector<std::string> ChosenGpu();

}  // namespace lockstep::judge
