// What timings need of a real GPU, beside its memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::judge {

// The state of a GPU at one moment, for the record: what may explain a time. Empty where NVIDIA's management library
// is not there.
struct GpuState {
  std::vector<std::pair<std::string, std::string>> facts;  // name and value, as shown
  bool throttled = false;                                  // its clocks are held down: heat, power
};

// pci_bus_id: as the CUDA runtime gives it, "0000:3b:00.0".
GpuState ReadGpuState(const std::string& pci_bus_id);

// What an input is made of: any 32 bits, or floats that are whole numbers from -8 to 8. Element i is a function of a
// seed and i alone (gpu_kernels.cu).
enum class GpuValues : uint32_t { kInts, kSmallFloats };

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual uint64_t free_bytes() const = 0;           // of its memory
  virtual double peak_bytes_per_second() const = 0;  // of its memory, as the bus allows
  // Nothing of any buffer is in the cache afterwards, and no part of the cache is set aside.
  virtual void ClearCache() = 0;
  // Seconds of one copy of `bytes` within the device's memory: the mean of `copies` of them, each between places of its
  // own.
  virtual double TimeCopy(uint64_t bytes, uint32_t copies) = 0;
  virtual GpuState State() const = 0;

  // Writes an input of n elements.
  virtual void Fill(uint64_t address, uint64_t n, uint64_t seed, GpuValues values) = 0;
  // Runs a kernel of gpu_kernels.cu on an output, and returns what it comes to: a sum, or a number of wrong elements.
  virtual uint64_t Run(const char* kernel, uint64_t address, uint64_t n, uint64_t seed, GpuValues values,
                       uint64_t extra = 0) = 0;
};

}  // namespace lockstep::judge
