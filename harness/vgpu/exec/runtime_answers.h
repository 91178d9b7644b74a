// Answers that kernels need from the host runtime: cudaDeviceGetAttribute, cudaGetErrorString, …
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vgpu/core/kernel_info.h"
#include "vgpu/exec/launch_spec.h"

namespace lockstep::vgpu {

struct RuntimeAnswers {
  int device = 0;  // this device's ordinal
  std::function<int()> device_count;
  std::function<std::string_view(uint32_t error)> error_name, error_text;
  // Both return a cudaError_t.
  std::function<uint32_t(int attribute, int device, int* value)> attribute;
  std::function<uint32_t(uint32_t limit, uint64_t* value)> limit;
  // The dynamic shared memory allowed by cudaFuncSetAttribute.
  std::function<uint64_t(ModuleHandle module, const KernelInfo& kernel)> most_dynamic_shared;
  // Blocks per multiprocessor, and a cudaFuncAttributes in its memory layout.
  std::function<int(const KernelInfo& kernel, int threads, uint64_t shared)> resident;
  std::function<std::string(const KernelInfo& kernel)> attributes;
  std::function<bool(uint64_t handle, uint32_t value)> set_condition;  // of a graph's node; false: there is none
  // Asks for a graph's launch in a stream, by a kernel of the graph `from`: the error; nullopt: there is no such graph.
  std::function<std::optional<uint32_t>(uint64_t graph, uint64_t stream, uint64_t from)> launch_graph;
  std::function<uint32_t()> cache_config;  // set by cudaDeviceSetCacheConfig
  std::function<uint64_t()> most_pending;  // cudaLimitDevRuntimePendingLaunchCount
};

}  // namespace lockstep::vgpu
