// Stream-ordered memory and its pools. Work is done at the call, so memory freed in a stream is free at once, and its
// unordered use in another stream is a race. A pool only counts: the bytes in use, and those that a GPU would reserve.
// Managed memory is device memory. Host memory is pages that are the device's too while it has access.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

using PoolSpan = std::pair<uint64_t, uint64_t>;  // begin, bytes

struct Pool {
  int device = 0;
  bool elsewhere = false, managed = false;  // its memory is on the host or managed; managed
  bool for_device = false;                  // a pool of host memory that devices may access
  bool is_default = false;
  cudaMemAllocationHandleType handles = cudaMemHandleTypeNone;
  uint64_t release_threshold = 0;
  uint64_t used = 0, used_high = 0, reserved_high = 0;
  // Where a GPU would place the memory, in addresses that begin at 0: allocations, frees that the host has not waited
  // for, and of each reserved block, by its number, how many of both lie in it. Below `packed` there is no gap.
  std::map<uint64_t, uint64_t> placed;
  std::multimap<const Stream*, PoolSpan> freed;
  std::map<uint64_t, int64_t> blocks;
  uint64_t packed = 0;
  uint64_t max_bytes = 0;  // 0: no limit
  std::map<cudaMemPoolAttr, int> reuse = {{cudaMemPoolReuseFollowEventDependencies, 1},
                                          {cudaMemPoolReuseAllowOpportunistic, 1},
                                          {cudaMemPoolReuseAllowInternalDependencies, 1}};
};

// The bytes of a reserved block, the alignment of an allocation, and that of addresses in host memory.
constexpr uint64_t kPoolTakes = 32 << 20, kPoolAligned = 512, kPoolPages = 2 << 20;

uint64_t ReservedBy(const Pool& pool) { return pool.blocks.size() * kPoolTakes; }

// Counts a span in the blocks that it lies in, or (-1) no longer.
void Count(Pool& pool, const PoolSpan& span, int change) {
  for (uint64_t block = span.first / kPoolTakes; block * kPoolTakes < span.first + span.second; ++block)
    pool.blocks[block] += change;
}

// Takes the first gap that is large enough, and reserves its blocks. Returns its begin.
uint64_t TakePlace(Pool& pool, uint64_t bytes) {
  const uint64_t taken = RoundedUp(bytes, kPoolAligned);
  uint64_t at = pool.packed;
  for (auto next = pool.placed.lower_bound(at); next != pool.placed.end() && next->first - at < taken; ++next)
    at = next->first + next->second;
  if (at == pool.packed) pool.packed += taken;
  pool.placed[at] = taken;
  Count(pool, {at, taken}, 1);
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, ReservedBy(pool));
  return at;
}

// Gives an allocation's place back; a span of no bytes if that has happened before.
PoolSpan LeavePlace(Pool& pool, uint64_t at) {
  const auto left = pool.placed.extract(at);
  if (!left) return {at, 0};
  pool.packed = std::min(pool.packed, at);
  return {at, left.mapped()};
}

// Releases unused blocks until no more than this number are left.
void Release(Pool& pool, uint64_t kept) {
  for (auto block = pool.blocks.end(); block != pool.blocks.begin() && pool.blocks.size() > kept;)
    if ((--block)->second == 0) block = pool.blocks.erase(block);
}

// An allocation; `file`: the pages of host memory, otherwise -1.
struct Pooled {
  cudaMemPool_t pool = nullptr;
  uint64_t bytes = 0, place = 0;
  int file = -1;
};

struct Pools {
  std::map<cudaMemPool_t, std::unique_ptr<Pool>> all;
  std::map<int, cudaMemPool_t> defaults, current;  // by the result of KeyOf
  std::map<uintptr_t, Pooled> allocated;
};

Pools& pools() {
  static Pools* const instance = new Pools;
  return *instance;
}

cudaMemPool_t AddPool(int device) {
  auto pool = std::make_unique<Pool>();
  pool->device = device;
  pool->elsewhere = device < 0;
  pool->managed = device < -cudaMemLocationTypeHostNumaCurrent;  // by KeyOf
  const auto handle = reinterpret_cast<cudaMemPool_t>(pool.get());
  pools().all[handle] = std::move(pool);
  return handle;
}

cudaMemPool_t DefaultPool(int device) {
  cudaMemPool_t& pool = pools().defaults[device];
  if (pool == nullptr) {
    pool = AddPool(device);
    pools().all[pool]->is_default = true;
  }
  return pool;
}

cudaMemPool_t& CurrentPool(int device) {
  return pools().current.try_emplace(device, DefaultPool(device)).first->second;
}

Pool& PoolOf(cudaMemPool_t handle) {
  const auto found = pools().all.find(handle);
  Require(found != pools().all.end(), cudaErrorInvalidValue);
  return *found->second;
}

// A device's ordinal, or a negative number for the pools of the host, a NUMA node, and managed memory.
int KeyOf(Runtime& r, const cudaMemLocation& location, cudaMemAllocationType type) {
  const bool managed = type == cudaMemAllocationTypeManaged;
  const bool on_device = location.type == cudaMemLocationTypeDevice;
  const bool of_node = location.type == cudaMemLocationTypeHostNuma;
  Require(managed || type == cudaMemAllocationTypePinned, cudaErrorInvalidValue);
  Require(!on_device || (location.id >= 0 && location.id < r.device_count()), cudaErrorInvalidValue);
  Require(!of_node || location.id == 0, cudaErrorInvalidValue);
  Require(managed || on_device || of_node || location.type == cudaMemLocationTypeHost, cudaErrorInvalidValue);
  Require(location.type <= cudaMemLocationTypeHostNumaCurrent, cudaErrorNotSupported);
  return on_device && !managed ? location.id : -1 - location.type - (managed ? cudaMemLocationTypeHostNumaCurrent : 0);
}
int KeyOf(Runtime& r, const cudaMemLocation* location, cudaMemAllocationType type) {
  Require(location != nullptr, cudaErrorInvalidValue);
  Require(location->type < cudaMemLocationTypeHostNumaCurrent, cudaErrorNotSupported);
  return KeyOf(r, *location, type);
}

// Memory of the host's, and the file whose pages it is.
int AllocateOnHost(Runtime& r, void** pointer, uint64_t bytes, bool for_device) {
  Device* const device = r.backend().LocalDevice();
  if (device == nullptr) NotSupported("pools of host memory in submissions");
  Require(bytes <= static_cast<uint64_t>(r.profile().memory_bytes), cudaErrorMemoryAllocation);
  const uint64_t whole = RoundedUp(bytes, kPoolPages), address = device->Reserve(whole, 0);
  const int file = address != 0 ? FileOf(whole) : -1;
  Require(file >= 0, cudaErrorMemoryAllocation);
  MapOnHost(*device, {address, bytes, "memory of a pool on the host", r.OriginWithCallSite().call_site}, file,
            for_device);
  *pointer = reinterpret_cast<void*>(address);
  return file;
}

void AllocateFrom(Runtime& r, void** pointer, size_t bytes, cudaMemPool_t handle, cudaStream_t stream) {
  Stream& in = r.StreamForWork(stream);
  Require(pointer != nullptr, cudaErrorInvalidValue);
  Pool& pool = PoolOf(handle);
  if (in.point.capture != nullptr) {
    *pointer = nullptr;
    Require(in.point.capture->valid, cudaErrorStreamCaptureInvalidated);
    Require(pool.handles == cudaMemHandleTypeNone, cudaErrorNotSupported);  // a graph's memory is not shareable
    if (bytes == 0) return;
    AllocateWork work = MakeAllocation(r, bytes);
    *pointer = reinterpret_cast<void*>(work.memory->address);
    return AddToCapture(in, std::move(work));
  }
  RequireSafeInCapture();
  Require(pool.elsewhere || pool.device == r.device(), cudaErrorInvalidDevice);
  if (pool.max_bytes != 0 && bytes > pool.max_bytes - pool.used) {
    // As if the pool had grown to its limit before it failed, unless the request is far too large.
    if (bytes <= 2 * pool.max_bytes) pool.reserved_high = std::max(pool.reserved_high, pool.max_bytes);
    throw ApiError{cudaErrorMemoryAllocation};
  }
  if (pool.managed && !r.backend().HostSeesDeviceMemory()) NotSupported("managed memory in submissions");
  Pooled made{handle, bytes};
  if (pool.elsewhere && !pool.managed && bytes > 0) {
    made.file = AllocateOnHost(r, pointer, bytes, pool.for_device);
  } else {
    Allocate(r, pointer, bytes);
  }
  if (*pointer == nullptr) return;
  if (pool.managed) AddManaged(r, *pointer, bytes);
  // The allocation counts as a write in its stream: uses of the memory that are not ordered after it are races.
  StreamOperation operation(r, r.StreamOf(stream), false, {{reinterpret_cast<uintptr_t>(*pointer), bytes, true}});
  operation.Begin();
  made.place = TakePlace(pool, bytes);
  pools().allocated[reinterpret_cast<uintptr_t>(*pointer)] = made;
}

// Gives or takes the device's access to a pool outside its memory.
void Grant(Runtime& r, cudaMemPool_t handle, bool granted) {
  if (std::exchange(PoolOf(handle).for_device, granted) == granted) return;
  for (const auto& [address, own] : pools().allocated) {
    if (own.pool != handle || own.file < 0) continue;
    MapOnHost(*r.backend().LocalDevice(), {address, own.bytes, "memory of a pool on the host", ""}, own.file, granted);
  }
}

void FreeInOrder(Runtime& r, const Stream& stream, void* pointer) {
  StreamOperation operation(r, stream, false);
  operation.Begin();
  const auto found = pools().allocated.find(reinterpret_cast<uintptr_t>(pointer));
  if (found != pools().allocated.end()) {
    const Pooled& freed = found->second;
    if (const auto known = pools().all.find(freed.pool); known != pools().all.end()) {
      Pool& pool = *known->second;
      pool.used -= freed.bytes;
      pool.freed.emplace(&stream, LeavePlace(pool, freed.place));
    }
  }
  Free(r, pointer);
}

void Set(Pool& pool, cudaMemPoolAttr attribute, const void* value) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      pool.reuse[attribute] = *static_cast<const int*>(value) != 0 ? 1 : 0;
      break;
    case cudaMemPoolAttrReleaseThreshold:
      pool.release_threshold = *static_cast<const uint64_t*>(value);
      break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      // A high-water mark can only be reset.
      Require(*static_cast<const uint64_t*>(value) == 0, cudaErrorInvalidValue);
      (attribute == cudaMemPoolAttrUsedMemHigh ? pool.used_high : pool.reserved_high) =
          attribute == cudaMemPoolAttrUsedMemHigh ? pool.used : ReservedBy(pool);
      break;
    default:
      throw ApiError{cudaErrorInvalidValue};
  }
}

void Get(const Pool& pool, cudaMemPoolAttr attribute, void* value) {
  const auto put = [value](uint64_t number) { *static_cast<uint64_t*>(value) = number; };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool.reuse.at(attribute);
      break;
    case cudaMemPoolAttrReleaseThreshold:
      put(pool.release_threshold);
      break;
    case cudaMemPoolAttrReservedMemCurrent:
      put(ReservedBy(pool));
      break;
    case cudaMemPoolAttrReservedMemHigh:
      put(pool.reserved_high);
      break;
    case cudaMemPoolAttrUsedMemCurrent:
      put(pool.used);
      break;
    case cudaMemPoolAttrUsedMemHigh:
      put(pool.used_high);
      break;
    default:
      throw ApiError{cudaErrorInvalidValue};
  }
}

}  // namespace

// Memory freed by cudaFree continues to count as used, as on an H100; cudaFreeAsync updates the count itself.
void ForgetPooled(const void* pointer) {
  const auto entry = pools().allocated.extract(reinterpret_cast<uintptr_t>(pointer));
  const auto known = entry ? pools().all.find(entry.mapped().pool) : pools().all.end();
  if (known == pools().all.end()) return;
  Pool& pool = *known->second;
  const PoolSpan left = LeavePlace(pool, entry.mapped().place);
  if (left.second == 0) return;
  Count(pool, left, -1);
  Release(pool, pool.release_threshold / kPoolTakes);
}

bool FreeOnHost(Runtime& r, void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto found = pools().allocated.find(address);
  if (found == pools().allocated.end() || found->second.file < 0) return false;
  UnmapFromHost(*r.backend().LocalDevice(), {address, found->second.bytes, "", ""}, found->second.file);
  close(found->second.file);
  r.backend().LocalDevice()->Unreserve(address, RoundedUp(found->second.bytes, kPoolPages));
  ForgetNotes(address);
  ForgetPooled(pointer);
  return true;
}

cudaMemPool_t PoolOfAllocation(uint64_t base) {
  const auto found = pools().allocated.find(base);
  return found == pools().allocated.end() ? nullptr : found->second.pool;
}

std::optional<KnownMemory> PooledOnHostAt(uint64_t address) {
  const auto above = pools().allocated.upper_bound(address);
  if (above == pools().allocated.begin()) return std::nullopt;
  const auto& [base, own] = *std::prev(above);
  if (own.file < 0 || address - base >= own.bytes) return std::nullopt;
  KnownMemory memory;
  memory.type = cudaMemoryTypeHost;
  memory.base = memory.mapping_base = base;
  memory.bytes = own.bytes;
  memory.mapping_bytes = RoundedUp(own.bytes, kPoolTakes);
  memory.pool = own.pool;
  const auto pool = pools().all.find(own.pool);
  if (pool != pools().all.end() && pool->second->for_device) memory.device_pointer = reinterpret_cast<void*>(address);
  return memory;
}

// Returns unused blocks to the device until a pool holds no more than its release threshold.
void ReleasePools(const Stream* waited) {
  for (const auto& [handle, pool] : pools().all) {
    const auto [first, last] =
        waited != nullptr ? pool->freed.equal_range(waited) : std::pair(pool->freed.begin(), pool->freed.end());
    if (waited != nullptr && first == last) continue;
    for (auto freed = first; freed != last; ++freed) Count(*pool, freed->second, -1);
    pool->freed.erase(first, last);
    Release(*pool, pool->release_threshold / kPoolTakes);
  }
}

void ResetPools(int device) {
  Pools& state = pools();
  std::erase_if(state.all, [device](const auto& pool) { return pool.second->device == device; });
  std::erase_if(state.allocated, [&](const auto& entry) { return state.all.count(entry.second.pool) == 0; });
  state.defaults.erase(device);
  state.current.erase(device);
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return Api("cudaMallocAsync", [&](Runtime& r) { AllocateFrom(r, pointer, bytes, CurrentPool(r.device()), stream); });
}
LOCKSTEP_PER_THREAD(cudaMallocAsync, _ptsz)

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return Api("cudaMallocFromPoolAsync", [&](Runtime& r) { AllocateFrom(r, pointer, bytes, pool, stream); });
}
LOCKSTEP_PER_THREAD(cudaMallocFromPoolAsync, _ptsz)

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return Api("cudaFreeAsync", [&](Runtime& r) {
    Stream& in = r.StreamOf(stream);
    if (in.point.capture != nullptr) {
      r.StreamToUse(stream);
      if (pointer != nullptr) AddToCapture(in, MakeFree(*in.point.capture->graph, pointer));
      return;
    }
    RequireSafeInCapture();
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const bool pooled = PoolOfAllocation(address) != nullptr;
    Require(pooled || !r.IsManaged(address),
            r.managed().count(address) != 0 ? cudaErrorNotSupported : cudaErrorInvalidValue);
    ConcurrentWork::Ids before = r.beside().Before(r, in);
    if (before.empty()) return FreeInOrder(r, in, pointer);
    Require(pointer == nullptr || pooled || r.DeviceHolding(address).has_value(), cudaErrorInvalidValue);
    r.beside().Put(r, in, std::move(before), [&in, pointer](Runtime& then) { FreeInOrder(then, in, pointer); });
  });
}
LOCKSTEP_PER_THREAD(cudaFreeAsync, _ptsz)

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return Api("cudaDeviceGetDefaultMemPool", Faults::kNone, [&](Runtime& r) {
    Require(pool != nullptr, cudaErrorInvalidValue);
    r.RequireDevice(device);
    *pool = DefaultPool(device);
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return Api("cudaDeviceGetMemPool", [&](Runtime& r) {
    Require(pool != nullptr && device >= 0 && device < r.device_count(), cudaErrorInvalidValue);
    *pool = CurrentPool(device);
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return Api("cudaDeviceSetMemPool", [&](Runtime& r) {
    Require(device >= 0 && device < r.device_count(), cudaErrorInvalidValue);
    const Pool& own = PoolOf(pool);
    Require(own.device == device, own.elsewhere ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    CurrentPool(device) = pool;
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return Api("cudaMemGetDefaultMemPool", [&](Runtime& r) {
    Require(pool != nullptr, cudaErrorInvalidValue);
    *pool = DefaultPool(KeyOf(r, location, type));
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* location, cudaMemAllocationType type) {
  return Api("cudaMemGetMemPool", [&](Runtime& r) {
    Require(pool != nullptr, cudaErrorInvalidValue);
    *pool = CurrentPool(KeyOf(r, location, type));
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  return Api("cudaMemSetMemPool", [&](Runtime& r) {
    RequireSafeInCapture();
    const int device = KeyOf(r, location, type);
    Require(PoolOf(pool).device == device,
            location->type == cudaMemLocationTypeHost ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
    CurrentPool(device) = pool;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return Api("cudaMemPoolCreate", [&](Runtime& r) {
    Require(pool != nullptr && properties != nullptr, cudaErrorInvalidValue);
    const bool shares = properties->allocType == cudaMemAllocationTypePinned &&
                        (properties->location.type == cudaMemLocationTypeDevice ||
                         properties->location.type == cudaMemLocationTypeHostNuma);
    const auto handles = properties->handleTypes;
    Require(handles == cudaMemHandleTypeNone ||
                (shares && (handles == cudaMemHandleTypePosixFileDescriptor || handles == cudaMemHandleTypeFabric)),
            cudaErrorInvalidValue);
    const int key = KeyOf(r, properties->location, properties->allocType);
    const bool managed = properties->allocType == cudaMemAllocationTypeManaged;
    Require(!managed || properties->usage == 0, cudaErrorInvalidValue);
    Require(properties->maxSize <= (managed ? 0 : UINT64_MAX - kPoolTakes), cudaErrorInvalidValue);
    constexpr uint64_t kAddresses = uint64_t{1} << 47;
    Require(properties->maxSize <= kAddresses, cudaErrorMemoryAllocation);
    *pool = AddPool(key);
    Pool& made = PoolOf(*pool);
    made.max_bytes = RoundedUp(properties->maxSize, kPoolTakes);
    made.handles = handles;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return Api("cudaMemPoolDestroy", [&](Runtime&) {
    const Pool& destroyed = PoolOf(pool);
    Require(!destroyed.is_default, cudaErrorInvalidValue);
    cudaMemPool_t& current = CurrentPool(destroyed.device);
    if (current == pool) current = DefaultPool(destroyed.device);
    pools().all.erase(pool);
  });
}

cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool, cudaMemAllocationHandleType type,
                                               unsigned flags) {
  return Api("cudaMemPoolExportToShareableHandle", [&](Runtime&) {
    const Pool& exported = PoolOf(pool);
    Require(handle != nullptr && flags == 0 && type != cudaMemHandleTypeNone && exported.handles == type,
            cudaErrorInvalidValue);
    NotSupported("sharing between processes");
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t kept) {
  return Api("cudaMemPoolTrimTo",
             [&](Runtime&) { Release(PoolOf(pool), kept / kPoolTakes + (kept % kPoolTakes != 0 ? 1 : 0)); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return Api("cudaMemPoolSetAttribute", [&](Runtime&) {
    Require(value != nullptr, cudaErrorInvalidValue);
    Set(PoolOf(pool), attribute, value);
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return Api("cudaMemPoolGetAttribute", [&](Runtime&) {
    Require(value != nullptr, cudaErrorInvalidValue);
    Get(PoolOf(pool), attribute, value);
  });
}

// Access by another device is refused: devices cannot access each other's memory.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  return Api("cudaMemPoolSetAccess", [&](Runtime& r) {
    Pool& own = PoolOf(pool);
    Require(list != nullptr || count == 0, cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
      const cudaMemLocation& location = list[i].location;
      const bool read_only = list[i].flags == cudaMemAccessFlagsProtRead;
      Require((own.elsewhere || location.type == cudaMemLocationTypeDevice) && !read_only, cudaErrorNotSupported);
      const bool none = list[i].flags == cudaMemAccessFlagsProtNone;
      const bool on_host = location.type == cudaMemLocationTypeHost || location.type == cudaMemLocationTypeHostNuma;
      if (location.type == cudaMemLocationTypeDevice) r.RequireDevice(location.id);
      if (own.elsewhere) {
        const bool is_known = on_host || location.type == cudaMemLocationTypeDevice;
        Require(is_known && (none || list[i].flags == cudaMemAccessFlagsProtReadWrite), cudaErrorInvalidValue);
        Require(!on_host || !none || own.managed, cudaErrorNotSupported);  // the host always has access
      }
      if (own.elsewhere && !on_host) Grant(r, pool, !none);
      if (own.elsewhere) continue;
      Require(none || list[i].flags == cudaMemAccessFlagsProtReadWrite || location.id != own.device,
              cudaErrorInvalidValue);
      // Its own device always has access.
      Require(location.id != own.device || !none, cudaErrorInvalidDevice);
      Require(location.id == own.device || none, cudaErrorPeerAccessUnsupported);
    }
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return Api("cudaMemPoolGetAccess", [&](Runtime&) {
    Require(flags != nullptr && location != nullptr, cudaErrorInvalidValue);
    const bool on_device = location->type == cudaMemLocationTypeDevice;
    Require(!on_device || (location->id >= 0 && location->id < runtime().device_count()), cudaErrorInvalidValue);
    Require(on_device || location->type == cudaMemLocationTypeHost || location->type == cudaMemLocationTypeHostNuma,
            cudaErrorInvalidValue);
    const Pool& asked = PoolOf(pool);
    const bool always = asked.elsewhere ? !on_device && !asked.managed : on_device && location->id == asked.device;
    const bool own = always || (on_device && asked.for_device);
    *flags = own ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  });
}

}  // extern "C"
