// Types of the device's interface: its options, and a launch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vgpu/core/dim3.h"
#include "vgpu/core/launch_error.h"
#include "vgpu/core/trace_request.h"
#include "vgpu/observers/checker_registry.h"

namespace lockstep::vgpu {

class Debugger;         // exec/debugger.h
struct ReplayLog;       // exec/block_replay.h
struct DeviceProfile;   // model/profile.h
struct RuntimeAnswers;  // exec/runtime_answers.h

struct DeviceOptions {
  int threads = 1;       // CPU threads that run blocks; results do not depend on it
  bool counters = true;  // false: launches have no counters, and their modelled time is only a launch's overhead
  CheckerSet checkers = {};
  // With checkers, warps and blocks take turns in orders that expose bugs. True: use the usual order, so that counters
  // are the same as without checkers.
  bool usual_turns = false;
  // Races: a strong access or an atomic that only reads or only writes counts as data, if no thread waits on the word.
  bool strong_is_data = false;
  int orders = 1;                                 // how many orders of warps and blocks are tried to find races
  uint64_t instruction_budget = 0;                // warp instructions per launch; 0 = unlimited
  double launch_seconds = 0;                      // processor time per launch; 0 = unlimited
  uint64_t memory_bytes = uint64_t{8} << 30;      // total size of device memory
  const DeviceProfile* timed_as = nullptr;        // the device that times are modelled for; nullptr: this one
  std::function<void(std::string_view)> print;    // kernel printf, in block order; default: stdout
  std::shared_ptr<const RuntimeAnswers> answers;  // for the device runtime; nullptr: kernels may not use it
  std::optional<TraceRequest> trace;
  std::function<void(std::string_view)> print_trace;  // prints trace lines; default: stderr
  std::shared_ptr<Debugger> debugger;                 // nullptr: none
  std::shared_ptr<ReplayLog> replay;                  // recordings of launches; nullptr: none
};

using ModuleHandle = uint32_t;  // starts at 1

struct LaunchSpec {
  ModuleHandle module = 0;
  std::string kernel;  // mangled
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};  // blocks per cluster, from the launch attributes; zeros: what the kernel requires
  uint32_t dynamic_shared = 0;
  std::span<const uint8_t> parameters;  // at least KernelInfo::parameter_bytes long
  bool cooperative = false;
  uint64_t graph = 0;          // the executable graph that launches it, if any
  uint64_t current_graph = 0;  // %current_graph_exec: the same if it is for device launch
};

}  // namespace lockstep::vgpu
