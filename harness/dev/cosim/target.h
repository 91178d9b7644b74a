// The targets that run kernels: the virtual GPU, or this machine's GPU through its driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dev/cosim/kernel.h"

namespace lockstep::cosim {

// A run's output: for each thread its slots, then its words of global memory. Or the error.
struct Outcome {
  std::string error;
  bool lost = false;  // the device is unusable in this process from now on
  std::vector<uint32_t> words;
};
inline constexpr size_t kScratchWords = kScratch / 4;

class Target {
 public:
  virtual ~Target() = default;
  // Loads a module's kernels; returns "" or the error.
  virtual std::string Load(const std::string& ptx) = 0;
  virtual Outcome Run(const Kernel& kernel) = 0;
};

// checked: with all checkers; findings are errors.
std::unique_ptr<Target> MakeVirtualTarget(bool checked = false);
// Compiles with ptxas; options: "-O3". files: a prefix for file names. A kernel that exceeds this many seconds is lost,
// and the GPU with it for this process. Throws std::runtime_error without a GPU.
std::unique_ptr<Target> MakeGpuTarget(const std::string& options, const std::string& files, int seconds = 20);

uint64_t Hash(const std::vector<uint32_t>& words);

}  // namespace lockstep::cosim
