// A vector clock over all warps of a launch, compact enough for thousands of blocks to have one each.
//
// For each warp of each block it holds a time: accesses of that warp stamped below it have happened before. A clock is
// a tree of immutable sixteen-way nodes, indexed by block. Clocks share their common subtrees, so a block that joins
// the clocks of all its predecessors adds only a few nodes, and joining known times adds none. A clock is used by one
// CPU thread at a time.
#pragma once

#include <cstdint>
#include <utility>

namespace lockstep::vgpu {

class OrderClock {
 public:
  static constexpr uint32_t kWarps = 32;  // maximum per block

  OrderClock() = default;
  OrderClock(const OrderClock& other) : root_(other.root_) { Keep(root_); }
  OrderClock(OrderClock&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
  OrderClock& operator=(OrderClock other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~OrderClock() { Drop(root_); }

  bool empty() const { return root_ == nullptr; }
  bool Shares(const OrderClock& other) const { return root_ == other.root_; }  // the same tree, so equal
  bool Covers(uint32_t block, uint32_t warp, uint32_t time) const {
    const uint32_t* times = TimesOf(block);
    return times != nullptr && time < times[warp];
  }
  // The times of a block's warps; nullptr: nothing is known about the block.
  const uint32_t* TimesOf(uint32_t block) const;

  // False: everything in `other` was already known.
  bool Join(const OrderClock& other);
  // The same for the times of one block's warps.
  bool Join(uint32_t block, const uint32_t* times, uint32_t warps);

 private:
  struct Node;
  static void Keep(Node* node);
  static void Drop(Node* node);
  static Node* Joined(Node* a, Node* b);
  static Node* Raised(Node* node, uint32_t height, uint32_t block, const uint32_t* times, uint32_t warps);
  void Lift(uint32_t height);
  bool Become(Node* root);

  Node* root_ = nullptr;
};

}  // namespace lockstep::vgpu
