// What an address is: which memory it lies in, and what is remembered of that.
#pragma once

#include <optional>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

// An allocation, a registration or a mapping, of the device's or the host's memory.
struct KnownMemory {
  cudaMemoryType type = cudaMemoryTypeUnregistered;
  uint64_t base = 0, bytes = 0;
  int device = 0;
  void* device_pointer = nullptr;  // the asked address as kernels reach it; nullptr: they do not
  bool of_malloc = false;          // of cudaMalloc and its like, which older functions can share and pin
  bool of_variable = false;        // a program's own variable
  cudaMemPool_t pool = nullptr;
  // Mapped by cuMemMap; the range that was reserved for it.
  bool mapped = false;
  uint64_t reserved_base = 0, reserved_bytes = 0;
  // Of the whole pages or blocks that hold it.
  uint64_t mapping_base = 0, mapping_bytes = 0;
};

// nullopt: CUDA knows nothing of the address.
std::optional<KnownMemory> MemoryAt(Runtime& r, const void* address);

// Kept by an allocation's base until it is freed.
struct MemoryNotes {
  uint64_t id = 0;           // no other allocation of this process has it
  bool sync_memops = false;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
};
MemoryNotes& NotesOf(const KnownMemory& memory);

// memory.cc: the address was given out by cudaMalloc.
bool IsOfMalloc(uint64_t base);
// pool.cc: the pool that the allocation came from.
cudaMemPool_t PoolOfAllocation(uint64_t base);
// What the driver API mapped at the address; asked by MemoryAt.
std::optional<KnownMemory> MappedAt(Runtime& r, uint64_t address);

// The memory that begins here is gone, and what was kept of it.
void ForgetNotes(uint64_t base);

}  // namespace lockstep::vgpu::cudart
