// A question of assignment 07 and its answer: an SM, a kernel, and the resulting numbers. Only data, without the
// rules: the public suite reads its cases from a table, the instructor's computes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::judge {
struct SeedKey;
}

namespace lockstep::suites {

// What an SM sets, as DeviceLimits in occupancy.h has it.
struct SmLimits {
  int warp_size = 32;
  int max_threads_per_block = 0, max_warps = 0, max_blocks = 0;
  int registers = 0, registers_per_block = 0, max_registers_per_thread = 0;
  int register_unit = 1, warp_granularity = 1;
  bool registers_by_block = false;                                             // compute capability 1.x
  int shared = 0, shared_per_block = 0, shared_unit = 1, shared_reserved = 0;  // bytes
};

// An SM, and how messages call it.
struct Sm {
  SmLimits limits;
  std::string name;
};

struct Kernel {
  int threads = 0, registers = 0;
  int shared = 0, shared_per_thread = 0;  // bytes
  int warps = 0;                          // that the bonus rung asks for
};

// Blocks that a resource has room for when none of it is needed.
inline constexpr int kNoLimit = INT32_MAX;

struct Answers {
  int by_warps = 0, by_registers = 0, by_shared = 0;  // blocks that each resource alone has room for
  int limiter = 0, warps = 0;                         // of all resources together; as in OccupancyResult
  int best_block = 0, register_budget = 0;
};

// A number that a typical mistake gives for one of the answers, and the sentence that helps.
enum class About : uint8_t { kNothing, kWarps, kRegisters, kShared, kBlockSize };
struct Mistake {
  About about = About::kNothing;
  int64_t value = 0;
  std::string hint;
};

struct Case {
  Sm sm;
  Kernel kernel;
  Answers answers;
  std::vector<Mistake> mistakes;
};

// Whether rung `number` is for such a device: rung 3 is for 1.x, rung 4 for what came later.
inline bool Concerns(int number, const SmLimits& limits) {
  if (number == 3) return limits.registers_by_block;
  if (number == 4) return !limits.registers_by_block;
  return true;
}

// The cases of a public test, such as SolvesTheCoursesExample, for rung `number`. 07_occupancy_public.cc has them for
// the public suite; the instructor's suite has its own, in which some depend on the seed.
std::vector<Case> CasesOf(const std::string& test, int number, const judge::SeedKey& seed);

}  // namespace lockstep::suites
