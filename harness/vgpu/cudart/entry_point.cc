// The runtime's way to the driver's functions: cudaGetDriverEntryPoint.
#include <cuda.h>

#include "vgpu/cudart/runtime.h"

using namespace lockstep::vgpu;
using namespace lockstep::vgpu::cudart;

extern "C" {

#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return Api("cudaGetDriverEntryPointByVersion", Faults::kIgnores, [&](Runtime&) {
    Require(symbol != nullptr && function != nullptr, cudaErrorInvalidValue);
    Require(flags <= (cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream), cudaErrorInvalidValue);
    if (flags == cudaEnableDefault && NullIsOfThread()) flags = cudaEnablePerThreadDefaultStream;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result = cuGetProcAddress_v2(symbol, function, static_cast<int>(version), flags, &found);
    Require(result != CUDA_ERROR_INVALID_VALUE, cudaErrorInvalidValue);
    if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
    Require(status != nullptr || found == CU_GET_PROC_ADDRESS_SUCCESS, cudaErrorSymbolNotFound);
  });
}
LOCKSTEP_PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz)

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
LOCKSTEP_PER_THREAD(cudaGetDriverEntryPoint, _ptsz)

}  // extern "C"
