// Launching kernels, and their attributes: cudaLaunch…, cudaFunc….
#include <utility>
#include <vector>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/launch_attributes.h"

using namespace lockstep::vgpu::cudart;
using lockstep::vgpu::KernelInfo;

namespace {

// The largest block whose registers fit on a multiprocessor: in whole warps if the kernel's own limit is too large.
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

// The kernel's fixed cluster size, compiled in or set; zeros: none.
dim3 ClusterOf(const Kernel& kernel, const KernelInfo& info) {
  if (info.cluster.x != 0) return {info.cluster.x, info.cluster.y, info.cluster.z};
  return kernel.required_cluster;
}

// Sets one dimension of the kernel's cluster. A cluster size that was compiled in can't be changed.
void SetCluster(Runtime& r, Kernel& kernel, unsigned dim3::* side, int value) {
  const KernelInfo& info = r.InfoOf(kernel);
  const bool same = static_cast<unsigned>(value) == ClusterOf(kernel, info).*side;
  Require(value >= 0 && (info.cluster.x == 0 || same), cudaErrorInvalidValue);
  Require(static_cast<unsigned>(value) <= info.max_cluster, cudaErrorInvalidValue);
  if (info.cluster.x == 0) kernel.required_cluster.*side = static_cast<unsigned>(value);
}

}  // namespace

namespace lockstep::vgpu::cudart {

cudaFuncAttributes AttributesOf(Runtime& r, const Kernel& kernel, const KernelInfo& info) {
  cudaFuncAttributes attributes = {};
  attributes.sharedSizeBytes = info.static_shared;
  attributes.constSizeBytes = info.constant_bytes;
  attributes.localSizeBytes = info.local_bytes;
  attributes.maxThreadsPerBlock = MostThreads(r, info);
  attributes.numRegs = static_cast<int>(info.registers);
  attributes.ptxVersion = info.target_sm;
  attributes.binaryVersion = r.profile().cc_major * 10 + r.profile().cc_minor;
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(MaxDynamicShared(r, kernel, info));
  attributes.preferredShmemCarveout = kernel.preferred_carveout;
  const dim3 cluster = ClusterOf(kernel, info);
  attributes.clusterDimMustBeSet = info.cluster.x != 0 ? 1 : 0;
  attributes.requiredClusterWidth = static_cast<int>(cluster.x);
  attributes.requiredClusterHeight = static_cast<int>(cluster.y);
  attributes.requiredClusterDepth = static_cast<int>(cluster.z);
  attributes.clusterSchedulingPolicyPreference = kernel.cluster_scheduling;
  attributes.nonPortableClusterSizeAllowed = kernel.non_portable_cluster;
  return attributes;
}

}  // namespace lockstep::vgpu::cudart

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
    const Stream& stream = r.StreamToUse(config->stream);
    Require(config->numAttrs == 0 || config->attrs != nullptr, cudaErrorInvalidValue);
    dim3 cluster(0, 0, 0);
    bool cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      if (config->attrs[i].id == cudaLaunchAttributeClusterSchedulingPolicyPreference) {
        CheckAttribute(AttributeOwner::kLaunch, config->attrs[i].id, config->attrs[i].val);
      }
      cooperative |= config->attrs[i].id == cudaLaunchAttributeCooperative && config->attrs[i].val.cooperative != 0;
      const auto& dim = config->attrs[i].val.clusterDim;
      if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) cluster = dim3(dim.x, dim.y, dim.z);
    }
    // A launch that can't be made invalidates a capture; attributes that it can't have do not.
    const auto make = [&](auto body) {
      try {
        return body();
      } catch (const ApiError& error) {
        Spoil(stream, error.code);
      }
    };
    KernelWork work = make([&] {
      return MakeLaunch(r, function, {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream},
                        arguments, cooperative, cluster);
    });
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      Require(CanSet(AttributeOwner::kLaunch, config->attrs[i].id), cudaErrorInvalidValue);
    }
    std::vector<cudaEvent_t> events;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      CheckAttribute(AttributeOwner::kLaunch, attribute.id, attribute.val, stream.point.capture != nullptr);
      switch (attribute.id) {
        case cudaLaunchAttributePreferredClusterDimension:
          make([&] {
            const auto& wished = attribute.val.preferredClusterDim;
            CheckPreferred(work.cluster.x != 0 ? work.cluster : ClusterOf(*work.kernel, r.InfoOf(*work.kernel)),
                           work.configuration.grid, {wished.x, wished.y, wished.z});
          });
          break;
        case cudaLaunchAttributeProgrammaticStreamSerialization:
          work.early = attribute.val.programmaticStreamSerializationAllowed != 0;
          break;
        case cudaLaunchAttributeProgrammaticEvent:
          events.push_back(attribute.val.programmaticEvent.event);
          break;
        case cudaLaunchAttributeLaunchCompletionEvent:
          events.push_back(attribute.val.launchCompletionEvent.event);
          break;
        // The others not read above are hints. Work is done in order: a kernel that may start early still waits.
        default:
          break;
      }
    }
    SubmitLaunch(r, std::move(work), config->stream);
    // Events that may be recorded early are recorded when the kernel has ended.
    for (const cudaEvent_t event : events) Submit(r, RecordWork{event}, config->stream);
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
    *attributes = AttributesOf(r, kernel, r.InfoOf(kernel));
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return Api("cudaFuncSetAttribute", Faults::kIgnores, [&](Runtime& r) {
    r.RequireAtSight(attribute >= cudaFuncAttributeMaxDynamicSharedMemorySize && attribute < cudaFuncAttributeMax,
                     cudaErrorInvalidValue);
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
      case cudaFuncAttributeRequiredClusterWidth:
        SetCluster(r, kernel, &dim3::x, value);
        break;
      case cudaFuncAttributeRequiredClusterHeight:
        SetCluster(r, kernel, &dim3::y, value);
        break;
      case cudaFuncAttributeRequiredClusterDepth:
        SetCluster(r, kernel, &dim3::z, value);
        break;
      case cudaFuncAttributeNonPortableClusterSizeAllowed:
        kernel.non_portable_cluster = value;
        break;
      case cudaFuncAttributeClusterSchedulingPolicyPreference:
        Require(value >= cudaClusterSchedulingPolicyDefault && value <= cudaClusterSchedulingPolicyLoadBalancing,
                cudaErrorInvalidValue);
        kernel.cluster_scheduling = value;
        break;
      default:
        throw ApiError{cudaErrorInvalidValue};
    }
    LastError() = cudaSuccess;  // an H100's runtime clears the error here
  });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
  const bool known = attribute >= cudaFuncAttributeMaxDynamicSharedMemorySize && attribute < cudaFuncAttributeMax;
  if (device < 0 || device >= runtime().device_count())
    return LastError() = known ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
  const cudaError_t last = LastError();
  const cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
  if (error == cudaSuccess) LastError() = last;
  return error;
}

// The preference affects only occupancy.
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return Api("cudaFuncSetCacheConfig", Faults::kIgnores, [&](Runtime& r) {
    Kernel& kernel = r.KernelOf(function);
    Require(config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual, cudaErrorInvalidValue);
    kernel.cache = config;
  });
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
    r.RequireContext();
    Require(offset != nullptr && index < info.parameters.size(), cudaErrorInvalidValue);
    *offset = info.parameters[index].offset;
    if (bytes != nullptr) *bytes = info.parameters[index].bytes;
    LastError() = cudaSuccess;  // as in an H100's runtime
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* function) {
  return Api("cudaGetKernel", Faults::kIgnores, [&](Runtime& r) {
    Require(handle != nullptr, cudaErrorInvalidValue);
    try {
      *handle = reinterpret_cast<cudaKernel_t>(&r.KernelOf(function));
    } catch (const ApiError&) {
      throw ApiError{cudaErrorInvalidDeviceFunction};
    }
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* handle, const void* function) {
  return Api("cudaGetFuncBySymbol", Faults::kIgnores, [&](Runtime& r) {
    try {
      const auto found = reinterpret_cast<cudaFunction_t>(&r.KernelOf(function));
      r.GiveFunction(function);
      if (handle != nullptr) *handle = found;
    } catch (const ApiError&) {
      throw ApiError{cudaErrorInvalidDeviceFunction};
    }
  });
}

}  // extern "C"
