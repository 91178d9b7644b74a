// What a device is asked for: its options, a launch, and what may be wrong with one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vgpu/core/launch_error.h"
#include "vgpu/core/trace_request.h"
#include "vgpu/core/warp.h"
#include "vgpu/observers/checker_registry.h"

namespace lockstep::vgpu {

struct DeviceProfile;  // model/profile.h

struct DeviceOptions {
  int threads = 1;  // CPU threads that run blocks; results do not depend on it
  bool counters = true;
  CheckerSet checkers = {};
  // With checkers, warps and blocks take turns in orders that bring out mistakes. True: as they do without checkers, so
  // that the counters are the same.
  bool usual_turns = false;
  uint64_t instruction_budget = 0;              // warp instructions a launch may take; 0 = unlimited
  double launch_seconds = 0;                    // of processor time that a launch may take; 0 = unlimited
  uint64_t memory_bytes = uint64_t{8} << 30;    // what cudaMalloc can hand out in all
  const DeviceProfile* timed_as = nullptr;      // the device that times are modelled on; nullptr: this one
  std::function<void(std::string_view)> print;  // kernel printf, in block order; default: stdout
  std::optional<TraceRequest> trace;
  std::function<void(std::string_view)> print_trace;  // its lines, as they come; default: stderr
};

using ModuleHandle = uint32_t;  // from 1

struct LaunchSpec {
  ModuleHandle module = 0;
  std::string kernel;  // mangled
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};  // blocks of a cluster, from the launch's attributes; zeros: what the kernel itself asks for
  uint32_t dynamic_shared = 0;
  std::span<const uint8_t> parameters;  // KernelInfo::parameter_bytes long
  bool cooperative = false;
};

}  // namespace lockstep::vgpu
