// The memory footprint of an operation in a stream: the bytes that it reads and writes, as spans.
//
// Two unordered operations conflict if one stores to what the other touches. No conflict, as both orders give the same
// result: reads with reads; atomics and strong accesses with each other; a store that leaves the bytes unchanged, with
// loads, with other such stores, and with an earlier plain store. If the earlier operation stores strongly to what the
// later one loads strongly, the kernels may synchronise through memory and are not compared.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

enum class StreamAccess : uint8_t {
  kLoad,
  kStore,
  kKeep,         // stores the value that is already there
  kStrongLoad,   // atomics, volatile, relaxed, acquire
  kStrongStore,  // atomics, volatile, relaxed, release
};
inline constexpr size_t kStreamAccesses = 5;

class Footprint {
 public:
  struct Span {
    uint64_t begin, end;
  };
  struct Conflict {
    Span bytes;  // the lowest ones that both touch
    StreamAccess first, second;
  };

  void Add(StreamAccess access, uint64_t begin, uint64_t end);
  // The memory in this range was freed or reallocated.
  void Forget(uint64_t begin, uint64_t end);
  // The lowest conflict with a later operation.
  std::optional<Conflict> ConflictsWith(const Footprint& later) const;

  size_t spans() const;
  // For messages: instructions that may read or write this address, if the page has only a few of them.
  std::vector<uint32_t> ReadersAt(uint64_t address) const { return InstructionsAt(address, false); }
  std::vector<uint32_t> WritersAt(uint64_t address) const { return InstructionsAt(address, true); }

  static constexpr uint64_t kPageShift = 12, kPageBytes = uint64_t{1} << kPageShift;
  static constexpr size_t kInstructions = 4;

 private:
  friend class FootprintObserver;
  // An instruction, and the range from the first to the last byte of the page that it touches.
  struct Instruction {
    uint32_t pc;
    uint16_t begin, end;
  };
  struct Instructions {
    std::array<Instruction, kInstructions> list;
    uint8_t count = 0;
    bool more = false;
    void Note(const Instruction& which);
    void Join(const Instructions& other);
  };
  // Sorted and disjoint.
  struct Spans {
    std::vector<Span> sorted;
    void Add(Span span);
  };
  std::vector<uint32_t> InstructionsAt(uint64_t address, bool writes) const;

  std::array<Spans, kStreamAccesses> by_access_;
  std::unordered_map<uint64_t, std::array<Instructions, 2>> instructions_;  // by page; read, written
};

// Records a launch's accesses of global memory and reads of constant memory.
class FootprintObserver : public Observer {
 public:
  std::unique_ptr<Observer> Fork() const override { return std::make_unique<FootprintObserver>(); }
  void Absorb(Observer& forked) override;
  bool WantsUsedReads() const override { return true; }
  bool TakesSharedNotes() const override { return true; }
  void OnMemory(const MemoryAccess& event) override;

  // No value: the launch touched too much, or too scattered memory, to be recorded completely.
  std::optional<Footprint> Take();

 private:
  static constexpr size_t kWords = Footprint::kPageBytes / 64;  // words of a page's bitmap, one bit per byte
  struct Page {
    std::array<std::array<uint64_t, kWords>, kStreamAccesses> bits{};
    std::array<Footprint::Instructions, 2> instructions;
  };
  // 1 GB of bits, enough for 1.6 GB of data.
  static constexpr size_t kMostPages = 400'000;
  static constexpr size_t kMostSpans = 4'000'000;

  Page& PageAt(uint64_t address);
  void Touch(StreamAccess access, uint64_t address, uint32_t bytes, uint32_t pc);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_number_ = ~uint64_t{0};
  Page* last_ = nullptr;
  bool overflow_ = false;
};

}  // namespace lockstep::vgpu
