// A device in the host's memory, and a runner that hands each call to a function that the test provides.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "judge/run/runner.h"

namespace lockstep::judge {

class FakeDevice : public JudgeDevice {
 public:
  DeviceDescription Describe() const override { return {"vgpu", "fake", "Fake", 1}; }
  uint64_t Allocate(uint64_t bytes, const std::string&) override {
    auto memory = std::make_unique<uint8_t[]>(bytes);
    const uint64_t address = reinterpret_cast<uint64_t>(memory.get());
    allocations_[address] = {std::move(memory), bytes};
    return address;
  }
  void Free(uint64_t address) override { allocations_.erase(address); }
  bool Write(uint64_t to, const void* from, uint64_t bytes) override {
    return Contains(to, bytes) && std::memcpy(reinterpret_cast<void*>(to), from, bytes) != nullptr;
  }
  bool Read(void* to, uint64_t from, uint64_t bytes) override {
    return Contains(from, bytes) && std::memcpy(to, reinterpret_cast<void*>(from), bytes) != nullptr;
  }
  bool Poison(uint64_t address, uint64_t bytes) override {
    return Contains(address, bytes) && std::memset(reinterpret_cast<void*>(address), kPoisonByte, bytes) != nullptr;
  }
  bool ChecksBounds() const override { return checks_bounds; }
  worker::Argument PointerArgument(uint64_t, uint64_t address) override {
    return worker::Argument::DevicePointer(address);
  }
  void Reset() override {
    allocations_.clear();
    ++generation_;
  }
  bool faulted() const override { return false; }
  size_t allocations() const { return allocations_.size(); }

  bool checks_bounds = true;

 private:
  bool Contains(uint64_t address, uint64_t bytes) const {
    auto found = allocations_.upper_bound(address);
    if (found == allocations_.begin()) return false;
    --found;
    return address - found->first <= found->second.second && bytes <= found->second.second - (address - found->first);
  }

  std::map<uint64_t, std::pair<std::unique_ptr<uint8_t[]>, uint64_t>> allocations_;
};

class FakeRunner : public Runner {
 public:
  using Body = std::function<CallReport(const std::string& launcher, std::span<const worker::Argument> arguments)>;
  explicit FakeRunner(Body body) : body_(std::move(body)) {}
  JudgeDevice& device() override { return device_; }
  CallReport Call(const std::string& launcher, std::span<const worker::Argument> arguments) override {
    return body_(launcher, arguments);
  }

 private:
  FakeDevice device_;
  Body body_;
};

}  // namespace lockstep::judge
