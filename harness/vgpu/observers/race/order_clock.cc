#include "vgpu/observers/race/order_clock.h"

#include <algorithm>

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kFanShift = 4, kFan = 1 << kFanShift;

uint32_t HeightFor(uint32_t block) {
  uint32_t height = 0;
  for (; block != 0; block >>= kFanShift) ++height;
  return height;
}

}  // namespace

// Height 0: a block's times; height h > 0: 16 nodes of height h - 1, any of which may be missing. The functions below
// take and return counted references: the caller owns what they return and keeps what it passes in.
struct OrderClock::Node {
  uint32_t holders = 1;
  uint32_t height = 0;
  union {
    Node* child[kFan];
    uint32_t time[kWarps];
  };
};

void OrderClock::Keep(Node* node) {
  if (node != nullptr) ++node->holders;
}

void OrderClock::Drop(Node* node) {
  if (node == nullptr || --node->holders != 0) return;
  if (node->height > 0) {
    for (Node* child : node->child) Drop(child);
  }
  delete node;
}

const uint32_t* OrderClock::TimesOf(uint32_t block) const {
  const Node* node = root_;
  if (node == nullptr || uint64_t{block} >> (kFanShift * node->height) != 0) return nullptr;
  while (node != nullptr && node->height > 0) {
    node = node->child[block >> (kFanShift * (node->height - 1)) & (kFan - 1)];
  }
  return node == nullptr ? nullptr : node->time;
}

// Joins trees of one height; returns a or b itself if it contains the other.
OrderClock::Node* OrderClock::Joined(Node* a, Node* b) {
  if (a == nullptr || a == b) {
    Keep(b);
    return b;
  }
  if (b == nullptr) {
    Keep(a);
    return a;
  }
  if (a->height == 0) {
    bool as_a = true, as_b = true;
    for (uint32_t w = 0; w < kWarps; ++w) {
      as_a &= a->time[w] >= b->time[w];
      as_b &= b->time[w] >= a->time[w];
    }
    if (as_a || as_b) {
      Keep(as_a ? a : b);
      return as_a ? a : b;
    }
    Node* node = new Node;
    for (uint32_t w = 0; w < kWarps; ++w) node->time[w] = std::max(a->time[w], b->time[w]);
    return node;
  }
  Node* child[kFan];
  bool as_a = true, as_b = true;
  for (uint32_t k = 0; k < kFan; ++k) {
    child[k] = Joined(a->child[k], b->child[k]);
    as_a &= child[k] == a->child[k];
    as_b &= child[k] == b->child[k];
  }
  if (as_a || as_b) {
    for (Node* made : child) Drop(made);
    Keep(as_a ? a : b);
    return as_a ? a : b;
  }
  Node* node = new Node;
  node->height = a->height;
  std::copy_n(child, kFan, node->child);
  return node;
}

// The tree with the block's times raised; the same tree if they are not newer. node: of this height, or nullptr.
OrderClock::Node* OrderClock::Raised(Node* node, uint32_t height, uint32_t block, const uint32_t* times,
                                     uint32_t warps) {
  if (height == 0) {
    bool more = node == nullptr;
    for (uint32_t w = 0; w < warps && !more; ++w) more = times[w] > node->time[w];
    if (!more) {
      Keep(node);
      return node;
    }
    Node* made = new Node;
    for (uint32_t w = 0; w < kWarps; ++w) {
      made->time[w] = std::max(node == nullptr ? 0 : node->time[w], w < warps ? times[w] : 0);
    }
    return made;
  }
  const uint32_t k = block >> (kFanShift * (height - 1)) & (kFan - 1);
  Node* old = node == nullptr ? nullptr : node->child[k];
  Node* raised = Raised(old, height - 1, block, times, warps);
  if (raised == old && node != nullptr) {
    Drop(raised);
    Keep(node);
    return node;
  }
  Node* made = new Node;
  made->height = height;
  for (uint32_t c = 0; c < kFan; ++c) {
    made->child[c] = c == k ? raised : node == nullptr ? nullptr : node->child[c];
    if (c != k) Keep(made->child[c]);
  }
  return made;
}

// Adds nodes above the root up to this height; the old tree becomes their first child.
void OrderClock::Lift(uint32_t height) {
  while (root_ != nullptr && root_->height < height) {
    Node* above = new Node;
    above->height = root_->height + 1;
    std::fill_n(above->child, kFan, nullptr);
    above->child[0] = root_;
    root_ = above;
  }
}

bool OrderClock::Become(Node* root) {
  const bool changed = root != root_;
  Drop(std::exchange(root_, root));
  return changed;
}

bool OrderClock::Join(const OrderClock& other) {
  if (other.root_ == nullptr || other.root_ == root_) return false;
  if (root_ == nullptr || root_->height == other.root_->height) return Become(Joined(root_, other.root_));
  OrderClock high = other;
  high.Lift(root_->height);
  Lift(high.root_->height);
  return Become(Joined(root_, high.root_));
}

bool OrderClock::Join(uint32_t block, const uint32_t* times, uint32_t warps) {
  Lift(HeightFor(block));
  return Become(Raised(root_, root_ == nullptr ? HeightFor(block) : root_->height, block, times, warps));
}

}  // namespace lockstep::vgpu
