// What an operation in a stream does to memory: the bytes that it reads and writes, kept as spans.
//
// Two operations that nothing orders conflict where one stores what the other touches. No conflicts: reads with reads;
// atomics and strong accesses with each other; a store of the bytes that lay there already, since either order leaves
// the same. Where the earlier one stores strongly to what the later one loads strongly, the kernels may synchronise
// through memory, and are not compared.
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
  kKeep,         // stores what lies there already
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
    Span bytes;  // the first ones that both touch
    StreamAccess first, second;
  };

  void Add(StreamAccess access, uint64_t begin, uint64_t end);
  // What is in this range is no longer the same memory.
  void Forget(uint64_t begin, uint64_t end);
  // The lowest conflict with an operation that came later.
  std::optional<Conflict> MeetsLater(const Footprint& later) const;

  size_t spans() const;
  // Instructions that read or write here or on both sides of it, as far as a page's are few: for messages.
  std::vector<uint32_t> ReadersAt(uint64_t address) const { return InstructionsAt(address, false); }
  std::vector<uint32_t> WritersAt(uint64_t address) const { return InstructionsAt(address, true); }

  static constexpr uint64_t kPageShift = 12, kPageBytes = uint64_t{1} << kPageShift;
  static constexpr size_t kInstructions = 4;

 private:
  friend class FootprintObserver;
  // One, and the bytes of the page from its first to its last.
  struct Instruction {
    uint32_t pc;
    uint16_t begin, end;
  };
  // Of a page.
  struct Instructions {
    std::array<Instruction, kInstructions> list;
    uint8_t count = 0;
    bool more = false;
    void Note(const Instruction& which);
    void Join(const Instructions& other);
  };
  // Sorted, apart from each other. Appended to in any order; Sort makes it so.
  struct Spans {
    std::vector<Span> sorted;
    void Add(Span span);
  };
  std::vector<uint32_t> InstructionsAt(uint64_t address, bool writes) const;

  std::array<Spans, kStreamAccesses> by_access_;
  std::unordered_map<uint64_t, std::array<Instructions, 2>> instructions_;  // by page; read, written
};

// Watches a launch's accesses of global memory, and its reads of constant memory.
class FootprintObserver : public Observer {
 public:
  std::unique_ptr<Observer> Fork() const override { return std::make_unique<FootprintObserver>(); }
  void Absorb(Observer& forked) override;
  bool WantsUsedReads() const override { return true; }
  bool TakesSharedNotes() const override { return true; }
  void OnMemory(const MemoryAccess& event) override;

  // No value: the launch touched so much, or so scattered, that it was not watched to its end.
  std::optional<Footprint> Take();

 private:
  static constexpr size_t kWords = Footprint::kPageBytes / 64;  // of a bit for each byte
  struct Page {
    std::array<std::array<uint64_t, kWords>, kStreamAccesses> bits{};
    std::array<Footprint::Instructions, 2> instructions;
  };
  // 1 GiB of bits, for 1.6 GiB of data.
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
