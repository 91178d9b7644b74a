#include "vgpu/cudart/mapped_memory.h"

#include <cstring>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

// Calls f(offset, bytes) for each run of bytes that differ.
template <typename F>
void ForEachChange(const uint8_t* before, const uint8_t* now, uint64_t bytes, F f) {
  if (std::memcmp(before, now, bytes) == 0) return;
  for (uint64_t k = 0; k < bytes;) {
    if (before[k] == now[k]) {
      ++k;
      continue;
    }
    const uint64_t begin = k;
    while (k < bytes && before[k] != now[k]) ++k;
    f(begin, k - begin);
  }
}

}  // namespace

uint64_t MappedMemory::Map(Runtime& r, const void* begin, uint64_t bytes, const void* address) {
  auto* const host = static_cast<uint8_t*>(const_cast<void*>(begin));
  Image& image = images_[host];
  if (image.device == 0) {
    image.bytes = bytes;
    image.device = r.backend().Allocate(bytes, r.OriginWithCallSite());
    if (image.device == 0) images_.erase(host);
    Require(images_.count(host) != 0, cudaErrorMemoryAllocation);
    image.host.assign(host, host + bytes);
    image.on_device = image.host;
    Require(r.backend().Write(image.device, host, bytes, r.origin()), cudaErrorUnknown);
  }
  return image.device + static_cast<uint64_t>(static_cast<const uint8_t*>(address) - host);
}

void MappedMemory::Unmap(Runtime& r, const void* begin) {
  const auto found = images_.find(static_cast<uint8_t*>(const_cast<void*>(begin)));
  if (found == images_.end()) return;
  r.backend().Free(found->second.device, r.origin());
  images_.erase(found);
}

void MappedMemory::ToDevice(Runtime& r) {
  for (auto& [host, image] : images_) {
    uint8_t* const now = host;
    ForEachChange(image.host.data(), now, image.bytes, [&, &changed = image](uint64_t offset, uint64_t bytes) {
      std::memcpy(changed.host.data() + offset, now + offset, bytes);
      std::memcpy(changed.on_device.data() + offset, now + offset, bytes);
      r.backend().Write(changed.device + offset, now + offset, bytes, r.origin());
    });
  }
}

void MappedMemory::FromDevice(Runtime& r, const StreamPoint& point) {
  for (auto& [host, image] : images_) {
    std::vector<uint8_t> now(image.bytes);
    if (!r.backend().Read(now.data(), image.device, image.bytes, r.origin())) continue;
    std::vector<HostTransfers::Row> rows;
    std::vector<uint8_t> changed;
    ForEachChange(image.on_device.data(), now.data(), image.bytes, [&, &begin = host](uint64_t offset, uint64_t bytes) {
      rows.push_back({begin + offset, bytes});
      changed.insert(changed.end(), now.begin() + static_cast<std::ptrdiff_t>(offset),
                     now.begin() + static_cast<std::ptrdiff_t>(offset + bytes));
    });
    if (rows.empty()) continue;
    image.on_device = std::move(now);
    r.transfers().DeliverResults(point, std::move(rows), std::move(changed));
  }
}

void MappedMemory::Exchange(Runtime& r) {
  ToDevice(r);
  for (auto& [host, image] : images_) {
    std::vector<uint8_t> now(image.bytes);
    if (!r.backend().Read(now.data(), image.device, image.bytes, r.origin())) continue;
    ForEachChange(image.on_device.data(), now.data(), image.bytes,
                  [&, &begin = host, &changed = image](uint64_t offset, uint64_t bytes) {
                    std::memcpy(changed.host.data() + offset, now.data() + offset, bytes);
                    std::memcpy(begin + offset, now.data() + offset, bytes);
                  });
    image.on_device = std::move(now);
  }
}

void MappedMemory::Arrived(const uint8_t* at, uint64_t bytes) {
  auto image = images_.upper_bound(const_cast<uint8_t*>(at));
  if (image == images_.begin()) return;
  --image;
  const auto offset = static_cast<uint64_t>(at - image->first);
  if (offset >= image->second.bytes || bytes > image->second.bytes - offset) return;
  std::memcpy(image->second.host.data() + offset, at, bytes);
}

void MappedMemory::ExplainHostAddresses(Runtime& r, std::span<const uint8_t> parameters) {
  for (size_t at = 0; at + sizeof(uint64_t) <= parameters.size(); at += sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, parameters.data() + at, sizeof value);
    const auto range = r.HostRangeHolding(reinterpret_cast<const void*>(value));
    if (!range || range->second.kind == Runtime::HostRange::Kind::kOnDevice) continue;
    Say("a parameter of this kernel is the host address of page-locked memory; pass the device address that "
        "cudaHostGetDevicePointer returns");
    return;
  }
}

}  // namespace lockstep::vgpu::cudart
