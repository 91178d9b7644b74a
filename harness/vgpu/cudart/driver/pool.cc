// Memory pools, by the runtime's functions.
#include "vgpu/cudart/driver/driver.h"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

LOCKSTEP_FORWARD2(PassOnInit, cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, CUmemoryPool*, CUdevice)
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  const CUresult result = PassOnInit("cuDeviceGetMemPool", cudaDeviceGetMemPool, pool, device);
  return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}
LOCKSTEP_FORWARD2(PassOnInit, cuDeviceSetMemPool, cudaDeviceSetMemPool, CUdevice, CUmemoryPool)
LOCKSTEP_FORWARD3(PassOnInit, cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool, CUmemoryPool*, CUmemLocation*,
                  CUmemAllocationType)
LOCKSTEP_FORWARD3(PassOnInit, cuMemGetMemPool, cudaMemGetMemPool, CUmemoryPool*, CUmemLocation*, CUmemAllocationType)
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  const CUresult result = PassOnInit("cuMemSetMemPool", cudaMemSetMemPool, location, type, pool);
  return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}

LOCKSTEP_FORWARD2(PassOnInit, cuMemPoolCreate, cudaMemPoolCreate, CUmemoryPool*, const CUmemPoolProps*)
LOCKSTEP_FORWARD1(PassOnInit, cuMemPoolDestroy, cudaMemPoolDestroy, CUmemoryPool)
LOCKSTEP_FORWARD2(PassOnInit, cuMemPoolTrimTo, cudaMemPoolTrimTo, CUmemoryPool, size_t)
LOCKSTEP_FORWARD3(PassOnInit, cuMemPoolSetAttribute, cudaMemPoolSetAttribute, CUmemoryPool, CUmemPool_attribute, void*)
LOCKSTEP_FORWARD3(PassOnInit, cuMemPoolGetAttribute, cudaMemPoolGetAttribute, CUmemoryPool, CUmemPool_attribute, void*)
LOCKSTEP_FORWARD3(PassOnInit, cuMemPoolSetAccess, cudaMemPoolSetAccess, CUmemoryPool, const CUmemAccessDesc*, size_t)
LOCKSTEP_FORWARD3(PassOnInit, cuMemPoolGetAccess, cudaMemPoolGetAccess, CUmemAccess_flags*, CUmemoryPool,
                  CUmemLocation*)

LOCKSTEP_FORWARD4(Pass, cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync, CUdeviceptr*, size_t, CUmemoryPool, CUstream)

CUresult cuMemPoolExportToShareableHandle(void* handle, CUmemoryPool pool, CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  return PassOnInit("cuMemPoolExportToShareableHandle", cudaMemPoolExportToShareableHandle, handle, pool, type,
                    static_cast<unsigned>(flags));
}
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* handle, CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  return PassOnInit("cuMemPoolImportFromShareableHandle", cudaMemPoolImportFromShareableHandle, pool, handle, type,
                    static_cast<unsigned>(flags));
}
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
  return PassOnInit("cuMemPoolExportPointer", cudaMemPoolExportPointer,
                    reinterpret_cast<cudaMemPoolPtrExportData*>(data), Pointer(pointer));
}
CUresult cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  return PassOnInit("cuMemPoolImportPointer", cudaMemPoolImportPointer, pointer, pool,
                    reinterpret_cast<cudaMemPoolPtrExportData*>(data));
}

}  // extern "C"
