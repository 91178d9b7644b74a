// Devices.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "vgpu/cudart/driver/driver.h"

// Old programs still call these.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace lockstep::vgpu::cudart::driver;

cudaError_t lockstep::vgpu::cudart::driver::CheckDevice(CUdevice device) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return error;
  return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  return Drive("cuDeviceGetCount", Needs::kInit, [&] { return cudaGetDeviceCount(count); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return Drive("cuDeviceGet", Needs::kInit, [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = CheckDevice(ordinal);
    if (error == cudaSuccess) *device = ordinal;
    return error;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return Drive("cuDeviceGetName", Needs::kInit, [&] {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess && (name == nullptr || length <= 0)) return cudaErrorInvalidValue;
    if (error == cudaSuccess) std::snprintf(name, static_cast<size_t>(length), "%s", properties.name);
    return error;
  });
}

#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return Drive("cuDeviceGetUuid", Needs::kInit, [&] {
    cudaDeviceProp properties;
    if (uuid == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) std::memcpy(uuid, &properties.uuid, sizeof *uuid);
    return error;
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return Drive("cuDeviceTotalMem", Needs::kInit, [&] {
    cudaDeviceProp properties;
    if (bytes == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error == cudaSuccess) *bytes = properties.totalGlobalMem;
    return error;
  });
}

// The attributes have the same numbers in both APIs.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Drive("cuDeviceGetAttribute", Needs::kInit,
               [&] { return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device); });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return Drive("cuDeviceComputeCapability", Needs::kInit, [&] {
    const cudaError_t error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    return error != cudaSuccess ? error : cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
  });
}

// The query from before cuDeviceGetAttribute.
CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return Drive("cuDeviceGetProperties", Needs::kInit, [&] {
    cudaDeviceProp same;
    if (properties == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaGetDeviceProperties(&same, device);
    if (error != cudaSuccess) return error;
    *properties = {};
    properties->maxThreadsPerBlock = same.maxThreadsPerBlock;
    std::copy_n(same.maxThreadsDim, 3, properties->maxThreadsDim);
    std::copy_n(same.maxGridSize, 3, properties->maxGridSize);
    properties->sharedMemPerBlock = static_cast<int>(same.sharedMemPerBlock);
    properties->totalConstantMemory = static_cast<int>(same.totalConstMem);
    properties->SIMDWidth = same.warpSize;
    properties->memPitch = static_cast<int>(same.memPitch);
    properties->regsPerBlock = same.regsPerBlock;
    properties->textureAlign = static_cast<int>(same.textureAlignment);
    return cudaDeviceGetAttribute(&properties->clockRate, cudaDevAttrClockRate, device);
  });
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned* capabilities, const CUatomicOperation* operations, unsigned count,
                                           CUdevice device) {
  return PassOnInit("cuDeviceGetHostAtomicCapabilities", cudaDeviceGetHostAtomicCapabilities, capabilities,
                    reinterpret_cast<const cudaAtomicOperation*>(operations), count, device);
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* capabilities, const CUatomicOperation* operations, unsigned count,
                                          CUdevice device, CUdevice peer) {
  return PassOnInit("cuDeviceGetP2PAtomicCapabilities", cudaDeviceGetP2PAtomicCapabilities, capabilities,
                    reinterpret_cast<const cudaAtomicOperation*>(operations), count, device, peer);
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return Drive("cuDeviceGetPCIBusId", Needs::kInit, [&] { return cudaDeviceGetPCIBusId(text, length, device); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return Drive("cuDeviceGetByPCIBusId", Needs::kInit, [&] { return cudaDeviceGetByPCIBusId(device, text); });
}

LOCKSTEP_FORWARD4(PassOnInit, cuDeviceGetP2PAttribute, cudaDeviceGetP2PAttribute, int*, CUdevice_P2PAttribute, CUdevice,
                  CUdevice)

// A context always has all multiprocessors.
CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return Drive("cuDeviceGetExecAffinitySupport", Needs::kInit, [&] {
    if (supported == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = CheckDevice(device);
    if (error == cudaSuccess) *supported = 0;
    return error;
  });
}

LOCKSTEP_FORWARD2(Pass, cuFlushGPUDirectRDMAWrites, cudaDeviceFlushGPUDirectRDMAWrites,
                  CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope)

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return Drive("cuDeviceCanAccessPeer", Needs::kInit, [&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

LOCKSTEP_FORWARD3(PassOnInit, cuDeviceGetNvSciSyncAttributes, cudaDeviceGetNvSciSyncAttributes, void*, CUdevice, int)
// Only Windows has LUIDs: always an error.
CUresult cuDeviceGetLuid(char* luid, unsigned* nodes, CUdevice device) {
  return Drive("cuDeviceGetLuid", Needs::kInit, [&] {
    if (luid == nullptr || nodes == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = CheckDevice(device);
    return error != cudaSuccess ? error : cudaErrorNotSupported;
  });
}

}  // extern "C"
