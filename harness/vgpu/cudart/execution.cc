// Launching kernels, and what is known about them: cudaLaunch…, cudaFunc….
#include <algorithm>
#include <cstring>

#include "vgpu/cudart/launch.h"
#include "vgpu/cudart/runtime.h"

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
      return cudaErrorHardwareStackError;
    case LaunchError::kCooperativeTooLarge:
      return cudaErrorCooperativeLaunchTooLarge;
  }
  return cudaErrorUnknown;
}

namespace {

Dim3 ToDim3(const dim3& dim) { return {dim.x, dim.y, dim.z}; }

// What the error code alone would not tell.
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
  } else if (threads > most) {
    why = "has " + std::to_string(threads) + " threads a block, at most " + std::to_string(most) + " are possible";
  } else if (configuration.shared > 0) {
    why += " with " + std::to_string(configuration.shared) + " bytes of dynamic shared memory";
  }
  return "the launch of " + info.demangled + ", grid " + text(grid) + ", block " + text(block) + ", " + why;
}

// Errors of the launch call; all others are the kernel's, and come later.
bool IsLaunchCallError(LaunchError error) {
  return error == LaunchError::kInvalidConfiguration || error == LaunchError::kTooManyResources ||
         error == LaunchError::kCooperativeTooLarge;
}

}  // namespace

uint64_t MaxDynamicShared(Runtime& r, const Kernel& kernel, const KernelInfo& info) {
  if (kernel.max_dynamic_shared >= 0) return static_cast<uint64_t>(kernel.max_dynamic_shared);
  return static_cast<uint64_t>(r.profile().shared_per_block) -
         std::min<uint64_t>(info.static_shared, static_cast<uint64_t>(r.profile().shared_per_block));
}

void Launch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
            bool cooperative) {
  Kernel& kernel = r.KernelOf(function);
  r.timeline().StreamOf(configuration.stream);
  const KernelInfo& info = r.InfoOf(kernel);
  if (configuration.shared > MaxDynamicShared(r, kernel, info)) {
    Say("the launch of " + info.demangled + " asks for " + std::to_string(configuration.shared) +
        " bytes of dynamic shared memory, at most " + std::to_string(MaxDynamicShared(r, kernel, info)) +
        " are possible unless cudaFuncSetAttribute allows more");
    throw ApiError{cudaErrorInvalidValue};
  }
  // The context is lost, though nobody was told yet: the kernel never runs.
  if (r.faulted()) return;

  std::vector<uint8_t> parameters(info.parameter_bytes);
  for (size_t i = 0; i < info.parameters.size(); ++i) {
    const KernelParameter& parameter = info.parameters[i];
    Require(arguments != nullptr && arguments[i] != nullptr, cudaErrorInvalidValue);
    Require(parameter.offset <= parameters.size() && parameter.bytes <= parameters.size() - parameter.offset,
            cudaErrorInvalidKernelImage);
    std::memcpy(parameters.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  LaunchSpec launch;
  launch.module = r.Load(*kernel.module);
  launch.kernel = kernel.name;
  launch.grid = ToDim3(configuration.grid);
  launch.block = ToDim3(configuration.block);
  launch.dynamic_shared = static_cast<uint32_t>(configuration.shared);
  launch.parameters = parameters;
  launch.cooperative = cooperative;
  const LaunchResult result = r.backend().Launch(launch, r.origin());
  if (IsLaunchCallError(result.error)) {
    Say(Explain(r, info, configuration));
    // Beyond a kernel's __launch_bounds__ is a bad argument; beyond its registers, too many resources.
    throw ApiError{launch.block.Count() > info.max_threads ? cudaErrorInvalidValue : ErrorOf(result.error)};
  }
  r.timeline().Enqueue(configuration.stream, result.microseconds);
  if (result.error != LaunchError::kNone) r.SetPending(ErrorOf(result.error));
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;
using lockstep::vgpu::KernelInfo;

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return Api("cudaLaunchKernel", Faults::kIgnores, [&](Runtime& r) {
    Launch(r, function, {grid, block, shared, stream}, arguments, false);
  });
}
LOCKSTEP_PER_THREAD(cudaLaunchKernel, _ptsz)

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  return Api("cudaLaunchCooperativeKernel", Faults::kIgnores, [&](Runtime& r) {
    Launch(r, function, {grid, block, shared, stream}, arguments, true);
  });
}
LOCKSTEP_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return Api("cudaLaunchKernelExC", Faults::kIgnores, [&](Runtime& r) {
    Require(config != nullptr, cudaErrorInvalidValue);
    Require(config->numAttrs == 0 || config->attrs != nullptr, cudaErrorInvalidValue);
    bool cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      switch (attribute.id) {
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributePriority:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributePreferredSharedMemoryCarveout:
        // Work is done in order, so a kernel that may start early starts when its predecessor has ended.
        case cudaLaunchAttributeProgrammaticStreamSerialization:
          break;
        case cudaLaunchAttributeCooperative:
          cooperative = attribute.val.cooperative != 0;
          break;
        case cudaLaunchAttributeClusterDimension:
          if (attribute.val.clusterDim.x * attribute.val.clusterDim.y * attribute.val.clusterDim.z != 1) {
            NotSupported("a launch in clusters");
          }
          break;
        default:
          NotSupported("launch attribute " + std::to_string(attribute.id));
      }
    }
    Launch(r, function, {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream}, arguments,
           cooperative);
  });
}
LOCKSTEP_PER_THREAD(cudaLaunchKernelExC, _ptsz)

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return Api("cudaLaunchHostFunc", Faults::kIgnores, [&](Runtime& r) {
    Require(function != nullptr, cudaErrorInvalidValue);
    r.timeline().StreamOf(stream);
    // After a fault the functions of a stream no longer run.
    if (!r.faulted()) function(data);
  });
}
LOCKSTEP_PER_THREAD(cudaLaunchHostFunc, _ptsz)

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return Api("cudaFuncGetAttributes", Faults::kIgnores, [&](Runtime& r) {
    Require(attributes != nullptr, cudaErrorInvalidValue);
    Kernel& kernel = r.KernelOf(function);
    const KernelInfo& info = r.InfoOf(kernel);
    *attributes = {};
    attributes->sharedSizeBytes = info.static_shared;
    attributes->constSizeBytes = info.constant_bytes;
    attributes->localSizeBytes = info.local_bytes;
    attributes->maxThreadsPerBlock = static_cast<int>(info.max_threads);
    attributes->numRegs = static_cast<int>(info.registers);
    attributes->ptxVersion = info.target_sm;
    attributes->binaryVersion = r.profile().cc_major * 10 + r.profile().cc_minor;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(MaxDynamicShared(r, kernel, info));
    attributes->preferredShmemCarveout = kernel.preferred_carveout;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return Api("cudaFuncSetAttribute", Faults::kIgnores, [&](Runtime& r) {
    Kernel& kernel = r.KernelOf(function);
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        const int64_t most = r.profile().shared_per_block_optin - static_cast<int64_t>(r.InfoOf(kernel).static_shared);
        Require(value >= 0 && value <= most, cudaErrorInvalidValue);
        kernel.max_dynamic_shared = value;
        break;
      }
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        Require(value >= -1 && value <= 100, cudaErrorInvalidValue);
        kernel.preferred_carveout = value;
        break;
      default:
        NotSupported("attribute " + std::to_string(attribute));
    }
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
  if (device != 0) return LastError() = cudaErrorInvalidDevice;
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

// A preference only, and the model has nothing that would follow it.
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return Api("cudaFuncSetCacheConfig", Faults::kIgnores, [&](Runtime& r) { r.KernelOf(function); });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return Api("cudaFuncGetName", Faults::kIgnores, [&](Runtime& r) {
    Require(name != nullptr, cudaErrorInvalidValue);
    *name = r.KernelOf(function).name.c_str();
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* bytes) {
  return Api("cudaFuncGetParamInfo", Faults::kIgnores, [&](Runtime& r) {
    const KernelInfo& info = r.InfoOf(r.KernelOf(function));
    Require(offset != nullptr && index < info.parameters.size(), cudaErrorInvalidValue);
    *offset = info.parameters[index].offset;
    if (bytes != nullptr) *bytes = info.parameters[index].bytes;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return Api("cudaGetKernel", Faults::kIgnores, [&](Runtime& r) {
    Require(handle != nullptr, cudaErrorInvalidValue);
    *handle = reinterpret_cast<cudaKernel_t>(&r.KernelOf(function));
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* handle, const void* function) {
  return Api("cudaGetFuncBySymbol", Faults::kIgnores, [&](Runtime& r) {
    Require(handle != nullptr, cudaErrorInvalidValue);
    *handle = reinterpret_cast<cudaFunction_t>(&r.KernelOf(function));
  });
}

}  // extern "C"
