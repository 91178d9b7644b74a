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

#include "vgpu/counters.h"
#include "vgpu/exec/warp.h"
#include "vgpu/finding.h"
#include "vgpu/model/profile.h"
#include "vgpu/observers/observer.h"
#include "vgpu/observers/stream_checker.h"
#include "vgpu/observers/touched_range.h"

namespace lockstep::vgpu {

struct DeviceOptions {
  int threads = 1;  // CPU threads that run blocks; results do not depend on it
  bool counters = true;
  bool check_races = false;  // shared and global
  bool check_uninitialized = false;
  bool check_sync = false;
  // With checkers, warps and blocks take turns in orders that bring out mistakes. True: as they do without checkers, so
  // that the counters are the same.
  bool usual_turns = false;
  uint64_t instruction_budget = 0;              // warp instructions a launch may take; 0 = unlimited
  double launch_seconds = 0;                    // of processor time that a launch may take; 0 = unlimited
  uint64_t memory_bytes = uint64_t{8} << 30;    // what cudaMalloc can hand out in all
  const DeviceProfile* timed_as = nullptr;      // the device that times are modelled on; nullptr: this one
  std::function<void(std::string_view)> print;  // kernel printf, in block order; default: stdout
};

using ModuleHandle = uint32_t;  // from 1

struct KernelParameter {
  uint32_t offset, bytes;
};

struct KernelInfo {
  std::string mangled, demangled;           // demangled without parameter list
  std::vector<KernelParameter> parameters;  // in bytes, within the parameter block
  uint32_t parameter_bytes = 0;
  uint32_t registers = 0, static_shared = 0, local_bytes = 0, constant_bytes = 0;
  uint32_t max_threads = 1024;         // .maxntid / .reqntid respected
  Dim3 cluster{0, 0, 0};               // .reqnctapercluster; zeros: the kernel asks for none
  int ptx_version = 0, target_sm = 0;  // 90 = ISA 9.0; 80 = sm_80
};

struct VariableInfo {
  uint64_t address = 0, bytes = 0;
  bool constant = false, managed = false;
};

enum class LaunchError : uint8_t {
  kNone,
  kInvalidConfiguration,  // grid or block out of range, too much shared memory
  kTooManyResources,      // block too large for the kernel's registers or .maxntid
  kIllegalAddress,
  kMisalignedAddress,
  kTrap /* launch failure */,
  kAssert,
  kTimeout,
  kUnsupported,
  kStackOverflow,
  kCooperativeTooLarge,
};

struct LaunchSpec {
  ModuleHandle module = 0;
  std::string kernel;  // mangled
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};  // blocks of a cluster, from the launch's attributes; zeros: what the kernel itself asks for
  uint32_t dynamic_shared = 0;
  std::span<const uint8_t> parameters;  // KernelInfo::parameter_bytes long
  bool cooperative = false;
};

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
