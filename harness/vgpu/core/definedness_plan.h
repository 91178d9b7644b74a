// How undefined values propagate through a program's registers and memory. Made by analysis/definedness.cc, used by
// exec/definedness_tracker.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/core/use_plan.h"

namespace lockstep::vgpu {

struct DefinednessPlan {
  static constexpr uint32_t kNoSlot = UsePlan::kNoSlot;

  enum class Effect : uint8_t {
    kPure,  // computes registers from registers only
    kLoad,
    kStore,
    kAtomic,
    kAsynchronous,  // writes memory later, or elsewhere
    kShuffle,       // sources: value, lane, clamp; results: value, predicate
    kBranch,
    kLeave,  // ret, exit
    kBarrier,
    kCall,
    kOther,
  };
  // The memory that an access goes to; determines what the lanes' addresses are relative to.
  enum class Space : uint8_t { kGlobal, kReadOnly, kShared, kLocal, kArea, kGeneric };

  // A register has one slot, a 64-bit one two: low half, then high half. Slots are numbered from 0 in each function. A
  // source flows into the results with the same `part`; part 0 flows into all of them.
  struct Source {
    uint32_t slot = kNoSlot;
    uint32_t decider = kNoSlot;  // first slot of the operand that can mask this one; while undefined, it masks nothing
    uint8_t deciders = 0;        // number of slots of that operand
    UsePlan::Shows shows = UsePlan::Shows::kAlways;
    uint8_t row = 0;    // of that operand, in Insn::row
    uint8_t bytes = 0;  // of that operand; for a store: bytes stored from this source
    uint8_t part = 0;
    uint8_t at = 0;  // for a store: offset in the lane's access
  };
  struct Result {
    uint32_t slot = kNoSlot;
    uint8_t part = 0;
    uint8_t at = 0, bytes = 0;  // for a load: bytes of the lane's access
  };

  struct Step {
    Effect effect = Effect::kOther;
    Space space = Space::kGlobal;
    uint8_t bytes = 0;        // of one lane's access
    uint8_t address_row = 0;  // in Insn::row
    bool narrow = false;      // 32-bit address
    bool replaces = false;    // an atomic that overwrites the old value completely (exch)
    uint32_t guard = kNoSlot;
    // Start of this step's entries; they end where the next step's begin.
    uint32_t first_source = 0, first_address = 0, first_result = 0;
  };

  bool empty() const { return steps.empty(); }
  const Step* StepAt(uint32_t pc) const {
    return pc < step_of.size() && step_of[pc] != 0 ? &steps[step_of[pc] - 1] : nullptr;
  }
  std::span<const Source> Sources(const Step& step) const {
    return Of(sources, step.first_source, (&step + 1)->first_source);
  }
  std::span<const uint32_t> Addresses(const Step& step) const {  // slots of the address
    return Of(addresses, step.first_address, (&step + 1)->first_address);
  }
  std::span<const Result> Results(const Step& step) const {
    return Of(results, step.first_result, (&step + 1)->first_result);
  }

  std::vector<uint32_t> slots;    // by function
  std::vector<uint32_t> step_of;  // by pc: index into steps + 1; 0: none
  std::vector<Step> steps;        // with a sentinel at the end
  std::vector<Source> sources;
  std::vector<uint32_t> addresses;
  std::vector<Result> results;

 private:
  template <typename T>
  static std::span<const T> Of(const std::vector<T>& all, size_t begin, size_t end) {
    return std::span<const T>(all).subspan(begin, end - begin);
  }
};

}  // namespace lockstep::vgpu
