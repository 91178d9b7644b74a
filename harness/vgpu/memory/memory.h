// A device's global memory: an arena of reserved address space and the live allocations in it.
//
// Device addresses are addresses of this process, the same in every run. Allocations are 256-byte aligned and at least
// 512 bytes apart. Freed memory is not reused until the whole arena has been used once. So accesses past a buffer's end
// or to freed memory are detected. Kernels never access the arena without calling Find first.
//
// The arena also has room for ranges of addresses that a program reserves and maps memory into by its handles
// (cuMemMap). A mapping is an allocation at an address that the program chose. Mappings may be adjacent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/memory/heap_plan.h"

namespace lockstep::vgpu {

struct Allocation {
  uint64_t base = 0, bytes = 0;
  std::string label, allocated_at;
  bool hidden = false;     // module variables, kernels' malloc(), the launch's own allocations
  bool read_only = false;  // .const variables: kernels cannot write them
  bool mapped = false;     // by MapAt
};

class GlobalMemory {
 public:
  // Throws std::runtime_error if the address space cannot be reserved.
  explicit GlobalMemory(uint64_t capacity);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  uint64_t Allocate(uint64_t bytes, std::string label, std::string allocated_at, bool hidden, bool read_only);
  // Memory for a kernel's malloc(). It is a separate region, so that the placement of other allocations and the free
  // space do not depend on what kernels request.
  uint64_t AllocateHeap(uint64_t bytes);
  // Sets the heap's size (cudaLimitMallocHeapSize). False: kernels have used the heap, so its size stays.
  bool ResizeHeap(uint64_t bytes);
  // The peak of kernel-allocated bytes since RestartHeapMost().
  uint64_t heap_most() const { return heap_most_; }
  void RestartHeapMost() { heap_most_ = heap_.used; }
  bool Free(uint64_t address);
  void FreeAll();

  // Reserves addresses without memory; 0 if there is no room.
  uint64_t Reserve(uint64_t bytes, uint64_t alignment);
  // False if exactly this range was not reserved, or something is mapped there.
  bool Unreserve(uint64_t address, uint64_t bytes);
  // Whether it is inside one reserved range.
  bool IsReserved(uint64_t address, uint64_t bytes) const;
  // Counts memory of files, which MapAt will map, as used; false if there is not enough left.
  bool Take(uint64_t bytes);
  void GiveBack(uint64_t bytes) { own_.used -= bytes; }
  // Maps the file's first bytes at the allocation's base. False if the range is not reserved, or is in use.
  bool MapAt(Allocation allocation, int file);
  bool Unmap(uint64_t address);
  // Number of allocations inspected so far to find space.
  uint64_t steps() const { return steps_; }

  // The live allocation that contains the address; nullptr if there is none.
  const Allocation* Find(uint64_t address) const;
  // The allocation that contains the address, or that an out-of-range index was probably meant for: the nearest one
  // within 64 KiB, preferring one below the address.
  const Allocation* Nearest(uint64_t address) const;
  bool Contains(uint64_t address, uint64_t bytes) const {
    const Allocation* a = Find(address);
    if (a == nullptr) return false;
    const uint64_t rest = a->base + a->bytes - address;
    return bytes <= rest || (a->mapped && Contains(address + rest, bytes - rest));
  }
  const std::map<uint64_t, Allocation>& allocations() const { return live_; }  // by address
  // All allocations are in [begin, end).
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  uint64_t free_bytes() const { return capacity_ - own_.used; }

 private:
  // A region for allocations, or for kernels' malloc(). Each grows upwards from `next`.
  struct Region {
    uint64_t begin = 0, end = 0, next = 0;
    uint64_t used = 0;
  };
  std::optional<uint64_t> FindGap(Region& region, uint64_t footprint) const;
  uint64_t AllocateIn(Region& region, Allocation allocation);

  uint64_t capacity_;
  int slot_ = -1;  // index of the arena window
  uint64_t begin_ = 0, end_ = 0;
  Region own_, heap_, reservable_;
  std::map<uint64_t, uint64_t> reserved_;  // bytes by address
  static constexpr uint64_t kUsualHeap = uint64_t{8} << 20;
  HeapPlan heap_plan_{kUsualHeap};
  bool heap_was_used_ = false;
  uint64_t heap_most_ = 0;
  mutable uint64_t steps_ = 0;
  std::map<uint64_t, Allocation> live_;  // by address
};

}  // namespace lockstep::vgpu
