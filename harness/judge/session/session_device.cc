#include "judge/session/session_device.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "vgpu/core/symbol_name.h"
#include "vgpu/cudart/binary/fatbin.h"
#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/memory/owner.h"

namespace lockstep::worker {

namespace {

constexpr size_t kMaxViolations = 100;
constexpr size_t kMostWatched = 64;  // of a call's own allocations, and of the program's variables

// The modelled time that the program sees, for example through cudaEventElapsedTime(), is rounded up to a power of two.
// A kernel could use its duration to tell the host the contents of the judge's buffers; with rounding that is at most
// about four bits, as much as the judge's own response time reveals. If the task is about times, they are rounded to
// steps instead.
double QuantizedMicroseconds(double microseconds, double step_us) {
  if (step_us > 0) return step_us * std::ceil(microseconds / step_us);
  constexpr double kLeast = 8;
  return microseconds <= kLeast ? kLeast : std::exp2(std::ceil(std::log2(microseconds)));
}

// For a copy or fill.
StreamedKind StreamedKindOf(ApiKind kind) {
  switch (kind) {
    case ApiKind::kHostToDevice:
      return StreamedKind::kToDevice;
    case ApiKind::kDeviceToHost:
      return StreamedKind::kToHost;
    case ApiKind::kFill:
      return StreamedKind::kFill;
    default:
      return StreamedKind::kOnDevice;
  }
}

Message Failed(std::string_view sentence) {
  Encoder encoder;
  encoder.PutString(sentence.substr(0, 4000));
  return {MessageType::kReply, kFailed, encoder.Take()};
}

// The range, base → bytes, that contains the address or ends there; end() if none does.
std::map<uint64_t, uint64_t>::const_iterator RangeOf(const std::map<uint64_t, uint64_t>& ranges, uint64_t address) {
  auto range = ranges.upper_bound(address);
  if (range == ranges.begin()) return ranges.end();
  --range;
  return address - range->first <= range->second ? range : ranges.end();
}

}  // namespace

// A request being answered.
struct DeviceServer::Request {
  MessageType type;
  int device;
  bool continued;
  Decoder in;
  Encoder out;
};

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

void DeviceServer::Watch(uint64_t base, uint64_t bytes) {
  vgpu::TouchedRange range(base, bytes);
  use_.buffers.emplace_back(range);
  device_.Watch(std::move(range));
}

// A result may be in a variable as well as in memory allocated by the call.
void DeviceServer::WatchVariables(vgpu::ModuleHandle module) {
  for (const vgpu::VariableInfo& variable : device_.Variables(module)) {
    if (variable.constant || watched_variables_ == kMostWatched) continue;
    Watch(variable.address, variable.bytes);
    ++watched_variables_;
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

MemoryUse DeviceServer::memory_use() const {
  MemoryUse use = use_;
  for (size_t k = 0; k < use.buffers.size() && k < device_.watched().size(); ++k) {
    use.buffers[k].by_kernels = device_.watched()[k];
  }
  return use;
}

// Counts a completed copy or fill.
void DeviceServer::Count(const ApiCall& done) {
  const int device = vgpu::OwnerOf(done.address);
  if (trace_.size() >= options_.trace_calls) {
  } else if (done.kind == ApiKind::kDeviceToDevice && vgpu::OwnerOf(done.from) != device) {
    log_.Moved(StreamedKind::kBetween, done.bytes, vgpu::OwnerOf(done.from), device);
  } else {
    log_.Moved(StreamedKindOf(done.kind), done.bytes, device);
  }
  const auto buffer_at = [&](uint64_t address) -> BufferUse* {
    for (BufferUse& buffer : use_.buffers) {
      if (address >= buffer.by_kernels.base && address - buffer.by_kernels.base < buffer.by_kernels.bytes) {
        return &buffer;
      }
    }
    return nullptr;
  };
  if (done.bytes == 0) return;
  BufferUse* buffer = buffer_at(done.address);
  const auto add = [&](HostUse& use) {
    if (use.bytes == 0)
      use.first = done.function + (done.call_site.empty() ? "" : ", called in " + done.call_site + ",");
    use.bytes += done.bytes;
    const vgpu::TouchedRange& range = device_.watched()[static_cast<size_t>(buffer - use_.buffers.data())];
    const bool late = std::any_of(range.stored.begin(), range.stored.end(), [](uint64_t word) { return word != 0; });
    if (late) use.late_bytes += done.bytes;
  };
  switch (done.kind) {
    case ApiKind::kHostToDevice:
      use_.bytes_to_device += done.bytes;
      if (buffer != nullptr) add(buffer->from_host);
      break;
    case ApiKind::kDeviceToHost:
      use_.bytes_to_host += done.bytes;
      if (buffer != nullptr) {
        add(buffer->to_host);
        uint64_t first = 0;
        const vgpu::TouchedRange& range = device_.watched()[static_cast<size_t>(buffer - use_.buffers.data())];
        const bool stored =
            vgpu::TouchedRange::Missing(range.stored, done.address - range.base, done.bytes, &first) == 0;
        if (stored) use_.bytes_from_kernels += done.bytes;
      }
      break;
    case ApiKind::kDeviceToDevice:
      use_.bytes_on_device += done.bytes;
      if (PlaceInBuffer(done.address) != PlaceInBuffer(done.from)) use_.bytes_moved += done.bytes;
      if (buffer != nullptr) add(buffer->from_device);
      if (BufferUse* source = buffer_at(done.from)) {
        const uint64_t from = done.from - source->by_kernels.base;
        if (done.bytes > source->largest_copy_bytes) {
          source->largest_copy_from = from;
          source->largest_copy_bytes = done.bytes;
        }
      }
      break;
    case ApiKind::kFill:
      if (buffer != nullptr) add(buffer->filled);
      break;
    default:
      break;
  }
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

void DeviceServer::Record(ApiCall call, bool continued) {
  call.stream = stream_;
  // The worker's claim that pieces belong together is accepted only if they form one transfer.
  if (continued && !trace_.empty()) {
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

WireOrigin DeviceServer::OriginOf(Decoder& in) const {
  WireOrigin origin = GetOrigin(in);
  for (std::string* text : {&origin.function, &origin.call_site}) {
    if (text->size() > options_.origin_bytes) text->resize(options_.origin_bytes);
    text->shrink_to_fit();
  }
  return origin;
}

const vgpu::KernelInfo* DeviceServer::FindOwnKernel(vgpu::ModuleHandle module, const std::string& name) {
  if (name.size() > options_.name_bytes) {
    PassedBound("the program has a kernel whose name is longer than " + std::to_string(options_.name_bytes) +
                " characters");
    return nullptr;
  }
  if (vgpu::LongestDemangled(name) > options_.demangled_bytes) {
    PassedBound("the program has a kernel whose name refers back to itself so often that it may never end");
    return nullptr;
  }
  return OwnsModule(module) ? device_.FindKernel(module, name) : nullptr;
}

Message DeviceServer::LoadModule(const Message& request) {
  const auto refuse = [&] {
    const std::string sentence = "the program loads more device code than the " +
                                 std::to_string(options_.ptx_bytes >> 20) + " MiB, or the " +
                                 std::to_string(options_.modules) + " modules, that it may";
    PassedBound(sentence);
    return Failed(sentence);
  };
  if (modules_loaded_ >= options_.modules) return refuse();
  try {
    std::vector<vgpu::cudart::Image> images = {request.payload};
    if (request.type == MessageType::kLoadLinked) {
      Decoder in(request.payload);
      images.resize(in.GetCount(sizeof(uint64_t)));
      for (vgpu::cudart::Image& image : images) image = in.GetBytes();
      in.Finish();
    }
    const std::vector<std::string> texts =
        vgpu::cudart::PtxOf(images, device_.profile(), options_.ptx_bytes - ptx_bytes_);
    // Counted even if loading fails: parsing was expensive.
    ++modules_loaded_;
    uint64_t text_bytes = 0;
    for (const std::string& text : texts) text_bytes += text.size();
    ptx_bytes_ += text_bytes;
    const vgpu::ModuleHandle module = vgpu::cudart::LoadTexts(device_, texts);
    modules_[module] = text_bytes;
    device_of_[module] = DeviceOf(request);
    for (const vgpu::VariableInfo& variable : device_.Variables(module)) {
      vgpu::GiveTo(variable.address, variable.bytes, device_of_[module]);
    }
    if (options_.editor != nullptr) texts_[module] = texts;
    const auto is_made = [&](const std::string& text) { return made_.contains(text); };
    if (!made_.empty() && !std::ranges::all_of(texts, is_made)) foreign_.insert(module);
    WatchVariables(module);
    Encoder encoder;
    encoder.Put(module);
    return {MessageType::kReply, 0, encoder.Take()};
  } catch (const WireError&) {
    throw;
  } catch (const vgpu::cudart::PtxTooLarge&) {
    return refuse();
  } catch (const std::runtime_error& error) {
    return Failed(error.what());
  }
}

void DeviceServer::AnswerTransfer(Request& request) {
  Decoder& in = request.in;
  const WireOrigin origin = OriginOf(in);
  ApiCall call;
  call.function = origin.function;
  call.call_site = origin.call_site;
  const bool is_copy = request.type != MessageType::kFill && !request.continued;
  const bool fails = is_copy && failing_.copy > 0 && --failing_.copy == 0;
  bool done = false;
  switch (request.type) {
    case MessageType::kWrite: {
      call.kind = ApiKind::kHostToDevice;
      call.address = in.Get<uint64_t>();
      const auto bytes = in.GetBytes();
      call.bytes = bytes.size();
      in.Finish();
      done = !fails && MayTouch(call.address, call.bytes, call.function) &&
             device_.Write(call.address, bytes.data(), bytes.size());
      if (done && use_.to_device.size() + bytes.size() <= most_kept_) {
        use_.to_device.insert(use_.to_device.end(), bytes.begin(), bytes.end());
      }
      request.out.Put(done);
      break;
    }
    case MessageType::kRead: {
      call.kind = ApiKind::kDeviceToHost;
      call.address = in.Get<uint64_t>();
      call.bytes = in.Get<uint64_t>();
      in.Finish();
      if (call.bytes > kTransferBytes) throw WireError("Read of " + std::to_string(call.bytes) + " bytes");
      std::span<const uint8_t> bytes;
      if (!fails && MayTouch(call.address, call.bytes, call.function)) {
        if (const void* place = device_.Look(call.address, call.bytes)) {
          bytes = {static_cast<const uint8_t*>(place), call.bytes};
          done = true;
        }
      }
      if (use_.to_host.size() + bytes.size() <= most_kept_) {
        use_.to_host.insert(use_.to_host.end(), bytes.begin(), bytes.end());
      }
      request.out.Put(done).PutBytes(bytes);
      break;
    }
    case MessageType::kCopy: {
      call.kind = ApiKind::kDeviceToDevice;
      call.address = in.Get<uint64_t>();
      call.from = in.Get<uint64_t>();
      call.bytes = in.Get<uint64_t>();
      in.Finish();
      done = !fails && MayTouch(call.address, call.bytes, call.function) &&
             MayTouch(call.from, call.bytes, call.function) && device_.Copy(call.address, call.from, call.bytes);
      request.out.Put(done);
      break;
    }
    default: {  // kFill
      call.kind = ApiKind::kFill;
      call.address = in.Get<uint64_t>();
      const auto value = in.Get<uint8_t>();
      call.bytes = in.Get<uint64_t>();
      in.Finish();
      done = MayTouch(call.address, call.bytes, call.function) && device_.Fill(call.address, value, call.bytes);
      request.out.Put(done);
      break;
    }
  }
  call.failed = !done;
  if (done) Count(call);
  Record(std::move(call), request.continued);
}

// NOLINTNEXTLINE(readability-function-size): a case for each request, and each is short
void DeviceServer::Answer(Request& request) {
  Decoder& in = request.in;
  Encoder& out = request.out;
  switch (request.type) {
    case MessageType::kUnloadModule: {
      const auto module = in.Get<vgpu::ModuleHandle>();
      in.Finish();
      if (const auto found = modules_.find(module); found != modules_.end()) {
        Unload(found->first, found->second);
        modules_.erase(found);
        // Their addresses may be reused for memory of the judge's.
        std::erase_if(variables_, [&](const auto& variable) { return !device_.Contains(variable.first, 1); });
      }
      break;
    }
    case MessageType::kFindKernel: {
      const auto module = in.Get<vgpu::ModuleHandle>();
      const std::string name = in.GetString(MaxPayloadBytes(MessageType::kFindKernel));
      in.Finish();
      const vgpu::KernelInfo* kernel = FindOwnKernel(module, name);
      out.Put(kernel != nullptr);
      if (kernel != nullptr) Put(out, *kernel);
      break;
    }
    case MessageType::kFindVariable: {
      const auto module = in.Get<vgpu::ModuleHandle>();
      const std::string name = in.GetString(MaxPayloadBytes(MessageType::kFindVariable));
      in.Finish();
      std::optional<vgpu::VariableInfo> variable;
      if (OwnsModule(module)) variable = device_.FindVariable(module, name);
      out.Put(variable.has_value());
      if (variable) {
        variables_[variable->address] = variable->bytes;
        Put(out, *variable);
      }
      break;
    }
    case MessageType::kAllocate: {
      const WireOrigin origin = OriginOf(in);
      const auto bytes = in.Get<uint64_t>();
      in.Finish();
      ApiCall call{ApiKind::kAllocate, origin.function, origin.call_site, "", bytes, 0, false, 0};
      const bool fails = failing_.allocation > 0 && --failing_.allocation == 0;
      if (owned_.size() >= options_.allocations) {
        PassedBound("the program holds " + std::to_string(options_.allocations) +
                    " allocations of device memory at one time, and asks for more");
      } else if (!fails && bytes <= options_.memory_bytes - owned_bytes_) {
        call.address =
            device_.Allocate(bytes,
                             origin.function + " #" + std::to_string(++allocations_made_) + " by the submission" +
                                 (options_.devices > 1 ? ", on device " + std::to_string(request.device) : ""),
                             origin.call_site);
        if (call.address != 0) vgpu::GiveTo(call.address, bytes, request.device);
      }
      call.failed = call.address == 0;
      out.Put(call.address);
      if (!call.failed) {
        owned_[call.address] = bytes;
        owned_bytes_ += bytes;
        if (use_.buffers.size() < use_.passed + watched_variables_ + kMostWatched) Watch(call.address, bytes);
      }
      Record(std::move(call));
      break;
    }
    case MessageType::kFree: {
      const WireOrigin origin = OriginOf(in);
      const auto address = in.Get<uint64_t>();
      in.Finish();
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
      out.Put(freed);
      Record({.kind = ApiKind::kFree,
              .function = origin.function,
              .call_site = origin.call_site,
              .address = address,
              .failed = !freed});
      break;
    }
    case MessageType::kContains: {
      const auto address = in.Get<uint64_t>();
      const auto bytes = in.Get<uint64_t>();
      in.Finish();
      // Not for memory that a kernel got from malloc(): the answer would leak a kernel's knowledge to the host.
      const auto allocation = device_.FindAllocation(address);
      const bool passed = allocation && passed_.contains(allocation->base);
      out.Put((passed || IsOwn(address, 0)) && vgpu::OwnerOf(address) == request.device &&
              device_.Contains(address, bytes));
      break;
    }
    case MessageType::kFreeBytes:
      in.Finish();
      out.Put(std::min(device_.FreeBytes(), options_.memory_bytes - owned_bytes_));
      break;
    case MessageType::kLaunch: {
      const WireOrigin origin = OriginOf(in);
      const vgpu::LaunchSpec launch = GetLaunchSpec(in);
      in.Finish();
      const vgpu::KernelInfo* kernel = FindOwnKernel(launch.module, launch.kernel);
      if (kernel == nullptr || device_of_[launch.module] != request.device) {
        throw WireError("launch of a kernel that was never loaded");
      }
      if (launch.parameters.size() != kernel->parameter_bytes) throw WireError("launch with too few parameters");
      const size_t launches = device_.launches().size();
      std::optional<vgpu::RunningOn> running;
      if (options_.devices > 1) running.emplace(request.device);
      vgpu::LaunchResult result =
          options_.editor == nullptr
              ? device_.Launch(launch)
              : options_.editor->Launch(device_, launch, texts_[launch.module], origin.call_site);
      if (trace_.size() < options_.trace_calls)
        log_.Launched(launches, device_.launches().size() - launches, request.device);
      result.microseconds = QuantizedMicroseconds(result.microseconds, time_step_us_);
      Put(out, result);
      Record({.kind = ApiKind::kLaunch,
              .function = origin.function,
              .call_site = origin.call_site,
              .kernel = launch.kernel,
              .failed = result.error != vgpu::LaunchError::kNone,
              .error = static_cast<int>(result.error),
              .grid = launch.grid,
              .block = launch.block,
              .kernel_name = kernel->demangled,
              .foreign = foreign_.contains(launch.module)});
      break;
    }
    case MessageType::kLibrary: {
      const WireOrigin origin = OriginOf(in);
      const vgpu::LibraryOperation operation = GetLibraryOperation(in);
      in.Finish();
      const bool is_given = operation.kind == vgpu::LibraryKind::kFft ? options_.cufft : options_.cublas;
      if (!is_given) throw WireError("work of a library that the assignment does not give");
      if (const std::string why = vgpu::WhyNot(operation); !why.empty()) throw WireError("a library's work: " + why);
      const size_t launches = device_.launches().size();
      vgpu::LaunchResult result = vgpu::DoOperation(device_, origin.call_site, operation);
      if (trace_.size() < options_.trace_calls)
        log_.Launched(launches, device_.launches().size() - launches, request.device);
      result.microseconds = QuantizedMicroseconds(result.microseconds, time_step_us_);
      Put(out, result);
      const std::string name = vgpu::NameOf(operation);
      Record({.kind = ApiKind::kLaunch,
              .function = name,
              .call_site = origin.call_site,
              .kernel = name,
              .failed = result.error != vgpu::LaunchError::kNone,
              .error = static_cast<int>(result.error),
              .kernel_name = name});
      break;
    }
    case MessageType::kMaxBlocksPerSm: {
      const vgpu::KernelInfo kernel = GetKernelInfo(in);
      const int threads = in.Get<int>();
      const auto dynamic_shared = in.Get<uint64_t>();
      in.Finish();
      out.Put(threads > 0 ? device_.MaxBlocksPerSm(kernel, threads, dynamic_shared) : 0);
      break;
    }
    case MessageType::kProfile:
      in.Finish();
      out.PutString(device_.profile().id);
      break;
    case MessageType::kReset: {
      in.Finish();
      FreeAll(request.device);
      Record({.kind = ApiKind::kReset, .function = "cudaDeviceReset"});
      break;
    }
    default:
      AnswerTransfer(request);
      break;
  }
}

// Stream positions of the worker's operations; not answered.
bool DeviceServer::AnswersStreams(Request& request) {
  switch (request.type) {
    case MessageType::kBeginOperation: {
      vgpu::StreamPoint point = GetStreamPoint(request.in);
      request.in.Finish();
      if (std::max(point.before.size(), point.waited.size()) > options_.streams) {
        PassedBound("the program has more than " + std::to_string(options_.streams) + " streams");
        return true;
      }
      for (std::string* text : {&point.stream, &point.function, &point.call_site}) {
        if (text->size() > options_.origin_bytes) text->resize(options_.origin_bytes);
      }
      log_.Begin(point);
      stream_ = point.stream;
      device_.BeginStreamOperation(std::move(point));
      return true;
    }
    case MessageType::kEndOperation:
      request.in.Finish();
      log_.End();
      stream_.clear();
      device_.EndStreamOperation();
      return true;
    case MessageType::kHostRace: {
      const vgpu::HostRace race = GetHostRace(request.in);
      request.in.Finish();
      device_.Report(race);
      return true;
    }
    default:
      return false;
  }
}

Message DeviceServer::Serve(const Message& message) {
  if (message.type == MessageType::kLoadModule || message.type == MessageType::kLoadLinked) return LoadModule(message);
  Request request{message.type, DeviceOf(message), (message.flags & kContinued) != 0, Decoder(message.payload),
                  Encoder()};
  if (message.type == MessageType::kNote) {
    const WireOrigin origin = OriginOf(request.in);
    const auto error = request.in.Get<int>();
    request.in.Finish();
    Record({.kind = ApiKind::kOther,
            .function = origin.function,
            .call_site = origin.call_site,
            .failed = error != 0,
            .error = error});
    return {};
  }
  if (AnswersStreams(request)) return {};
  Answer(request);
  return {MessageType::kReply, 0, request.out.Take()};
}

int DeviceServer::DeviceOf(const Message& request) const {
  const int device = request.flags >> kDeviceShift;
  if (device >= options_.devices) throw WireError("a request to device " + std::to_string(device));
  return device;
}

// Its memory is available again: a program may reset the device in each call, and load its code again.
void DeviceServer::Unload(vgpu::ModuleHandle module, uint64_t text_bytes) {
  device_.UnloadModule(module);
  --modules_loaded_;
  ptx_bytes_ -= text_bytes;
}

// Of one device, or of all.
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
