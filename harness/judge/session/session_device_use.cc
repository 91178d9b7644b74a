// Counts what a call does to memory: the part of DeviceServer that fills the structures of buffer_use.h.
#include <algorithm>

#include "judge/session/session_device.h"
#include "vgpu/memory/owner.h"

namespace lockstep::worker {

namespace {

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

}  // namespace

void KeepLast(std::vector<uint8_t>& kept, const uint8_t* data, uint64_t bytes, uint64_t least) {
  if (least == 0) return;
  kept.insert(kept.end(), data, data + bytes);
  if (kept.size() > 2 * least) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(least));
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

MemoryUse DeviceServer::memory_use() const {
  MemoryUse use = use_;
  for (size_t k = 0; k < use.buffers.size() && k < device_.watched().size(); ++k) {
    use.buffers[k].by_kernels = device_.watched()[k];
  }
  return use;
}

const vgpu::TouchedRange* DeviceServer::WatchedAt(uint64_t address) const {
  const auto found = std::ranges::find_if(
      device_.watched(), [=](const vgpu::TouchedRange& range) { return address - range.base < range.bytes; });
  return found == device_.watched().end() ? nullptr : &*found;
}

// Whether kernels stored all bytes of the range, and no copy or fill has overwritten them.
bool DeviceServer::KernelsStored(uint64_t address, uint64_t bytes) const {
  const vgpu::TouchedRange* const range = WatchedAt(address);
  uint64_t first = 0;
  return range != nullptr && vgpu::TouchedRange::Missing(range->stored, address - range->base, bytes, &first) == 0;
}

// Keeps the data of a copy to the host or to another device.
void DeviceServer::KeepOutput(uint64_t from, uint64_t bytes) {
  const auto* const data = static_cast<const uint8_t*>(device_.Look(from, bytes));
  if (options_.devices == 1 || data == nullptr) return;
  DeviceCopies& output = use_.copies[vgpu::OwnerOf(from)];
  KeepLast(output.all, data, bytes, most_kept_);
  constexpr uint64_t kSector = vgpu::TouchedRange::kSectorBytes;
  for (uint64_t done = 0, next = 0; done < bytes; done = next) {
    next = std::min(bytes, done + kSector - (from + done) % kSector);
    if (KernelsStored(from + done, next - done)) {
      KeepLast(output.stored, data + done, next - done, most_kept_);
    }
  }
}

// Keeps the data of a copy from the host or from another device.
void DeviceServer::KeepReceived(uint64_t to, uint64_t bytes) {
  const auto* const data = static_cast<const uint8_t*>(device_.Look(to, bytes));
  if (options_.devices == 1 || data == nullptr) return;
  std::vector<uint8_t>& received = use_.copies[vgpu::OwnerOf(to)].received;
  constexpr uint64_t kOften = 4;  // the program may copy a row in each step
  if (received.size() + bytes <= kOften * most_kept_) received.insert(received.end(), data, data + bytes);
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
    const vgpu::TouchedRange& range = *WatchedAt(done.address);
    const bool late = std::any_of(range.stored.begin(), range.stored.end(), [](uint64_t word) { return word != 0; });
    if (late) use.late_bytes += done.bytes;
  };
  switch (done.kind) {
    case ApiKind::kHostToDevice:
      use_.bytes_to_device += done.bytes;
      if (buffer != nullptr) add(buffer->from_host);
      KeepReceived(done.address, done.bytes);
      break;
    case ApiKind::kDeviceToHost:
      use_.bytes_to_host += done.bytes;
      if (buffer != nullptr) {
        add(buffer->to_host);
        if (KernelsStored(done.address, done.bytes)) use_.bytes_from_kernels += done.bytes;
      }
      KeepOutput(done.address, done.bytes);
      break;
    case ApiKind::kDeviceToDevice:
      use_.bytes_on_device += done.bytes;
      // A copy to constant memory, which never holds a result, passes parameters: its offset does not matter.
      if (PlaceInBuffer(done.address) != PlaceInBuffer(done.from) && !IsConstant(done.address))
        use_.bytes_moved += done.bytes;
      if (buffer != nullptr) add(buffer->from_device);
      if (vgpu::OwnerOf(done.from) != device) {
        KeepOutput(done.from, done.bytes);
        KeepReceived(done.address, done.bytes);
      }
      if (BufferUse* source = buffer_at(done.from)) {
        const uint64_t from = done.from - source->by_kernels.base;
        const bool continues = from == source->largest_copy_from + source->largest_copy_bytes;
        if (continues && IsConstant(done.address)) {  // weights may be copied there row by row
          source->largest_copy_bytes += done.bytes;
        } else if (done.bytes > source->largest_copy_bytes) {
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
  const bool moves_results = done.kind == ApiKind::kDeviceToDevice && vgpu::OwnerOf(done.from) == device &&
                             KernelsStored(done.from, done.bytes);
  if (done.kind != ApiKind::kDeviceToHost && !moves_results) device_.ForgetStores(done.address, done.bytes);
}

}  // namespace lockstep::worker
