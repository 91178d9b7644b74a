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

// The harness can't do its work; never the submission's fault.
class HarnessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class JudgeDevice {
 public:
  virtual ~JudgeDevice() = default;

  virtual DeviceDescription Describe() const = 0;

  // Never 0; throws HarnessError where there is no room, even after what workers took came back.
  virtual uint64_t Allocate(uint64_t bytes, const std::string& label) = 0;
  // What gives back the memory that workers took and kept. A submission must not be able to make the judge fail.
  void set_reclaim(std::function<void()> reclaim) { reclaim_ = std::move(reclaim); }
  virtual void Free(uint64_t address) = 0;
  // False where the memory is not there any more (a fault took the context).
  virtual bool Write(uint64_t to, const void* from, uint64_t bytes) = 0;
  virtual bool Read(void* to, uint64_t from, uint64_t bytes) = 0;
  // Reads without a copy where this process sees device memory: where the bytes lie, until they change. Else nullptr.
  virtual const void* Look(uint64_t /*from*/, uint64_t /*bytes*/) { return nullptr; }
  // Fills with a recognizable value, and on a device that keeps track of what was written leaves a fresh buffer
  // unwritten.
  virtual bool Poison(uint64_t address, uint64_t bytes) = 0;
  // Memory beside a buffer is not the neighbour's: an access there is found by itself, and needs no guard zone.
  virtual bool ChecksBounds() const = 0;

  // How an address in a buffer that begins at base goes to a worker.
  virtual worker::Argument PointerArgument(uint64_t base, uint64_t address) = 0;

  // After a fault: an empty device, with a new generation.
  virtual void Reset() = 0;
  virtual bool faulted() const = 0;
  uint64_t generation() const { return generation_; }

  // What kernels printed since the last call of this.
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

// Throws HarnessError, with the profiles that there are.
const vgpu::DeviceProfile& ProfileNamed(const std::string& id);

// What kernels print beyond print_bytes is dropped; options.print is not used.
std::unique_ptr<JudgeDevice> MakeVgpuJudgeDevice(const std::string& profile, vgpu::DeviceOptions options,
                                                 uint64_t print_bytes);
// Loads NVIDIA's libcudart at run time; throws HarnessError where there is none, or no GPU.
std::unique_ptr<JudgeDevice> MakeCudaJudgeDevice();
// Where that libcudart lies: what a worker on a real GPU needs in LD_LIBRARY_PATH.
std::string CudaLibraryFolder();
// "NAME=value" of the variables that say which GPU is meant, where a machine has several: this process's, and so its
// workers'.
std::vector<std::string> ChosenGpu();

}  // namespace lockstep::judge
