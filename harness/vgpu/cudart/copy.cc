// The common part of API functions for copies and fills.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"
#include "vgpu/model/copy_engines.h"

namespace lockstep::vgpu::cudart {

namespace {

uint64_t Address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

constexpr double kBytesPerMicrosecond = 1e3;  // in one GB/s

bool Overflows(uint64_t a, uint64_t b, uint64_t* product) { return __builtin_mul_overflow(a, b, product); }

// Checks that rows fit into their pitch, slices into theirs, and sizes don't overflow. The pitch of a single row may be
// 0.
void Check(const Layout& layout, const Region& region) {
  if (region.Bytes() == 0) return;
  const bool one_row = region.height <= 1 && region.depth <= 1;
  Require(region.width <= layout.pitch || (one_row && layout.pitch == 0),
          one_row ? cudaErrorInvalidValue : cudaErrorInvalidPitchValue);
  Require(region.depth <= 1 || layout.pitch == 0 || region.height <= layout.slice / layout.pitch,
          cudaErrorInvalidPitchValue);
  uint64_t bytes = 0;
  Require(!Overflows(region.width, region.height, &bytes) && !Overflows(bytes, region.depth, &bytes),
          cudaErrorInvalidValue);
  Require(!Overflows(layout.pitch, region.height, &bytes) && !Overflows(layout.slice, region.depth, &bytes),
          cudaErrorInvalidValue);
}

// A range that starts in registered memory must end there. What is read-only must not be written.
void RequireRegistered(Runtime& r, const void* base, const Layout& layout, const Region& region, bool writes) {
  const auto mapped = writes ? MappedAt(r, Address(base)) : std::nullopt;
  Require(!mapped || !mapped->read_only, cudaErrorInvalidValue);
  const auto range = r.HostRangeHolding(base);
  if (!range || range->second.kind != Runtime::HostRange::Kind::kRegistered) return;
  const uint64_t bytes = (region.depth - 1) * layout.slice + (region.height - 1) * layout.pitch + region.width;
  Require(Address(base) - range->first + bytes <= range->second.bytes, cudaErrorInvalidValue);
  Require(!writes || (range->second.flags & cudaHostRegisterReadOnly) == 0, cudaErrorInvalidValue);
}

// The actual ends of a copy: the device at each end, if any. Memory shared by device and host counts as the device's.
struct Ends {
  std::optional<int> to, from;
};

// Either end may be any memory known to the driver, whatever the kind says; unknown memory is the host's.
Ends EndsOf(Runtime& r, const void* to, const void* from, cudaMemcpyKind kind) {
  Require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  Require(to != nullptr && from != nullptr, cudaErrorInvalidValue);
  const Ends ends{r.DeviceHolding(Address(to)), r.DeviceHolding(Address(from))};
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  Require(!to_device || ends.to || r.IsPinned(to), cudaErrorInvalidValue);
  Require(!from_device || ends.from || r.IsPinned(from), cudaErrorInvalidValue);
  return ends;
}

void CopyRow(Runtime& r, void* to, const void* from, uint64_t bytes, const Ends& ends) {
  bool done = true;
  if (ends.to && ends.from && *ends.to != *ends.from && !r.backend(*ends.to).HoldsAllDevices()) {
    std::vector<uint8_t> staged(bytes);
    done = r.backend(*ends.from).Read(staged.data(), Address(from), bytes, r.origin()) &&
           r.backend(*ends.to).Write(Address(to), staged.data(), bytes, r.origin());
  } else if (ends.to && ends.from) {
    done = r.backend(*ends.to).Copy(Address(to), Address(from), bytes, r.origin());
  } else if (ends.to) {
    done = r.backend(*ends.to).Write(Address(to), from, bytes, r.origin());
  } else if (ends.from) {
    done = r.backend(*ends.from).Read(to, Address(from), bytes, r.origin());
  } else {
    std::memmove(to, from, bytes);
  }
  Require(done, cudaErrorInvalidValue);
}

const char* NameOf(Runtime& r, const CopyWork& copy, const Ends& ends) {
  const bool to_device = ends.to && !r.IsPinned(copy.to), from_device = ends.from && !r.IsPinned(copy.from);
  if (to_device) return !from_device ? "host to device" : *ends.to == *ends.from ? "on the device" : "device to device";
  return from_device ? "device to host" : "host to host";
}

double CopyMicroseconds(Runtime& r, const CopyWork& copy, const Ends& ends) {
  const DeviceProfile& profile = r.profile();
  const auto bytes = static_cast<double>(copy.region.Bytes());
  const bool to_pinned = r.IsPinned(copy.to), from_pinned = r.IsPinned(copy.from);
  const bool to_device = ends.to && !to_pinned, from_device = ends.from && !from_pinned;
  if (to_device && from_device && *ends.to == *ends.from) {
    // A copy on the device reads and writes each byte.
    const double rate = profile.dram_gb_per_s * profile.dram_efficiency * kBytesPerMicrosecond;
    return profile.launch_overhead_us + 2.0 * bytes / rate;
  }
  if (!to_device && !from_device) return 0;
  if (to_device && from_device) return PeerCopyMicroseconds(profile, copy.region.Bytes());
  const bool pinned = to_pinned || from_pinned;
  const double rate = (pinned ? profile.host_pinned_gb_per_s : profile.host_gb_per_s) * kBytesPerMicrosecond;
  return profile.copy_overhead_us + bytes / rate;
}

// Contiguous rows are joined into one.
Region Joined(Region region, const Layout& layout) {
  if (layout.pitch != region.width) return region;
  if (layout.slice == region.width * region.height) return {region.Bytes(), 1, 1};
  return {region.width * region.height, 1, region.depth};
}

// Calls f(offset in the first layout, offset in the second) for each row.
template <typename F>
void ForEachRow(const Region& region, const Layout& first, const Layout& second, F f) {
  for (uint64_t z = 0; z < region.depth; ++z) {
    for (uint64_t y = 0; y < region.height; ++y) {
      f(z * first.slice + y * first.pitch, z * second.slice + y * second.pitch);
    }
  }
}

}  // namespace

CopyWork MakeCopy(void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind) {
  return {to, {bytes, bytes}, from, {bytes, bytes}, {bytes, 1, 1}, kind};
}

CopyWork MakeCopy3D(const cudaMemcpy3DParms* parms) {
  Require(parms != nullptr, cudaErrorInvalidValue);
  const cudaExtent& extent = parms->extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return {};
  if (parms->srcArray != nullptr || parms->dstArray != nullptr) return CopyArray3D(*parms);
  Require(parms->kind >= cudaMemcpyHostToHost && parms->kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  Require(parms->srcPtr.ptr != nullptr && parms->dstPtr.ptr != nullptr, cudaErrorInvalidValue);
  const auto layout = [](const cudaPitchedPtr& base) { return Layout{base.pitch, base.pitch * base.ysize}; };
  const auto place = [&](const cudaPitchedPtr& base, const cudaPos& position) {
    return static_cast<char*>(base.ptr) + position.z * layout(base).slice + position.y * base.pitch + position.x;
  };
  for (const auto& [base, position] : {std::pair(parms->dstPtr, parms->dstPos), {parms->srcPtr, parms->srcPos}}) {
    Require(extent.depth <= 1 || extent.height <= base.ysize, cudaErrorInvalidPitchValue);
    const bool within = position.x <= base.pitch && extent.width <= base.pitch - position.x;
    Require(within || extent.width > base.pitch, cudaErrorInvalidValue);
    // A wide copy is reported when it is made; a single slice needs no number of rows.
    const bool unchecked = extent.width > base.pitch || (base.ysize == 0 && extent.depth == 1);
    Require(unchecked || (position.y <= base.ysize && extent.height <= base.ysize - position.y), cudaErrorInvalidValue);
  }
  return {place(parms->dstPtr, parms->dstPos),
          layout(parms->dstPtr),
          place(parms->srcPtr, parms->srcPos),
          layout(parms->srcPtr),
          {parms->extent.width, parms->extent.height, parms->extent.depth},
          parms->kind};
}

namespace {

// The rows of host memory at one end of a copy, whose bytes are held back or watched.
std::vector<HostTransfers::Row> RowsAt(const void* base, const Region& region, const Layout& layout) {
  std::vector<HostTransfers::Row> rows;
  const Region joined = Joined(region, layout);
  ForEachRow(joined, layout, layout, [&](uint64_t offset, uint64_t) {
    rows.push_back({static_cast<uint8_t*>(const_cast<void*>(base)) + offset, joined.width});
  });
  return rows;
}

// Records an operation's accesses to these rows, for race checks.
void AddSpans(const std::vector<HostTransfers::Row>& rows, bool on_device, bool writes,
              std::vector<StreamPoint::Span>& spans) {
  for (const auto& row : rows) {
    spans.push_back({Address(row.at) | (on_device ? 0 : StreamPoint::kHostSpace), row.bytes, writes});
  }
}

// A copy's behaviour for the host, by the documentation's "API synchronization behavior".
struct Behavior {
  bool to_pinned = false, from_pinned = false;  // host memory that the device accesses directly
  bool on_device = false;                       // from device memory to device memory
  bool waits = false;                           // the call returns when the copy is done
};

Behavior BehaviorOf(Runtime& r, const CopyWork& work, const Ends& ends) {
  Behavior behavior;
  behavior.to_pinned = r.IsPinned(work.to);
  behavior.from_pinned = r.IsPinned(work.from);
  const bool to_host = behavior.to_pinned || !ends.to, from_host = behavior.from_pinned || !ends.from;
  behavior.on_device = !to_host && !from_host;
  const bool to_pageable = to_host && !behavior.to_pinned;
  // Transfers of managed memory are synchronous unless the function's name says otherwise.
  const bool managed = r.IsManaged(Address(work.to)) || r.IsManaged(Address(work.from));
  behavior.waits = (work.waits && (!behavior.on_device || managed)) || to_pageable || (to_host && from_host);
  return behavior;
}

}  // namespace

bool HostWaits(Runtime& r, const CopyWork& work) {
  Check(work.to_layout, work.region);
  Check(work.from_layout, work.region);
  return work.region.Bytes() != 0 && BehaviorOf(r, work, EndsOf(r, work.to, work.from, work.kind)).waits;
}

bool CheckCopy(Runtime& r, const CopyWork& work) {
  Check(work.to_layout, work.region);
  Check(work.from_layout, work.region);
  if (work.region.Bytes() == 0) return false;
  EndsOf(r, work.to, work.from, work.kind);
  RequireRegistered(r, work.to, work.to_layout, work.region, true);
  RequireRegistered(r, work.from, work.from_layout, work.region, false);
  return true;
}

CopyWork Staged(Runtime& r, const CopyWork& work) {
  if (work.region.Bytes() == 0 || EndsOf(r, work.to, work.from, work.kind).from || r.IsPinned(work.from)) return work;
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  bytes->reserve(work.region.Bytes());
  for (const HostTransfers::Row& row : RowsAt(work.from, work.region, work.from_layout)) {
    bytes->insert(bytes->end(), row.at, row.at + row.bytes);
  }
  CopyWork staged = work;
  staged.from = bytes->data();
  staged.from_layout = {work.region.width, work.region.width * work.region.height};
  staged.staged = std::move(bytes);
  return staged;
}

void PerformCopy(Runtime& r, const CopyWork& work, Stream& stream) {
  if (!CheckCopy(r, work)) return;
  const Ends ends = EndsOf(r, work.to, work.from, work.kind);
  const Behavior behavior = BehaviorOf(r, work, ends);
  std::vector<StreamPoint::Span> spans;
  std::vector<HostTransfers::Row> to_rows, from_rows;
  if (behavior.to_pinned) {
    AddSpans(to_rows = RowsAt(work.to, work.region, work.to_layout), ends.to.has_value(), true, spans);
  }
  if (behavior.from_pinned) {
    AddSpans(from_rows = RowsAt(work.from, work.region, work.from_layout), ends.from.has_value(), false, spans);
  }
  StreamOperation operation(r, stream, false, std::move(spans));
  r.transfers().ArriveBefore(r, operation.point().before);
  std::optional<HostMemoryInUse> host_memory;
  const bool arrives_later = behavior.to_pinned && ends.from && !behavior.from_pinned && !behavior.waits;
  if ((behavior.to_pinned && !arrives_later) || !r.mapped().empty()) host_memory.emplace(r, operation.point());
  operation.Begin();

  Region region = work.region;
  const Layout &to = work.to_layout, &from = work.from_layout;
  if (to.pitch == from.pitch && (to.slice == from.slice || region.depth == 1)) region = Joined(region, to);
  if (arrives_later) {
    std::vector<uint8_t> bytes(region.Bytes());
    uint8_t* at = bytes.data();
    const Ends to_host{std::nullopt, ends.from};
    ForEachRow(region, to, from, [&](uint64_t, uint64_t from_offset) {
      CopyRow(r, at, static_cast<const char*>(work.from) + from_offset, region.width, to_host);
      at += region.width;
    });
    r.transfers().Deliver(r, operation.point(), std::move(to_rows), std::move(bytes));
  } else {
    ForEachRow(region, to, from, [&](uint64_t to_offset, uint64_t from_offset) {
      CopyRow(r, static_cast<char*>(work.to) + to_offset, static_cast<const char*>(work.from) + from_offset,
              region.width, ends);
    });
    if (behavior.from_pinned && !behavior.waits && r.backend().WatchesStreams()) {
      r.transfers().Watch(r, operation.point(), std::move(from_rows));
    }
  }
  operation.End();
  r.timeline().Enqueue(stream, CopyMicroseconds(r, work, ends), {"copy", NameOf(r, work, ends), work.region.Bytes()});
  if (behavior.waits) r.timeline().Synchronize(stream);
}

void CopyNow(Runtime& r, CopyWork work) {
  work.waits = true;
  Check(work.to_layout, work.region);
  Check(work.from_layout, work.region);
  if (work.region.Bytes() == 0) return r.NothingToDo();
  Submit(r, work, nullptr);
  r.timeline().MoveHostTo(r.StreamOf(nullptr));
}

namespace {

// The fill's value, repeated to this many bytes.
std::vector<uint8_t> Filled(const FillWork& work, uint64_t bytes) {
  std::vector<uint8_t> pattern(bytes);
  for (uint64_t at = 0; at < bytes; at += work.element_bytes) {
    std::memcpy(pattern.data() + at, &work.value, work.element_bytes);
  }
  return pattern;
}

// Checks a fill like a copy, except that a single row's pitch is ignored, and all errors are cudaErrorInvalidValue.
void CheckFill(const FillWork& work) {
  const Region& region = work.region;
  const bool one_row = IsOneRow(region);
  Require(one_row || region.width <= work.layout.pitch, cudaErrorInvalidValue);
  Layout layout = work.layout;
  if (one_row) layout.pitch = layout.slice = region.width;
  const bool tall = region.depth > 1 && layout.pitch != 0 && region.height > layout.slice / layout.pitch;
  Require(!tall, cudaErrorInvalidValue);
  Check(layout, region);
}

// Fills registered host memory, where the bytes arrive when the host has waited for the fill.
void FillHost(Runtime& r, const FillWork& work, Stream& stream) {
  const std::vector<HostTransfers::Row> rows = RowsAt(work.to, work.region, work.layout);
  for (const HostTransfers::Row& row : rows) {
    const auto range = r.HostRangeHolding(row.at);
    Require(range.has_value() && Address(row.at) + row.bytes <= range->first + range->second.bytes,
            cudaErrorInvalidValue);
  }
  std::vector<StreamPoint::Span> spans;
  AddSpans(rows, false, true, spans);
  StreamOperation operation(r, stream, false, std::move(spans));
  r.transfers().ArriveBefore(r, operation.point().before);
  r.transfers().Deliver(r, operation.point(), std::vector(rows), Filled(work, work.region.Bytes()));
  if (work.waits) r.timeline().Synchronize(stream);
}

}  // namespace

bool HostWaits(Runtime& r, const FillWork& work) { return work.waits && r.IsShared(Address(work.to)); }

void PerformFill(Runtime& r, const FillWork& work, Stream& stream) {
  if (work.region.Bytes() != 0) CheckFill(work);
  const unsigned unit = work.element_bytes;
  Require(unit == 1 || ((unit == 2 || unit == 4) && work.region.width % unit == 0), cudaErrorInvalidValue);
  if (work.region.Bytes() == 0) return;
  RequireRegistered(r, work.to, work.layout, work.region, true);
  const std::optional<int> device = r.DeviceHolding(Address(work.to));
  if (!device && r.IsPinned(work.to)) return FillHost(r, work, stream);
  Require(device.has_value(), cudaErrorInvalidValue);
  Backend& backend = r.backend(*device);
  const bool arrives_later = r.IsPinned(work.to) && !work.waits;
  std::vector<HostTransfers::Row> rows;
  std::vector<StreamPoint::Span> spans;
  if (arrives_later) {
    rows = RowsAt(work.to, work.region, work.layout);
    Require(std::all_of(rows.begin(), rows.end(),
                        [&](const auto& each) { return backend.Contains(Address(each.at), each.bytes); }),
            cudaErrorInvalidValue);
    AddSpans(rows, true, true, spans);
  }
  StreamOperation operation(r, stream, false, std::move(spans));
  std::optional<HostMemoryInUse> host_memory;
  if (arrives_later) r.transfers().ArriveBefore(r, operation.point().before);
  if ((r.IsShared(Address(work.to)) && !arrives_later) || !r.mapped().empty())
    host_memory.emplace(r, operation.point());
  operation.Begin();
  const Region region = Joined(work.region, work.layout);
  if (arrives_later) {
    r.transfers().Deliver(r, operation.point(), std::move(rows), Filled(work, region.Bytes()));
  } else {
    const std::vector<uint8_t> row = Filled(work, unit > 1 ? region.width : 0);
    ForEachRow(region, work.layout, work.layout, [&](uint64_t offset, uint64_t) {
      const uint64_t to = Address(work.to) + offset;
      Require(unit == 1 ? backend.Fill(to, static_cast<uint8_t>(work.value), region.width, r.origin())
                        : backend.Write(to, row.data(), region.width, r.origin()),
              cudaErrorInvalidValue);
    });
  }
  operation.End();
  const DeviceProfile& profile = r.profile();
  const double rate = profile.dram_gb_per_s * profile.dram_efficiency * kBytesPerMicrosecond;
  r.timeline().Enqueue(stream, profile.launch_overhead_us + static_cast<double>(region.Bytes()) / rate,
                       {"fill", "memset", region.Bytes()});
  if (work.waits && r.IsShared(Address(work.to))) r.timeline().clocks().HostWaits(stream.slot);
}

}  // namespace lockstep::vgpu::cudart
