// Pointer attributes: cudaPointerGetAttributes, and the further ones of the driver API.
#include "vgpu/cudart/pointer.h"

#include <map>

#include "vgpu/cudart/memory.h"

namespace lockstep::vgpu::cudart {

namespace {

// Device memory is mapped in blocks of this size, host memory in pages; pools take larger blocks.
constexpr uint64_t kBlock = 2 << 20, kPoolBlock = 32 << 20, kHostPage = 4096;

std::map<uint64_t, MemoryNotes>& Notes() {
  static auto* const notes = new std::map<uint64_t, MemoryNotes>;
  return *notes;
}

}  // namespace

std::optional<KnownMemory> MemoryAt(Runtime& r, const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (pointer == nullptr) return std::nullopt;
  KnownMemory memory;
  memory.device = r.device();
  if (const auto host = r.HostRangeHolding(pointer)) {
    const auto& [base, range] = *host;
    const bool registered = range.kind == Runtime::HostRange::Kind::kRegistered;
    memory.type = cudaMemoryTypeHost;
    memory.base = base;
    memory.bytes = range.bytes;
    memory.device = range.device;
    memory.context = range.context;
    // Other host memory has another address for kernels, or none (mapped_memory.h).
    if (range.kind == Runtime::HostRange::Kind::kOnDevice) memory.device_pointer = const_cast<void*>(pointer);
    memory.mapping_base = registered ? base / kHostPage * kHostPage : base;
    memory.mapping_bytes =
        registered ? RoundedUp(base + range.bytes, kHostPage) - memory.mapping_base : RoundedUp(range.bytes, kBlock);
    return memory;
  }
  if (const auto mapped = MappedAt(r, address)) return mapped;
  if (const auto pooled = PooledOnHostAt(address)) return pooled;
  const std::optional<int> device = r.DeviceHolding(address);
  if (!device) return std::nullopt;
  const auto range = r.backend(*device).RangeHolding(address);
  memory.type = r.IsManaged(address) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
  memory.device = *device;
  memory.device_pointer = const_cast<void*>(pointer);
  memory.base = range ? range->first : address;
  memory.bytes = range ? range->second : 1;
  memory.pool = PoolOfAllocation(memory.base);
  const std::optional<const void*> context = ContextOfMalloc(memory.base);
  if (context) memory.context = *context;
  memory.of_malloc = memory.type == cudaMemoryTypeDevice && context;
  memory.of_variable = memory.pool == nullptr && !context;
  memory.mapping_base = memory.base;
  memory.mapping_bytes = RoundedUp(memory.bytes, memory.pool != nullptr ? kPoolBlock : kBlock);
  return memory;
}

MemoryNotes& NotesOf(const KnownMemory& memory) {
  static uint64_t last = 0;
  const auto [notes, is_new] = Notes().try_emplace(memory.base);
  if (is_new) notes->second = {++last, memory.type == cudaMemoryTypeManaged};
  return notes->second;
}

void ForgetNotes(uint64_t base) { Notes().erase(base); }

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return Api("cudaPointerGetAttributes", Faults::kNone, [&](Runtime& r) {
    Require(attributes != nullptr, cudaErrorInvalidValue);
    *attributes = {};
    const auto memory = MemoryAt(r, pointer);
    attributes->type = memory ? memory->type : cudaMemoryTypeUnregistered;
    attributes->device = memory ? memory->device : cudaInvalidDeviceId;
    attributes->devicePointer = memory ? memory->device_pointer : nullptr;
    if (!memory || (memory->type != cudaMemoryTypeDevice && !memory->off_host))
      attributes->hostPointer = const_cast<void*>(pointer);
  });
}

}  // extern "C"
