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

// An SM's limits, as DeviceLimits in occupancy.h.
struct SmLimits {
  int warp_size = 32;
  int max_threads_per_block = 0, max_warps = 0, max_blocks = 0;
  int registers = 0, registers_per_block = 0, max_registers_per_thread = 0;
  int register_unit = 1, warp_granularity = 1;
  bool registers_by_block = false;                                             // compute capability 1.x
  int shared = 0, shared_per_block = 0, shared_unit = 1, shared_reserved = 0;  // bytes
};

// An SM, and its name in messages.
struct Sm {
  SmLimits limits;
  std::string name;
};

struct Kernel {
  int threads = 0, registers = 0;
  int shared = 0, shared_per_thread = 0;  // bytes
  int warps = 0;                          // required by the bonus rung
};

// Number of blocks allowed by a resource that they don't use.
inline constexpr int kNoLimit = INT32_MAX;

struct Answers {
  int by_warps = 0, by_registers = 0, by_shared = 0;  // blocks allowed by each resource alone
  int limiter = 0, warps = 0;                         // for all resources together; as in OccupancyResult
  int best_block = 0, register_budget = 0;
};

// A number produced by a typical mistake for one of the answers, and the hint for it with the members that it names.
enum class About : uint8_t { kNothing, kWarps, kRegisters, kShared, kBlockSize };
struct Mistake {
  About about = About::kNothing;
  int64_t value = 0;
  std::string hint;
  std::vector<std::string> members;
};

struct Case {
  Sm sm;
  Kernel kernel;
  Answers answers;
  std::vector<Mistake> mistakes;
};

// Whether rung `number` applies to such a device: rung 3 to 1.x, rung 4 to later ones.
inline bool Concerns(int number, const SmLimits& limits) {
  if (number == 3) return limits.registers_by_block;
  if (number == 4) return !limits.registers_by_block;
  return true;
}

// The cases of a public test, such as SolvesTheCoursesExample, for rung `number`. The public suite's are in
// 07_occupancy_public.cc; the instructor's suite has its own, some of which depend on the seed.
std::vector<Case> CasesOf(const std::string& test, int number, const judge::SeedKey& seed);

}  // namespace lockstep::suites
