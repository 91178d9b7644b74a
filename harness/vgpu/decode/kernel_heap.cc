#include "vgpu/decode/kernel_heap.h"

#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {
namespace {

// Number of allocations inspected by malloc that are charged as one instruction.
constexpr uint64_t kAllocationsAnInstruction = 32;

}  // namespace

uint64_t MallocInKernel(Warp& warp, uint64_t bytes) {
  Engine& engine = *warp.engine;
  GlobalMemory& memory = *engine.launch().memory;
  const uint64_t before = memory.steps();
  const uint64_t address = memory.AllocateHeap(bytes);
  engine.Charge(warp, (memory.steps() - before) / kAllocationsAnInstruction);
  if (address == 0) return 0;
  for (Observer* observer : engine.observers()) observer->OnAllocate(address, bytes);
  return address;
}

bool FreeInKernel(Warp& warp, int lane, uint64_t address, const std::string& function, const std::string& allocator) {
  if (address == 0) return true;
  Engine& engine = *warp.engine;
  const Allocation* a = engine.launch().memory->Find(address);
  if (a == nullptr || a->base != address || a->label != kKernelHeapName) {
    // The heap recognises freed addresses, and traps; other addresses are not inspected.
    const GlobalMemory& memory = *engine.launch().memory;
    const bool was_given = address >= memory.begin() && address < memory.end() && a == nullptr;
    engine.Fault(
        warp, engine.MakeFinding(warp, warp.pc - 1, lane, was_given ? FindingKind::kTrap : FindingKind::kInvalidAddress,
                                 function + " of an address that " + allocator + " did not return"));
    return false;
  }
  for (Observer* observer : engine.observers()) observer->OnFree(address, a->bytes);
  engine.launch().memory->Free(address);
  engine.ForgetRanges();
  return true;
}

}  // namespace lockstep::vgpu
