// The operations on a real GPU that timings need, besides memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/device/gpu_job.h"

namespace lockstep::judge {

// A GPU's state at one moment, recorded because it may explain a time. Empty without NVIDIA's management library.
struct GpuState {
  std::vector<std::pair<std::string, std::string>> facts;  // name and value, as shown
  bool throttled = false;                                  // clocks are reduced because of heat or power
};

// pci_bus_id in the CUDA runtime's format, "0000:3b:00.0".
GpuState ReadGpuState(const std::string& pci_bus_id);

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual uint64_t free_bytes() const = 0;           // of device memory
  virtual double peak_bytes_per_second() const = 0;  // of device memory, by its clock and bus width
  // Evicts all buffers from the cache, and resets any persisting part of it.
  virtual void ClearCache() = 0;
  // Seconds per copy of `bytes` within device memory: the mean of `copies` of them, between locations that are not
  // cached.
  virtual double TimeCopy(uint64_t bytes, uint32_t copies) = 0;
  virtual GpuState State() const = 0;

  // Writes the jobs' inputs. Later checks refer to these jobs.
  virtual void Fill(std::span<const GpuJob> jobs) = 0;
  // Checks some elements of each output, at positions that depend on the seed. Returns how many are wrong, and the time
  // taken, which includes waiting for work that other processes queued on the GPU.
  struct GlanceResult {
    uint64_t wrong = 0;
    double seconds = 0;
  };
  virtual GlanceResult Glance(const SeedKey& seed) = 0;
  // Compares all output and input elements; one result per job.
  virtual std::vector<GpuWrong> Check() = 0;
  // Seconds for a trivial operation: some microseconds on an idle GPU, far more if another process runs kernels on it.
  virtual double SecondsToAnswer() = 0;
};

}  // namespace lockstep::judge
