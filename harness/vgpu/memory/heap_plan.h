// Models the capacity of the heap for kernels' malloc().
//
// Theory of operation. The structure of a Hopper's heap was inferred from distances between addresses and from how many
// allocations succeed: 24 cells of 80 bytes make a slot, 24 slots a group, 24 groups a node, each with some bytes of
// overhead. An allocation is a run of cells in one slot, of slots in one group, of groups in one node, or of nodes. The
// rest of the heap after the last whole node is divided in the same way. Addresses are assigned elsewhere
// (GlobalMemory), so that out-of-bounds accesses are found; this class only tracks capacity.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace lockstep::vgpu {

class HeapPlan {
 public:
  explicit HeapPlan(uint64_t bytes);
  // Reserves room for memory at an address; false: there is none.
  bool Take(uint64_t address, uint64_t bytes);
  void Give(uint64_t address);

 private:
  static constexpr int kParts = 24;
  // A slot, a group or a node: which of its parts are taken or divided further, and the divided ones.
  struct Area {
    uint32_t taken = 0;
    int parts = kParts;  // fewer in the rest of the heap
    // By an allocation's level: the fewest parts for which there was no room; so there is none for more.
    std::array<int, 3> too_many = {kParts + 1, kParts + 1, kParts + 1};
    std::array<std::unique_ptr<Area>, kParts> cut;
  };
  // The place of an allocation: a number of parts of an area at a level (0: cells), and the path to it.
  struct Place {
    int level = 0, count = 0;
    std::vector<int> steps;  // indices from the node down; the last is the first part
  };
  static bool Put(Area& area, int level, Place& place);

  std::vector<bool> whole_;                   // nodes that are taken whole, or divided
  std::map<int, std::unique_ptr<Area>> cut_;  // by node
  std::map<uint64_t, Place> taken_;
};

}  // namespace lockstep::vgpu
