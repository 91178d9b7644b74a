#include "vgpu/observers/race/order_clock.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kFanShift = 4, kFan = 1 << kFanShift;

uint32_t HeightFor(uint32_t block) {
  uint32_t height = 0;
  for (; block != 0; block >>= kFanShift) ++height;
  return height;
}

// Unique in the process.
uint64_t NewNumber() {
  constexpr uint64_t kRange = 1 << 20;
  static std::atomic<uint64_t> ranges{0};
  thread_local uint64_t next = 0, end = 0;
  if (next == end) {
    next = 1 + kRange * ranges.fetch_add(1, std::memory_order_relaxed);
    end = next + kRange;
  }
  return next++;
}

// Pairs of nodes where the first contains the second. Nodes are immutable, so results stay valid. Warps of a block, and
// polls of one word, compare the same two clocks again and again.
class KnownPairs {
 public:
  bool Has(uint64_t all, uint64_t part) const { return pairs_[Place(all, part)] == Pair{all, part}; }
  void Add(uint64_t all, uint64_t part) { pairs_[Place(all, part)] = {all, part}; }

 private:
  static constexpr size_t kPlaces = 1 << 10;
  using Pair = std::pair<uint64_t, uint64_t>;
  static size_t Place(uint64_t all, uint64_t part) {
    return (all * 0x9e3779b97f4a7c15u + part * 0xc2b2ae3d27d4eb4fu) >> 54;
  }

  std::array<Pair, kPlaces> pairs_{};
};
thread_local KnownPairs known_pairs;

}  // namespace

// Height 0: a block's times; height h > 0: 16 nodes of height h - 1, any of which may be missing.
struct OrderClock::Node {
  uint64_t number = NewNumber();
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

// Joins trees of one height. Returns a or b itself, without a reference of its own, if it contains the other; else a
// new node, which is the caller's.
OrderClock::Node* OrderClock::Joined(Node* a, Node* b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  if (a->height == 0) {
    bool as_a = true, as_b = true;
    for (uint32_t w = 0; w < kWarps; ++w) {
      as_a &= a->time[w] >= b->time[w];
      as_b &= b->time[w] >= a->time[w];
    }
    if (as_a || as_b) return as_a ? a : b;
    Node* node = new Node;
    for (uint32_t w = 0; w < kWarps; ++w) node->time[w] = std::max(a->time[w], b->time[w]);
    return node;
  }
  if (known_pairs.Has(a->number, b->number)) return a;
  if (known_pairs.Has(b->number, a->number)) return b;
  Node* child[kFan];
  bool as_a = true, as_b = true;
  for (uint32_t k = 0; k < kFan; ++k) {
    child[k] = Joined(a->child[k], b->child[k]);
    as_a &= child[k] == a->child[k];
    as_b &= child[k] == b->child[k];
  }
  if (as_a) {
    known_pairs.Add(a->number, b->number);
    return a;
  }
  if (as_b) {
    known_pairs.Add(b->number, a->number);
    return b;
  }
  Node* node = new Node;
  node->height = a->height;
  for (uint32_t k = 0; k < kFan; ++k) {
    node->child[k] = child[k];
    if (child[k] == a->child[k] || child[k] == b->child[k]) Keep(child[k]);
  }
  known_pairs.Add(node->number, a->number);
  known_pairs.Add(node->number, b->number);
  return node;
}

// The tree with the block's times raised; the same tree if they are not newer. node: of this height, or nullptr. The
// caller owns a reference to what it gets.
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
  OrderClock high = other;
  if (root_ != nullptr) {
    high.Lift(root_->height);
    Lift(high.root_->height);
  }
  Node* joined = Joined(root_, high.root_);
  if (joined == root_ || joined == high.root_) Keep(joined);
  return Become(joined);
}

bool OrderClock::Join(uint32_t block, const uint32_t* times, uint32_t warps) {
  Lift(HeightFor(block));
  return Become(Raised(root_, root_ == nullptr ? HeightFor(block) : root_->height, block, times, warps));
}

}  // namespace lockstep::vgpu
