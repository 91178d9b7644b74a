// Memory pools, by the runtime's functions.
#include "vgpu/cudart/driver/driver.h"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return PassOnInit("cuDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool, pool, device);
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  const CUresult result = PassOnInit("cuDeviceGetMemPool", cudaDeviceGetMemPool, pool, device);
  return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return PassOnInit("cuDeviceSetMemPool", cudaDeviceSetMemPool, device, pool);
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return PassOnInit("cuMemGetDefaultMemPool", cudaMemGetDefaultMemPool, pool, location, type);
}
CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return PassOnInit("cuMemGetMemPool", cudaMemGetMemPool, pool, location, type);
}
CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  const CUresult result = PassOnInit("cuMemSetMemPool", cudaMemSetMemPool, location, type, pool);
  return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return PassOnInit("cuMemPoolCreate", cudaMemPoolCreate, pool, properties);
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) { return PassOnInit("cuMemPoolDestroy", cudaMemPoolDestroy, pool); }
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t kept) {
  return PassOnInit("cuMemPoolTrimTo", cudaMemPoolTrimTo, pool, kept);
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return PassOnInit("cuMemPoolSetAttribute", cudaMemPoolSetAttribute, pool, attribute, value);
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return PassOnInit("cuMemPoolGetAttribute", cudaMemPoolGetAttribute, pool, attribute, value);
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
  return PassOnInit("cuMemPoolSetAccess", cudaMemPoolSetAccess, pool, access, count);
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return PassOnInit("cuMemPoolGetAccess", cudaMemPoolGetAccess, flags, pool, location);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return Pass("cuMemAllocFromPoolAsync", cudaMallocFromPoolAsync, pointer, bytes, pool, stream);
}

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
