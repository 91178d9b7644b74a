// A device's global memory: one arena of reserved address space and the live allocations in it.
//
// Device addresses are addresses of this process, the same in every run. Allocations are 256-byte aligned and at least
// 512 bytes apart, and what is freed is not handed out again until the arena has been used up once; so an access beyond
// a buffer or to a freed one is found. Kernels never touch the arena without asking Find first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::vgpu {

struct Allocation {
  uint64_t base = 0, bytes = 0;
  std::string label, allocated_at;
  bool hidden = false;     // module variables and what the launch itself needs
  bool read_only = false;  // .const variables: kernels can't write them
};

class GlobalMemory {
 public:
  // Throws std::runtime_error when the address space can't be had.
  explicit GlobalMemory(uint64_t capacity);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  uint64_t Allocate(uint64_t bytes, std::string label, std::string allocated_at, bool hidden, bool read_only);
  // Memory of a kernel's malloc(), which lies apart: neither where an allocation lies nor how much room is left tells
  // what kernels have asked for.
  uint64_t AllocateHeap(uint64_t bytes);
  // The most that kernels have held of it since RestartHeapMost().
  uint64_t heap_most() const { return heap_most_; }
  void RestartHeapMost() { heap_most_ = heap_.used; }
  bool Free(uint64_t address);
  void FreeAll();
  // Allocations that were looked at or moved so far, to find room among them and to close gaps.
  uint64_t steps() const { return steps_; }

  // The live allocation that holds the address; nullptr when there is none.
  const Allocation* Find(uint64_t address) const;
  // The one that holds it, or that an index which is out of range was meant for: it lies nearest, within 64 KiB, and
  // rather below the address than above.
  const Allocation* Nearest(uint64_t address) const;
  bool Contains(uint64_t address, uint64_t bytes) const {
    const Allocation* a = Find(address);
    return a != nullptr && bytes <= a->base + a->bytes - address;
  }
  const std::vector<Allocation>& allocations() const { return live_; }  // by address
  // All allocations lie in [begin, end).
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  uint64_t free_bytes() const { return capacity_ - own_.used; }

 private:
  // Where allocations lie, and those of kernels: each from its next free address upwards.
  struct Region {
    uint64_t begin = 0, end = 0, next = 0;
    uint64_t used = 0;
  };
  std::optional<uint64_t> FindGap(Region& region, uint64_t footprint) const;
  uint64_t AllocateIn(Region& region, Allocation allocation);

  uint64_t capacity_;
  int slot_ = -1;  // which arena window
  uint64_t begin_ = 0, end_ = 0;
  Region own_, heap_;
  uint64_t heap_most_ = 0;
  mutable uint64_t steps_ = 0;
  std::vector<Allocation> live_;
};

}  // namespace lockstep::vgpu
