// The device interface of the CUDA runtime replacement: the device is in this process (vgpu-run, tests) or in the judge
// at the other end of a socket (the worker). One method per kind of request; state of the runtime itself (errors,
// call-configuration stack, stream and event handles, symbol tables) stays in cudart/.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/device/device.h"
#include "vgpu/device/library_operation.h"

namespace lockstep::vgpu::cudart {

// The API call a request comes from, for traces, leaks and messages.
struct Origin {
  const char* function = "";            // "cudaMalloc"
  std::string call_site;                // "reduction.cu:120" where known, or ""
  std::array<uint64_t, 2> events = {};  // that the call records, or asks the time between
};

class Backend {
 public:
  virtual ~Backend() = default;
  // See LoadImages (fatbin_load.h).
  virtual ModuleHandle LoadModule(std::span<const Image> images) = 0;
  virtual void UnloadModule(ModuleHandle module) = 0;
  virtual std::optional<KernelInfo> FindKernel(ModuleHandle module, const std::string& mangled) = 0;
  virtual std::optional<VariableInfo> FindVariable(ModuleHandle module, const std::string& name) = 0;
  virtual uint64_t Allocate(uint64_t bytes, const Origin& origin) = 0;
  virtual bool Free(uint64_t address, const Origin& origin) = 0;
  virtual void NoteLeak(uint64_t /*address*/) {}  // of an allocation that is freed because its context ends
  virtual bool Write(uint64_t to, const void* from, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Read(void* to, uint64_t from, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Copy(uint64_t to, uint64_t from, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Fill(uint64_t to, uint8_t value, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Contains(uint64_t address, uint64_t bytes) = 0;
  // Base and size of the allocation that holds the address. Not available from the judge.
  virtual std::optional<std::pair<uint64_t, uint64_t>> RangeHolding(uint64_t) { return std::nullopt; }
  virtual uint64_t FreeBytes() = 0;
  // Sets the size of the heap for kernels' malloc(); false if they have already used it.
  virtual bool ResizeKernelHeap(uint64_t) { return true; }
  // A texture's or surface's handle for kernels; 0 if the device is the judge's, which has none.
  virtual uint64_t AddTexture(const Texture&) { return 0; }
  virtual bool RemoveTexture(uint64_t /*handle*/) { return false; }
  virtual LaunchResult Launch(const LaunchSpec& launch, const Origin& origin) = 0;
  // The same for a launch that may suspend while it waits for the host or for later launches. Resume continues it, and
  // returns true when it has ended.
  virtual LaunchResult LaunchAsync(const LaunchSpec& launch, const Origin& origin) { return Launch(launch, origin); }
  virtual bool Resume(SuspendedLaunch& launch) { return launch.Resume(); }
  // Whether a launch would be accepted: kNone, or the error.
  virtual LaunchError Check(const LaunchSpec&) { return LaunchError::kNone; }
  // Work of a host library, done by `body` directly on device memory. Only if the host can access that memory.
  virtual LaunchResult CallLibrary(const LibraryFunction&, const std::function<void(LibraryLaunch&)>& /*body*/) {
    return {LaunchError::kUnsupported};
  }
  // Work of a host library given as a description. The caller has checked that vgpu::WhyNot returns "".
  virtual LaunchResult DoOperation(const LibraryOperation& operation, const Origin& origin) = 0;
  // The device itself if it is in this process.
  virtual Device* LocalDevice() { return nullptr; }
  virtual int MaxBlocksPerSm(const KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) = 0;
  virtual const DeviceProfile& profile() = 0;
  virtual void Reset() = 0;
  // Whether a device address is also an address in this process: then managed memory is device memory.
  virtual bool HostSeesDeviceMemory() const { return false; }
  // Until EndOperation, requests belong to one stream operation, and are checked for races against unordered
  // operations.
  virtual void BeginOperation(const StreamPoint&) {}
  virtual void EndOperation() {}
  virtual void Report(const HostRace&) {}
  virtual void LeaveOut(Gap) {}
  // False: stream races are not checked, so the four calls above are not needed.
  virtual bool WatchesStreams() const { return true; }
  // True: one backend holds all devices' memory, makes the copies between them, and gets each stream operation once.
  virtual bool HoldsAllDevices() const { return false; }
  // False: cudaFree does not make copies visible to the host, because its wait is not documented.
  virtual bool FreeShowsResults() const { return true; }
  // Records an API call without a request above (streams, events, …) in the judge's trace. May be a no-op.
  virtual void Note(const Origin& origin, int error) = 0;
};

// cudart/local_backend.cc: options from LOCKSTEP_* variables. One per device, by its ordinal.
std::unique_ptr<Backend> MakeLocalBackend(int device);
// Turns on counters for local launches, so that they have a modelled time. False if they were on already, or there are
// no local launches.
bool CountFromNow();
std::unique_ptr<Backend> MakeRemoteBackend(int socket, int device);  // worker/remote_backend.cc

}  // namespace lockstep::vgpu::cudart
