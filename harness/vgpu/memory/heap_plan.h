// How much a kernel's malloc() can give.
//
// Theory of operation. What fits into a Hopper's heap follows from how it is cut, as distances between addresses and
// counts until nullptr show: 24 cells of 80 bytes make a slot, 24 slots a group, 24 groups a node, each with some bytes
// of its own. Memory is some neighbouring cells of one slot, slots of one group or groups of one node, or else some
// neighbouring nodes. What is left of the heap behind the last whole node is cut alike, as far as it goes. Addresses are
// given elsewhere (GlobalMemory), so that accesses out of bounds are found; only whether there is room is known here.
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
  // Room for memory at an address; false: there is none.
  bool Take(uint64_t address, uint64_t bytes);
  void Give(uint64_t address);

 private:
  static constexpr int kParts = 24;
  // A slot, a group or a node: which of its parts are taken or cut further, and those that are cut.
  struct Area {
    uint32_t taken = 0;
    int parts = kParts;  // fewer in the heap's rest
    std::array<std::unique_ptr<Area>, kParts> cut;
  };
  // Where something lies: so many parts of an area at a level (0: cells), found by the steps down to it.
  struct Place {
    int level = 0, count = 0;
    std::vector<int> steps;  // from a node on; the last is the first part
  };
  static bool Put(Area& area, int level, Place& place);

  std::vector<bool> whole_;                   // nodes that are taken as such, or cut
  std::map<int, std::unique_ptr<Area>> cut_;  // by node
  std::map<uint64_t, Place> taken_;
};

}  // namespace lockstep::vgpu
