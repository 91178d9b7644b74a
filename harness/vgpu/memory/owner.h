// The owners of allocations, where several devices share one arena.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

// The device that the allocation around this address belongs to; 0 if it was given to none.
int OwnerOf(uint64_t address);
void GiveTo(uint64_t base, uint64_t bytes, int device);

// While an instance exists, kernels of this device run: GlobalMemory finds only its allocations; new ones belong to it.
class RunningOn {
 public:
  explicit RunningOn(int device);
  ~RunningOn();
  RunningOn(const RunningOn&) = delete;
  RunningOn& operator=(const RunningOn&) = delete;
};

}  // namespace lockstep::vgpu
