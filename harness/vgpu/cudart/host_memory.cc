// Host memory that the runtime tracks: page-locked, registered, mapped.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr size_t kPage = 4096;
constexpr unsigned kHostAllocFlags = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

// If the host can access device memory, page-locked memory is allocated as device memory. Then kernels can access it at
// the same address, as with unified addressing.
void AllocateHost(Runtime& r, void** pointer, size_t bytes, unsigned flags) {
  Require(pointer != nullptr, cudaErrorInvalidValue);
  if (bytes == 0) {
    *pointer = nullptr;
    return r.LeaveOutOfTrace();
  }
  Require((flags & ~kHostAllocFlags) == 0, cudaErrorInvalidValue);
  *pointer = nullptr;
  using Kind = Runtime::HostRange::Kind;
  Kind kind = Kind::kAllocated;
  if (r.backend().HostSeesDeviceMemory()) {
    const uint64_t address = r.backend().Allocate(bytes, r.OriginWithCallSite());
    Require(address != 0, cudaErrorMemoryAllocation);
    r.backend().Fill(address, 0, bytes, r.origin());
    *pointer = reinterpret_cast<void*>(address);
    kind = Kind::kOnDevice;
  } else {
    Require(bytes <= SIZE_MAX - kPage, cudaErrorMemoryAllocation);
    *pointer = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    Require(*pointer != nullptr, cudaErrorMemoryAllocation);
  }
  r.host_ranges()[reinterpret_cast<uintptr_t>(*pointer)] = {bytes, flags, kind, r.device()};
  r.timeline().clocks().Fence(r.device());
}

// The range is known no longer. Memory that was allocated for it is freed.
void EndHostRange(Runtime& r, uintptr_t base, const Runtime::HostRange& range) {
  using Kind = Runtime::HostRange::Kind;
  void* const pointer = reinterpret_cast<void*>(base);
  const auto [bytes, flags, kind, device, context] = range;
  r.beside().WaitFor(r, r.beside().On(r.device()));  // pending work may use it
  r.transfers().Free(r, pointer, bytes);
  r.mapped().Unmap(r, pointer);
  r.host_ranges().erase(base);
  ForgetNotes(base);
  if (kind == Kind::kOnDevice) r.backend(device).Free(base, r.origin());
  if (kind == Kind::kAllocated) std::free(pointer);
}

// Whether all pages of the range are mapped for reading, and for writing if `writes`.
bool IsAccessible(uintptr_t begin, uintptr_t end, bool writes) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; begin < end && std::getline(maps, line);) {
    unsigned long first = 0, last = 0;
    char reads = '-', may_write = '-';
    if (std::sscanf(line.c_str(), "%lx-%lx %c%c", &first, &last, &reads, &may_write) != 4 || last <= begin) continue;
    if (first > begin || reads != 'r' || (writes && may_write != 'w')) return false;
    begin = last;
  }
  return begin >= end;
}

}  // namespace

void EndHostRanges(Runtime& r, const void* context) {
  const auto ranges = r.host_ranges();
  for (const auto& [base, range] : ranges) {
    if (range.context == context) EndHostRange(r, base, range);
  }
}

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return Api("cudaMallocHost", [&](Runtime& r) { AllocateHost(r, pointer, bytes, cudaHostAllocDefault); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return Api("cudaHostAlloc", [&](Runtime& r) { AllocateHost(r, pointer, bytes, flags); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return Api("cudaFreeHost", [&](Runtime& r) {
    if (pointer == nullptr) return r.LeaveOutOfTrace();
    const auto found = r.host_ranges().find(reinterpret_cast<uintptr_t>(pointer));
    Require(found != r.host_ranges().end() && found->second.kind != Runtime::HostRange::Kind::kRegistered,
            cudaErrorInvalidValue);
    EndHostRange(r, found->first, Runtime::HostRange(found->second));
    r.timeline().clocks().Fence(r.device());
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return Api("cudaHostRegister", [&](Runtime& r) {
    // I/O memory (cudaHostRegisterIoMemory) does not exist for a process here.
    constexpr unsigned kFlags = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    Require(pointer != nullptr && bytes > 0 && (flags & ~kFlags) == 0, cudaErrorInvalidValue);
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    Require(begin <= UINTPTR_MAX - bytes, cudaErrorInvalidValue);
    auto next = r.host_ranges().lower_bound(begin + bytes);
    if (next != r.host_ranges().begin() && (--next)->first + next->second.bytes > begin) {
      Require(next->second.kind == Runtime::HostRange::Kind::kRegistered, cudaErrorInvalidValue);
      throw ApiError{cudaErrorHostMemoryAlreadyRegistered};
    }
    Require(!r.DeviceHolding(begin).has_value() && !IsReserved(begin), cudaErrorInvalidValue);
    Require(IsAccessible(begin, begin + bytes, (flags & cudaHostRegisterReadOnly) == 0), cudaErrorInvalidValue);
    r.host_ranges()[reinterpret_cast<uintptr_t>(pointer)] = {bytes, flags, Runtime::HostRange::Kind::kRegistered,
                                                             r.device()};
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return Api("cudaHostUnregister", [&](Runtime& r) {
    const auto found = r.host_ranges().find(reinterpret_cast<uintptr_t>(pointer));
    if (found == r.host_ranges().end() || found->second.kind != Runtime::HostRange::Kind::kRegistered) {
      const bool known = pointer == nullptr || MemoryAt(r, pointer).has_value();
      throw ApiError{known ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered};
    }
    EndHostRange(r, found->first, Runtime::HostRange(found->second));
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return Api("cudaHostGetDevicePointer", [&](Runtime& r) {
    r.RequireAtSight(device != nullptr && host != nullptr, cudaErrorInvalidValue);
    *device = nullptr;
    r.RequireContext();
    Require(flags == 0, cudaErrorInvalidValue);
    // Any address within the range.
    const auto range = r.HostRangeHolding(host);
    Require(range.has_value(), cudaErrorInvalidValue);
    *device = range->second.kind == Runtime::HostRange::Kind::kOnDevice
                  ? host
                  : reinterpret_cast<void*>(
                        r.mapped().Map(r, reinterpret_cast<void*>(range->first), range->second.bytes, host));
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return Api("cudaHostGetFlags", [&](Runtime& r) {
    Require(flags != nullptr, cudaErrorInvalidValue);
    // All page-locked memory counts as mapped.
    constexpr unsigned kReportedFlags = cudaHostAllocPortable | cudaHostAllocWriteCombined;
    const auto range = r.HostRangeHolding(host);
    const auto memory = range ? std::nullopt : MemoryAt(r, host);
    Require(range || (memory && memory->type == cudaMemoryTypeManaged && memory->pool == nullptr),
            cudaErrorInvalidValue);
    r.RequireContext();
    *flags = (range ? range->second.flags & kReportedFlags : 0) | cudaHostAllocMapped;
  });
}

}  // extern "C"
