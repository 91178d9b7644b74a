// A typed array in device memory that a test passes to a launcher.
//
// If the device does not find accesses outside of buffers by itself, there is a guard zone on either side. A buffer may
// start some elements into its allocation, so that its address has only the alignment of its type; these elements are a
// guard zone too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "judge/device/device.h"

namespace lockstep::judge {

template <class T>
class DeviceArray {
 public:
  // n elements, filled with poison.
  DeviceArray(JudgeDevice& device, uint64_t n, const std::string& label, uint64_t offset_elements = 0)
      : device_(device), label_(label), n_(n), generation_(device.generation()) {
    guard_bytes_ = device.ChecksBounds() ? 0 : kGuardBytes;
    front_bytes_ = guard_bytes_ + offset_elements * sizeof(T);
    // At least one byte: even a buffer without elements needs an address. An access to it is wider than the byte, so it
    // is out of bounds.
    total_bytes_ = front_bytes_ + n * sizeof(T) + guard_bytes_;
    if (total_bytes_ == 0) total_bytes_ = 1;
    base_ = device.Allocate(total_bytes_, label);
    device.Poison(base_, total_bytes_);
  }
  ~DeviceArray() {
    if (alive()) device_.Free(base_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  // A fault destroys the device's memory.
  bool alive() const { return generation_ == device_.generation() && !device_.faulted(); }
  // The name in messages: that of the launcher's parameter.
  const std::string& label() const { return label_; }
  uint64_t address() const { return base_ + front_bytes_; }
  uint64_t size() const { return n_; }
  worker::Argument argument() const { return device_.PointerArgument(base_, address()); }

  bool Set(std::span<const T> values) {
    return values.size() == n_ && alive() && (n_ == 0 || device_.Write(address(), values.data(), n_ * sizeof(T)));
  }
  // A snapshot of a buffer's contents: a view if this process can map device memory, else a copy. Valid until the next
  // call of a launcher.
  class Contents {
   public:
    Contents(Contents&&) = default;  // not copyable: the view may refer to the copy in here
    std::span<const T> values() const { return values_; }

   private:
    friend DeviceArray;
    Contents() = default;
    std::vector<T> copy_;
    std::span<const T> values_;
  };
  // Empty if the memory is gone.
  Contents Look() const {
    Contents contents;
    if (!alive() || n_ == 0) return contents;
    if (const void* place = device_.Look(address(), n_ * sizeof(T))) {
      contents.values_ = {static_cast<const T*>(place), n_};
      return contents;
    }
    contents.copy_.resize(n_);
    if (device_.Read(contents.copy_.data(), address(), n_ * sizeof(T))) contents.values_ = contents.copy_;
    return contents;
  }
  // Fills the buffer with these values, and the rest with poison. Returns its contents: a view of the values if they
  // fill all of it.
  Contents Fill(std::span<const T> values) {
    Contents contents;
    contents.values_ = values;
    if (values.size() < n_) {
      contents.copy_.assign(values.begin(), values.end());
      contents.copy_.resize(n_, FillValue());
      contents.values_ = contents.copy_;
    }
    Set(contents.values_);
    return contents;
  }
  std::vector<T> Get() const {
    const Contents contents = Look();
    return {contents.values().begin(), contents.values().end()};
  }
  bool Poison() { return alive() && device_.Poison(address(), n_ * sizeof(T)); }
  static T FillValue() {
    T value;
    std::memset(&value, kPoisonByte, sizeof value);
    return value;
  }
  bool GuardsIntact() const {
    if (!alive()) return true;
    std::vector<uint8_t> front(front_bytes_), back(guard_bytes_);
    if (!front.empty() && !device_.Read(front.data(), base_, front.size())) return false;
    if (!back.empty() && !device_.Read(back.data(), address() + n_ * sizeof(T), back.size())) return false;
    const auto poisoned = [](uint8_t byte) { return byte == kPoisonByte; };
    return std::all_of(front.begin(), front.end(), poisoned) && std::all_of(back.begin(), back.end(), poisoned);
  }

 private:
  static constexpr uint64_t kGuardBytes = 256;

  JudgeDevice& device_;
  std::string label_;
  uint64_t n_, generation_;
  uint64_t base_ = 0, guard_bytes_ = 0, front_bytes_ = 0, total_bytes_ = 0;
};

}  // namespace lockstep::judge
