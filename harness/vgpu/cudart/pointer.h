// Looks up an address: the memory that contains it, and its properties.
#pragma once

#include <optional>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

// An allocation, registration or mapping of device or host memory.
struct KnownMemory {
  cudaMemoryType type = cudaMemoryTypeUnregistered;
  uint64_t base = 0, bytes = 0;
  int device = 0;
  const void* context = OwnContext();  // in which it was allocated; nullptr: the primary one
  void* device_pointer = nullptr;      // the address for kernels; nullptr if they can't access it
  bool of_malloc = false;              // from cudaMalloc and the like: cudaIpcGetMemHandle accepts it
  bool of_variable = false;            // a program's own variable
  cudaMemPool_t pool = nullptr;
  // Mapped by cuMemMap; base and size of the reserved range.
  bool mapped = false;
  bool read_only = false, off_host = false;  // for the device; the host can't access it
  uint64_t reserved_base = 0, reserved_bytes = 0;
  // The whole pages or blocks that contain it.
  uint64_t mapping_base = 0, mapping_bytes = 0;
};

// nullopt: the address is unknown to CUDA.
std::optional<KnownMemory> MemoryAt(Runtime& r, const void* address);

// Stored by an allocation's base until it is freed.
struct MemoryNotes {
  uint64_t id = 0;           // unique among this process's allocations
  bool sync_memops = false;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
};
MemoryNotes& NotesOf(const KnownMemory& memory);

// memory.cc: the context that was current when cudaMalloc returned the address; none: it did not.
std::optional<const void*> ContextOfMalloc(uint64_t base);
// pool.cc: the pool that the allocation came from; host memory of a pool.
cudaMemPool_t PoolOfAllocation(uint64_t base);
std::optional<KnownMemory> PooledOnHostAt(uint64_t address);
// Memory mapped by the driver API; used by MemoryAt.
std::optional<KnownMemory> MappedAt(Runtime& r, uint64_t address);
// Whether the driver API has reserved the address, mapped or not.
bool IsReserved(uint64_t address);

// Forgets the properties of the memory that begins here, which was freed.
void ForgetNotes(uint64_t base);

}  // namespace lockstep::vgpu::cudart
