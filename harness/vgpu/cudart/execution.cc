// Launching kernels, and their attributes: cudaLaunch…, cudaFunc….
#include <algorithm>
#include <utility>

#include "vgpu/cudart/work.h"

using namespace lockstep::vgpu::cudart;
using lockstep::vgpu::KernelInfo;

namespace {

// Of a block whose registers fit on a multiprocessor: by whole warps, where the kernel's own limit is too many.
int MostThreads(Runtime& r, const KernelInfo& info) {
  int threads = static_cast<int>(info.max_threads);
  if (static_cast<int64_t>(info.registers) * threads <= r.profile().registers_per_block) return threads;
  if (r.backend().MaxBlocksPerSm(info, threads, 0) > 0) return threads;
  constexpr int kWarp = 32;
  for (threads = (threads - 1) / kWarp * kWarp; threads > kWarp; threads -= kWarp) {
    if (r.backend().MaxBlocksPerSm(info, threads, 0) > 0) break;
  }
  return threads;
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return Api("cudaLaunchKernel", Faults::kIgnores,
             [&](Runtime& r) { Launch(r, function, {grid, block, shared, stream}, arguments, false); });
}
LOCKSTEP_PER_THREAD(cudaLaunchKernel, _ptsz)

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  return Api("cudaLaunchCooperativeKernel", Faults::kIgnores,
             [&](Runtime& r) { Launch(r, function, {grid, block, shared, stream}, arguments, true); });
}
LOCKSTEP_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz)

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return Api("cudaLaunchKernelExC", Faults::kIgnores, [&](Runtime& r) {
    Require(config != nullptr, cudaErrorInvalidValue);
    Require(config->numAttrs == 0 || config->attrs != nullptr, cudaErrorInvalidValue);
    KernelWork work = MakeLaunch(
        r, function, {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream}, arguments, false);
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      switch (attribute.id) {
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributePriority:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributePreferredSharedMemoryCarveout:
        case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        // Work is done in order, so a kernel that may start early starts when its predecessor has ended.
        case cudaLaunchAttributeProgrammaticStreamSerialization:
          break;
        case cudaLaunchAttributeCooperative:
          work.cooperative = attribute.val.cooperative != 0;
          break;
        case cudaLaunchAttributeClusterDimension:
          work.cluster = dim3(attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z);
          break;
        default:
          NotSupported("launch attribute " + std::to_string(attribute.id));
      }
    }
    Submit(r, std::move(work), config->stream);
  });
}
LOCKSTEP_PER_THREAD(cudaLaunchKernelExC, _ptsz)

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return Api("cudaLaunchHostFunc", Faults::kIgnores, [&](Runtime& r) {
    Require(function != nullptr, cudaErrorInvalidValue);
    Submit(r, HostWork{function, data}, stream);
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
    attributes->maxThreadsPerBlock = MostThreads(r, info);
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
  if (device < 0 || device >= runtime().device_count()) return LastError() = cudaErrorInvalidDevice;
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
