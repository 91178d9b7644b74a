// A queue that reuses its slots: popping frees no memory, and pushing rarely allocates.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace lockstep::vgpu {

// std::deque allocates one node per element if elements are larger than half a node (512 bytes). For long events that
// cost a tenth of a checked launch.
template <typename T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& front() { return slots_[head_]; }
  T& operator[](size_t index) { return slots_[(head_ + index) & (slots_.size() - 1)]; }

  // Appends a slot, which still has its previous contents. References to other elements stay valid unless the ring
  // grows.
  T& Append() {
    if (size_ == slots_.size()) Grow();
    return (*this)[size_++];
  }
  void pop_front() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }

 private:
  static constexpr size_t kFewest = 16;  // all capacities are powers of two

  void Grow() {
    std::vector<T> slots(slots_.empty() ? kFewest : 2 * slots_.size());
    for (size_t i = 0; i < size_; ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    head_ = 0;
  }

  std::vector<T> slots_;
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace lockstep::vgpu
