#include "vgpu/device/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>

#include "vgpu/core/float_environment.h"
#include "vgpu/core/grouped.h"
#include "vgpu/device/loaded_module.h"
#include "vgpu/exec/launch.h"
#include "vgpu/exec/warp_trace.h"
#include "vgpu/memory/freed.h"
#include "vgpu/model/occupancy.h"
#include "vgpu/model/time_model.h"
#include "vgpu/observers/checkers.h"
#include "vgpu/ptx/linker.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kAnyBlock = 1024;  // threads per block if the kernel states no limit

// A thread's registers on this device. The decoder's limit is that of current GPUs; a kernel built for small blocks
// (.maxntid) may exceed the limit of an older GPU, whose compiler would have made it fit.
int RegistersOn(const DeviceProfile& profile, const KernelInfo& kernel) {
  const int registers = static_cast<int>(kernel.registers);
  if (kernel.max_threads >= kAnyBlock) return registers;
  return std::min(registers, profile.registers_per_block / std::max(static_cast<int>(kernel.max_threads), kWarpSize));
}

constexpr uint64_t kWorthAThread = 20'000;  // warp instructions of a checked launch
// Per-line counters kept between two calls of ClearRecords, some 600 bytes each; later launches keep only totals. One
// call of an assignment's function needs a few hundred.
constexpr uint64_t kMostRecordedLines = 200'000;
constexpr uint64_t kGridWorkspaceBytes = 256;
constexpr uint32_t kReservedShared = 1024;
constexpr uint64_t kResidentBytes = uint64_t{512} << 20;  // of host memory for blocks that wait for each other
// The limit if all blocks must be resident: a cooperative grid, a cluster.
constexpr uint64_t kMostResidentBytes = uint64_t{4} << 30;

void PrintToStdout(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void PrintToStderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

struct Device::Impl {
  Impl(const DeviceProfile& device_profile, DeviceOptions device_options)
      : profile(device_profile),
        options(std::move(device_options)),
        memory(std::min<uint64_t>(options.memory_bytes, static_cast<uint64_t>(device_profile.memory_bytes))),
        pool(options.threads) {
    if (!options.print) options.print = PrintToStdout;
    if (!options.print_trace) options.print_trace = PrintToStderr;
    const auto add = [this](std::unique_ptr<Checker> checker) {
      checkers.push_back(checker.get());
      owned.push_back(std::move(checker));
    };
    for (size_t row = 0; row < AllCheckers().size(); ++row) {
      if (options.checkers.Has(row)) add(AllCheckers()[row].make());
    }
    for (const auto& observer : owned) observers.push_back(observer.get());
  }

  void Freed(uint64_t address, uint64_t bytes) {
    for (Finding& finding : streams.Free(address, bytes)) findings.Add(std::move(finding));
  }

  LoadedModule* FindModule(ModuleHandle handle) {
    const auto it = modules.find(handle);
    return it == modules.end() ? nullptr : it->second.get();
  }
  template <typename F>
  void Tell(const F& f) {
    for (Observer* observer : observers) f(*observer);
  }

  LaunchError CheckShape(const LaunchSpec& spec, const KernelInfo& kernel, uint32_t* blocks_per_sm) const;
  LaunchResult Launch(const LaunchSpec& spec);
  void SetBudget(LaunchState& launch) const;
  bool TriesIsolated(const LaunchSpec& spec);

  const DeviceProfile& profile;
  DeviceOptions options;
  GlobalMemory memory;
  ThreadPool pool;
  std::vector<std::unique_ptr<Observer>> owned;
  std::vector<Observer*> observers;
  std::vector<Checker*> checkers;
  std::unique_ptr<BlockIsolation> isolation;  // made when first needed
  // What earlier launches of a kernel have shown, by number of blocks. Blocks that have conflicted once will do so
  // again.
  struct Isolated {
    uint64_t met_from = ~uint64_t{0};  // blocks of the smallest launch in which some conflicted
    uint64_t small_to = 0;             // blocks of the largest launch that ends before a second thread has started
  };
  std::map<std::pair<ModuleHandle, std::string>, Isolated> isolated;
  std::map<ModuleHandle, std::unique_ptr<LoadedModule>> modules;
  ModuleHandle next_module = 1;
  uint64_t next_launch = 0;
  uint64_t launch_budget = 0, launch_budget_per_warp = 0;  // below options.instruction_budget; 0: none
  std::vector<LaunchRecord> launches;
  std::vector<TouchedRange> watched;
  uint64_t recorded_lines = 0;  // of all of them
  FindingList findings;
  LaunchError fault = LaunchError::kNone;
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

Device::Device(const DeviceProfile& profile, DeviceOptions options)
    : impl_(std::make_unique<Impl>(profile, std::move(options))) {}
Device::~Device() = default;

const DeviceProfile& Device::profile() const { return impl_->profile; }
const DeviceOptions& Device::options() const { return impl_->options; }
void Device::set_instruction_budget(uint64_t warp_instructions, uint64_t per_warp) {
  impl_->launch_budget = warp_instructions;
  impl_->launch_budget_per_warp = per_warp;
}

void Device::AddObserver(std::unique_ptr<Observer> observer) {
  impl_->observers.push_back(observer.get());
  impl_->owned.push_back(std::move(observer));
}

ModuleHandle Device::LoadModule(std::string_view ptx_text) { return LoadModule(std::span(&ptx_text, 1)); }

ModuleHandle Device::LoadModule(std::span<const std::string_view> ptx_texts) {
  const DefaultFloatEnvironment environment;
  const ModuleHandle handle = impl_->next_module;
  std::vector<ptx::Module> parsed;
  for (const std::string_view text : ptx_texts) parsed.push_back(ptx::Parse(text));
  if (parsed.empty()) throw ptx::PtxError(0, "there is no PTX to load");
  auto module = std::make_unique<LoadedModule>(ptx::LinkModules(std::move(parsed)), handle, impl_->memory);
  for (const VariableInfo& v : module->placed()) {
    impl_->Tell([&](Observer& o) {
      o.OnAllocate(v.address, v.bytes);
      o.OnHostWrite(v.address, v.bytes);
    });
  }
  impl_->modules[handle] = std::move(module);
  ++impl_->next_module;
  return handle;
}

void Device::UnloadModule(ModuleHandle module) {
  const LoadedModule* loaded = impl_->FindModule(module);
  if (loaded == nullptr) return;
  for (const VariableInfo& v : loaded->placed()) {
    impl_->Tell([&](Observer& o) { o.OnFree(v.address, v.bytes); });
    impl_->Freed(v.address, v.bytes);
    impl_->memory.Free(v.address);
  }
  impl_->modules.erase(module);
}

const KernelInfo* Device::FindKernel(ModuleHandle module, std::string_view mangled) const {
  LoadedModule* loaded = impl_->FindModule(module);
  const Program* program = loaded == nullptr ? nullptr : loaded->FindProgram(mangled);
  return program == nullptr ? nullptr : &program->kernel;
}

std::vector<std::string> Device::KernelNames(ModuleHandle module) const {
  const LoadedModule* loaded = impl_->FindModule(module);
  return loaded == nullptr ? std::vector<std::string>() : loaded->KernelNames();
}

std::string Device::Disassemble(ModuleHandle module, std::string_view mangled) const {
  LoadedModule* loaded = impl_->FindModule(module);
  const Program* program = loaded == nullptr ? nullptr : loaded->FindProgram(mangled);
  return program == nullptr ? "" : vgpu::Disassemble(*program, loaded->List(*program));
}

std::optional<VariableInfo> Device::FindVariable(ModuleHandle module, std::string_view name) const {
  const LoadedModule* loaded = impl_->FindModule(module);
  return loaded == nullptr ? std::nullopt : loaded->FindVariable(name);
}

uint64_t Device::variable_bytes() const {
  uint64_t sum = 0;
  for (const auto& [handle, module] : impl_->modules) {
    for (const VariableInfo& variable : module->placed()) sum += variable.constant ? 0 : variable.bytes;
  }
  return sum;
}

uint64_t Device::heap_bytes() const { return impl_->memory.heap_most(); }

uint64_t Device::Allocate(uint64_t bytes, std::string label, std::string allocated_at) {
  const uint64_t address = impl_->memory.Allocate(bytes, std::move(label), std::move(allocated_at), false, false);
  if (address != 0) impl_->Tell([&](Observer& o) { o.OnAllocate(address, bytes); });
  return address;
}

bool Device::Free(uint64_t address) {
  const Allocation* a = impl_->memory.Find(address);
  if (a == nullptr || a->base != address || a->hidden || a->mapped) return false;
  impl_->Tell([&](Observer& o) { o.OnFree(address, a->bytes); });
  impl_->Freed(address, a->bytes);
  return impl_->memory.Free(address);
}

uint64_t Device::Reserve(uint64_t bytes, uint64_t alignment) { return impl_->memory.Reserve(bytes, alignment); }
bool Device::Unreserve(uint64_t address, uint64_t bytes) { return impl_->memory.Unreserve(address, bytes); }
bool Device::IsReserved(uint64_t address, uint64_t bytes) const { return impl_->memory.IsReserved(address, bytes); }
bool Device::Take(uint64_t bytes) { return impl_->memory.Take(bytes); }
void Device::GiveBack(uint64_t bytes) { impl_->memory.GiveBack(bytes); }

bool Device::Map(AllocationInfo mapping, int file, bool written) {
  const auto [address, bytes, label, mapped_at] = std::move(mapping);
  if (!impl_->memory.MapAt({address, bytes, label, mapped_at, false, false}, file)) return false;
  impl_->Tell([&](Observer& o) { o.OnAllocate(address, bytes); });
  if (written) impl_->Tell([&](Observer& o) { o.OnHostWrite(address, bytes); });
  return true;
}

bool Device::Unmap(uint64_t address) {
  const Allocation* a = impl_->memory.Find(address);
  if (a == nullptr || a->base != address || !a->mapped) return false;
  impl_->Tell([&](Observer& o) { o.OnFree(address, a->bytes); });
  impl_->Freed(address, a->bytes);
  return impl_->memory.Unmap(address);
}

bool Device::Contains(uint64_t address, uint64_t bytes) const { return impl_->memory.Contains(address, bytes); }

std::optional<std::pair<uint64_t, uint64_t>> Device::RangeHolding(uint64_t address) const {
  const Allocation* const found = impl_->memory.Find(address);
  return found == nullptr ? std::nullopt : std::optional(std::pair(found->base, found->bytes));
}

bool Device::Write(uint64_t to, const void* from, uint64_t bytes) {
  if (!Contains(to, bytes)) return false;
  if (bytes != 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  impl_->Tell([&](Observer& o) { o.OnHostWrite(to, bytes); });
  impl_->streams.Access(StreamAccess::kStore, to, bytes);
  return true;
}

bool Device::Read(void* to, uint64_t from, uint64_t bytes) const {
  const void* place = Look(from, bytes);
  if (place == nullptr) return false;
  if (bytes != 0) std::memcpy(to, place, bytes);
  return true;
}

const void* Device::Look(uint64_t from, uint64_t bytes) const {
  if (!Contains(from, bytes)) return nullptr;
  impl_->Tell([&](Observer& o) { o.OnHostRead(from, bytes); });
  impl_->streams.Access(StreamAccess::kLoad, from, bytes);
  return reinterpret_cast<const void*>(from);
}

bool Device::Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (!Contains(to, bytes) || !Contains(from, bytes)) return false;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  impl_->Tell([&](Observer& o) { o.OnHostCopy(to, from, bytes); });
  impl_->streams.Access(StreamAccess::kLoad, from, bytes);
  impl_->streams.Access(StreamAccess::kStore, to, bytes);
  return true;
}

bool Device::Fill(uint64_t to, uint8_t value, uint64_t bytes) {
  if (!Contains(to, bytes)) return false;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  impl_->Tell([&](Observer& o) { o.OnHostWrite(to, bytes); });
  impl_->streams.Access(StreamAccess::kStore, to, bytes);
  return true;
}

void Device::FreeKernelHeap() {
  std::vector<Allocation> heap;
  for (const Allocation& a : impl_->memory.allocations()) {
    if (a.hidden && a.label == kKernelHeapName) heap.push_back(a);
  }
  // From the last one on: closing a gap moves everything after it.
  for (auto a = heap.rbegin(); a != heap.rend(); ++a) {
    impl_->Tell([&](Observer& o) { o.OnFree(a->base, a->bytes); });
    impl_->memory.Free(a->base);
  }
}

uint64_t Device::FreeBytes() const { return impl_->memory.free_bytes(); }

std::optional<Device::AllocationInfo> Device::FindAllocation(uint64_t address) const {
  const Allocation* a = impl_->memory.Find(address);
  if (a == nullptr) return std::nullopt;
  return AllocationInfo{a->base, a->bytes, a->label, a->allocated_at};
}

std::vector<Device::AllocationInfo> Device::Allocations() const {
  std::vector<AllocationInfo> all;
  for (const Allocation& a : impl_->memory.allocations()) {
    if (!a.hidden) all.push_back({a.base, a.bytes, a.label, a.allocated_at});
  }
  return all;
}

LaunchResult Device::Launch(const LaunchSpec& launch) { return impl_->Launch(launch); }

void Device::Wrote(uint64_t address, uint64_t bytes) {
  impl_->Tell([&](Observer& o) { o.OnHostWrite(address, bytes); });
  impl_->streams.Access(StreamAccess::kStore, address, bytes);
}

uint64_t Device::FirstUnwritten(uint64_t address, uint64_t bytes, uint32_t element) const {
  uint64_t first = bytes;
  for (Observer* observer : impl_->observers)
    first = std::min(first, observer->FirstUnwritten(address, bytes, element));
  return first;
}

MemoryPlace Device::PlaceOf(uint64_t address) const {
  const Allocation* a = impl_->memory.Find(address);
  if (a == nullptr) a = FindFreed(address);
  if (a == nullptr) a = impl_->memory.Nearest(address);
  MemoryPlace place;
  place.address = address;
  if (a == nullptr) return place;
  place.in_buffer = true;
  place.buffer_name = a->label;
  place.buffer_base = a->base;
  place.buffer_bytes = a->bytes;
  place.allocated_at = a->allocated_at;
  return place;
}

void Device::Record(LaunchRecord record) {
  record.ordinal = impl_->next_launch++;
  impl_->launches.push_back(std::move(record));
}

void Device::Report(Finding finding) {
  if (finding.fatal && !faulted()) impl_->fault = InfoOf(finding.kind).error;
  impl_->findings.Add(std::move(finding));
}

void Device::Watch(TouchedRange range) { impl_->watched.push_back(std::move(range)); }
void Device::Unwatch(uint64_t base) {
  std::erase_if(impl_->watched, [=](const TouchedRange& range) { return range.base == base; });
}
void Device::ClearWatched() { impl_->watched.clear(); }
const std::vector<TouchedRange>& Device::watched() const { return impl_->watched; }

void Device::BeginStreamOperation(StreamPoint point) {
  if (!impl_->options.checkers.Has("races")) return;
  EndStreamOperation();
  impl_->streams.Begin(std::move(point));
}

void Device::EndStreamOperation() {
  for (Finding& finding : impl_->streams.End()) impl_->findings.Add(std::move(finding));
}

void Device::Report(const HostRace& race) {
  if (impl_->options.checkers.Has("races")) impl_->findings.Add(StreamChecker::FindingOf(race));
}

void Device::ForgetStreams() { impl_->streams.Clear(); }

int Device::MaxBlocksPerSm(const KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) const {
  return vgpu::MaxBlocksPerSm(impl_->profile, block_threads, RegistersOn(impl_->profile, kernel),
                              kernel.static_shared + dynamic_shared);
}

const std::vector<LaunchRecord>& Device::launches() const { return impl_->launches; }
const FindingList& Device::findings() const { return impl_->findings; }

void Device::ClearRecords() {
  impl_->launches.clear();
  impl_->recorded_lines = 0;
  impl_->findings.Clear();
  impl_->memory.RestartHeapMost();
}

bool Device::faulted() const { return impl_->fault != LaunchError::kNone; }

void Device::Reset() {
  for (const Allocation& a : impl_->memory.allocations()) {
    impl_->Tell([&](Observer& o) { o.OnFree(a.base, a.bytes); });
  }
  impl_->streams.Clear();
  impl_->modules.clear();
  impl_->memory.FreeAll();
  impl_->fault = LaunchError::kNone;
}

namespace {

// Blocks per cluster: from the launch, or the kernel, or one.
Dim3 ClusterShape(const LaunchSpec& spec, const KernelInfo& kernel) {
  const Dim3 none{0, 0, 0};
  return !(spec.cluster == none) ? spec.cluster : !(kernel.cluster == none) ? kernel.cluster : Dim3{1, 1, 1};
}

}  // namespace

LaunchError Device::Impl::CheckShape(const LaunchSpec& spec, const KernelInfo& kernel, uint32_t* blocks_per_sm) const {
  const Dim3 &g = spec.grid, &b = spec.block;
  if (g.x == 0 || g.y == 0 || g.z == 0 || b.x == 0 || b.y == 0 || b.z == 0) return LaunchError::kInvalidConfiguration;
  if (g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535 || g.Count() > 0xfffffffeu || b.x > 1024 || b.y > 1024 ||
      b.z > 64 || b.Count() > static_cast<uint64_t>(std::min(profile.max_threads_per_block, 1024))) {
    return LaunchError::kInvalidConfiguration;
  }
  const uint64_t shared = uint64_t{kernel.static_shared} + spec.dynamic_shared;
  // Beyond that the assembler refuses the kernel: only dynamic shared memory may have more.
  if (kernel.static_shared > static_cast<uint64_t>(profile.shared_per_block)) return LaunchError::kInvalidConfiguration;
  if (shared > static_cast<uint64_t>(std::max(profile.shared_per_block, profile.shared_per_block_optin))) {
    return LaunchError::kInvalidConfiguration;
  }
  if (spec.parameters.size() < kernel.parameter_bytes) return LaunchError::kInvalidConfiguration;
  const Dim3 c = ClusterShape(spec, kernel);
  if (c.x == 0 || c.y == 0 || c.z == 0 || c.Count() > kMaxClusterBlocks || g.x % c.x != 0 || g.y % c.y != 0 ||
      g.z % c.z != 0) {
    return LaunchError::kInvalidConfiguration;
  }
  if (b.Count() > kernel.max_threads) return LaunchError::kTooManyResources;
  const int blocks = vgpu::MaxBlocksPerSm(profile, static_cast<int>(b.Count()), RegistersOn(profile, kernel), shared);
  if (blocks <= 0) return LaunchError::kTooManyResources;
  *blocks_per_sm = static_cast<uint32_t>(blocks);
  if (spec.cooperative && g.Count() > static_cast<uint64_t>(blocks) * static_cast<uint64_t>(profile.sm_count)) {
    return LaunchError::kCooperativeTooLarge;
  }
  return LaunchError::kNone;
}

// Whether trying to run a checked launch's blocks in parallel is worthwhile.
bool Device::Impl::TriesIsolated(const LaunchSpec& spec) {
  if (pool.size() < 2 || !options.checkers.Has("races")) return false;
  const auto shown = isolated.find({spec.module, spec.kernel});
  const uint64_t blocks = spec.grid.Count();
  if (shown != isolated.end() && (blocks >= shown->second.met_from || blocks <= shown->second.small_to)) return false;
  if (isolation == nullptr) isolation = std::make_unique<BlockIsolation>(memory.begin(), memory.end());
  return true;
}

void Device::Impl::SetBudget(LaunchState& launch) const {
  const uint64_t most = options.instruction_budget;
  const uint64_t warps = launch.info.grid.Count() * launch.info.warps_per_block;
  const uint64_t instructions = launch_budget == 0 ? 0 : launch_budget + launch_budget_per_warp * warps;
  // Starting the blocks is included in the budget but not in the message.
  const uint64_t own = instructions == 0 ? 0 : instructions + launch.start_charge * launch.info.grid.Count();
  launch.budget = own == 0 || most == 0 ? std::max(own, most) : std::min(own, most);
  launch.budget_text = Grouped(launch.budget == own ? instructions : launch.budget) + " warp instructions";
  if (launch.budget == own && launch_budget_per_warp > 0) {
    launch.budget_text +=
        " (" + Grouped(launch_budget) + ", and " + Grouped(launch_budget_per_warp) + " for each warp launched)";
  }
}

LaunchResult Device::Impl::Launch(const LaunchSpec& spec) {
  const DefaultFloatEnvironment environment;
  if (fault != LaunchError::kNone) return {fault, 0};
  LoadedModule* module = FindModule(spec.module);
  const std::shared_ptr<const Program> program = module == nullptr ? nullptr : module->ShareProgram(spec.kernel);
  if (program == nullptr) return {LaunchError::kInvalidConfiguration, 0};
  const KernelInfo& kernel = program->kernel;
  uint32_t blocks_per_sm = 0;
  if (const LaunchError error = CheckShape(spec, kernel, &blocks_per_sm); error != LaunchError::kNone) {
    return {error, 0};
  }

  LaunchState launch;
  launch.program = program.get();
  launch.memory = &memory;
  launch.info = {program.get(), next_launch++, kernel.demangled, spec.grid, spec.block};
  launch.info.warps_per_block = static_cast<uint32_t>((spec.block.Count() + kWarpSize - 1) / kWarpSize);
  launch.info.shared_bytes = launch.shared_bytes = kernel.static_shared + spec.dynamic_shared;
  launch.reserved_shared_offset = launch.shared_bytes;
  if (program->uses_reserved_shared) {
    launch.reserved_shared_offset = (launch.shared_bytes + 15) / 16 * 16;
    launch.info.shared_bytes = launch.shared_bytes = launch.reserved_shared_offset + kReservedShared;
  }
  launch.info.cooperative = spec.cooperative;
  launch.cluster = launch.info.cluster = ClusterShape(spec, kernel);
  launch.has_clusters = !(spec.cluster == Dim3{0, 0, 0}) || !(kernel.cluster == Dim3{0, 0, 0});
  launch.dynamic_shared_offset = kernel.static_shared;
  std::vector<uint8_t> parameters(kernel.parameter_bytes + 64);
  std::copy_n(spec.parameters.begin(), kernel.parameter_bytes, parameters.begin());
  launch.parameters = parameters.data();
  launch.parameter_bytes = kernel.parameter_bytes;
  launch.sm_count = static_cast<uint32_t>(std::max(profile.sm_count, 1));
  launch.warps_per_sm = static_cast<uint32_t>(profile.max_warps_per_sm);
  launch.counters = options.counters;
  launch.usual_turns = options.usual_turns;
  launch.watched = &watched;
  const FunctionInfo& entry = program->functions[0];
  const uint64_t warp_bytes =
      entry.frame_bytes + kWarpSize * (uint64_t{entry.area_bytes} + program->local_stride) + sizeof(WarpState);
  const uint64_t block_bytes = launch.shared_bytes + launch.info.warps_per_block * warp_bytes;
  launch.resident_blocks = static_cast<uint32_t>(
      std::min<uint64_t>(uint64_t{blocks_per_sm} * launch.sm_count, 1 + kResidentBytes / block_bytes));
  launch.resident_blocks = std::max(launch.resident_blocks, static_cast<uint32_t>(launch.cluster.Count()));
  // Of local memory, what each thread writes at its start; the rest of the stack is touched as calls go deeper.
  const uint64_t started_bytes =
      block_bytes - (program->local_stride - entry.local_bytes) * uint64_t{kWarpSize} * launch.info.warps_per_block;
  launch.start_charge = StartCharge(started_bytes);
  SetBudget(launch);
  LaunchClock clock(options.launch_seconds, pool.size());
  launch.clock = &clock;
  const uint64_t together = spec.cooperative ? spec.grid.Count() : launch.cluster.Count();
  if (together > 1 && together * started_bytes > kMostResidentBytes) {
    return {spec.cooperative ? LaunchError::kCooperativeTooLarge : LaunchError::kTooManyResources, 0};
  }
  if (spec.cooperative) {
    launch.resident_blocks = static_cast<uint32_t>(spec.grid.Count());
    launch.grid_workspace = memory.Allocate(kGridWorkspaceBytes, "grid barrier", "", true, false);
    if (launch.grid_workspace == 0) return {LaunchError::kTooManyResources, 0};
    std::memset(reinterpret_cast<void*>(launch.grid_workspace), 0, kGridWorkspaceBytes);
    Tell([&](Observer& o) {
      o.OnAllocate(launch.grid_workspace, kGridWorkspaceBytes);
      o.OnHostWrite(launch.grid_workspace, kGridWorkspaceBytes);
    });
  }
  std::optional<TraceJob> trace;
  if (options.trace &&
      (options.trace->kernel.empty() || IsNameOf(options.trace->kernel, kernel.mangled, kernel.demangled))) {
    trace = TraceJob{*options.trace, module->List(*program), options.print_trace};
    if (BeginTrace(*trace, launch.info)) launch.trace = &*trace;
  }
  FootprintObserver footprint;
  std::vector<Observer*> watching = observers;
  if (streams.active()) watching.push_back(&footprint);
  LaunchOutcome outcome =
      RunLaunch(launch, watching, checkers, pool, TriesIsolated(spec) ? isolation.get() : nullptr, options.print);
  if (launch.trace != nullptr) EndTrace(*trace);
  if (isolation != nullptr) {
    Isolated& shown = isolated[{spec.module, spec.kernel}];
    const uint64_t blocks = spec.grid.Count();
    if (outcome.blocks_met) shown.met_from = std::min(shown.met_from, blocks);
    if (outcome.instructions < kWorthAThread) {
      shown.small_to = std::max(shown.small_to, blocks);
    } else {
      shown.small_to = std::min(shown.small_to, blocks - 1);
    }
  }
  if (launch.grid_workspace != 0) {
    Tell([&](Observer& o) { o.OnFree(launch.grid_workspace, kGridWorkspaceBytes); });
    memory.Free(launch.grid_workspace);
  }
  if (streams.active()) {
    std::optional<Footprint> touched = footprint.Take();
    if (touched && launch.grid_workspace != 0) {
      touched->Forget(launch.grid_workspace, launch.grid_workspace + kGridWorkspaceBytes);
    }
    streams.Launched(program, launch.info, std::move(touched));
  }

  LaunchRecord record;
  record.ordinal = launch.info.ordinal;
  record.kernel = kernel.demangled;
  record.mangled = kernel.mangled;
  record.grid = spec.grid;
  record.block = spec.block;
  record.static_shared = kernel.static_shared;
  record.dynamic_shared = spec.dynamic_shared;
  record.local_bytes = kernel.local_bytes;
  record.theoretical_occupancy =
      ComputeOccupancy(profile, static_cast<int>(spec.block.Count()), RegistersOn(profile, kernel),
                       kernel.static_shared + spec.dynamic_shared)
          .fraction;
  record.counters = outcome.counters;
  record.lines = std::move(outcome.lines);
  record.cpu_threads = outcome.threads;
  const DeviceProfile& timed_as = options.timed_as != nullptr ? *options.timed_as : profile;
  record.registers = static_cast<uint32_t>(RegistersOn(timed_as, kernel));
  const TimeEstimate time = EstimateTime(record, timed_as);
  record.registers = static_cast<uint32_t>(RegistersOn(profile, kernel));
  record.microseconds = time.microseconds;
  record.bound_by = time.bound_by;
  recorded_lines += record.lines.size();
  if (recorded_lines > kMostRecordedLines) record.lines = {};
  LaunchResult result{LaunchError::kNone, record.microseconds};
  launches.push_back(std::move(record));
  for (Finding& finding : outcome.findings) findings.Add(std::move(finding));
  if (outcome.fault) {
    result.error = fault = InfoOf(outcome.fault->kind).error;
    findings.Add(std::move(*outcome.fault));
  }
  return result;
}

}  // namespace lockstep::vgpu
