#include "vgpu/device/device.h"

#include <cstdio>
#include <cstring>

#include "vgpu/core/float_environment.h"
#include "vgpu/device/device_functions.h"
#include "vgpu/device/device_impl.h"
#include "vgpu/memory/freed.h"
#include "vgpu/model/occupancy.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu {
namespace {

void PrintToStdout(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void PrintToStderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

Device::Impl::Impl(const DeviceProfile& device_profile, DeviceOptions device_options)
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

Device::Device(const DeviceProfile& profile, DeviceOptions options)
    : impl_(std::make_unique<Impl>(profile, std::move(options))) {}
Device::~Device() = default;

const DeviceProfile& Device::profile() const { return impl_->profile; }
const DeviceOptions& Device::options() const { return impl_->options; }

void Device::set_counters(bool counters) { impl_->options.counters = counters; }
void Device::set_records(bool records) { impl_->records = records; }
void Device::set_instruction_budget(uint64_t warp_instructions, uint64_t per_warp) {
  impl_->launch_budget = warp_instructions;
  impl_->launch_budget_per_warp = per_warp;
}

void Device::set_usual_turns(bool usual) { impl_->options.usual_turns = usual; }

void Device::set_checked(bool checked) {
  EndStreamOperation();
  impl_->checked = checked;
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
  for (const std::string_view text : ptx_texts) {
    parsed.push_back(ptx::Parse(text));
    CheckInstructions(parsed.back());
  }
  if (parsed.empty()) throw ptx::PtxError(0, "there is no PTX to load");
  auto module = std::make_unique<LoadedModule>(LinkWithDeviceFunctions(std::move(parsed)), handle, impl_->memory);
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

std::vector<VariableInfo> Device::Variables(ModuleHandle module) const {
  const LoadedModule* loaded = impl_->FindModule(module);
  return loaded == nullptr ? std::vector<VariableInfo>() : loaded->placed();
}

uint64_t Device::variable_bytes() const {
  uint64_t sum = 0;
  for (const auto& [handle, module] : impl_->modules) {
    for (const VariableInfo& variable : module->placed()) sum += variable.constant ? 0 : variable.bytes;
  }
  return sum;
}

uint64_t Device::heap_bytes() const { return impl_->memory.heap_most(); }
bool Device::ResizeKernelHeap(uint64_t bytes) { return impl_->memory.ResizeHeap(bytes); }

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
  const uint64_t address = mapping.base, bytes = mapping.bytes;
  Allocation allocation = {address,          bytes, std::move(mapping.label), std::move(mapping.allocated_at), false,
                           mapping.read_only};
  if (!impl_->memory.MapAt(std::move(allocation), file)) return false;
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

// Memory allocated by kernels is not accessible to the host.
bool Device::Contains(uint64_t address, uint64_t bytes) const {
  const Allocation* const at = impl_->memory.Find(address);
  return at != nullptr && at->label != kKernelHeapName && impl_->memory.Contains(address, bytes);
}

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
  impl_->Copy(to, from, bytes);
  return true;
}
void Device::Impl::Copy(uint64_t to, uint64_t from, uint64_t bytes) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  Tell([&](Observer& o) { o.OnHostCopy(to, from, bytes); });
  streams.Access(StreamAccess::kLoad, from, bytes);
  streams.Access(StreamAccess::kStore, to, bytes);
}

bool Device::Fill(uint64_t to, uint8_t value, uint64_t bytes) {
  if (!Contains(to, bytes)) return false;
  impl_->Fill(to, value, bytes);
  return true;
}
void Device::Impl::Fill(uint64_t to, uint8_t value, uint64_t bytes) {
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  Tell([&](Observer& o) { o.OnHostWrite(to, bytes); });
  streams.Access(StreamAccess::kStore, to, bytes);
}

void Device::FreeKernelHeap() {
  std::vector<Allocation> heap;
  for (const auto& [base, a] : impl_->memory.allocations()) {
    if (a.hidden && a.label == kKernelHeapName) heap.push_back(a);
  }
  for (const Allocation& a : heap) {
    impl_->Tell([&](Observer& o) { o.OnFree(a.base, a.bytes); });
    impl_->memory.Free(a.base);
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
  for (const auto& [base, a] : impl_->memory.allocations()) {
    if (!a.hidden) all.push_back({a.base, a.bytes, a.label, a.allocated_at});
  }
  return all;
}

uint64_t Device::AddTexture(const Texture& texture) { return impl_->textures.Add(texture); }
bool Device::RemoveTexture(uint64_t handle) { return impl_->textures.Remove(handle); }

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

MemoryPlace Device::PlaceOf(uint64_t address) const { return impl_->PlaceOf(address); }
MemoryPlace Device::Impl::PlaceOf(uint64_t address) const {
  const Allocation* a = memory.Find(address);
  if (a == nullptr) a = FindFreed(address);
  if (a == nullptr) a = memory.Nearest(address);
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
  impl_->Keep(std::move(record));
}

void Device::Report(Finding finding) {
  if (finding.fatal && !faulted()) impl_->fault = ErrorOf(finding);
  impl_->findings.Add(std::move(finding));
}

void Device::Watch(TouchedRange range) { impl_->watched.push_back(std::move(range)); }
void Device::Unwatch(uint64_t base) {
  std::erase_if(impl_->watched, [=](const TouchedRange& range) { return range.base == base; });
}
void Device::ClearWatched() { impl_->watched.clear(); }
const std::vector<TouchedRange>& Device::watched() const { return impl_->watched; }
void Device::MarkWatched(uint64_t address, uint64_t bytes, bool loads, bool stores) {
  for (TouchedRange& range : impl_->watched) {
    const uint64_t from = std::max(address, range.base), end = std::min(address + bytes, range.base + range.bytes);
    if (from >= end) continue;
    if (loads) TouchedRange::Set(range.loaded, from - range.base, end - from);
    if (stores) TouchedRange::Set(range.stored, from - range.base, end - from);
  }
}
void Device::ForgetStores(uint64_t address, uint64_t bytes) {
  for (TouchedRange& range : impl_->watched) {
    const uint64_t from = std::max(address, range.base), end = std::min(address + bytes, range.base + range.bytes);
    if (from < end) range.ForgetStores(from - range.base, end - from);
  }
}

void Device::BeginStreamOperation(StreamPoint point) {
  if (!impl_->checked || !impl_->options.checkers.Has("races")) return;
  EndStreamOperation();
  impl_->streams.Begin(std::move(point));
}

void Device::EndStreamOperation() {
  for (Finding& finding : impl_->streams.End()) impl_->findings.Add(std::move(finding));
  impl_->LeaveOut(impl_->streams.TakeGaps(), "");
}

void Device::Report(const HostRace& race) {
  if (impl_->options.checkers.Has("races")) impl_->findings.Add(StreamChecker::FindingOf(race));
}

void Device::Report(Gap gap) { impl_->LeaveOut(gap, ""); }

void Device::ForgetStreams() { impl_->streams.Clear(); }

int Device::MaxBlocksPerSm(const KernelInfo& kernel, int block_threads, uint64_t dynamic_shared) const {
  return vgpu::MaxBlocksPerSm(impl_->profile, block_threads, RegistersOn(impl_->profile, kernel),
                              kernel.static_shared + dynamic_shared);
}

const std::vector<LaunchRecord>& Device::launches() const { return impl_->launches; }
const FindingList& Device::findings() const { return impl_->findings; }
const std::vector<Device::LeftOut>& Device::left_out() const { return impl_->left_out; }

void Device::ClearRecords() {
  impl_->launches.clear();
  impl_->recorded_lines = 0;
  impl_->findings.Clear();
  impl_->left_out.clear();
  impl_->memory.RestartHeapMost();
}

bool Device::faulted() const { return impl_->fault != LaunchError::kNone; }

void Device::Reset() {
  for (const auto& entry : impl_->memory.allocations()) {
    impl_->Tell([&](Observer& o) { o.OnFree(entry.second.base, entry.second.bytes); });
  }
  impl_->streams.Clear();
  impl_->modules.clear();
  impl_->memory.FreeAll();
  impl_->textures.Clear();
  impl_->fault = LaunchError::kNone;
}

}  // namespace lockstep::vgpu
