// How load values are followed to their uses. Made by analysis/value_use.cc, used by exec/read_tracker.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::vgpu {

struct UsePlan {
  static constexpr uint32_t kNoSlot = 0xffffffffu;
  static constexpr size_t kMostElements = 8;  // of a load that is followed

  // When an operand affects the result, depending on another operand (the decider).
  enum class Shows : uint8_t {
    kAlways,
    kIfTrue,   // the predicate is true
    kIfFalse,  // the predicate is false
    kIfBits,   // the integer is not 0
    kIfZeros,  // the integer has a 0 bit
    kIfPositive,
    kIfNegative,
    kIfPositiveFloat,  // including -0
    kIfNegativeFloat,  // including NaN
  };
  struct Source {
    uint32_t slot = kNoSlot;
    Shows shows = Shows::kAlways;
    uint8_t row = 0;    // of the decider, in Insn::row
    uint8_t bytes = 0;  // of the decider
    // For `and` and `or`, where each operand can mask the other: the decider's slot and this operand's row. In lanes
    // where both mask each other, the operand that comes from no load wins.
    uint32_t decider = kNoSlot;
    uint8_t own = 0;  // 0: none
  };
  struct Result {
    uint32_t slot = kNoSlot;  // none: the register is not followed
    bool sure = false;        // the value is used on every path
    bool unread =
        false;  // no instruction reads the register, e.g. padding next to the members that a vector load fetches
  };

  // What one instruction does to followed values. Each slot is one register.
  struct Step {
    bool pure = false;             // computes results from sources; otherwise it uses what it reads
    bool reads = false;            // a load with results that may be unused
    uint32_t guard = kNoSlot;      // of the guard predicate
    std::vector<Source> sources;   // without the guard
    std::vector<Result> results;   // all elements of a load with `reads`, in order; otherwise the followed ones
    std::vector<uint32_t> before;  // slots that are dead on entry to the instruction
    std::vector<uint32_t> after;   // slots that are dead after the instruction
  };

  bool empty() const { return steps.empty(); }
  const Step* StepAt(uint32_t pc) const {
    return pc < step_of.size() && step_of[pc] != 0 ? &steps[step_of[pc] - 1] : nullptr;
  }

  uint32_t slots = 0;
  std::vector<uint32_t> step_of;  // by pc: index into steps + 1; 0: none
  std::vector<Step> steps;
};

}  // namespace lockstep::vgpu
