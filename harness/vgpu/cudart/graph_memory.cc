// Memory that graphs allocate: nodes, and the device's bookkeeping.
#include "vgpu/cudart/graph_memory.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/memory.h"

namespace lockstep::vgpu::cudart {

namespace {

// An H100 reserves memory for graphs in blocks of this size, and keeps it until trimmed.
constexpr uint64_t kGraphBlock = 32 << 20;
constexpr uint64_t kFilePage = 4096, kReserved = 2 << 20;

// Allocated memory by address. It stays until it is freed, even if its graph is destroyed.
std::map<uint64_t, std::shared_ptr<GraphMemory>>& Live() {
  static auto* const live = new std::map<uint64_t, std::shared_ptr<GraphMemory>>;
  return *live;
}

Device& DeviceOf(Runtime& r, int ordinal) {
  Device* const device = r.backend(ordinal).LocalDevice();
  if (device == nullptr) NotSupported("graph memory nodes in submissions");
  return *device;
}

// Memory that a device reserves for graphs, now and at most, with the marks for used and for reserved memory.
struct Held {
  uint64_t now = 0, used_high = 0, reserved_high = 0;
};
Held& HeldBy(int device) {
  static auto& held = *new std::map<int, Held>;
  return held[device];
}

// The blocks that allocated memory occupies: graphs share none.
uint64_t Occupied(int device) {
  std::map<std::weak_ptr<const Graph>, uint64_t, std::owner_less<>> bytes;
  for (const auto& [address, memory] : Live()) {
    if (memory->device == device) bytes[memory->graph] += memory->bytes;
  }
  uint64_t occupied = 0;
  for (const auto& [graph, size] : bytes) occupied += RoundedUp(size, kGraphBlock);
  return occupied;
}

void Release(Runtime& r, GraphMemory& memory) {
  DeviceOf(r, memory.device).Unmap(memory.address);
  DeviceOf(r, memory.device).GiveBack(memory.bytes);
  close(memory.file);
  memory.file = -1;
  Live().erase(memory.address);
}

}  // namespace

GraphMemory::~GraphMemory() {
  if (address == 0) return;
  Runtime& r = runtime();
  Device* const own = r.backend(device).LocalDevice();
  if (own == nullptr) return;
  own->Unreserve(address, RoundedUp(bytes, kReserved));
}

AllocateWork MakeAllocation(Runtime& r, uint64_t bytes) {
  Require(bytes > 0, cudaErrorInvalidValue);
  Require(bytes <= static_cast<uint64_t>(r.profile().memory_bytes), cudaErrorMemoryAllocation);
  auto memory = std::make_shared<GraphMemory>();
  memory->device = r.device();
  memory->bytes = bytes;
  memory->address = DeviceOf(r, memory->device).Reserve(RoundedUp(bytes, kReserved), 0);
  Require(memory->address != 0, cudaErrorMemoryAllocation);
  return {memory};
}

AllocateWork MakeAllocation(Runtime& r, cudaMemAllocNodeParams* params) {
  Require(params != nullptr, cudaErrorInvalidValue);
  const cudaMemPoolProps& pool = params->poolProps;
  const bool pinned = pool.allocType == cudaMemAllocationTypePinned;
  const bool managed = pool.allocType == cudaMemAllocationTypeManaged;
  Require(pinned || managed, cudaErrorInvalidValue);
  const size_t descriptions = params->accessDescs == nullptr ? 0 : params->accessDescCount;
  for (size_t k = 0; k < descriptions; ++k)
    Require(params->accessDescs[k].location.type == cudaMemLocationTypeDevice, cudaErrorInvalidValue);
  // As on an H100: shareable memory must be pinned and not on the host, and a pool outside device memory is refused.
  Require(pool.handleTypes == cudaMemHandleTypeNone || (pinned && pool.location.type != cudaMemLocationTypeHost),
          cudaErrorInvalidValue);
  const bool of_node = pool.location.type == cudaMemLocationTypeHostNuma && pool.location.id == 0;
  const bool elsewhere = pool.location.type == cudaMemLocationTypeHost || of_node ||
                         (pool.location.type == cudaMemLocationTypeInvalid && managed);
  Require(!elsewhere, cudaErrorNotSupported);
  Require(
      pool.location.type == cudaMemLocationTypeDevice && pool.location.id >= 0 && pool.location.id < r.device_count(),
      cudaErrorInvalidValue);
  for (size_t k = 0; k < descriptions; ++k) {
    const cudaMemAccessDesc& access = params->accessDescs[k];
    r.RequireDevice(access.location.id);
    Require(access.flags == cudaMemAccessFlagsProtReadWrite, cudaErrorNotSupported);
  }
  Require(pool.handleTypes == cudaMemHandleTypeNone, cudaErrorNotSupported);
  AllocateWork work = MakeAllocation(r, params->bytesize);
  params->dptr = reinterpret_cast<void*>(work.memory->address);
  return work;
}

FreeWork MakeFree(const Graph& graph, const void* address) {
  for (const auto& node : graph.nodes) {
    const auto* const allocation = std::get_if<AllocateWork>(&node->work);
    if (allocation == nullptr || allocation->memory->address != reinterpret_cast<uint64_t>(address)) continue;
    Require(!allocation->memory->freed_within, cudaErrorInvalidValue);
    allocation->memory->freed_within = true;
    return {allocation->memory};
  }
  throw ApiError{cudaErrorInvalidValue};
}

bool IsOfGraph(Runtime& r, uint64_t address) {
  Device* const device = r.backend().LocalDevice();
  return device != nullptr && device->IsReserved(address, 1);
}

std::shared_ptr<GraphMemory> AllocatedByGraph(uint64_t address) {
  const auto found = Live().find(address);
  return found != Live().end() ? found->second : nullptr;
}

void PerformAllocation(Runtime& r, const AllocateWork& work, const Stream& stream) {
  GraphMemory& memory = *work.memory;
  if (r.faulted() || memory.file >= 0) return;
  Device& device = DeviceOf(r, memory.device);
  StreamOperation operation(r, stream, false, {{memory.address, memory.bytes, true}});
  operation.Begin();
  Require(device.Take(memory.bytes), cudaErrorMemoryAllocation);
  memory.file = FileOf(RoundedUp(memory.bytes, kFilePage));
  if (memory.file < 0 || !device.Map({memory.address, memory.bytes, "memory of a graph", ""}, memory.file, false)) {
    device.GiveBack(memory.bytes);
    if (memory.file >= 0) close(memory.file);
    memory.file = -1;
    throw ApiError{cudaErrorMemoryAllocation};
  }
  Live()[memory.address] = work.memory;
  Held& held = HeldBy(memory.device);
  held.now = std::max(held.now, Occupied(memory.device));
  held.used_high = std::max(held.used_high, held.now);
  held.reserved_high = std::max(held.reserved_high, held.now);
}

void PerformFree(Runtime& r, const FreeWork& work, const Stream& stream) {
  if (r.faulted() || work.memory->file < 0) return;
  StreamOperation operation(r, stream, false, {{work.memory->address, work.memory->bytes, true}});
  operation.Begin();
  const std::shared_ptr<GraphMemory> memory = work.memory;
  Release(r, *memory);
}

bool FreeGraphMemory(Runtime& r, void* pointer) {
  const auto memory = AllocatedByGraph(reinterpret_cast<uint64_t>(pointer));
  if (memory == nullptr) return false;
  Release(r, *memory);
  return true;
}

void ResetGraphMemory(int device) {
  std::erase_if(Live(), [device](const auto& entry) {
    if (entry.second->device != device) return false;
    close(entry.second->file);
    entry.second->file = -1;
    return true;
  });
  HeldBy(device) = {};
}

void RequireNoMemoryNodes(const Graph& graph) {
  const auto is_memory = [](const auto& node) {
    return std::holds_alternative<AllocateWork>(node->work) || std::holds_alternative<FreeWork>(node->work);
  };
  Require(!graph.memory_tried, cudaErrorNotSupported);
  Require(std::none_of(graph.nodes.begin(), graph.nodes.end(), is_memory), cudaErrorNotSupported);
}

void BeforeLaunch(Runtime& r, const ExecutableGraph& executable) {
  for (const ExecutableNode& node : executable.nodes) {
    const auto* const allocation = std::get_if<AllocateWork>(&node.work);
    if (allocation == nullptr) continue;
    allocation->memory->graph = executable.of;
    if (allocation->memory->file < 0) continue;
    Require((executable.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0, cudaErrorInvalidValue);
    Release(r, *allocation->memory);
  }
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

// Reserved memory counts as used, as on an H100.
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return Api("cudaDeviceGetGraphMemAttribute", [&](Runtime& r) {
    r.RequireDevice(device);
    Require(
        value != nullptr && attribute >= cudaGraphMemAttrUsedMemCurrent && attribute <= cudaGraphMemAttrReservedMemHigh,
        cudaErrorInvalidValue);
    const Held& held = HeldBy(device);
    *static_cast<uint64_t*>(value) = attribute == cudaGraphMemAttrUsedMemHigh       ? held.used_high
                                     : attribute == cudaGraphMemAttrReservedMemHigh ? held.reserved_high
                                                                                    : held.now;
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return Api("cudaDeviceSetGraphMemAttribute", [&](Runtime& r) {
    r.RequireDevice(device);
    // A high-water mark can only be reset.
    const bool high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    Require(value != nullptr && high && *static_cast<uint64_t*>(value) == 0, cudaErrorInvalidValue);
    Held& held = HeldBy(device);
    (attribute == cudaGraphMemAttrUsedMemHigh ? held.used_high : held.reserved_high) = held.now;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return Api("cudaDeviceGraphMemTrim", [&](Runtime& r) {
    r.RequireDevice(device);
    HeldBy(device).now = Occupied(device);
  });
}

}  // extern "C"
