#include "judge/session/session_device.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "vgpu/cudart/binary/fatbin.h"
#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/memory/owner.h"

namespace lockstep::worker {

namespace {

constexpr size_t kMaxViolations = 100;

// The modelled time that the program sees, for example through cudaEventElapsedTime(), is rounded up to a power of two.
// A kernel could use its duration to tell the host the contents of the judge's buffers; with rounding that is at most
// about four bits, as much as the judge's own response time reveals. If the task is about times, they are rounded to
// steps instead.
double QuantizedMicroseconds(double microseconds, double step_us) {
  if (step_us > 0) return step_us * std::ceil(microseconds / step_us);
  constexpr double kLeast = 8;
  return microseconds <= kLeast ? kLeast : std::exp2(std::ceil(std::log2(microseconds)));
}

// A request that fails with this sentence.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The range, base → bytes, that contains the address or ends there; end() if none does.
std::map<uint64_t, uint64_t>::const_iterator RangeOf(const std::map<uint64_t, uint64_t>& ranges, uint64_t address) {
  auto range = ranges.upper_bound(address);
  if (range == ranges.begin()) return ranges.end();
  --range;
  return address - range->first <= range->second ? range : ranges.end();
}

}  // namespace

DeviceServer::DeviceServer(vgpu::Device& device, DeviceServerOptions options)
    : device_(device), options_(std::move(options)) {
  if (options_.image.empty()) return;
  const vgpu::cudart::Image image = options_.image;
  for (std::string& text : vgpu::cudart::PtxOf({&image, 1}, device_.profile(), options_.ptx_bytes)) {
    made_.insert(std::move(text));
  }
}

void DeviceServer::BeginCall(std::span<const Argument> arguments) {
  failing_ = std::exchange(failing_next_, {});
  held_before_ = owned_bytes_;
  passed_.clear();
  allocations_made_ = 0;  // names count within a call and exclude earlier work
  for (const Argument& argument : arguments) {
    if (argument.kind != ArgumentKind::kDevicePointer) continue;
    if (const auto allocation = device_.FindAllocation(argument.bits)) {
      const auto passed = passed_.emplace(allocation->base, argument.bits).first;
      passed->second = std::min(passed->second, argument.bits);
    }
  }
  device_.ClearWatched();
  use_ = {};
  for (const auto& [base, given] : passed_) Watch(base, device_.FindAllocation(base)->bytes);
  use_.passed = use_.buffers.size();
  watched_variables_ = 0;
  for (const auto& [module, text_bytes] : modules_) WatchVariables(module);
  most_kept_ = 0;
  for (const Argument& argument : arguments) {
    if (argument.kind == ArgumentKind::kHostArray) most_kept_ += 2 * argument.bytes.size();
  }
}

void DeviceServer::ClearTrace() {
  trace_.clear();
  log_.Clear();
  use_ = {};
  device_.ClearWatched();
  trace_dropped_ = 0;
  violations_.clear();
}

std::vector<vgpu::Device::AllocationInfo> DeviceServer::Allocations() const {
  std::vector<vgpu::Device::AllocationInfo> allocations;
  for (const auto& [base, bytes] : owned_) {
    if (auto allocation = device_.FindAllocation(base)) allocations.push_back(std::move(*allocation));
  }
  return allocations;
}

void DeviceServer::Print(std::string_view text) {
  printed_.append(text.substr(0, options_.print_bytes - std::min<uint64_t>(options_.print_bytes, printed_.size())));
}

void DeviceServer::Record(ApiCall call) {
  call.stream = stream_;
  // The worker's claim that pieces belong together is accepted only if they form one transfer.
  if (continued_ && !trace_.empty()) {
    ApiCall& whole = trace_.back();
    if (whole.kind == call.kind && whole.function == call.function && !whole.failed && whole.bytes > 0 &&
        whole.bytes % kTransferBytes == 0 && call.address == whole.address + whole.bytes) {
      if (!call.failed) whole.bytes += call.bytes;
      whole.failed |= call.failed;
      return;
    }
  }
  if (trace_.size() == options_.trace_calls) {
    if (trace_dropped_++ == 0) {
      PassedBound("the program made more than " + std::to_string(options_.trace_calls) + " CUDA calls");
    }
    return;
  }
  trace_.push_back(std::move(call));
}

uint64_t DeviceServer::PlaceInBuffer(uint64_t address) const {
  const auto place = [&](const std::map<uint64_t, uint64_t>& ranges) -> std::optional<uint64_t> {
    const auto range = RangeOf(ranges, address);
    if (range == ranges.end()) return std::nullopt;
    return address - range->first;
  };
  if (const auto own = place(owned_)) return *own;
  if (const auto variable = place(variables_)) return *variable;
  const auto allocation = device_.FindAllocation(address);
  if (!allocation) return address;
  const auto passed = passed_.find(allocation->base);
  return address - (passed != passed_.end() ? passed->second : allocation->base);
}

bool DeviceServer::IsConstant(uint64_t address) const {
  return std::ranges::any_of(modules_, [&](const auto& module) {
    return std::ranges::any_of(device_.Variables(module.first), [&](const vgpu::VariableInfo& variable) {
      return variable.constant && address - variable.address < variable.bytes;
    });
  });
}

bool DeviceServer::IsOwn(uint64_t address, uint64_t bytes) const {
  const auto within = [&](const std::map<uint64_t, uint64_t>& ranges) {
    const auto range = RangeOf(ranges, address);
    return range != ranges.end() && bytes <= range->second - (address - range->first);
  };
  return within(owned_) || within(variables_);
}

bool DeviceServer::MayTouch(uint64_t address, uint64_t bytes, const std::string& function) {
  if (IsOwn(address, bytes)) return true;
  const auto allocation = device_.FindAllocation(address);
  // Not in a live allocation: the device refuses it, as hardware would.
  if (!allocation || address < allocation->base || address - allocation->base >= allocation->bytes) return true;
  if (passed_.count(allocation->base) != 0) return true;
  if (owned_.count(allocation->base) != 0 || variables_.count(allocation->base) != 0) return true;  // runs past its end
  if (violations_.size() < kMaxViolations) {
    violations_.push_back(function + " on " + std::to_string(bytes) +
                          " bytes of device memory that do not belong to this call");
  }
  return false;
}

void DeviceServer::PassedBound(const std::string& sentence) {
  if (violations_.size() < kMaxViolations &&
      std::find(violations_.begin(), violations_.end(), sentence) == violations_.end()) {
    violations_.push_back(sentence);
  }
}

void DeviceServer::Shorten(WireOrigin& origin) const {
  for (std::string* text : {&origin.function, &origin.call_site}) {
    if (text->size() > options_.origin_bytes) text->resize(options_.origin_bytes);
    text->shrink_to_fit();
  }
}

void DeviceServer::Shorten(vgpu::StreamPoint& point) const {
  for (std::string* text : {&point.stream, &point.function, &point.call_site}) {
    if (text->size() > options_.origin_bytes) text->resize(options_.origin_bytes);
  }
}

const vgpu::KernelInfo* DeviceServer::FindOwnKernel(vgpu::ModuleHandle module, const std::string& name) {
  if (name.size() > options_.name_bytes) {
    PassedBound("the program has a kernel whose name is longer than " + std::to_string(options_.name_bytes) +
                " characters");
    return nullptr;
  }
  return OwnsModule(module) ? device_.FindKernel(module, name) : nullptr;
}

template <class Answer, class... Field>
Message DeviceServer::AnswerBy(Answer (DeviceServer::*act)(Field...), const Message& request) {
  Reader in(request.payload);
  std::tuple<std::remove_cvref_t<Field>...> fields{in.Read<std::remove_cvref_t<Field>>()...};
  in.Finish();
  continued_ = (request.flags & kContinued) != 0;
  asked_ = request.flags >> kDeviceShift;
  if (asked_ >= options_.devices) throw WireError("a request to device " + std::to_string(asked_));
  const auto call = [&](auto&... field) {
    (Shorten(field), ...);
    return (this->*act)(std::move(field)...);
  };
  if constexpr (std::is_same_v<Answer, Unanswered>) {
    std::apply(call, fields);
    return {};
  } else if constexpr (std::is_void_v<Answer>) {
    std::apply(call, fields);
    return {MessageType::kReply, 0, {}};
  } else {
    return {MessageType::kReply, 0, Encoded(std::apply(call, fields))};
  }
}

Message DeviceServer::Serve(const Message& request) {
  try {
    switch (request.type) {
#define REQUEST(name, ...)   \
  case MessageType::k##name: \
    return AnswerBy(&DeviceServer::name, request);
#include "protocol/messages.inc"
      default:
        throw WireError(std::string(NameOf(request.type)) + " is no request");
    }
  } catch (const Refused& refused) {
    return {MessageType::kReply, kFailed, Encoded(std::string(refused.what()).substr(0, 4000))};
  }
}

vgpu::ModuleHandle DeviceServer::LoadModule(WholeRest image) { return Load({&image.bytes, 1}); }
vgpu::ModuleHandle DeviceServer::LoadLinked(const std::vector<std::span<const uint8_t>>& images) {
  return Load(images);
}

vgpu::ModuleHandle DeviceServer::Load(std::span<const std::span<const uint8_t>> images) {
  const auto refuse = [&]() -> vgpu::ModuleHandle {
    const std::string sentence = "the program loads more device code than the " +
                                 std::to_string(options_.ptx_bytes >> 20) + " MiB, or the " +
                                 std::to_string(options_.modules) + " modules, that it may";
    PassedBound(sentence);
    throw Refused(sentence);
  };
  if (modules_loaded_ >= options_.modules) return refuse();
  try {
    const std::vector<std::string> texts =
        vgpu::cudart::PtxOf(images, device_.profile(), options_.ptx_bytes - ptx_bytes_);
    // Counted even if loading fails: parsing was expensive.
    ++modules_loaded_;
    uint64_t text_bytes = 0;
    for (const std::string& text : texts) text_bytes += text.size();
    ptx_bytes_ += text_bytes;
    const vgpu::ModuleHandle module = vgpu::cudart::LoadTexts(device_, texts);
    modules_[module] = text_bytes;
    device_of_[module] = asked_;
    for (const vgpu::VariableInfo& variable : device_.Variables(module)) {
      vgpu::GiveTo(variable.address, variable.bytes, asked_);
    }
    if (options_.editor != nullptr) texts_[module] = texts;
    const auto is_made = [&](const std::string& text) { return made_.contains(text); };
    if (!made_.empty() && !std::ranges::all_of(texts, is_made)) foreign_.insert(module);
    WatchVariables(module);
    return module;
  } catch (const vgpu::cudart::PtxTooLarge&) {
    return refuse();
  } catch (const std::runtime_error& error) {
    throw Refused(error.what());
  }
}

void DeviceServer::UnloadModule(vgpu::ModuleHandle module) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return;
  Unload(found->first, found->second);
  modules_.erase(found);
  // The addresses of unloaded variables may be reused for the judge's memory.
  std::erase_if(variables_, [&](const auto& variable) { return !device_.Contains(variable.first, 1); });
}

std::optional<vgpu::KernelInfo> DeviceServer::FindKernel(vgpu::ModuleHandle module, const SymbolName& name) {
  const vgpu::KernelInfo* kernel = FindOwnKernel(module, name.name);
  return kernel == nullptr ? std::nullopt : std::optional(*kernel);
}

std::optional<vgpu::VariableInfo> DeviceServer::FindVariable(vgpu::ModuleHandle module, const SymbolName& name) {
  if (!OwnsModule(module)) return std::nullopt;
  const std::optional<vgpu::VariableInfo> variable = device_.FindVariable(module, name.name);
  if (variable) variables_[variable->address] = variable->bytes;
  return variable;
}

uint64_t DeviceServer::Allocate(const WireOrigin& origin, uint64_t bytes) {
  ApiCall call{ApiKind::kAllocate, origin.function, origin.call_site, "", bytes, 0, false, 0};
  const bool fails = failing_.allocation > 0 && --failing_.allocation == 0;
  if (owned_.size() >= options_.allocations) {
    PassedBound("the program holds " + std::to_string(options_.allocations) +
                " allocations of device memory at one time, and asks for more");
  } else if (!fails && bytes <= options_.memory_bytes - owned_bytes_) {
    call.address =
        device_.Allocate(bytes,
                         origin.function + " #" + std::to_string(++allocations_made_) + " by the submission" +
                             (options_.devices > 1 ? ", on device " + std::to_string(asked_) : ""),
                         origin.call_site);
    if (call.address != 0) vgpu::GiveTo(call.address, bytes, asked_);
  }
  call.failed = call.address == 0;
  if (!call.failed) {
    owned_[call.address] = bytes;
    owned_bytes_ += bytes;
    if (use_.buffers.size() < use_.passed + watched_variables_ + kMostWatched) Watch(call.address, bytes);
  }
  const uint64_t address = call.address;
  Record(std::move(call));
  return address;
}

bool DeviceServer::Free(const WireOrigin& origin, uint64_t address) {
  const auto found = owned_.find(address);
  bool freed = false;
  if (found != owned_.end()) {
    freed = device_.Free(address);
    owned_bytes_ -= found->second;
    owned_.erase(found);
    device_.Unwatch(address);
    std::erase_if(use_.buffers, [=](const BufferUse& buffer) { return buffer.by_kernels.base == address; });
  } else {
    MayTouch(address, 0, origin.function);
  }
  Record({.kind = ApiKind::kFree,
          .function = origin.function,
          .call_site = origin.call_site,
          .address = address,
          .failed = !freed});
  return freed;
}

bool DeviceServer::Transferred(ApiCall call, bool done) {
  call.failed = !done;
  if (done) Count(call);
  Record(std::move(call));
  return done;
}

bool DeviceServer::Write(const WireOrigin& origin, uint64_t to, Tail tail) {
  const std::span<const uint8_t> bytes = tail.bytes;
  const bool done =
      MayTouch(to, bytes.size(), origin.function) && device_.Write(to, bytes.data(), bytes.size()) && !CopyFails();
  if (done && use_.to_device.size() + bytes.size() <= most_kept_) {
    use_.to_device.insert(use_.to_device.end(), bytes.begin(), bytes.end());
  }
  return Transferred({ApiKind::kHostToDevice, origin.function, origin.call_site, "", bytes.size(), to}, done);
}

ReadBytes DeviceServer::Read(const WireOrigin& origin, uint64_t from, uint64_t bytes) {
  if (bytes > kTransferBytes) throw WireError("Read of " + std::to_string(bytes) + " bytes");
  std::span<const uint8_t> found;
  const void* const place =
      !CopyFails() && MayTouch(from, bytes, origin.function) ? device_.Look(from, bytes) : nullptr;
  if (place != nullptr) found = {static_cast<const uint8_t*>(place), bytes};
  KeepLast(use_.to_host, found.data(), found.size(), most_kept_);
  Transferred({ApiKind::kDeviceToHost, origin.function, origin.call_site, "", bytes, from}, place != nullptr);
  return {place != nullptr, found};
}

bool DeviceServer::Copy(const WireOrigin& origin, uint64_t to, uint64_t from, uint64_t bytes) {
  const bool done = MayTouch(to, bytes, origin.function) && MayTouch(from, bytes, origin.function) &&
                    device_.Copy(to, from, bytes) && !CopyFails();
  ApiCall call{ApiKind::kDeviceToDevice, origin.function, origin.call_site, "", bytes, to};
  call.from = from;
  return Transferred(std::move(call), done);
}

bool DeviceServer::Fill(const WireOrigin& origin, uint64_t to, uint8_t value, uint64_t bytes) {
  const bool done = MayTouch(to, bytes, origin.function) && device_.Fill(to, value, bytes);
  return Transferred({ApiKind::kFill, origin.function, origin.call_site, "", bytes, to}, done);
}

bool DeviceServer::Contains(uint64_t address, uint64_t bytes) {
  // Not for memory that a kernel got from malloc(): the answer would leak a kernel's knowledge to the host.
  const auto allocation = device_.FindAllocation(address);
  const bool passed = allocation && passed_.contains(allocation->base);
  return (passed || IsOwn(address, 0)) && vgpu::OwnerOf(address) == asked_ && device_.Contains(address, bytes);
}

uint64_t DeviceServer::FreeBytes() { return std::min(device_.FreeBytes(), options_.memory_bytes - owned_bytes_); }

vgpu::LaunchResult DeviceServer::Launched(vgpu::LaunchResult result, size_t launches_before, ApiCall call) {
  if (trace_.size() < options_.trace_calls) {
    log_.Launched(launches_before, device_.launches().size() - launches_before, asked_);
  }
  result.microseconds = QuantizedMicroseconds(result.microseconds, time_step_us_);
  call.failed = result.error != vgpu::LaunchError::kNone;
  call.error = static_cast<int>(result.error);
  Record(std::move(call));
  return result;
}

vgpu::LaunchResult DeviceServer::Launch(const WireOrigin& origin, const vgpu::LaunchSpec& launch) {
  const vgpu::KernelInfo* kernel = FindOwnKernel(launch.module, launch.kernel);
  if (kernel == nullptr || device_of_[launch.module] != asked_) {
    throw WireError("launch of a kernel that was never loaded");
  }
  if (launch.parameters.size() != kernel->parameter_bytes) throw WireError("launch with too few parameters");
  const size_t launches = device_.launches().size();
  std::optional<vgpu::RunningOn> running;
  if (options_.devices > 1) running.emplace(asked_);
  const bool fails = failing_.launch > 0 && --failing_.launch == 0;
  const vgpu::LaunchResult result =
      fails                        ? vgpu::LaunchResult{.error = vgpu::LaunchError::kTooManyResources}
      : options_.editor == nullptr ? device_.Launch(launch)
                                   : options_.editor->Launch(device_, launch, texts_[launch.module], origin.call_site);
  return Launched(result, launches,
                  {.kind = ApiKind::kLaunch,
                   .function = origin.function,
                   .call_site = origin.call_site,
                   .kernel = launch.kernel,
                   .grid = launch.grid,
                   .block = launch.block,
                   .kernel_name = kernel->demangled,
                   .foreign = foreign_.contains(launch.module)});
}

vgpu::LaunchResult DeviceServer::Library(const WireOrigin& origin, const vgpu::LibraryOperation& operation) {
  const bool is_given = operation.kind == vgpu::LibraryKind::kFft ? options_.cufft : options_.cublas;
  if (!is_given) throw WireError("work of a library that the assignment does not give");
  if (const std::string why = vgpu::WhyNot(operation); !why.empty()) throw WireError("a library's work: " + why);
  const size_t launches = device_.launches().size();
  const vgpu::LaunchResult result = vgpu::DoOperation(device_, origin.call_site, operation);
  if (operation.kind == vgpu::LibraryKind::kCopy && result.error == vgpu::LaunchError::kNone) {
    use_.bytes_on_device += static_cast<uint64_t>(operation.n) * (operation.is_double ? sizeof(double) : sizeof(float));
  }
  const std::string name = vgpu::NameOf(operation);
  return Launched(
      result, launches,
      {.kind = ApiKind::kLaunch, .function = name, .call_site = origin.call_site, .kernel = name, .kernel_name = name});
}

int32_t DeviceServer::MaxBlocksPerSm(const vgpu::KernelInfo& kernel, int32_t threads, uint64_t dynamic_shared) {
  return threads > 0 ? device_.MaxBlocksPerSm(kernel, threads, dynamic_shared) : 0;
}

std::string DeviceServer::Profile() { return device_.profile().id; }

void DeviceServer::Reset() {
  FreeAll(asked_);
  Record({.kind = ApiKind::kReset, .function = "cudaDeviceReset"});
}

Unanswered DeviceServer::Note(const WireOrigin& origin, int32_t error) {
  Record({.kind = ApiKind::kOther,
          .function = origin.function,
          .call_site = origin.call_site,
          .failed = error != 0,
          .error = error,
          .events = origin.events});
  return {};
}

// Stream positions of the worker's operations.
Unanswered DeviceServer::BeginOperation(vgpu::StreamPoint point) {
  if (std::max(point.before.size(), point.waited.size()) > options_.streams) {
    PassedBound("the program has more than " + std::to_string(options_.streams) + " streams");
    return {};
  }
  log_.Begin(point);
  stream_ = point.stream;
  device_.BeginStreamOperation(std::move(point));
  return {};
}

Unanswered DeviceServer::EndOperation() {
  log_.End();
  stream_.clear();
  device_.EndStreamOperation();
  return {};
}

Unanswered DeviceServer::HostRace(const vgpu::HostRace& race) {
  device_.Report(race);
  return {};
}

// Unloading gives back a module's share of the limits: a program may reset the device in each call, and load again.
void DeviceServer::Unload(vgpu::ModuleHandle module, uint64_t text_bytes) {
  device_.UnloadModule(module);
  --modules_loaded_;
  ptx_bytes_ -= text_bytes;
}

// Frees the memory and unloads the modules of one device, or of all.
void DeviceServer::FreeAll(std::optional<int> device) {
  // Back to front: the device stores them in this order, and erasing at the front moves all the others.
  std::vector<uint64_t> bases;
  for (auto owned = owned_.rbegin(); owned != owned_.rend(); ++owned) {
    if (!device || vgpu::OwnerOf(owned->first) == *device) bases.push_back(owned->first);
  }
  for (const uint64_t base : bases) {
    device_.Free(base);
    owned_bytes_ -= owned_.at(base);
    owned_.erase(base);
  }
  std::erase_if(modules_, [&](const auto& module) {
    if (device && device_of_[module.first] != *device) return false;
    Unload(module.first, module.second);
    foreign_.erase(module.first);
    return true;
  });
  std::erase_if(variables_, [&](const auto& variable) { return !device_.Contains(variable.first, 1); });
}

void DeviceServer::EndSession() {
  device_.ForgetStreams();
  FreeAll();
  device_.FreeKernelHeap();
  passed_.clear();
  allocations_made_ = ptx_bytes_ = modules_loaded_ = 0;
}

}  // namespace lockstep::worker
