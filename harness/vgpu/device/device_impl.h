// The members of Device. Its functions are in device.cc; those for launches are in launch.cc, suspended_launch.cc,
// child_work.cc and other_orders.cc.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/device/device.h"
#include "vgpu/device/loaded_module.h"
#include "vgpu/exec/coroutine.h"
#include "vgpu/exec/grid_runtime.h"
#include "vgpu/exec/launch.h"
#include "vgpu/observers/checkers.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Registers per thread on this device, in blocks of so many threads (0: of any size) that are launched.
int RegistersOn(const DeviceProfile& profile, const KernelInfo& kernel, uint64_t block_threads = 0);

// Throws ptx::PtxError with the line of an unknown instruction or type. A text for a PTX ISA later than 9.0 may have
// unknown names, so it is not checked.
void CheckInstructions(const ptx::Module& module);

struct Device::Impl {
  Impl(const DeviceProfile& device_profile, DeviceOptions device_options);

  void LeaveOut(Gap gap, const std::string& kernel) {
    for (LeftOut& known : left_out) {
      if (known.gap != gap || known.kernel != kernel) continue;
      ++known.count;
      return;
    }
    left_out.push_back({gap, kernel, 1});
  }
  void LeaveOut(GapSet gaps, const std::string& kernel) {
    for (uint8_t gap = 0; gap < kGaps && !gaps.empty(); ++gap) {
      if (gaps.Has(static_cast<Gap>(gap))) LeaveOut(static_cast<Gap>(gap), kernel);
    }
  }
  void Freed(uint64_t address, uint64_t bytes) {
    for (Finding& finding : streams.Free(address, bytes)) findings.Add(std::move(finding));
  }

  // Ranges must be inside live allocations.
  void Copy(uint64_t to, uint64_t from, uint64_t bytes);
  void Fill(uint64_t to, uint8_t value, uint64_t bytes);
  MemoryPlace PlaceOf(uint64_t address) const;

  LoadedModule* FindModule(ModuleHandle handle) {
    const auto it = modules.find(handle);
    return it == modules.end() ? nullptr : it->second.get();
  }
  template <typename F>
  void Tell(const F& f) {
    for (Observer* observer : observers) f(*observer);
  }

  LaunchError CheckShape(const LaunchSpec& spec, const KernelInfo& kernel, uint32_t* blocks_per_sm) const;
  // Runs a grid and then, in child_work.cc, the work that its kernel requested.
  LaunchResult Launch(const LaunchSpec& spec, LaunchPauses* pauses = nullptr);
  // Runs a grid without the work that its kernel requests.
  LaunchResult LaunchGrid(const LaunchSpec& spec, LaunchPauses* pauses, const ParentLaunch& asked_by,
                          ChildWorks* works);
  struct GridLaunch;  // defined in launch.cc, like these steps of LaunchGrid
  LaunchError Plan(GridLaunch& grid);
  void Attend(GridLaunch& grid);
  void EndGrid(GridLaunch& grid);
  void NoteIsolated(const LaunchSpec& spec, const LaunchOutcome& outcome);
  double Record(const GridLaunch& grid, LaunchOutcome& outcome);
  void Keep(LaunchRecord record) {
    if (records) launches.push_back(std::move(record));
  }
  ChildKernels KernelsOf(ModuleHandle module);
  LaunchResult Do(ModuleHandle module, const ChildWork& work, const ParentLaunch& asked_by, LaunchPauses* pauses,
                  ChildWorks* works);
  LaunchResult MoveMemory(const ChildWork& work, const ParentLaunch& asked_by);
  // Whether the launch may have to pause until the host or a later launch sets what it waits for.
  bool MayWait(const LaunchSpec& spec);
  // Moves the running launch's checkers to their new owner, and creates others for later launches.
  std::vector<std::unique_ptr<Observer>> PartWithCheckers();
  // The fraction of the device's room for blocks not held by suspended launches.
  double FreeRoom() const;
  void SetBudget(LaunchState& launch) const;
  bool TriesIsolated(const LaunchSpec& spec);
  // Before the launch itself runs, adds races that only other orders of warps and blocks reveal (other_orders.cc).
  void TryOtherOrders(LaunchState& launch, std::vector<Finding>& found, GapSet& gaps);
  // Removes findings at the same instructions as known ones.
  static void DropKnown(std::vector<Finding>& findings, const std::vector<Finding>& known);

  const DeviceProfile& profile;
  DeviceOptions options;
  GlobalMemory memory;
  TextureTable textures;
  ThreadPool pool;
  std::vector<std::unique_ptr<Observer>> owned;
  std::vector<Observer*> observers;
  std::vector<Checker*> checkers;             // also the first elements of `observers`
  bool checked = true;                        // Device::set_checked
  std::unique_ptr<BlockIsolation> isolation;  // made when first needed
  // What earlier launches of a kernel have shown, by number of blocks. Blocks that have conflicted once will do so
  // again.
  struct Isolated {
    uint64_t met_from = ~uint64_t{0};  // blocks of the smallest launch with a conflict
    uint64_t small_to = 0;             // blocks of the largest launch with too little work for a second thread
  };
  std::map<std::pair<ModuleHandle, std::string>, Isolated> isolated;
  std::map<ModuleHandle, std::unique_ptr<LoadedModule>> modules;
  ModuleHandle next_module = 1;
  uint64_t next_launch = 0;
  uint64_t launch_budget = 0, launch_budget_per_warp = 0;  // of set_instruction_budget; 0: none
  std::vector<LaunchRecord> launches;
  bool records = true;  // of set_records
  std::vector<TouchedRange> watched;
  uint64_t recorded_lines = 0;  // total over all launches
  FindingList findings;
  std::vector<LeftOut> left_out;
  LaunchError fault = LaunchError::kNone;
  class Suspended;
  std::vector<const Suspended*> suspended;
  StreamChecker streams{[this](MemoryPlace& place) {
    const Allocation* a = memory.Find(place.address);
    if (a == nullptr) return;
    if (a->read_only) place.space = MemorySpace::kConst;
    place.in_buffer = true;
    place.buffer_name = a->label;
    place.buffer_base = a->base;
    place.buffer_bytes = a->bytes;
    place.allocated_at = a->allocated_at;
  }};
};

// A launch in a coroutine.
class Device::Impl::Suspended : public SuspendedLaunch, public LaunchPauses {
 public:
  Suspended(Device::Impl& device, const LaunchSpec& spec)
      : device_(device),
        spec_(spec),
        parameters_(spec.parameters.begin(), spec.parameters.end()),
        coroutine_([this](Coroutine&) {
          spec_.parameters = parameters_;
          result_ = device_.Launch(spec_, this);
        }) {}
  ~Suspended() override { std::erase(device_.suspended, this); }

  bool Resume() override {
    if (!coroutine_.Resume()) return false;
    std::erase(device_.suspended, this);
    return true;
  }
  void GiveUp(std::string why) override { why_ = std::move(why); }
  const Standstill& standstill() const override { return standstill_; }
  LaunchResult result() const override { return result_; }

  bool has_paused() const { return has_paused_; }
  // Limits the launch's own concurrent blocks to the device's free room.
  void set_most_blocks(double most) { most_blocks_ = most; }
  double room() const { return std::min(1.0, static_cast<double>(standstill_.blocks) / most_blocks_); }

 private:
  std::string Pause(const Standstill& standstill) override {
    standstill_ = standstill;
    if (!std::exchange(has_paused_, true)) {
      checkers_ = device_.PartWithCheckers();
      device_.suspended.push_back(this);
    }
    coroutine_.Pause();
    return std::exchange(why_, "");
  }

  Device::Impl& device_;
  LaunchSpec spec_;
  const std::vector<uint8_t> parameters_;
  LaunchResult result_;
  Standstill standstill_;
  bool has_paused_ = false;
  double most_blocks_ = 1;
  std::string why_;
  std::vector<std::unique_ptr<Observer>> checkers_;
  Coroutine coroutine_;  // last: its body uses the others until its end
};

}  // namespace lockstep::vgpu
