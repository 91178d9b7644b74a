// How the values of loads are followed to where they are used, for exec/read_tracker.h; analysis/value_use.cc makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::vgpu {

struct UsePlan {
  static constexpr uint32_t kNoSlot = 0xffffffffu;
  static constexpr size_t kMostElements = 8;  // of a load that is followed

  // When an operand has a say in the result, by another operand of the instruction.
  enum class Shows : uint8_t {
    kAlways,
    kIfTrue,   // by a predicate
    kIfFalse,  // by a predicate
    kIfBits,   // by an integer that is not 0
    kIfZeros,  // by an integer that has a 0 bit
    kIfPositive,
    kIfNegative,
    kIfPositiveFloat,  // also -0
    kIfNegativeFloat,  // also NaN
  };
  struct Source {
    uint32_t slot = kNoSlot;
    Shows shows = Shows::kAlways;
    uint8_t row = 0;    // of the operand that decides, in Insn::row
    uint8_t bytes = 0;  // of that operand
    // Of and and or, where either may outweigh the other: that operand's own slot, and this one's row. In lanes in
    // which both do, the one that comes from no load outweighs the other.
    uint32_t decider = kNoSlot;
    uint8_t own = 0;  // 0: none
  };
  struct Result {
    uint32_t slot = kNoSlot;  // none: nobody follows what stands there
    bool sure = false;        // whatever comes, the value is used
    bool unread = false;      // no instruction reads the register, as of padding beside the members that a vector loads
  };

  // What one instruction does to followed values. A slot stands for one register.
  struct Step {
    bool pure = false;             // makes results from sources; else it uses what it reads
    bool reads = false;            // a load some of whose results may not be used
    uint32_t guard = kNoSlot;      // the guard predicate's
    std::vector<Source> sources;   // without the guard
    std::vector<Result> results;   // of a load that `reads`: all its elements, in order; else those to be followed
    std::vector<uint32_t> before;  // slots that nobody reads any more when control comes here
    std::vector<uint32_t> after;   // slots that nobody reads any more behind the instruction
  };

  bool empty() const { return steps.empty(); }
  const Step* StepAt(uint32_t pc) const {
    return pc < step_of.size() && step_of[pc] != 0 ? &steps[step_of[pc] - 1] : nullptr;
  }

  uint32_t slots = 0;
  std::vector<uint32_t> step_of;  // by pc: an index into steps, and 1; 0: none
  std::vector<Step> steps;
};

}  // namespace lockstep::vgpu
