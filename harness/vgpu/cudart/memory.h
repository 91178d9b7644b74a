// Device memory allocation for all API functions; a device's attributes and properties.
#pragma once

#include "vgpu/cudart/runtime.h"
#include "vgpu/exec/runtime_answers.h"

namespace lockstep::vgpu::cudart {

inline uint64_t RoundedUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Allocate and free memory of the current device. Throw ApiError. A size of 0 gives a null pointer.
void Allocate(Runtime& r, void** pointer, uint64_t bytes);
void Free(Runtime& r, void* pointer);

// The device was reset: forgets all addresses returned by cudaMalloc.
void ForgetAllocations();
// A context ends, and with it the memory that was allocated in it: memory.cc, host_memory.cc, array.cc.
void EndAllocations(Runtime& r, const void* context);
void EndHostRanges(Runtime& r, const void* context);
void EndArrays(Runtime& r, const void* context);
// The host writes to this memory, which counts as managed and as written.
void AddManaged(Runtime& r, void* pointer, uint64_t bytes);
// managed.cc: whether memory can be at this location. The host counts as a single NUMA node.
bool IsPlace(Runtime& r, const cudaMemLocation& location);
// pool.cc: this pointer is no longer in use, if it came from a pool. FreeOnHost: frees it, if that is one of host memory.
void ForgetPooled(const void* pointer);
bool FreeOnHost(Runtime& r, void* pointer);
// driver/virtual_memory.cc: an anonymous file of this size, or -1.
int FileOf(uint64_t bytes);
// Maps a file's pages at reserved addresses, for the host and perhaps the device.
void MapOnHost(Device& device, Device::AllocationInfo where, int file, bool for_device);
void UnmapFromHost(Device& device, const Device::AllocationInfo& where, int file);
// pool.cc: the host has waited for a stream, or (nullptr) for all. Pools with memory freed there give back what
// exceeds their thresholds.
void ReleasePools(const Stream* waited);
// The device was reset: its pools no longer exist.
void ResetPools(int device);

// device_attributes.cc: of the current device; all devices are alike except for their bus. Throws ApiError for an
// unknown attribute; features that the virtual GPU lacks are 0.
int AttributeOf(Runtime& r, cudaDeviceAttr attribute);
// Device 0 gets bus 1, because GPUs are rarely on bus 0.
inline int PciBusOf(int device) { return device + 1; }
// device.cc: the limits that a program may set and read back. Throw ApiError for others.
size_t GetLimit(Runtime& r, cudaLimit limit);
void SetLimit(Runtime& r, cudaLimit limit, size_t value);
// The flags set by cudaSetDeviceFlags and cuDevicePrimaryCtxSetFlags, without cudaDeviceMapHost, which is always on.
unsigned& DeviceFlags();
cudaFuncCache& CacheConfig();  // set by cudaDeviceSetCacheConfig
bool& WasReset();              // whether the program has reset the device
void ResetDevice(Runtime& r);  // drops everything that the current device holds
// The primary context is gone, and its limits with it.
void ForgetLimits();
// Whether these flags are valid: spin, yield and blocking wait exclude each other.
bool AreDeviceFlags(unsigned flags);
void FillProperties(Runtime& r, int device, cudaDeviceProp* properties);
// For device-runtime calls in kernels on this device: cudaDeviceGetAttribute, cudaGetErrorString, … They run while the
// runtime waits for the kernel.
RuntimeAnswers AnswersFor(int device);

}  // namespace lockstep::vgpu::cudart
