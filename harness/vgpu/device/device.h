// A virtual GPU: memory, modules, launches. What the CUDA runtime replacement and the judge use.
//
// Not thread-safe: one caller at a time. A launch runs to its end before Launch returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/counters.h"
#include "vgpu/core/finding.h"
#include "vgpu/core/kernel_info.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/launch_spec.h"
#include "vgpu/memory/touched_range.h"
#include "vgpu/model/profile.h"
#include "vgpu/observers/observer.h"
#include "vgpu/observers/stream_checker.h"

namespace lockstep::vgpu {

struct LaunchResult {
  LaunchError error = LaunchError::kNone;
  double microseconds = 0;  // modelled
};

class Device {
 public:
  Device(const DeviceProfile& profile, DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceProfile& profile() const;
  const DeviceOptions& options() const;
  // From the next launch on: so many warp instructions, and so many more for each warp that is launched; never more
  // than the options' own budget. What a warp runs while it only waits for others counts little (engine.h).
  void set_instruction_budget(uint64_t warp_instructions, uint64_t per_warp = 0);
  void AddObserver(std::unique_ptr<Observer> observer);  // beside those that the options name

  // Decodes a PTX text and places its variables. Throws ptx::PtxError; an instruction that is not supported
  // is no error until a kernel that holds it is launched.
  ModuleHandle LoadModule(std::string_view ptx_text);
  // The texts of a program that was built from several objects (nvcc -rdc=true), linked to one module: what one
  // declares .extern another defines (ptx/linker.h). Throws ptx::PtxError, which names the symbol, where they do not
  // fit.
  ModuleHandle LoadModule(std::span<const std::string_view> ptx_texts);
  void UnloadModule(ModuleHandle module);
  const KernelInfo* FindKernel(ModuleHandle module, std::string_view mangled) const;
  std::vector<std::string> KernelNames(ModuleHandle module) const;
  // The kernel as it was decoded, as text; "" when there is none.
  std::string Disassemble(ModuleHandle module, std::string_view mangled) const;
  std::optional<VariableInfo> FindVariable(ModuleHandle module, std::string_view name) const;
  // Of all modules' variables in global memory.
  uint64_t variable_bytes() const;
  // The most that kernels held of malloc() at one time since ClearRecords().
  uint64_t heap_bytes() const;

  // Device memory. Addresses are the same in every run and are also host addresses of this process.
  // Allocations lie apart, so that an access beyond one is found. label is for messages.
  uint64_t Allocate(uint64_t bytes, std::string label, std::string allocated_at = "");  // 256-byte aligned; 0 when full
  bool Free(uint64_t address);                                                          // false: no such allocation
  bool Contains(uint64_t address, uint64_t bytes) const;  // wholly within one live allocation
  // These return false, and do nothing, where a range is not within one live allocation.
  bool Write(uint64_t to, const void* from, uint64_t bytes);
  bool Read(void* to, uint64_t from, uint64_t bytes) const;
  bool Copy(uint64_t to, uint64_t from, uint64_t bytes);
  bool Fill(uint64_t to, uint8_t value, uint64_t bytes);
  uint64_t FreeBytes() const;
  // What kernels took with malloc and have not freed. It outlives its kernel, as on the hardware.
  void FreeKernelHeap();
  struct AllocationInfo {
    uint64_t base, bytes;
    std::string label, allocated_at;
  };
  std::optional<AllocationInfo> FindAllocation(uint64_t address) const;
  std::vector<AllocationInfo> Allocations() const;  // live ones, by address; module variables left out

  LaunchResult Launch(const LaunchSpec& launch);
  // From here on, what kernels load and store of this range is noted, by sector. Needs the counters.
  void Watch(TouchedRange range);
  void Unwatch(uint64_t base);
  void ClearWatched();
  const std::vector<TouchedRange>& watched() const;

  // Until EndStreamOperation, what is asked for is one operation of a stream, held against unordered ones where races
  // are checked. Work outside of any is not.
  void BeginStreamOperation(StreamPoint point);
  void EndStreamOperation();
  void Report(const HostRace& race);
  // The streams are gone, and their clocks with them.
  void ForgetStreams();

  // Resident blocks an SM, for the occupancy calls.
  int MaxBlocksPerSm(const KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) const;

  // What happened since the last Clear.
  const std::vector<LaunchRecord>& launches() const;
  const FindingList& findings() const;  // faults and findings, in deterministic order
  void ClearRecords();
  // After a fault the context is gone, as on the hardware, until Reset: frees all memory and modules.
  bool faulted() const;
  void Reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::vgpu
