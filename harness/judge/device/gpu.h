// What timings need from a real GPU besides its memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/device/gpu_job.h"

namespace lockstep::judge {

// The state of a GPU at one moment, for the record: what may explain a time. Empty where NVIDIA's management library
// is not there.
struct GpuState {
  std::vector<std::pair<std::string, std::string>> facts;  // name and value, as shown
  bool throttled = false;                                  // its clocks are held down: heat, power
};

// pci_bus_id: as the CUDA runtime gives it, "0000:3b:00.0".
GpuState ReadGpuState(const std::string& pci_bus_id);

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual uint64_t free_bytes() const = 0;           // of its memory
  virtual double peak_bytes_per_second() const = 0;  // of its memory, as the bus allows
  // Nothing of any buffer is in the cache afterwards, and no part of the cache is set aside.
  virtual void ClearCache() = 0;
  // Seconds of one copy of `bytes` within the device's memory: the mean of `copies` of them, between places
  // that are not in the cache.
  virtual double TimeCopy(uint64_t bytes, uint32_t copies) = 0;
  virtual GpuState State() const = 0;

  // Writes the jobs' inputs. What is looked at afterwards are these jobs.
  virtual void Fill(std::span<const GpuJob> jobs) = 0;
  // Looks at some elements of each output, at places that depend on the seed, and says how many are wrong, and how long
  // that took: it waits for what other processes have the GPU do before.
  struct GlanceResult {
    uint64_t wrong = 0;
    double seconds = 0;
  };
  virtual GlanceResult Glance(const SeedKey& seed) = 0;
  // Looks at every element, output and input; one entry a job.
  virtual std::vector<GpuWrong> Check() = 0;
  // Seconds until the GPU has done next to nothing: some microseconds where it is idle, far more where another process
  // has kernels on it.
  virtual double SecondsToAnswer() = 0;
};

}  // namespace lockstep::judge
