// What the CUDA runtime replacement needs from a device, whether it lives in this process (vgpu-run, tests)
// or in the judge at the other end of a socket (the worker). One method a kind of request; everything that is
// state of the runtime alone (error state, call-configuration stack, stream and event handles, symbol tables)
// stays in cudart/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/device/device.h"
#include "vgpu/device/library_operation.h"

namespace lockstep::vgpu::cudart {

// The API call a request comes from, for traces, leaks and messages.
struct Origin {
  const char* function = "";  // "cudaMalloc"
  std::string call_site;      // "reduction.cu:120" where known, or ""
};

class Backend {
 public:
  virtual ~Backend() = default;
  // As LoadImages (fatbin_load.h).
  virtual ModuleHandle LoadModule(std::span<const Image> images) = 0;
  virtual void UnloadModule(ModuleHandle module) = 0;
  virtual std::optional<KernelInfo> FindKernel(ModuleHandle module, const std::string& mangled) = 0;
  virtual std::optional<VariableInfo> FindVariable(ModuleHandle module, const std::string& name) = 0;
  virtual uint64_t Allocate(uint64_t bytes, const Origin& origin) = 0;
  virtual bool Free(uint64_t address, const Origin& origin) = 0;
  virtual bool Write(uint64_t to, const void* from, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Read(void* to, uint64_t from, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Copy(uint64_t to, uint64_t from, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Fill(uint64_t to, uint8_t value, uint64_t bytes, const Origin& origin) = 0;
  virtual bool Contains(uint64_t address, uint64_t bytes) = 0;
  // The base and the bytes of the allocation that holds the address. The judge doesn't tell.
  virtual std::optional<std::pair<uint64_t, uint64_t>> RangeHolding(uint64_t) { return std::nullopt; }
  virtual uint64_t FreeBytes() = 0;
  // How large the heap of kernels' malloc() is; false: they have used it.
  virtual bool ResizeKernelHeap(uint64_t) { return true; }
  // A texture's or surface's handle for kernels; 0 where the device is the judge's, which has none.
  virtual uint64_t AddTexture(const Texture&) { return 0; }
  virtual bool RemoveTexture(uint64_t /*handle*/) { return false; }
  virtual LaunchResult Launch(const LaunchSpec& launch, const Origin& origin) = 0;
  // The same where it may come back with a launch that waits for the host or for later launches, and gets its turns by
  // Resume, which is true when it has ended.
  virtual LaunchResult LaunchAsync(const LaunchSpec& launch, const Origin& origin) { return Launch(launch, origin); }
  virtual bool Resume(SuspendedLaunch& launch) { return launch.Resume(); }
  // Whether a launch that asks for this would begin.
  virtual LaunchError Check(const LaunchSpec&) { return LaunchError::kNone; }
  // Work of a host library, which `body` does on the device's memory itself. Only where the host sees that memory.
  virtual LaunchResult CallLibrary(const LibraryFunction&, const std::function<void(LibraryLaunch&)>& /*body*/) {
    return {LaunchError::kUnsupported};
  }
  // The same of what is described; the caller has seen to it that vgpu::WhyNot is "".
  virtual LaunchResult DoOperation(const LibraryOperation& operation, const Origin& origin) = 0;
  // The device itself, where it is in this process.
  virtual Device* LocalDevice() { return nullptr; }
  virtual int MaxBlocksPerSm(const KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) = 0;
  virtual const DeviceProfile& profile() = 0;
  virtual void Reset() = 0;
  // Whether a device address is also an address in this process: then managed memory is device memory.
  virtual bool HostSeesDeviceMemory() const { return false; }
  // Until EndOperation, requests are one operation of a stream, and are held against those that nothing orders with it.
  virtual void BeginOperation(const StreamPoint&) {}
  virtual void EndOperation() {}
  virtual void Report(const HostRace&) {}
  virtual void LeaveOut(Gap) {}
  // False: nobody looks for races, so that the three above do nothing.
  virtual bool WatchesStreams() const { return true; }
  // False: the host sees no copy's result because of cudaFree, whose wait is not documented.
  virtual bool FreeShowsResults() const { return true; }
  // Any API call that none of the above carries (streams, events, …), for the judge's trace. May be a no-op.
  virtual void Note(const Origin& origin, int error) = 0;
};

// cudart/local_backend.cc: options from LOCKSTEP_* variables. One a device, by its ordinal.
std::unique_ptr<Backend> MakeLocalBackend(int device);
// Local launches count from now on, and so have a modelled time. False: they did already, or there are none.
bool CountFromNow();
std::unique_ptr<Backend> MakeRemoteBackend(int socket);  // worker/remote_backend.cc

}  // namespace lockstep::vgpu::cudart
