// The common part of API functions that launch kernels.
#include <algorithm>
#include <cstring>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/report/call_site.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

cudaError_t ErrorOf(LaunchError error) {
  switch (error) {
    case LaunchError::kNone:
      return cudaSuccess;
    case LaunchError::kInvalidConfiguration:
      return cudaErrorInvalidValue;  // cudaErrorInvalidConfiguration before CUDA 13
    case LaunchError::kTooManyResources:
      return cudaErrorLaunchOutOfResources;
    case LaunchError::kIllegalAddress:
      return cudaErrorIllegalAddress;
    case LaunchError::kMisalignedAddress:
      return cudaErrorMisalignedAddress;
    case LaunchError::kTrap:
      return cudaErrorLaunchFailure;
    case LaunchError::kAssert:
      return cudaErrorAssert;
    case LaunchError::kTimeout:
      return cudaErrorLaunchTimeout;
    case LaunchError::kUnsupported:
      return cudaErrorNotSupported;
    case LaunchError::kStackOverflow:
      return cudaErrorIllegalAddress;  // as an H100 reports too deep a recursion
    case LaunchError::kCooperativeTooLarge:
      return cudaErrorCooperativeLaunchTooLarge;
    case LaunchError::kInvalidClusterSize:
      return cudaErrorInvalidClusterSize;
    case LaunchError::kIllegalInstruction:
      return cudaErrorIllegalInstruction;
  }
  return cudaErrorUnknown;
}

namespace {

Dim3 ToDim3(const dim3& dim) { return {dim.x, dim.y, dim.z}; }

// Says what the error code doesn't: which part of the launch does not fit.
std::string Explain(Runtime& r, const KernelInfo& info, const LaunchConfiguration& configuration) {
  const dim3 &grid = configuration.grid, &block = configuration.block;
  const auto text = [](const dim3& dim) {
    return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
  };
  const uint64_t threads = ToDim3(block).Count(),
                 most = std::min<uint64_t>(info.max_threads, static_cast<uint64_t>(r.profile().max_threads_per_block));
  std::string why = "does not fit the device";
  if (threads == 0 || ToDim3(grid).Count() == 0) {
    why = "has a size of 0";
  } else if (info.required_block.x != 0 && !(ToDim3(block) == info.required_block)) {
    why = "is not the block that .reqntid requires";
  } else if (threads > most) {
    why = "has " + std::to_string(threads) + " threads per block, at most " + std::to_string(most) + " are possible";
  } else if (configuration.shared > 0) {
    why += " with " + std::to_string(configuration.shared) + " bytes of dynamic shared memory";
  }
  return "the launch of " + info.demangled + AtCallSite() + ", grid " + text(grid) + ", block " + text(block) + ", " +
         why;
}

LaunchSpec SpecOf(Runtime& r, const KernelWork& work) {
  LaunchSpec launch;
  launch.module = r.Load(*work.kernel->module);
  launch.kernel = work.kernel->name;
  launch.grid = ToDim3(work.configuration.grid);
  launch.block = ToDim3(work.configuration.block);
  launch.dynamic_shared = static_cast<uint32_t>(work.configuration.shared);
  launch.parameters = work.parameters;
  launch.cooperative = work.cooperative;
  launch.cluster = ToDim3(work.cluster);
  return launch;
}

// Errors returned by the launch call; all others are the kernel's, and appear later.
bool IsLaunchCallError(LaunchError error) {
  return error == LaunchError::kInvalidConfiguration || error == LaunchError::kTooManyResources ||
         error == LaunchError::kCooperativeTooLarge || error == LaunchError::kInvalidClusterSize;
}

}  // namespace

uint64_t MaxDynamicShared(Runtime& r, const Kernel& kernel, const KernelInfo& info) {
  if (kernel.max_dynamic_shared >= 0) return static_cast<uint64_t>(kernel.max_dynamic_shared);
  return static_cast<uint64_t>(r.profile().shared_per_block) -
         std::min<uint64_t>(info.static_shared, static_cast<uint64_t>(r.profile().shared_per_block));
}

uint64_t Runtime::MostDynamicShared(int device, ModuleHandle module, const KernelInfo& info) {
  Kernel found;
  for (const auto& [host, kernel] : kernels_) {
    const auto handle = kernel->module->handles.find(device);
    if (kernel->name != info.mangled || handle == kernel->module->handles.end() || handle->second != module) continue;
    found.max_dynamic_shared = std::max(found.max_dynamic_shared, kernel->max_dynamic_shared);
  }
  return MaxDynamicShared(*this, found, info);
}

namespace {

// Clusters of more than 8 blocks need a kernel that allows non-portable sizes, and a grid must be divisible into
// clusters. These errors come before that of too much shared memory, unless it exceeds what any kernel may have here.
void CheckCluster(Runtime& r, KernelWork work, const KernelInfo& info) {
  constexpr uint64_t kPortable = 8;
  const uint64_t blocks = std::max<uint64_t>(ToDim3(work.cluster).Count(), info.cluster.Count());
  const bool portable = blocks <= kPortable || work.kernel->non_portable_cluster != 0;
  size_t& shared = work.configuration.shared;
  const bool fits = ToDim3(work.configuration.block).Count() <= 1024;
  const bool too_much = shared > MaxDynamicShared(r, *work.kernel, info);
  const bool possible = info.static_shared + shared <= static_cast<uint64_t>(r.profile().shared_per_block_optin);
  for (const dim3& dims : {work.kernel->required_cluster, work.cluster}) {
    const bool is_set = dims.x != 0 || dims.y != 0 || dims.z != 0;
    Require(!is_set || fits, cudaErrorInvalidValue);
    Require(!is_set || ToDim3(dims).Count() != 0, cudaErrorInvalidClusterSize);
  }
  Require(blocks < 2 || fits, cudaErrorInvalidValue);
  Require(blocks <= info.max_cluster, cudaErrorInvalidClusterSize);
  if (r.faulted() || blocks < 2 || (portable && !(too_much && possible))) return;
  if (too_much) shared = 0;
  work.parameters.resize(info.parameter_bytes);
  const LaunchError error = r.backend().Check(SpecOf(r, work));
  Require(error != LaunchError::kInvalidClusterSize && (portable || error != LaunchError::kNone),
          cudaErrorInvalidClusterSize);
}

// For a cooperative launch with too much shared memory: the error of its shape if it has one, else "too large".
void CheckTooLarge(Runtime& r, KernelWork work, const KernelInfo& info) {
  work.configuration.shared = 0;
  work.parameters.resize(info.parameter_bytes);
  const LaunchError error = r.backend().Check(SpecOf(r, work));
  Require(error == LaunchError::kNone || error == LaunchError::kCooperativeTooLarge, cudaErrorInvalidValue);
  throw ApiError{cudaErrorCooperativeLaunchTooLarge};
}

}  // namespace

KernelWork MakeLaunch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
                      bool cooperative, const dim3& cluster) {
  KernelWork work;
  work.kernel = &r.KernelOf(function);
  work.configuration = configuration;
  work.configuration.shared &= UINT32_MAX;  // the driver takes 32 bits
  work.cooperative = cooperative;
  const KernelInfo& info = r.InfoOf(*work.kernel);
  const size_t shared = work.configuration.shared;
  if (!HasJudge() && ToDim3(configuration.grid).Count() == 0) {  // a judge explains it itself
    Say(Explain(r, info, configuration));
    throw ApiError{cudaErrorInvalidValue};
  }
  const bool is_given = cluster.x != 0 || cluster.y != 0 || cluster.z != 0;
  work.cluster = is_given ? cluster : work.kernel->required_cluster;
  CheckCluster(r, work, info);
  if (cooperative && shared > MaxDynamicShared(r, *work.kernel, info)) CheckTooLarge(r, work, info);
  if (shared > MaxDynamicShared(r, *work.kernel, info)) {
    Say("the launch of " + info.demangled + AtCallSite() + " asks for " + std::to_string(shared) +
        " bytes of dynamic shared memory, at most " + std::to_string(MaxDynamicShared(r, *work.kernel, info)) +
        " are possible unless cudaFuncSetAttribute allows more");
    throw ApiError{cudaErrorInvalidValue};
  }
  // The context is already lost, though this was not reported yet: the kernel never runs.
  if (r.faulted()) return work;
  work.parameters.resize(info.parameter_bytes);
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    const KernelParameter& parameter = info.parameters[i];
    Require(arguments != nullptr && arguments[i] != nullptr, cudaErrorInvalidValue);
    Require(parameter.offset <= work.parameters.size() && parameter.bytes <= work.parameters.size() - parameter.offset,
            cudaErrorInvalidKernelImage);
    std::memcpy(work.parameters.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return work;
}

void SubmitLaunch(Runtime& r, KernelWork work, cudaStream_t handle) {
  const Stream& stream = r.StreamForWork(handle);
  try {
    Submit(r, std::move(work), handle);
  } catch (const ApiError& error) {
    Spoil(stream, error.code);
  }
}

void Launch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
            bool cooperative) {
  NoteLaunchedKernel(r.KernelOf(function).name);
  const Stream& stream = r.StreamForWork(configuration.stream);
  try {
    Submit(r, MakeLaunch(r, function, configuration, arguments, cooperative), configuration.stream);
  } catch (const ApiError& error) {
    // A failing launch invalidates a capture.
    Spoil(stream, error.code);
  }
}

namespace {

// Throws errors that the launch call itself returns.
void ThrowCallError(Runtime& r, const KernelWork& work, LaunchError error) {
  if (!IsLaunchCallError(error)) return;
  const KernelInfo& info = r.InfoOf(*work.kernel);
  // A judge has the numbers, and its own message.
  if (!HasJudge()) Say(Explain(r, info, work.configuration));
  // Exceeding a kernel's __launch_bounds__ is an invalid argument; exceeding registers, too many resources.
  throw ApiError{ToDim3(work.configuration.block).Count() > info.max_threads ? cudaErrorInvalidValue : ErrorOf(error)};
}

void End(Runtime& r, const KernelWork& work, Stream& stream, const LaunchResult& result) {
  if (result.error == LaunchError::kIllegalAddress) MappedMemory::ExplainHostAddresses(r, work.parameters);
  ThrowCallError(r, work, result.error);
  r.timeline().Enqueue(stream, result.microseconds, {"kernel", work.kernel->name});
  if (result.error != LaunchError::kNone) r.SetPending(ErrorOf(result.error));
}

}  // namespace

void CheckKernel(Runtime& r, const KernelWork& work) {
  if (!r.faulted()) ThrowCallError(r, work, r.backend().Check(SpecOf(r, work)));
}

void PerformKernel(Runtime& r, const KernelWork& work, Stream& stream) {
  if (r.faulted()) return;
  LaunchResult result;
  {
    StreamOperation operation(r, stream, true);
    HostMemoryInUse host_memory(r, operation.point());
    operation.Begin();
    LaunchSpec spec = SpecOf(r, work);
    spec.graph = reinterpret_cast<uint64_t>(stream.graph);
    const bool for_device = spec.graph != 0 && (stream.graph->flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
    spec.current_graph = for_device ? spec.graph : 0;
    result = r.backend().LaunchAsync(spec, r.origin());
    operation.End();
    if (result.suspended != nullptr) host_memory.Suspend();
  }
  if (result.no_room) {
    r.beside().Put(r, stream, r.beside().LaunchesOn(stream.device),
                   [work, &stream](Runtime& later) { PerformKernel(later, work, stream); });
  } else if (result.suspended != nullptr) {
    r.beside().Suspend(r, stream, result.suspended,
                       [work, &stream](Runtime& later, const LaunchResult& ended) { End(later, work, stream, ended); });
  } else {
    End(r, work, stream, result);
  }
}

}  // namespace lockstep::vgpu::cudart
