// What would make a kernel faster, by the time model: each rule changes the counters into those that the same work would
// have with one technique, and the model is asked again. So a gain is a difference of two modelled times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vgpu/core/counters.h"
#include "vgpu/model/kernel_summary.h"
#include "vgpu/model/occupancy.h"
#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

struct Advice {
  std::string technique;  // "coalesce"
  std::string text;       // what to do, in a sentence
  double saved_us = 0;    // of all launches together, modelled
  // Those that the change would spare most, costliest first, as in .file: never empty.
  std::vector<std::pair<std::string, int>> lines;
};

// A kernel's arithmetic (instructions of threads, an FMA being one) beside the bytes that it has to move from and to
// DRAM.
struct Roofline {
  double intensity = 0;  // operations a byte
  double ridge = 0;      // from which on arithmetic is the roof
  double share = 0;      // of the roof that it reaches, 0 to 1
};

// An SM with the blocks that fit on it, and what a block takes.
struct FilledSm {
  Occupancy fits;
  int most_warps = 0, most_blocks = 0, registers = 0, shared_bytes = 0;  // of the SM
  uint64_t threads = 0, registers_each = 0, block_shared_bytes = 0;      // of a block; registers: of a thread
};

// What is told of one kernel.
struct KernelAdvice {
  std::string kernel;
  double microseconds = 0;
  std::string bound_by;  // of the longest launch
  Roofline roofline;
  FilledSm sm;                  // of that launch
  std::vector<Advice> changes;  // at most three, best first; each at least 3 % of the kernel's modelled time
};
// No changes for kernels of a library, and without -lineinfo.
KernelAdvice AdviseOn(const KernelSummary& kernel, const DeviceProfile& device);

}  // namespace lockstep::vgpu
