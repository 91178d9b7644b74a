// What kernels run on: the virtual GPU, or the machine's GPU through its driver.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dev/cosim/kernel.h"

namespace lockstep::cosim {

// A run's output: for each thread its slots, then its own words of global memory. Or why there is none.
struct Outcome {
  std::string error;
  bool lost = false;  // the device takes no more work in this process
  std::vector<uint32_t> words;
};
inline constexpr size_t kScratchWords = kScratch / 4;

class Target {
 public:
  virtual ~Target() = default;
  // The kernels of one module; "" or what was wrong.
  virtual std::string Load(const std::string& ptx) = 0;
  virtual Outcome Run(const Kernel& kernel) = 0;
};

// checked: with every checker on; what they find is an error.
std::unique_ptr<Target> MakeVirtualTarget(bool checked = false);
// Compiles with ptxas; options: "-O3". files: a prefix for its files. A kernel that isn't done after so many seconds is
// lost, and with it the process's use of the GPU. Throws std::runtime_error without a GPU.
std::unique_ptr<Target> MakeGpuTarget(const std::string& options, const std::string& files, int seconds = 20);

uint64_t Hash(const std::vector<uint32_t>& words);

}  // namespace lockstep::cosim
