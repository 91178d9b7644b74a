// Predicts what would make a kernel faster, using the time model: each rule changes the counters to those of the same
// work with one technique, and evaluates the model again. So a gain is a difference of two modelled times.
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
  // The lines with the largest savings, most expensive first, as in .file: never empty.
  std::vector<std::pair<std::string, int>> lines;
};

// A kernel's arithmetic (thread instructions, an FMA counting as one) per byte moved from and to DRAM.
struct Roofline {
  double intensity = 0;  // operations a byte
  double ridge = 0;      // the intensity from which arithmetic is the limit
  double share = 0;      // fraction of the roof achieved, 0 to 1
};

// An SM with the blocks that fit on it, and what a block takes.
struct FilledSm {
  Occupancy fits;
  int most_warps = 0, most_blocks = 0, registers = 0, shared_bytes = 0;  // of the SM
  uint64_t threads = 0, registers_each = 0, block_shared_bytes = 0;      // of a block; registers: of a thread
};

// The advice on one kernel.
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
