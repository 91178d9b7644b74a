// Multiprocessors as a resource. Contexts with only some of them are refused.
#include <algorithm>

#include "vgpu/cudart/driver/driver.h"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return Drive("cuDeviceGetDevResource", Needs::kInit, [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (resource == nullptr) return cudaErrorInvalidValue;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return static_cast<cudaError_t>(CUDA_ERROR_INVALID_RESOURCE_TYPE);
    *resource = {};
    resource->type = type;
    resource->sm.smCount = static_cast<unsigned>(ProfileHere().sm_count);
    return cudaSuccess;
  });
}
CUresult cuCtxGetDevResource(CUcontext context, CUdevResource* resource, CUdevResourceType type) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  unsigned long long id = 0;
  const CUresult gone = cuCtxGetId(context, &id);
  return gone != CUDA_SUCCESS ? gone : cuDeviceGetDevResource(0, resource, type);
}
CUresult cuDevSmResourceSplitByCount(CUdevResource* parts, unsigned* count, const CUdevResource* whole,
                                     CUdevResource* left, unsigned flags, unsigned least) {
  return Drive("cuDevSmResourceSplitByCount", Needs::kInit, [&] {
    constexpr unsigned kTogether = 8, kApart = 2;  // multiprocessors per unit of a split, with and without clusters
    if (count == nullptr || whole == nullptr || whole->type != CU_DEV_RESOURCE_TYPE_SM) return cudaErrorInvalidValue;
    const unsigned all = whole->sm.smCount, unit = (flags & 1) != 0 ? kApart : kTogether;
    const unsigned size = std::max(unit, (least + unit - 1) / unit * unit);
    if (size > all) return static_cast<cudaError_t>(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    const unsigned groups = parts == nullptr ? all / size : std::min(*count, all / size);
    const auto part = [&](unsigned multiprocessors) {
      CUdevResource resource = {};
      resource.type = multiprocessors == 0 ? CU_DEV_RESOURCE_TYPE_INVALID : CU_DEV_RESOURCE_TYPE_SM;
      resource.sm.smCount = multiprocessors;
      return resource;
    };
    for (unsigned k = 0; parts != nullptr && k < groups; ++k) parts[k] = part(size);
    if (left != nullptr) *left = part(all - groups * size);
    *count = groups;
    return cudaSuccess;
  });
}

}  // extern "C"
