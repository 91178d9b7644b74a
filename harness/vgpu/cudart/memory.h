// Device memory, for every API function that hands it out; a device's attributes and properties.
#pragma once

#include "vgpu/cudart/runtime.h"
#include "vgpu/exec/runtime_answers.h"

namespace lockstep::vgpu::cudart {

inline uint64_t RoundedUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// On the current device. Throw ApiError. No bytes give a null pointer.
void Allocate(Runtime& r, void** pointer, uint64_t bytes);
void Free(Runtime& r, void* pointer);

// No address is known any more as one that cudaMalloc gave: the device was reset.
void ForgetAllocations();
// pool.cc: this pointer is no longer in use, if it came from a pool.
void ForgetPooled(const void* pointer);
// The device was reset: its pools are gone.
void ResetPools(int device);

// device_attributes.cc: of any device, as all are alike. Throws ApiError for an attribute that does not exist; what the
// virtual GPU lacks is 0.
int AttributeOf(Runtime& r, cudaDeviceAttr attribute);
// Bus 0 is rarely a GPU's.
inline int PciBusOf(int device) { return device + 1; }
// device.cc: limits that a program may set and read back. Throw ApiError for others.
size_t GetLimit(Runtime& r, cudaLimit limit);
void SetLimit(Runtime& r, cudaLimit limit, size_t value);
// What cudaSetDeviceFlags and cuDevicePrimaryCtxSetFlags set, without cudaDeviceMapHost, which is always on.
unsigned& DeviceFlags();
bool& WasReset();              // the device, by the program
void ResetDevice(Runtime& r);  // what the current device holds is gone
// The primary context is gone, and its limits with it.
void ForgetLimits();
// Whether these can be set: spin, yield and blocking wait exclude each other.
bool AreDeviceFlags(unsigned flags);
void FillProperties(Runtime& r, int device, cudaDeviceProp* properties);
// For kernels of the device with this ordinal that ask the device runtime: cudaDeviceGetAttribute, cudaGetErrorString,
// … They ask while the runtime waits for them.
RuntimeAnswers AnswersFor(int device);

}  // namespace lockstep::vgpu::cudart
