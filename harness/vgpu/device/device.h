// A virtual GPU: memory, modules, launches. The interface for the CUDA runtime replacement and the judge.
//
// Not thread-safe: one caller at a time. Launch returns when the launch has finished, LaunchAsync perhaps before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/counters.h"
#include "vgpu/core/dim3.h"
#include "vgpu/core/finding.h"
#include "vgpu/core/gap.h"
#include "vgpu/core/kernel_info.h"
#include "vgpu/device/suspended_launch.h"
#include "vgpu/exec/launch_spec.h"
#include "vgpu/memory/touched_range.h"
#include "vgpu/model/profile.h"
#include "vgpu/observers/observer.h"
#include "vgpu/observers/stream_checker.h"
#include "vgpu/texture/texture.h"

namespace lockstep::vgpu {

struct LaunchResult {
  LaunchError error = LaunchError::kNone;
  double microseconds = 0;                     // modelled
  std::shared_ptr<SuspendedLaunch> suspended;  // set if it has not ended: then nothing else here is known
  bool no_room = false;                        // suspended launches leave no room for its blocks: it was not started
};

class Device {
 public:
  Device(const DeviceProfile& profile, DeviceOptions options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceProfile& profile() const;
  const DeviceOptions& options() const;
  // For subsequent launches: a base number of warp instructions plus a number per launched warp; never more than the
  // options' budget. Instructions of a warp that only waits for others count at a fraction (engine.h).
  void set_instruction_budget(uint64_t warp_instructions, uint64_t per_warp = 0);
  // For subsequent launches: whether blocks and warps take turns as without checkers.
  void set_usual_turns(bool usual);
  // Whether the launches that follow are checked, if the options have checkers. After an unchecked launch, all memory
  // counts as written.
  void set_checked(bool checked);
  void AddObserver(std::unique_ptr<Observer> observer);  // in addition to those in the options
  void set_counters(bool counters);                      // of subsequent launches; see DeviceOptions
  void set_records(bool records);                        // whether launches() has the subsequent ones

  // Parses a PTX text and allocates its variables. Throws ptx::PtxError. An unsupported instruction is not an error
  // until it is executed.
  ModuleHandle LoadModule(std::string_view ptx_text);
  // Links the texts of a program built from several objects (nvcc -rdc=true) into one module: .extern symbols of one
  // text are defined in another (ptx/linker.h). Throws ptx::PtxError, which names the symbol, if the texts do not
  // match.
  ModuleHandle LoadModule(std::span<const std::string_view> ptx_texts);
  void UnloadModule(ModuleHandle module);
  const KernelInfo* FindKernel(ModuleHandle module, std::string_view mangled) const;
  std::vector<std::string> KernelNames(ModuleHandle module) const;
  // The decoded kernel as text; "" if there is none.
  std::string Disassemble(ModuleHandle module, std::string_view mangled) const;
  std::optional<VariableInfo> FindVariable(ModuleHandle module, std::string_view name) const;
  std::vector<VariableInfo> Variables(ModuleHandle module) const;
  // Total size of all modules' variables in global memory.
  uint64_t variable_bytes() const;
  // Peak size of kernel malloc() memory since ClearRecords().
  uint64_t heap_bytes() const;
  // Sets the size of the heap for kernels' malloc(); false if kernels have used it.
  bool ResizeKernelHeap(uint64_t bytes);

  // Device memory. Addresses are the same in every run and are also host addresses of this process. There are gaps
  // between allocations, so accesses past the end of one are detected. label is for messages.
  uint64_t Allocate(uint64_t bytes, std::string label, std::string allocated_at = "");  // 256-byte aligned; 0 when full
  bool Free(uint64_t address);                                                          // false: no such allocation
  bool Contains(uint64_t address, uint64_t bytes) const;  // inside one live allocation, other than a kernel's malloc()
  // Base and size of the live allocation that contains the address.
  std::optional<std::pair<uint64_t, uint64_t>> RangeHolding(uint64_t address) const;
  // Return false and do nothing if the device does not Contain a range.
  bool Write(uint64_t to, const void* from, uint64_t bytes);
  bool Read(void* to, uint64_t from, uint64_t bytes) const;
  // Reads without a copy: a pointer valid until memory is next written or freed. nullptr if Read would fail.
  const void* Look(uint64_t from, uint64_t bytes) const;
  bool Copy(uint64_t to, uint64_t from, uint64_t bytes);
  bool Fill(uint64_t to, uint8_t value, uint64_t bytes);
  uint64_t FreeBytes() const;
  // Frees memory that kernels allocated with malloc. As on hardware, it outlives its kernel.
  void FreeKernelHeap();
  struct AllocationInfo {
    uint64_t base, bytes;
    std::string label, allocated_at;
    bool read_only = false;
  };
  std::optional<AllocationInfo> FindAllocation(uint64_t address) const;
  std::vector<AllocationInfo> Allocations() const;  // live ones by address; no module variables, no kernels' malloc()

  // Addresses for file mappings, as in GlobalMemory. Mappings are allocations that Free refuses.
  uint64_t Reserve(uint64_t bytes, uint64_t alignment);
  bool Unreserve(uint64_t address, uint64_t bytes);
  bool IsReserved(uint64_t address, uint64_t bytes) const;
  bool Take(uint64_t bytes);
  void GiveBack(uint64_t bytes);
  // `written`: the file's bytes count as written.
  bool Map(AllocationInfo mapping, int file, bool written);
  bool Unmap(uint64_t address);

  // Textures and surfaces, by the handles that kernels use.
  uint64_t AddTexture(const Texture& texture);
  bool RemoveTexture(uint64_t handle);

  LaunchResult Launch(const LaunchSpec& launch);
  // Like Launch, but may return before the end, if the launch's threads wait for the caller or for a later launch.
  LaunchResult LaunchAsync(const LaunchSpec& launch);
  // The reason for which the launch would be refused; kNone if it would be accepted.
  LaunchError Check(const LaunchSpec& launch) const;
  // Announces that the caller wrote, or is about to write, this range inside one live allocation itself, for example
  // for a library call (device/library_launch.h). The caller reads through Look.
  void Wrote(uint64_t address, uint64_t bytes);
  // The offset of the first unwritten element; `bytes` if there is none, or writes are not tracked.
  uint64_t FirstUnwritten(uint64_t address, uint64_t bytes, uint32_t element) const;
  // The buffer that contains the address, else the one freed there, else the nearest.
  MemoryPlace PlaceOf(uint64_t address) const;
  void Record(LaunchRecord record);  // adds the next launch's record
  void Report(Finding finding);      // a fatal one is a fault

  // Starts recording, by sector, what kernels load from and store to this range.
  void Watch(TouchedRange range);
  void Unwatch(uint64_t base);
  void ClearWatched();
  const std::vector<TouchedRange>& watched() const;
  // Records this range as if a kernel had accessed it.
  void MarkWatched(uint64_t address, uint64_t bytes, bool loads, bool stores);
  // Forgets what kernels have stored to this range, because it has been overwritten.
  void ForgetStores(uint64_t address, uint64_t bytes);

  // Everything requested until EndStreamOperation is one operation of a stream. With race checks, it is compared with
  // unordered operations. Work outside any operation is not compared.
  void BeginStreamOperation(StreamPoint point);
  void EndStreamOperation();
  void Report(const HostRace& race);
  void Report(Gap gap);
  // Forgets all streams and their clocks.
  void ForgetStreams();

  // Resident blocks per SM, for the occupancy API.
  int MaxBlocksPerSm(const KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) const;

  // Results since the last ClearRecords.
  const std::vector<LaunchRecord>& launches() const;
  const FindingList& findings() const;  // faults and findings, in deterministic order
  // Checks that were skipped: for which kernel's launches, or outside launches, and how often.
  struct LeftOut {
    Gap gap;
    std::string kernel;
    uint64_t count = 0;
  };
  const std::vector<LeftOut>& left_out() const;
  void ClearRecords();
  // After a fault the context is unusable, as on the hardware, until Reset, which frees all memory and modules.
  bool faulted() const;
  void Reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::vgpu
