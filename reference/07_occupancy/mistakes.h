// The results of typical mistakes in an occupancy calculation: a wrong number that matches one is reported by its name.
// Students never get this file, because every mistake's formula contains most of a right rule. They get its results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle.h"

namespace lockstep::suites {

struct WrongNumber {
  int64_t value;
  const char* hint;
  std::vector<std::string> members = {};  // of DeviceLimits or KernelNeeds, named in the hint
};

// A quotient as careless code has it; -1, which no mistake is recognised by, where it would divide by zero.
inline int64_t Quotient(int64_t a, int64_t b) { return b > 0 ? a / b : -1; }
inline int64_t Up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
inline int64_t Down(int64_t value, int64_t unit) { return value / unit * unit; }

inline std::vector<WrongNumber> ThreadMistakes(const SmLimits& sm, int threads) {
  const int64_t warps = Up(threads, sm.warp_size) / sm.warp_size;
  const auto capped = [&](int64_t blocks) { return std::min<int64_t>(blocks, sm.max_blocks); };
  if (threads > sm.max_threads_per_block) {
    return {{capped(Quotient(sm.max_warps, warps)),
             "a block of more than max_threads_per_block threads can't be launched: return 0",
             {"max_threads_per_block"}}};
  }
  if (threads == 0) return {{sm.max_blocks, "a block of 0 threads can't be launched: return 0"}};
  const int64_t warps_of_32 = Up(threads, 32) / 32;
  return {
      {sm.warp_size != 32 ? capped(Quotient(sm.max_warps, warps_of_32)) : -1,
       "that counts warps of 32 threads: take warp_size from the device",
       {"warp_size"}},
      {Quotient(sm.max_warps, warps),
       "an SM holds no more than max_blocks_per_sm blocks, however small they are",
       {"max_blocks_per_sm"}},
      {capped(Quotient(int64_t{sm.max_warps} * sm.warp_size, threads)),
       "a block takes whole warps: first round its threads up to a multiple of the warp size"},
      {capped(Quotient(sm.max_warps, threads / sm.warp_size)), "a partial warp is still a warp: round up, not down"},
      {sm.max_blocks,
       "max_warps_per_sm is a limit too, not only max_blocks_per_sm",
       {"max_warps_per_sm", "max_blocks_per_sm"}},
  };
}

inline std::vector<WrongNumber> SharedMistakes(const SmLimits& sm, int64_t bytes) {
  const int64_t given = Up(bytes + sm.shared_reserved, sm.shared_unit);
  if (bytes > sm.shared_per_block) {
    return {{Quotient(sm.shared, given),
             "a block that needs more than shared_per_block can't be launched: return 0",
             {"shared_per_block"}}};
  }
  std::vector<WrongNumber> mistakes = {
      {Quotient(sm.shared, Up(bytes, sm.shared_unit)),
       "each block gets shared_reserved bytes in addition to its own",
       {"shared_reserved"}},
      {Quotient(sm.shared, Up(bytes, sm.shared_unit) + sm.shared_reserved),
       "round the sum of the reserved bytes and the block's own up"},
      {Quotient(sm.shared, bytes + sm.shared_reserved),
       "shared memory is allocated in whole units: round up to shared_unit",
       {"shared_unit"}},
      {Quotient(sm.shared, bytes),
       "shared memory is allocated in whole units: round up to shared_unit",
       {"shared_unit"}},
      {Quotient(sm.shared, Down(bytes + sm.shared_reserved, sm.shared_unit)),
       "round up to shared_unit, not down",
       {"shared_unit"}},
  };
  if (bytes + sm.shared_reserved > sm.shared_per_block) {
    mistakes.push_back({0,
                        "the reserved bytes do not count against shared_per_block: it bounds the block's own",
                        {"shared_per_block"}});
  }
  if (given == 0) mistakes.push_back({0, "a block that gets no shared memory is not limited by it: return kUnlimited"});
  if (bytes == 0 && given > 0) {
    mistakes.push_back({kNoLimit, "each block gets the runtime's reserved bytes, even if it uses none of its own"});
  }
  return mistakes;
}

inline std::vector<WrongNumber> RegisterMistakes(const SmLimits& sm, int threads, int registers) {
  const int64_t warps = Up(threads, sm.warp_size) / sm.warp_size;
  const int64_t even = Up(warps, sm.warp_granularity);
  const int64_t warp_needs = int64_t{sm.warp_size} * registers;
  const int64_t per_warp = Up(warp_needs, sm.register_unit);
  const int64_t by_block = Quotient(sm.registers, Up(even * warp_needs, sm.register_unit));
  const int64_t by_warp = Quotient(Down(Quotient(sm.registers, per_warp), sm.warp_granularity), warps);
  const int64_t own_rule = sm.registers_by_block ? by_block : by_warp;
  if (registers == 0) return {{0, "a kernel without registers is not limited by them: return kUnlimited"}};
  if (threads > sm.max_threads_per_block) {
    return {{own_rule,
             "a block of more than max_threads_per_block threads can't be launched: return 0",
             {"max_threads_per_block"}}};
  }
  if (threads == 0) return {{kNoLimit, "a block of 0 threads can't be launched: return 0"}};
  if (registers > sm.max_registers_per_thread) {
    return {
        {own_rule, "a thread can't have more than max_registers_per_thread: return 0", {"max_registers_per_thread"}}};
  }
  if (sm.registers_by_block) {
    return {
        {Quotient(sm.registers, Up(warps * warp_needs, sm.register_unit)),
         "first round the block's warps up to a multiple of warp_granularity",
         {"warp_granularity"}},
        {Quotient(sm.registers, even * warp_needs),
         "round the block's registers up to a multiple of register_unit",
         {"register_unit"}},
        {Quotient(sm.registers, warps * warp_needs),
         "round twice: warps up to warp_granularity, then registers up to register_unit",
         {"warp_granularity", "register_unit"}},
        {Quotient(sm.registers, int64_t{threads} * registers),
         "a partial warp gets a whole warp's registers: count whole warps"},
        {by_warp, "that is the rule from 2.0 on; here registers are allocated by the block"},
    };
  }
  if (even * per_warp > sm.registers_per_block) {
    return {{by_warp,
             "a block that needs more than registers_per_block can't be launched: count its warps in multiples of "
             "warp_granularity",
             {"registers_per_block", "warp_granularity"}}};
  }
  return {
      {Quotient(Quotient(sm.registers, per_warp), warps),
       "round the number of warps that the SM has registers for down to a multiple of warp_granularity",
       {"warp_granularity"}},
      {by_block,
       "by the block, as in 1.x, it would be this: here each warp's registers are rounded up to register_unit, and whole warps take them",
       {"register_unit"}},
      {Quotient(Down(Quotient(sm.registers, warp_needs), sm.warp_granularity), warps),
       "round a warp's registers up to a multiple of register_unit",
       {"register_unit"}},
      {Quotient(Down(Quotient(sm.registers, per_warp), sm.warp_granularity), even),
       "do not round the block's warps up before you divide by them; round only the SM's, down"},
      {Quotient(sm.registers, int64_t{threads} * registers),
       "count registers by the warp, in whole units, and count whole warps"},
      {0,
       "the block fits: compare registers_per_block with its warps rounded up to warp_granularity, and no more",
       {"registers_per_block", "warp_granularity"}},
  };
}

// Sizes of blocks that other rules than "most warps, then the largest block" would choose.
inline std::vector<WrongNumber> BestBlockMistakes(const SmLimits& sm, int registers, int64_t shared,
                                                  int64_t per_thread) {
  const auto warps_with = [&](int threads, int64_t bytes) {
    return FillSm(sm, {threads, registers, bytes}).Blocks() * (threads / sm.warp_size);
  };
  int smallest = 0, fixed_shared = 0, power = 0, fewest = 0, many = 0;
  int most = 0, most_fixed = 0, most_power = 0, most_blocks = 0;
  for (int threads = sm.warp_size; threads <= sm.max_threads_per_block; threads += sm.warp_size) {
    const int warps = warps_with(threads, shared + per_thread * threads);
    const int fixed = warps_with(threads, shared);
    const int blocks = warps / (threads / sm.warp_size);
    if (warps > most) most = warps, smallest = threads;
    if (fixed > 0 && fixed >= most_fixed) most_fixed = fixed, fixed_shared = threads;
    if ((threads & (threads - 1)) == 0 && warps > 0 && warps >= most_power) most_power = warps, power = threads;
    if (blocks > most_blocks) fewest = threads;
    if (blocks > 0 && blocks >= most_blocks) most_blocks = blocks, many = threads;
  }
  const int best = BestBlockSize(sm, registers, shared, per_thread);
  std::vector<WrongNumber> mistakes = {
      {smallest, "several sizes give the most resident warps: take the largest of them"},
      {fixed_shared,
       "a block of t threads needs shared_per_block + t * shared_per_thread bytes",
       {"shared_per_block", "shared_per_thread"}},
      {fewest, "count resident warps, not blocks: many small blocks may be few warps"},
      {many, "count resident warps, not blocks: many small blocks may be few warps"},
  };
  const WrongNumber powers = {power, "block sizes need not be powers of two: try every multiple of the warp size"};
  mistakes.insert((best & (best - 1)) != 0 ? mistakes.begin() : mistakes.end(), powers);
  return mistakes;
}

// All mistakes of a case, except those that give the right number, or the number of an earlier mistake.
inline std::vector<Mistake> MistakesOf(const SmLimits& sm, const Kernel& kernel, const Answers& right, bool has_sizes) {
  std::vector<Mistake> mistakes;
  const auto add = [&](About about, int64_t answer, const std::vector<WrongNumber>& numbers) {
    for (const WrongNumber& wrong : numbers) {
      const bool is_known = std::any_of(mistakes.begin(), mistakes.end(), [&](const Mistake& other) {
        return other.about == about && other.value == wrong.value;
      });
      if (wrong.value >= 0 && wrong.value != answer && !is_known) {
        mistakes.push_back({about, wrong.value, wrong.hint, wrong.members});
      }
    }
  };
  add(About::kWarps, std::min(right.by_warps, sm.max_blocks), ThreadMistakes(sm, kernel.threads));
  add(About::kRegisters, right.by_registers, RegisterMistakes(sm, kernel.threads, kernel.registers));
  add(About::kShared, right.by_shared, SharedMistakes(sm, kernel.shared));
  if (has_sizes) {
    add(About::kBlockSize, right.best_block,
        BestBlockMistakes(sm, kernel.registers, kernel.shared, kernel.shared_per_thread));
  }
  return mistakes;
}

}  // namespace lockstep::suites
