#include "vgpu/cudart/copy.h"

#include <cstring>

namespace lockstep::vgpu::cudart {

namespace {

uint64_t Address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

constexpr double kBytesPerMicrosecond = 1e3;  // of a gigabyte a second

bool Overflows(uint64_t a, uint64_t b, uint64_t* product) { return __builtin_mul_overflow(a, b, product); }

// Rows that lie within their pitch, slices within theirs, and sizes that do not wrap around.
void Check(const Layout& layout, const Region& region) {
  Require(region.height <= 1 || region.width <= layout.pitch, cudaErrorInvalidPitchValue);
  uint64_t bytes = 0;
  Require(!Overflows(region.width, region.height, &bytes) && !Overflows(bytes, region.depth, &bytes),
          cudaErrorInvalidValue);
  Require(!Overflows(layout.pitch, region.height, &bytes) && !Overflows(layout.slice, region.depth, &bytes),
          cudaErrorInvalidValue);
}

// Which way a copy really goes. Memory that the device and the host share counts as the device's.
struct Ends {
  bool to_device, from_device;
};

Ends EndsOf(Runtime& r, const void* to, const void* from, cudaMemcpyKind kind) {
  Require(to != nullptr && from != nullptr, cudaErrorInvalidValue);
  const Ends is{r.backend().Contains(Address(to), 1), r.backend().Contains(Address(from), 1)};
  // What the caller calls host memory may be shared; anything else must be what the kind says.
  const auto agrees = [&](bool is_device, bool says_device, const void* pointer) {
    return is_device == says_device || (is_device && r.IsShared(Address(pointer)));
  };
  switch (kind) {
    case cudaMemcpyHostToDevice:
      Require(agrees(is.to_device, true, to) && agrees(is.from_device, false, from), cudaErrorInvalidValue);
      break;
    case cudaMemcpyDeviceToHost:
      Require(agrees(is.to_device, false, to) && agrees(is.from_device, true, from), cudaErrorInvalidValue);
      break;
    case cudaMemcpyDeviceToDevice:
      Require(agrees(is.to_device, true, to) && agrees(is.from_device, true, from), cudaErrorInvalidValue);
      break;
    case cudaMemcpyHostToHost:  // with unified addressing, what the pointers say
    case cudaMemcpyDefault:
      break;
    default:
      throw ApiError{cudaErrorInvalidMemcpyDirection};
  }
  return is;
}

void CopyRow(Runtime& r, void* to, const void* from, uint64_t bytes, const Ends& ends) {
  bool done = true;
  if (ends.to_device && ends.from_device) {
    done = r.backend().Copy(Address(to), Address(from), bytes, r.origin());
  } else if (ends.to_device) {
    done = r.backend().Write(Address(to), from, bytes, r.origin());
  } else if (ends.from_device) {
    done = r.backend().Read(to, Address(from), bytes, r.origin());
  } else {
    std::memmove(to, from, bytes);
  }
  Require(done, cudaErrorInvalidValue);
}

double CopyMicroseconds(Runtime& r, const void* to, const void* from, uint64_t bytes, const Ends& ends) {
  const DeviceProfile& profile = r.profile();
  if (ends.to_device && ends.from_device) {
    // Each byte is read and written.
    const double rate = profile.dram_gb_per_s * profile.dram_efficiency * kBytesPerMicrosecond;
    return profile.launch_overhead_us + 2.0 * static_cast<double>(bytes) / rate;
  }
  if (!ends.to_device && !ends.from_device) return 0;
  const bool pinned = r.IsPinned(ends.to_device ? from : to);
  const double rate = (pinned ? profile.host_pinned_gb_per_s : profile.host_gb_per_s) * kBytesPerMicrosecond;
  return profile.copy_overhead_us + static_cast<double>(bytes) / rate;
}

}  // namespace

void Copy(Runtime& r, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  CopyRegion(r, to, {bytes, bytes}, from, {bytes, bytes}, {bytes, 1, 1}, kind, stream);
}

void CopyRegion(Runtime& r, void* to, Layout to_layout, const void* from, Layout from_layout, Region region,
                cudaMemcpyKind kind, cudaStream_t stream) {
  r.timeline().StreamOf(stream);
  Check(to_layout, region);
  Check(from_layout, region);
  if (region.Bytes() == 0) return;
  const Ends ends = EndsOf(r, to, from, kind);
  // Rows that follow each other without a gap are one copy.
  if (to_layout.pitch == region.width && from_layout.pitch == region.width) {
    if (to_layout.slice == from_layout.slice && to_layout.slice == region.width * region.height) {
      region = {region.Bytes(), 1, 1};
    } else {
      region = {region.width * region.height, 1, region.depth};
    }
  }
  for (uint64_t z = 0; z < region.depth; ++z) {
    for (uint64_t y = 0; y < region.height; ++y) {
      CopyRow(r, static_cast<char*>(to) + z * to_layout.slice + y * to_layout.pitch,
              static_cast<const char*>(from) + z * from_layout.slice + y * from_layout.pitch, region.width, ends);
    }
  }
  r.timeline().Enqueue(stream, CopyMicroseconds(r, to, from, region.Bytes(), ends));
}

void Fill(Runtime& r, void* to, Layout layout, int value, Region region, cudaStream_t stream) {
  r.timeline().StreamOf(stream);
  Check(layout, region);
  if (region.Bytes() == 0) return;
  if (layout.pitch == region.width && layout.slice == region.width * region.height) region = {region.Bytes(), 1, 1};
  for (uint64_t z = 0; z < region.depth; ++z) {
    for (uint64_t y = 0; y < region.height; ++y) {
      Require(r.backend().Fill(Address(to) + z * layout.slice + y * layout.pitch, static_cast<uint8_t>(value),
                               region.width, r.origin()),
              cudaErrorInvalidValue);
    }
  }
  const DeviceProfile& profile = r.profile();
  r.timeline().Enqueue(stream, profile.launch_overhead_us +
                                   static_cast<double>(region.Bytes()) /
                                       (profile.dram_gb_per_s * profile.dram_efficiency * kBytesPerMicrosecond));
}

}  // namespace lockstep::vgpu::cudart
