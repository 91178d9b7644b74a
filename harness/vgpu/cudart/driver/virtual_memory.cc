// Virtual memory management: addresses that a program reserves, and memory that it maps there.
//
// A handle's memory is an anonymous file of this process, so that it can be mapped at several addresses and keep its
// contents while unmapped. It is mapped only by cuMemSetAccess: a mapping without access exists only in our tables, and
// faults like any unmapped address. The host can access what is the host's memory or mapped for a device.
#include <sys/mman.h>
#include <unistd.h>

#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/pointer.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

constexpr uint64_t kGranularity = 2 << 20;

// What a CUmemGenericAllocationHandle points to.
struct Physical {
  CUmemAllocationProp properties{};
  uint64_t bytes = 0;
  int file = -1;
  int holders = 1;       // count of the program's handles and of mappings
  int handles = 1;       // count of the program's handles
  bool written = false;  // it was accessible once, so that its contents count as written
};

struct Mapped {
  Physical* memory = nullptr;
  CUmemAccess_flags device = CU_MEM_ACCESS_FLAGS_PROT_NONE, host = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};
bool IsOnHost(const Physical& memory) { return memory.properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE; }

std::set<Physical*>& Known() {
  static auto* const known = new std::set<Physical*>;
  return *known;
}
// By the address where they begin.
std::map<uint64_t, Mapped>& Mappings() {
  static auto* const mappings = new std::map<uint64_t, Mapped>;
  return *mappings;
}

Physical* Find(CUmemGenericAllocationHandle handle) {
  auto* const memory = reinterpret_cast<Physical*>(handle);
  Require(Known().count(memory) != 0 && memory->handles > 0, cudaErrorInvalidValue);
  return memory;
}

Device& DeviceOf(Runtime& r, int ordinal) {
  Require(ordinal >= 0 && ordinal < r.device_count(), cudaErrorInvalidDevice);
  Device* const device = r.backend(ordinal).LocalDevice();
  if (device == nullptr) NotSupported("virtual memory management in submissions");
  return *device;
}

// The device for which the range is reserved, perhaps as part of a larger one.
Device& Reserver(Runtime& r, uint64_t address, uint64_t bytes) {
  for (int ordinal = 0; ordinal < r.device_count(); ++ordinal) {
    Device& device = DeviceOf(r, ordinal);
    if (device.IsReserved(address, bytes)) return device;
  }
  throw ApiError{cudaErrorInvalidValue};
}

// Shareable handle types are accepted: only exporting a handle is refused.
void CheckProperties(const CUmemAllocationProp* properties) {
  Require(properties != nullptr, cudaErrorInvalidValue);
  const CUmemLocation& location = properties->location;
  const bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  Require(!on_device || (location.id >= 0 && location.id < runtime().device_count()), cudaErrorInvalidDevice);
  const bool on_host = location.type == CU_MEM_LOCATION_TYPE_HOST ||
                       (location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA && location.id == 0);
  Require(properties->type == CU_MEM_ALLOCATION_TYPE_PINNED && (on_device || on_host), cudaErrorInvalidValue);
  const auto handles = properties->requestedHandleTypes;
  const bool is_shareable = handles == CU_MEM_HANDLE_TYPE_NONE || location.type != CU_MEM_LOCATION_TYPE_HOST;
  Require(!on_host || (is_shareable && properties->allocFlags.compressionType == 0), cudaErrorInvalidValue);
  Require(handles == CU_MEM_HANDLE_TYPE_NONE || handles == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
              handles == CU_MEM_HANDLE_TYPE_FABRIC,
          cudaErrorInvalidValue);
  // The errors of a machine without a fabric.
  const bool is_tile_pool = (properties->allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL) != 0;
  Require(handles != CU_MEM_HANDLE_TYPE_FABRIC, is_tile_pool ? cudaErrorInvalidValue : cudaErrorNotPermitted);
}

void LetGo(Runtime& r, Physical* memory) {
  if (--memory->holders > 0) return;
  if (!IsOnHost(*memory)) DeviceOf(r, memory->properties.location.id).GiveBack(memory->bytes);
  close(memory->file);
  Known().erase(memory);
  delete memory;
}

CUmemGenericAllocationHandle Create(Runtime& r, size_t bytes, const CUmemAllocationProp* properties) {
  Require(bytes > 0 && bytes % kGranularity == 0, cudaErrorInvalidValue);
  CheckProperties(properties);
  Require(properties->requestedHandleTypes == 0 || properties->allocFlags.usage == 0, cudaErrorInvalidValue);
  auto memory = std::make_unique<Physical>(Physical{*properties, bytes});
  memory->properties.allocFlags.usage = 0;
  if (IsOnHost(*memory)) memory->properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, {0}};
  Require(IsOnHost(*memory) || DeviceOf(r, properties->location.id).Take(bytes), cudaErrorMemoryAllocation);
  memory->file = FileOf(bytes);
  if (memory->file < 0 && !IsOnHost(*memory)) DeviceOf(r, properties->location.id).GiveBack(bytes);
  Require(memory->file >= 0, cudaErrorMemoryAllocation);
  Known().insert(memory.get());
  return reinterpret_cast<CUmemGenericAllocationHandle>(memory.release());
}

// The mappings in a range, which may contain holes but no part of a mapping.
std::vector<std::pair<const uint64_t, Mapped>*> In(uint64_t address, uint64_t bytes) {
  std::vector<std::pair<const uint64_t, Mapped>*> found;
  for (auto& mapping : Mappings()) {
    const uint64_t end = mapping.first + mapping.second.memory->bytes;
    if (end <= address || mapping.first >= address + bytes) continue;
    Require(mapping.first >= address && end <= address + bytes, cudaErrorInvalidValue);
    found.push_back(&mapping);
  }
  return found;
}

void Unmap(Runtime& r, uint64_t address, uint64_t bytes) {
  Require(bytes > 0 && address % kGranularity == 0 && bytes % kGranularity == 0, cudaErrorInvalidValue);
  Reserver(r, address, bytes);
  for (auto* const mapping : In(address, bytes)) {
    const auto [at, mapped] = *mapping;
    Device& device = DeviceOf(r, mapped.memory->properties.location.id);
    if (!device.Unmap(at) && mapped.host != CU_MEM_ACCESS_FLAGS_PROT_NONE)
      UnmapFromHost(device, {at, mapped.memory->bytes, "", ""}, mapped.memory->file);
    Mappings().erase(at);
    LetGo(r, mapped.memory);
  }
}

void SetAccess(Runtime& r, uint64_t address, uint64_t bytes, const CUmemAccessDesc* access) {
  Require(access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
              access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
          cudaErrorInvalidValue);
  const auto mappings = In(address, bytes);
  // The first mapping must begin and the last one end with the range; there may be holes between mappings.
  Require(!mappings.empty() && mappings.front()->first == address &&
              mappings.back()->first + mappings.back()->second.memory->bytes == address + bytes,
          cudaErrorInvalidValue);
  for (auto* const mapping : mappings) {
    Mapped& mapped = mapping->second;
    const int home = mapped.memory->properties.location.id;
    const bool on_host = IsOnHost(*mapped.memory), for_device = access->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    Require(for_device || on_host, cudaErrorNotSupported);
    if (for_device && access->location.id != home) NotSupported("access to mapped memory by other devices");
    CUmemAccess_flags& now = for_device ? mapped.device : mapped.host;
    if (std::exchange(now, access->flags) == access->flags) continue;
    const bool is_device = mapped.device != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    static int number = 0;
    const Device::AllocationInfo where = {
        mapping->first, mapped.memory->bytes, "cuMemMap #" + std::to_string(number += is_device),
        r.OriginWithCallSite().call_site, mapped.device == CU_MEM_ACCESS_FLAGS_PROT_READ};
    Device& device = DeviceOf(r, home);
    if (on_host) {
      MapOnHost(device, where, mapped.memory->file, is_device);
    } else {
      device.Unmap(mapping->first);
      Require(!is_device || device.Map(where, mapped.memory->file, mapped.memory->written), cudaErrorInvalidValue);
    }
    mapped.memory->written |= is_device;
  }
}

uint64_t Reserve(Runtime& r, uint64_t bytes, uint64_t alignment) {
  Require(bytes > 0 && bytes % kGranularity == 0, cudaErrorInvalidValue);
  Require((alignment & (alignment - 1)) == 0, cudaErrorInvalidValue);
  const uint64_t address = DeviceOf(r, r.device()).Reserve(bytes, alignment);
  Require(address != 0, cudaErrorMemoryAllocation);
  return address;
}

bool IsMappedIn(uint64_t address, uint64_t bytes) {
  const auto next = Mappings().lower_bound(address);
  return next != Mappings().end() && next->first < address + bytes;
}

// The mapping that an address is in, or null.
const std::pair<const uint64_t, Mapped>* MappingAt(uint64_t address) {
  const auto above = Mappings().upper_bound(address);
  if (above == Mappings().begin()) return nullptr;
  const auto& mapping = *std::prev(above);
  return address - mapping.first < mapping.second.memory->bytes ? &mapping : nullptr;
}

// What a device, or the host, may do with mapped memory. Other memory reports no access.
CUmemAccess_flags AccessBy(const CUmemLocation& location, uint64_t address) {
  const auto* const mapping = MappingAt(address);
  if (mapping == nullptr) return CU_MEM_ACCESS_FLAGS_PROT_NONE;
  const Mapped& mapped = mapping->second;
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id != mapped.memory->properties.location.id)
    return CU_MEM_ACCESS_FLAGS_PROT_NONE;
  // The host without a NUMA node is told of the device's access, if it has none.
  const bool own = mapped.host != CU_MEM_ACCESS_FLAGS_PROT_NONE || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return location.type != CU_MEM_LOCATION_TYPE_DEVICE && own ? mapped.host : mapped.device;
}

// Ranges that the program reserved, by address.
std::map<uint64_t, uint64_t>& Reservations() {
  static auto* const reservations = new std::map<uint64_t, uint64_t>;
  return *reservations;
}

}  // namespace

}  // namespace lockstep::vgpu::cudart::driver

namespace lockstep::vgpu::cudart {

int FileOf(uint64_t bytes) {
  const int file = memfd_create("vgpu", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  close(file);
  return -1;
}

void MapOnHost(Device& device, Device::AllocationInfo where, int file, bool for_device) {
  void* const place = reinterpret_cast<void*>(where.base);
  const uint64_t bytes = where.bytes;
  device.Unmap(where.base);
  const bool done = for_device
                        ? device.Map(std::move(where), file, true)
                        : mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  Require(done, cudaErrorInvalidValue);
}

void UnmapFromHost(Device& device, const Device::AllocationInfo& where, int file) {
  MapOnHost(device, where, file, true);
  device.Unmap(where.base);
}

bool IsReserved(uint64_t address) {
  const auto after = driver::Reservations().upper_bound(address);
  return after != driver::Reservations().begin() && address - std::prev(after)->first < std::prev(after)->second;
}

std::optional<KnownMemory> MappedAt(Runtime&, uint64_t address) {
  const auto* const mapping = driver::MappingAt(address);
  if (mapping == nullptr) return std::nullopt;
  const auto& [base, mapped] = *mapping;
  KnownMemory memory;
  memory.type = driver::IsOnHost(*mapped.memory) ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  memory.off_host = mapped.host == CU_MEM_ACCESS_FLAGS_PROT_NONE;
  memory.read_only = mapped.device == CU_MEM_ACCESS_FLAGS_PROT_READ;
  memory.device = mapped.memory->properties.location.id;
  memory.base = memory.mapping_base = base;
  memory.bytes = memory.mapping_bytes = mapped.memory->bytes;
  memory.mapped = true;
  if (mapped.device != CU_MEM_ACCESS_FLAGS_PROT_NONE) memory.device_pointer = reinterpret_cast<void*>(address);
  const auto reservation = std::prev(driver::Reservations().upper_bound(address));
  memory.reserved_base = reservation->first;
  memory.reserved_bytes = reservation->second;
  return memory;
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags which) {
  return Drive("cuMemGetAllocationGranularity", Needs::kInit, [&] {
    return Api("cuMemGetAllocationGranularity", Faults::kNone, [&](Runtime&) {
      Require(bytes != nullptr && properties != nullptr, cudaErrorInvalidValue);
      Require(which == CU_MEM_ALLOC_GRANULARITY_MINIMUM || which == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
              cudaErrorInvalidValue);
      *bytes = kGranularity;
    });
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
  return Drive("cuMemAddressReserve", Needs::kInit, [&] {
    return Api("cuMemAddressReserve", Faults::kNone, [&](Runtime& r) {
      Require(address != nullptr && flags == 0 && wish % kGranularity == 0, cudaErrorInvalidValue);
      *address = Reserve(r, bytes, alignment);
      Reservations()[*address] = bytes;
    });
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return Drive("cuMemAddressFree", Needs::kInit, [&] {
    return Api("cuMemAddressFree", Faults::kIgnores, [&](Runtime& r) {
      Require(!IsMappedIn(address, bytes), cudaErrorInvalidValue);
      Require(Reserver(r, address, bytes).Unreserve(address, bytes), cudaErrorInvalidValue);
      Reservations().erase(address);
    });
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  return Drive("cuMemCreate", Needs::kInit, [&] {
    return Api("cuMemCreate", Faults::kNone, [&](Runtime& r) {
      Require(handle != nullptr && flags == 0, cudaErrorInvalidValue);
      *handle = Create(r, bytes, properties);
    });
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return Drive("cuMemRelease", Needs::kInit, [&] {
    return Api("cuMemRelease", Faults::kIgnores, [&](Runtime& r) {
      Physical* const memory = Find(handle);
      --memory->handles;
      LetGo(r, memory);
    });
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return Drive("cuMemRetainAllocationHandle", Needs::kInit, [&] {
    return Api("cuMemRetainAllocationHandle", Faults::kIgnores, [&](Runtime&) {
      auto mapping = Mappings().upper_bound(reinterpret_cast<uint64_t>(address));
      Require(handle != nullptr && mapping != Mappings().begin(), cudaErrorInvalidValue);
      --mapping;
      Physical* const memory = mapping->second.memory;
      Require(reinterpret_cast<uint64_t>(address) - mapping->first < memory->bytes, cudaErrorInvalidValue);
      ++memory->holders;
      ++memory->handles;
      *handle = reinterpret_cast<CUmemGenericAllocationHandle>(memory);
    });
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return Drive("cuMemGetAllocationPropertiesFromHandle", Needs::kInit, [&] {
    return Api("cuMemGetAllocationPropertiesFromHandle", Faults::kNone, [&](Runtime&) {
      Require(properties != nullptr, cudaErrorInvalidValue);
      *properties = Find(handle)->properties;
    });
  });
}

// Exporting as a file descriptor is refused here. Memory that is not shareable can't be exported on a GPU either.
CUresult cuMemExportToShareableHandle(void* handle, CUmemGenericAllocationHandle memory, CUmemAllocationHandleType type,
                                      unsigned long long flags) {
  return Drive("cuMemExportToShareableHandle", Needs::kInit, [&] {
    return Api("cuMemExportToShareableHandle", Faults::kNone, [&](Runtime&) {
      const CUmemAllocationHandleType made = Find(memory)->properties.requestedHandleTypes;
      Require(handle != nullptr && flags == 0 && type != CU_MEM_HANDLE_TYPE_NONE && (made & type) == type,
              cudaErrorInvalidValue);
      NotSupported("memory as a file");
    });
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return Drive("cuMemMap", Needs::kInit, [&] {
    return Api("cuMemMap", Faults::kNone, [&](Runtime& r) {
      Physical* const memory = Find(handle);
      Require(flags == 0 && address % kGranularity == 0, cudaErrorInvalidValue);
      Require(offset == 0 && bytes == memory->bytes, cudaErrorNotSupported);
      Require(!IsMappedIn(address, bytes), cudaErrorInvalidValue);
      Require(DeviceOf(r, memory->properties.location.id).IsReserved(address, bytes), cudaErrorInvalidValue);
      Mappings()[address] = {memory};
      ++memory->holders;
    });
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return Drive("cuMemUnmap", Needs::kInit,
               [&] { return Api("cuMemUnmap", Faults::kIgnores, [&](Runtime& r) { Unmap(r, address, bytes); }); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* access, size_t count) {
  return Drive("cuMemSetAccess", Needs::kInit, [&] {
    return Api("cuMemSetAccess", Faults::kIgnores, [&](Runtime& r) {
      Require(access != nullptr && count > 0, cudaErrorInvalidValue);
      for (size_t i = 0; i < count; ++i) SetAccess(r, address, bytes, access + i);
    });
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return Drive("cuMemGetAccess", Needs::kInit, [&] {
    return Api("cuMemGetAccess", Faults::kIgnores, [&](Runtime& r) {
      Require(flags != nullptr && location != nullptr, cudaErrorInvalidValue);
      Require(address != 0, cudaErrorInvalidValue);
      const bool of_device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
      Require(
          of_device || location->type == CU_MEM_LOCATION_TYPE_HOST || location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA,
          cudaErrorInvalidDevice);
      Require(!of_device || (location->id >= 0 && location->id < r.device_count()), cudaErrorInvalidDevice);
      *flags = AccessBy(*location, address);
      Require(MemoryAt(r, Pointer(address)).has_value(), cudaErrorInvalidValue);
    });
  });
}

}  // extern "C"
