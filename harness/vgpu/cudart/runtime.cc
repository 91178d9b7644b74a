#include "vgpu/cudart/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "vgpu/cudart/report/api_failure.h"
#include "vgpu/cudart/report/call_site.h"

namespace lockstep::vgpu::cudart {

Runtime& runtime() {
  // Never destroyed: destructors of the program's objects may call CUDA until the process ends.
  static Runtime* const instance = new Runtime;
  return *instance;
}

cudaError_t& LastError() {
  static thread_local cudaError_t error = cudaSuccess;
  return error;
}

namespace {

constexpr size_t kMostSentences = 1000;
std::mutex said_mutex;
std::map<std::string, uint64_t>& Said() {
  static auto* const said = new std::map<std::string, uint64_t>;
  return *said;
}

void Print(const std::string& sentence) {
  const std::string line = "lockstep: " + sentence + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void Say(std::string_view sentence) {
  const std::string text(sentence);
  if (HasJudge()) return Print(text);  // a judge reads each test's output separately
  {
    const std::lock_guard lock(said_mutex);
    if (const auto known = Said().find(text); known != Said().end()) {
      ++known->second;
      return;
    }
    if (Said().size() < kMostSentences) Said()[text] = 1;
  }
  Print(text);
}

void LogSuppressedCount() {
  const std::lock_guard lock(said_mutex);
  for (auto& [text, times] : Said()) {
    if (times > 1) Print(text + " (" + std::to_string(times) + " times)");
    times = 1;
  }
}

std::string AtCallSite() {
  const std::string site = CallSite();
  if (site.empty()) return "";
  // A judge's reader has one file, so the path is omitted.
  return " (" + (HasJudge() ? site.substr(site.find_last_of('/') + 1) : site) + ")";
}

void NotSupported(const std::string& what) {
  Say(std::string(runtime().function()) + AtCallSite() + ": the virtual GPU does not support " + what);
  throw ApiError{cudaErrorNotSupported};
}

namespace {

constexpr int kMaxDevices = 16;

const char* JudgesSocket() { return std::getenv("LOCKSTEP_SOCKET"); }

int& CurrentDevice() {
  static thread_local int device = 0;
  return device;
}

}  // namespace

bool HasJudge() { return JudgesSocket() != nullptr; }

int Runtime::device_count() {
  static const int count = [] {
    const char* wanted = std::getenv("LOCKSTEP_DEVICES");  // a judge sets it for its worker
    return wanted == nullptr ? 1 : std::clamp(std::atoi(wanted), 1, kMaxDevices);
  }();
  return count;
}

int Runtime::device() const { return CurrentDevice(); }

int Runtime::ExchangeDevice(int device) { return std::exchange(CurrentDevice(), device); }

namespace {
bool started = false, in_use = false, was_in_use = false;
thread_local bool in_use_here = false;

// Exceptions to NeedsContext's rule (calls with Faults::kNone need no context, others do): first those that need none;
// then those that need none if their first argument is null.
constexpr std::string_view kWithoutContext[] = {
    "cudaMemPoolExportPointer", "cudaGetKernel",           "cudaDeviceCanAccessPeer",
    "cudaDeviceGetPCIBusId",    "cudaDeviceGetByPCIBusId", "cudaGetDriverEntryPointByVersion",
    "cudaLibraryLoadData",      "cudaLibraryLoadFromFile", "cudaEventQuery",
    "cudaEventSynchronize",     "cudaEventElapsedTime",    "cudaDeviceGetP2PAttribute",
    "cudaDeviceGetMemPool",     "cudaDeviceSetMemPool",    "cudaMemGetMemPool",
    "cudaMemPoolCreate",        "cudaProfilerStop"};
constexpr std::string_view kLookingFirst[] = {"cudaMalloc", "cudaMallocPitch", "cudaMallocAsync",
                                              "cudaCreateTextureObject", "cudaSetDeviceFlags"};
constexpr std::string_view kWithContext[] = {"cudaFreeArray", "cudaGraphCreate", "cudaMemcpy"};

// Calls that begin with one of these work in a lost context, except those that begin with one of kWithTheContext.
constexpr std::string_view kOutliving[] = {
    "cudaGraph",         "cudaDeviceGraphMemTrim",   "cudaMemPool",     "cudaDeviceGetMemPool", "cudaDeviceSetMemPool",
    "cudaMemGetMemPool", "cudaMemGetDefaultMemPool", "cudaFuncGetName", "cudaUserObject",       "cudaSetDeviceFlags"};
constexpr std::string_view kWithTheContext[] = {
    "cudaGraphInstantiate",   "cudaGraphLaunch",           "cudaGraphUpload",        "cudaGraphAddKernelNode",
    "cudaGraphAddMemcpyNode", "cudaGraphAddMemsetNode",    "cudaGraphKernelNodeSet", "cudaGraphMemcpyNodeSet",
    "cudaGraphMemsetNodeSet", "cudaGraphNodeSetParams",    "cudaGraphExecKernel",    "cudaGraphExecMemcpy",
    "cudaGraphExecMemset",    "cudaGraphExecNodeSetParams"};
// If a lost context's device was reset, kLookingOnGone still check their handles. If the program released the lost
// primary context, kTellingOfRelease report the release.
constexpr std::string_view kLookingOnGone[] = {"cudaEventQuery", "cudaEventElapsedTime", "cudaArrayGetInfo"};
constexpr std::string_view kTellingOfRelease[] = {"cudaEventQuery", "cudaEventSynchronize", "cudaEventElapsedTime",
                                                  "cudaMemRangeGetAttribute"};
// The only calls that work after a lost context's device was reset.
constexpr std::string_view kOutlivingTheDevice[] = {"cudaFuncGetName", "cudaMemPool", "cudaLibraryLoad",
                                                    "cudaDeviceCanAccessPeer"};
// Calls that check an argument or handle before the context; others leave that to the driver.
constexpr std::string_view kLooking[] = {
    "cudaLaunchHostFunc", "cudaEventQuery",          "cudaEventSynchronize",   "cudaMalloc",
    "cudaArrayGetInfo",   "cudaCreateTextureObject", "cudaCreateSurfaceObject"};

// Calls that wait for or query the device's work report a fault first. On a GPU the others do so only milliseconds
// later, when most programs have waited.
constexpr std::string_view kWaiting[] = {"cudaMemcpy", "cuMemcpy", "cuModuleLoad", "cuLibraryLoad"};

template <typename List>
bool BeginsWithOne(std::string_view function, const List& names) {
  return std::any_of(std::begin(names), std::end(names),
                     [&](std::string_view name) { return function.starts_with(name); });
}
bool MeetsFault(std::string_view function) {
  if (function.ends_with("Async")) return false;
  return BeginsWithOne(function, kWaiting) || function.ends_with("Synchronize") || function.ends_with("Query") ||
         function == "cudaFree" || function == "cuMemFree";
}
bool OutlivesContext(std::string_view function) {
  return BeginsWithOne(function, kOutliving) && !BeginsWithOne(function, kWithTheContext);
}

template <typename List>
bool IsOneOf(std::string_view function, const List& names) {
  return std::find(std::begin(names), std::end(names), function) != std::end(names);
}
bool NeedsContext(std::string_view function, Faults faults) {
  return faults == Faults::kNone ? IsOneOf(function, kWithContext) : !IsOneOf(function, kWithoutContext);
}
}  // namespace

const char*& CalledAs() {
  thread_local const char* function = nullptr;
  return function;
}

bool& PrimaryWasSet() {
  thread_local bool was_set = false;
  return was_set;
}
bool RuntimeStarted() { return started; }
bool RuntimeInUse() { return in_use; }
void UsePrimary() { in_use = true; }
void LeavePrimary() { in_use_here = false; }
bool RuntimeInUseHere() { return in_use_here; }

void Runtime::SetDevice(int device) {
  Require(device >= 0 && device < device_count(), cudaErrorInvalidDevice);
  if (CalledAs() == nullptr) in_use = in_use_here = PrimaryWasSet() = true;
  // A device that was reset after a fault stays unavailable.
  Require(contexts_[device].sticky != cudaErrorDevicesUnavailable, cudaErrorDevicesUnavailable);
  CurrentDevice() = device;
}

Backend& Runtime::backend(int device) {
  Require(lost_ == cudaSuccess, lost_);
  std::unique_ptr<Backend>& backend = contexts_[device].backend;
  if (backend == nullptr) {
    const char* socket = JudgesSocket();
    backend = socket != nullptr ? MakeRemoteBackend(std::atoi(socket), device) : MakeLocalBackend(device);
  }
  return *backend;
}

std::optional<int> Runtime::DeviceHolding(uint64_t address) {
  if (backend().Contains(address, 1)) return device();
  for (const auto& [ordinal, other] : contexts_) {
    if (ordinal != device() && other.backend != nullptr && other.backend->Contains(address, 1)) return ordinal;
  }
  return std::nullopt;
}

Stream& Runtime::StreamOf(cudaStream_t stream) {
  if (IsLegacy(stream)) {
    const cudaError_t error = SpoilByLegacyStream(true);
    Require(error == cudaSuccess, error);
  }
  return timeline_.StreamOf(device(), stream);
}

Stream& Runtime::StreamForWork(cudaStream_t handle) {
  Stream& stream = StreamOf(handle);
  Require(stream.device == device(), cudaErrorInvalidResourceHandle);
  return stream;
}

Origin Runtime::origin() {
  carried_ = true;
  return {function_, backend().WatchesStreams() ? CallSite() : ""};
}

Origin Runtime::OriginWithCallSite() {
  carried_ = true;
  return {function_, CallSite()};
}

cudaError_t Runtime::Enter(const char* function, Faults faults, const void* frame) {
  RefuseHostLibraries();
  function_ = CalledAs() != nullptr ? CalledAs() : function;
  events_ = {};
  made_current_ = at_sight_ = false;
  was_in_use = in_use;
  if (CalledAs() == nullptr) {
    started = started || std::string_view(function) != "cudaRuntimeGetVersion";  // asks no driver
    if ((!in_use_here || !in_use) && OwnContext() == nullptr && !context().was_released &&
        NeedsContext(function, faults)) {
      made_current_ = in_use = in_use_here = true;
    }
  }
  carried_ = false;
  NoteLaunchedKernel("");
  if (faults == Faults::kNone) return cudaSuccess;
  if (InHostFunction::is_in()) return cudaErrorNotPermitted;
  if (transfers_.watches_arguments()) transfers_.LookAtArguments(*this, frame);
  Context& current = context();
  if (faults == Faults::kReports && current.pending != cudaSuccess && MeetsFault(function_)) {
    current.sticky = std::exchange(current.pending, cudaSuccess);
  }
  if (current.sticky == cudaSuccess) return SpoilByCallOf(function);
  const bool is_gone = current.sticky == cudaErrorDevicesUnavailable;
  if (is_gone ? BeginsWithOne(function, kOutlivingTheDevice) : OutlivesContext(function)) return cudaSuccess;
  // Driver functions check the context first; runtime functions first check for obviously invalid arguments.
  if (CalledAs() != nullptr) return current.sticky;
  lost_ = current.sticky;
  return cudaSuccess;
}

void Runtime::ReleasePrimary() {
  in_use = false;
  if (!faulted()) return;
  context().was_released = true;
  if (context().pending != cudaSuccess) context().sticky = context().pending;
  if (context().sticky != cudaErrorDevicesUnavailable) context().fault = context().sticky;
  context().sticky = cudaErrorDevicesUnavailable;
  context().pending = cudaSuccess;
}

void Runtime::NothingToDo() {
  const std::string_view function = function_;
  const bool looks = lost_ == cudaErrorDevicesUnavailable ? function.find("Symbol") == std::string_view::npos
                                                          : function == "cudaMemcpy";
  if (!looks) lost_ = cudaSuccess;
}

void Runtime::NeedNoContext() {
  if (made_current_) in_use = was_in_use, in_use_here = false;
}

void Runtime::Arrive() {
  if (std::exchange(arrived_, timeline_.clocks().waits()) == timeline_.clocks().waits()) return;
  host_calls_.CallAwaited(*this);
  transfers_.Arrive(*this);
}

cudaError_t Runtime::Leave(cudaError_t error) {
  const cudaError_t lost = std::exchange(lost_, cudaSuccess);
  const bool is_gone = lost == cudaErrorDevicesUnavailable;
  const bool is_of_driver = is_gone || error == cudaSuccess || error == cudaErrorInvalidValue ||
                            error == cudaErrorInvalidResourceHandle || error == cudaErrorIllegalState;
  const bool looks =
      is_gone ? BeginsWithOne(function_, kLookingOnGone) : at_sight_ || BeginsWithOne(function_, kLooking);
  if (lost != cudaSuccess && is_of_driver && (error == cudaSuccess || !looks)) {
    const bool tells = is_gone && context().was_released && BeginsWithOne(function_, kTellingOfRelease);
    error = tells ? cudaErrorContextIsDestroyed : lost;
  }
  Arrive();
  // That they have nowhere to write to is reported before the device is initialised.
  const bool is_missing = error == cudaErrorInvalidValue && IsOneOf(function_, kLookingFirst);
  if (is_missing) NeedNoContext();
  // "Not ready" is an answer, which an H100 does not store as an error.
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    LastError() = error;
    // Not noted: a kernel's fault, which has its own report and is returned by every later call; and the driver API's
    // errors, because it has no cudaGetLastError by which a program would check them.
    if (error != context().sticky && CalledAs() == nullptr) NoteFailure(function_, error);
  }
  // nvcc's own calls (__cuda…) are not the program's.
  if (!carried_ && std::string_view(function_).substr(0, 2) != "__") {
    try {
      backend().Note({function_, backend().WatchesStreams() ? CallSite() : "", events_}, error);
    } catch (...) {
      if (error == cudaSuccess) LastError() = error = Handle();
    }
  }
  return error;
}

cudaError_t Runtime::Handle() {
  try {
    throw;
  } catch (const ApiError& error) {
    return error.code;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    Say(std::string(runtime().function_) + ": " + error.what());
    return cudaErrorUnknown;
  }
}

Module* Runtime::AddModule() { return modules_.insert(std::make_unique<Module>()).first->get(); }

void Runtime::RemoveModule(Module* module) {
  for (const auto& [device, handle] : module->handles) beside_.WaitFor(*this, beside_.On(device));
  for (const auto& [device, handle] : module->handles) {
    if (const Context& on = contexts_[device]; on.pending == cudaSuccess && on.sticky == cudaSuccess) {
      backend(device).UnloadModule(handle);
    }
  }
  std::erase_if(kernels_, [module](const auto& entry) { return entry.second->module == module; });
  std::erase_if(symbols_, [module](const auto& entry) { return entry.second.module == module; });
  std::erase_if(modules_, [module](const auto& entry) { return entry.get() == module; });
}

void Runtime::RemoveDriversModules(const void* context) {
  if (context == nullptr) ++contexts_ended_;
  std::vector<Module*> all;
  for (const auto& module : modules_) {
    if (module->of_driver && module->context == context) all.push_back(module.get());
  }
  for (Module* const module : all) RemoveModule(module);
}

Module* Runtime::ModuleOf(const void* handle) {
  const auto found =
      std::find_if(modules_.begin(), modules_.end(), [handle](const auto& one) { return one.get() == handle; });
  Require(found != modules_.end(), cudaErrorInvalidResourceHandle);
  return found->get();
}

Kernel* Runtime::AddKernel(Module* module, const void* host, std::string name) {
  auto kernel = std::make_unique<Kernel>();
  kernel->module = module;
  kernel->name = std::move(name);
  // Every translation unit that instantiates a kernel template registers it, with the same address. After a shared
  // object is unloaded, another may reuse an address while the program still holds a handle of the old kernel.
  const void* const key = host != nullptr ? host : kernel.get();
  const auto known = kernels_.find(key);
  if (known != kernels_.end() && known->second->module->image_gone) {
    std::unique_ptr<Kernel> old = std::move(known->second);
    kernels_.erase(known);
    const void* const handle = old.get();
    kernels_.emplace(handle, std::move(old));
  }
  return kernels_.try_emplace(key, std::move(kernel)).first->second.get();
}

void Runtime::AddSymbol(Module* module, const void* host, Symbol symbol) {
  symbol.module = module;
  const auto known = symbols_.find(host);
  if (known != symbols_.end() && known->second.module->image_gone) symbols_.erase(known);
  symbols_.try_emplace(host, std::move(symbol));
}

void Runtime::ForgetImage(Module* module) {
  module->images.clear();
  module->image_gone = true;
  for (auto& [host, symbol] : symbols_) {
    if (symbol.module == module) symbol.managed_slot = nullptr;
  }
}

void Runtime::InitManaged(Module* module) {
  for (auto& [host, symbol] : symbols_) {
    if (symbol.module != module || symbol.managed_slot == nullptr || *symbol.managed_slot != nullptr) continue;
    if (!backend().HostSeesDeviceMemory()) {
      Say("__managed__ " + symbol.name + ": managed memory is not supported in submissions");
      throw ApiError{cudaErrorNotSupported};
    }
    const VariableInfo& variable = VariableOf(symbol);
    *symbol.managed_slot = reinterpret_cast<void*>(variable.address);
    managed_[variable.address] = {variable.bytes, device()};
  }
}

Kernel& Runtime::KernelOf(const void* function) {
  if (const auto found = kernels_.find(function); found != kernels_.end()) return *found->second;
  for (const auto& [host, kernel] : kernels_) {
    if (kernel.get() == function) return *kernel;
  }
  throw ApiError{function == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle};
}

const void* Runtime::HostFunctionOf(const Kernel& kernel) const {
  for (const auto& [host, own] : kernels_) {
    if (own.get() == &kernel) return host;
  }
  return &kernel;
}

ModuleHandle Runtime::Load(Module& module) {
  Require(module.error == cudaSuccess, module.error);
  Require(!module.images.empty(), cudaErrorNoKernelImageForDevice);
  ModuleHandle& handle = module.handles[device()];
  if (handle != 0) return handle;
  try {
    handle = backend().LoadModule(module.images);
  } catch (const std::exception& error) {
    Say(error.what());
    module.error = cudaErrorNoKernelImageForDevice;
    throw ApiError{module.error};
  }
  return handle;
}

const KernelInfo& Runtime::InfoOf(Kernel& kernel) {
  if (kernel.info == nullptr) {
    auto info = backend().FindKernel(Load(*kernel.module), kernel.name);
    Require(info.has_value(), cudaErrorInvalidDeviceFunction);
    kernel.info = std::make_unique<KernelInfo>(std::move(*info));
  }
  return *kernel.info;
}

Kernel* Runtime::FindKernel(Module* module, const std::string& name) {
  for (const auto& [host, kernel] : kernels_) {
    if (kernel->module == module && kernel->name == name) return kernel.get();
  }
  Kernel* const kernel = AddKernel(module, nullptr, name);
  try {
    InfoOf(*kernel);
  } catch (...) {
    kernels_.erase(kernel);
    throw;
  }
  return kernel;
}

const VariableInfo& Runtime::VariableOf(const void* host) {
  auto found = symbols_.find(host);
  // Host code identifies a __managed__ variable by its address.
  if (found == symbols_.end()) {
    found = std::find_if(symbols_.begin(), symbols_.end(), [host](const auto& entry) {
      return entry.second.managed_slot != nullptr && *entry.second.managed_slot == host && host != nullptr;
    });
  }
  Require(found != symbols_.end(), cudaErrorInvalidSymbol);
  return VariableOf(found->second);
}

const VariableInfo& Runtime::VariableOf(Symbol& symbol) {
  const auto known = symbol.info.find(device());
  if (known != symbol.info.end()) return known->second;
  auto info = backend().FindVariable(Load(*symbol.module), symbol.name);
  Require(info.has_value(), cudaErrorInvalidSymbol);
  return symbol.info[device()] = *info;
}

namespace {

// The entry whose range contains the address, else the end. `ranges`: by base; bytes(value): the length.
template <typename Map, typename Bytes>
auto Holding(const Map& ranges, uint64_t address, Bytes bytes) {
  auto range = ranges.upper_bound(address);
  if (range == ranges.begin()) return ranges.end();
  --range;
  return address - range->first < bytes(range->second) ? range : ranges.end();
}

}  // namespace

std::optional<std::pair<uintptr_t, Runtime::HostRange>> Runtime::HostRangeHolding(const void* address) const {
  const auto found =
      Holding(host_ranges_, reinterpret_cast<uintptr_t>(address), [](const HostRange& range) { return range.bytes; });
  return found == host_ranges_.end() ? std::nullopt : std::optional(std::pair(found->first, found->second));
}

bool Runtime::IsPinned(const void* address) const { return HostRangeHolding(address).has_value(); }

bool Runtime::IsManaged(uint64_t address) const {
  return Holding(managed_, address, [](const ManagedRange& range) { return range.bytes; }) != managed_.end();
}

bool Runtime::IsShared(uint64_t address) const {
  const auto range = Holding(host_ranges_, address, [](const HostRange& found) { return found.bytes; });
  return (range != host_ranges_.end() && range->second.kind == HostRange::Kind::kOnDevice) || IsManaged(address);
}

void Runtime::WaitForDevice(bool seen) {
  beside_.WaitFor(*this, beside_.On(device()));
  RequireNoFault();
  timeline_.SynchronizeDevice(device(), seen);
  if (!seen) transfers_.ForgetArguments();
}

void Runtime::RequireNoFault() {
  Context& current = context();
  if (current.pending == cudaSuccess) return;
  current.sticky = std::exchange(current.pending, cudaSuccess);
  throw ApiError{current.sticky};
}

void Runtime::Reset() {
  Context& current = context();
  beside_.Drop(device());
  timeline_.SynchronizeDevice(device());
  Arrive();
  mapped_.Clear();
  backend().Reset();
  if (faulted()) current.sticky = cudaErrorDevicesUnavailable;
  current.pending = current.fault = cudaSuccess;
  current.was_released = false;
  in_use = false;  // until a call recreates the primary context
  timeline_.Reset(device());
  std::erase_if(managed_, [this](const auto& range) { return range.second.device == device(); });
  for (const auto& module : modules_) module->handles.erase(device());
  for (auto& [host, symbol] : symbols_) {
    symbol.info.erase(device());
    if (symbol.managed_slot != nullptr) *symbol.managed_slot = nullptr;
  }
  // The program asks for the addresses of managed variables only once, so renew them.
  if (current.sticky == cudaSuccess && backend().HostSeesDeviceMemory()) {
    for (const auto& module : modules_) InitManaged(module.get());
  }
}

}  // namespace lockstep::vgpu::cudart
