// Managed memory: advice, queries and prefetching.
//
// The location of pages is not modelled; settings are stored by page to be read back.
#include <algorithm>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/pointer.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr uint64_t kPage = 4096;
using Advice = Runtime::ManagedAdvice;

// The advice for the pages of a range, which must lie in one managed allocation: one for each part. Pages count from the
// allocation's start, as a GPU's driver aligns those of a page or more.
std::vector<Advice*> AdviceFor(Runtime& r, const void* pointer, size_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  Require(bytes > 0 && r.IsManaged(address), cudaErrorInvalidValue);
  auto& [base, range] = *std::prev(r.managed().upper_bound(address));
  Require(bytes <= range.bytes - (address - base), cudaErrorInvalidValue);
  // Splits the part that contains a page's start, and gives the part that starts there.
  const auto part_from = [&advice = range.advice](uint64_t start) {
    return advice.try_emplace(start, std::prev(advice.upper_bound(start))->second).first;
  };
  const uint64_t from = address - base, to = from + bytes;
  const auto first = part_from(base + from / kPage * kPage), end = part_from(base + (to + kPage - 1) / kPage * kPage);
  std::vector<Advice*> parts;
  for (auto part = first; part != end; ++part) parts.push_back(&part->second);
  return parts;
}

bool IsDevice(Runtime& r, const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice && location.id >= 0 && location.id < r.device_count();
}

void Advise(Runtime& r, Advice& range, cudaMemoryAdvise advice, const cudaMemLocation& location) {
  const bool on_device = location.type == cudaMemLocationTypeDevice;
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
    case cudaMemAdviseUnsetPreferredLocation:
      Require(location.type >= cudaMemLocationTypeDevice && location.type <= cudaMemLocationTypeHostNumaCurrent,
              cudaErrorInvalidValue);
      if (advice == cudaMemAdviseUnsetPreferredLocation) {
        range.preferred = {};
      } else {
        range.read_mostly = advice == cudaMemAdviseSetReadMostly;
      }
      break;
    case cudaMemAdviseSetPreferredLocation:
      Require(IsPlace(r, location), cudaErrorInvalidValue);
      range.preferred = {on_device ? location.type : cudaMemLocationTypeHost, {on_device ? location.id : -1}};
      break;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy: {
      Require(IsDevice(r, location) || location.type == cudaMemLocationTypeHost, cudaErrorInvalidValue);
      const int accessor = on_device ? location.id : cudaCpuDeviceId;
      std::erase(range.accessed_by, accessor);
      if (advice == cudaMemAdviseSetAccessedBy) range.accessed_by.push_back(accessor);
      // Devices before the host.
      std::sort(range.accessed_by.begin(), range.accessed_by.end(),
                [](int a, int b) { return static_cast<unsigned>(a) < static_cast<unsigned>(b); });
      break;
    }
    default:
      throw ApiError{cudaErrorInvalidValue};
  }
}

// A location as the older attributes report it, by one number.
int Number(const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeInvalid) return cudaInvalidDeviceId;
  return location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
}
int IdOf(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeInvalid ? cudaInvalidDeviceId : location.id;
}

// The location that all parts have, else none.
cudaMemLocation Common(const std::vector<Advice*>& parts, cudaMemLocation Advice::* which) {
  const cudaMemLocation& first = parts.front()->*which;
  return std::ranges::all_of(
             parts,
             [&](const Advice* part) { return (part->*which).type == first.type && (part->*which).id == first.id; })
             ? first
             : cudaMemLocation{};
}

void Tell(const std::vector<Advice*>& parts, cudaMemRangeAttribute attribute, int* value, size_t bytes) {
  Require(value != nullptr && bytes > 0 && bytes % sizeof(int) == 0, cudaErrorInvalidValue);
  if (attribute == cudaMemRangeAttributeAccessedBy) {
    std::vector<int> all = parts.front()->accessed_by;
    std::erase_if(all, [&](int accessor) {
      return !std::ranges::all_of(
          parts, [&](const Advice* part) { return std::ranges::count(part->accessed_by, accessor) != 0; });
    });
    for (size_t i = 0; i < bytes / sizeof(int); ++i) value[i] = i < all.size() ? all[i] : cudaInvalidDeviceId;
    return;
  }
  Require(bytes == sizeof(int), cudaErrorInvalidValue);
  const cudaMemLocation preferred = Common(parts, &Advice::preferred), prefetched = Common(parts, &Advice::prefetched);
  const bool read_mostly = std::ranges::all_of(parts, [](const Advice* part) { return part->read_mostly; });
  const std::pair<cudaMemRangeAttribute, int> all[] = {{cudaMemRangeAttributeReadMostly, read_mostly ? 1 : 0},
                                                       {cudaMemRangeAttributePreferredLocation, Number(preferred)},
                                                       {cudaMemRangeAttributeLastPrefetchLocation, Number(prefetched)},
                                                       {cudaMemRangeAttributePreferredLocationType, preferred.type},
                                                       {cudaMemRangeAttributePreferredLocationId, IdOf(preferred)},
                                                       {cudaMemRangeAttributeLastPrefetchLocationType, prefetched.type},
                                                       {cudaMemRangeAttributeLastPrefetchLocationId, IdOf(prefetched)}};
  const auto* const asked = std::ranges::find(all, attribute, &std::pair<cudaMemRangeAttribute, int>::first);
  Require(asked != std::end(all), cudaErrorInvalidValue);
  *value = asked->second;
}

void Prefetch(Runtime& r, const void* pointer, size_t bytes, const cudaMemLocation& location) {
  Require(location.type != cudaMemLocationTypeDevice || IsDevice(r, location), cudaErrorInvalidDevice);
  Require(IsPlace(r, location), cudaErrorInvalidValue);
  for (Advice* part : AdviceFor(r, pointer, bytes)) part->prefetched = location;
}

// Batches of prefetches and discards require a stream created by the program.
void RequireStreamOfProgram(Runtime& r, cudaStream_t stream) {
  Require(!IsLegacy(stream), cudaErrorInvalidValue);
  const Stream& in = r.StreamOf(stream);
  if (in.point.capture != nullptr) Spoil(in, cudaErrorStreamCaptureUnsupported);
}

}  // namespace

bool IsPlace(Runtime& r, const cudaMemLocation& location) {
  return IsDevice(r, location) || location.type == cudaMemLocationTypeHost ||
         (location.type == cudaMemLocationTypeHostNuma && location.id == 0) ||
         location.type == cudaMemLocationTypeHostNumaCurrent;
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return Api("cudaMemAdvise", [&](Runtime& r) {
    Advice nowhere;
    try {
      Advise(r, nowhere, advice, location);
    } catch (const ApiError& error) {
      r.RequireAtSight(false, error.code);
    }
    // Advice about a NUMA node is ignored, whatever the memory.
    if (location.type > cudaMemLocationTypeHost) return r.NothingToDo();
    for (Advice* part : AdviceFor(r, pointer, bytes)) Advise(r, *part, advice, location);
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
  return Api("cudaMemRangeGetAttribute",
             [&](Runtime& r) { Tell(AdviceFor(r, pointer, bytes), attribute, static_cast<int*>(data), data_bytes); });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes, cudaMemRangeAttribute* attributes, size_t count,
                                      const void* pointer, size_t bytes) {
  return Api("cudaMemRangeGetAttributes", [&](Runtime& r) {
    Require(data != nullptr && data_bytes != nullptr && attributes != nullptr && count > 0, cudaErrorInvalidValue);
    const std::vector<Advice*> parts = AdviceFor(r, pointer, bytes);
    for (size_t i = 0; i < count; ++i) Tell(parts, attributes[i], static_cast<int*>(data[i]), data_bytes[i]);
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream) {
  return Api("cudaMemPrefetchAsync", [&](Runtime& r) {
    const bool of_other_node = location.type == cudaMemLocationTypeHostNuma && location.id != 0;
    r.RequireAtSight(flags == 0 && location.type > cudaMemLocationTypeInvalid &&
                         location.type <= cudaMemLocationTypeHostNumaCurrent && !of_other_node,
                     cudaErrorInvalidValue);
    const Stream& in = r.StreamOf(stream);
    if (in.point.capture != nullptr) Spoil(in, cudaErrorStreamCaptureUnsupported);
    Require(pointer != nullptr && bytes > 0, cudaErrorInvalidValue);
    // A batch keeps the number that the program gave the host.
    if (location.type == cudaMemLocationTypeHost) location.id = cudaCpuDeviceId;
    Prefetch(r, pointer, bytes, location);
  });
}
LOCKSTEP_PER_THREAD(cudaMemPrefetchAsync, _ptsz)

cudaError_t cudaMemPrefetchBatchAsync(void** pointers, size_t* bytes, size_t count, cudaMemLocation* locations,
                                      size_t* groups, size_t group_count, unsigned long long flags,
                                      cudaStream_t stream) {
  return Api("cudaMemPrefetchBatchAsync", [&](Runtime& r) {
    RequireStreamOfProgram(r, stream);
    Require(pointers != nullptr && bytes != nullptr && count > 0 && locations != nullptr && groups != nullptr &&
                group_count > 0 && groups[0] == 0 && flags == 0,
            cudaErrorInvalidValue);
    size_t group = 0;
    for (size_t i = 0; i < count; ++i) {
      while (group + 1 < group_count && groups[group + 1] <= i) ++group;
      Prefetch(r, pointers[i], bytes[i], locations[group]);
    }
  });
}
LOCKSTEP_PER_THREAD(cudaMemPrefetchBatchAsync, _ptsz)

// Discarded memory has undefined contents, so it may stay unchanged.
cudaError_t cudaMemDiscardBatchAsync(void** pointers, size_t* bytes, size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
  return Api("cudaMemDiscardBatchAsync", [&](Runtime& r) {
    RequireStreamOfProgram(r, stream);
    Require(pointers != nullptr && bytes != nullptr && count > 0 && flags == 0, cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) AdviceFor(r, pointers[i], bytes[i]);
  });
}
LOCKSTEP_PER_THREAD(cudaMemDiscardBatchAsync, _ptsz)

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* bytes, size_t count,
                                                cudaMemLocation* locations, size_t* groups, size_t group_count,
                                                unsigned long long flags, cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(pointers, bytes, count, locations, groups, group_count, flags, stream);
}
LOCKSTEP_PER_THREAD(cudaMemDiscardAndPrefetchBatchAsync, _ptsz)

}  // extern "C"
