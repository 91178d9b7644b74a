// What would make a kernel faster, by the time model: each rule changes the counters into those that the same work would
// have with one technique, and the model is asked again. So a gain is a difference of two modelled times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vgpu/core/counters.h"
#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

struct Advice {
  std::string technique;  // "coalesce"
  std::string text;       // what to do, in a sentence
  double saved_us = 0;    // of all launches together, modelled
  // Those that the change would spare most, costliest first, as in .file: never empty.
  std::vector<std::pair<std::string, int>> lines;
};

// Of all launches of one kernel: the changes that bring most, best first, at most three, each at least 3 % of the
// kernel's modelled time. None for kernels of a library, and without -lineinfo.
std::vector<Advice> Advise(const std::vector<const LaunchRecord*>& launches, const DeviceProfile& device);

// A kernel's arithmetic (instructions of threads, an FMA being one) beside the bytes that it has to move from and to
// DRAM.
struct Roofline {
  double intensity = 0;  // operations a byte
  double ridge = 0;      // from which on arithmetic is the roof
  double share = 0;      // of the roof that it reaches, 0 to 1
};
Roofline RooflineOf(const Counters& counters, double microseconds, const DeviceProfile& device);

}  // namespace lockstep::vgpu
