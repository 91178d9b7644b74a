// The right order of keys, and explanations of wrong ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "suites/17_sort_fixture.h"

namespace lockstep::suites {

inline bool IsCompaction(const std::string& rung) { return rung.starts_with("compact"); }
inline bool IsSplit(const std::string& rung) { return rung.starts_with("split"); }
inline bool IsPairs(const std::string& rung) { return rung.starts_with("sort5"); }

// A hint for a kernel's fault that is more specific than the fault's own; else "".
inline std::string HintOfFault(const judge::Problem& problem) {
  constexpr const char* kPastTheEnd =
      "a place is past the end: is the flag 0 for a thread without a key and for a key that stays out (keys are "
      "unsigned), and does the scan leave out the key's own flag?";
  if (!problem.finding) return problem.verdict == judge::Verdict::kBounds ? kPastTheEnd : "";
  if (!problem.finding->memory) return "";
  const std::string& buffer = problem.finding->memory->buffer_name;
  const bool shared = problem.finding->memory->space == vgpu::MemorySpace::kShared;
  const bool result = buffer == "d_out" || buffer.ends_with("_out");
  switch (problem.finding->kind) {
    case vgpu::FindingKind::kRace:
      if (shared) {
        return "a scan in shared memory needs a barrier between each step and the next, and one more before its words "
               "are used again: for the next bit, or the next part of the tile";
      }
      return result
                 ? "two threads store to one place: each key's place is the number of keys that go before it, in its "
                   "own tile and in all others"
                 : "";
    case vgpu::FindingKind::kUninitialized:
      return shared ? "nothing was stored to this word before: is there a barrier between the stores and this load, do "
                      "threads without a key take part in the scan, with a flag of 0, and do counts begin with 0?"
                    : "";
    case vgpu::FindingKind::kMisaligned:
      return "arrays are aligned to one element: a wider access needs an address that is a multiple of it";
    case vgpu::FindingKind::kOutOfBounds:
      if (buffer == "d_in" || buffer == "d_keys") return "threads past n have no key";
      if (buffer.starts_with("cudaMalloc") && problem.finding->first.access == vgpu::AccessKind::kStore) {
        return "a key's place is where its digit's keys of this tile begin, plus the number of these before it; and "
               "there is one count for each digit of each tile";
      }
      return result ? kPastTheEnd : "";
    default:
      return "";
  }
}

using Order = std::vector<uint64_t>;  // for each place of the result, the index of its key in the input

inline Order ExpectedOrder(const std::string& rung, const Input& input) {
  Order order(input.keys.size());
  std::iota(order.begin(), order.end(), uint64_t{0});
  if (IsCompaction(rung)) {
    std::erase_if(order, [&](uint64_t i) { return input.keys[i] >= input.parameter; });
  } else if (IsSplit(rung)) {
    std::ranges::stable_partition(order, [&](uint64_t i) { return (input.keys[i] >> input.parameter & 1) == 0; });
  } else {
    std::ranges::stable_sort(order, {}, [&](uint64_t i) { return input.keys[i]; });
  }
  return order;
}

// A hint for a result that has all keys, but in a wrong order; or "".
inline std::string HintOfOrder(const std::string& rung, const Input& input, const std::vector<uint64_t>& found) {
  if (found == input.keys && !IsCompaction(rung)) return "this is the input: nothing was moved";
  if (IsSplit(rung)) {
    const auto is_zero = [&](uint64_t key) { return (key >> input.parameter & 1) == 0; };
    if (std::ranges::is_partitioned(found, is_zero)) {
      return "zeros and ones are apart, but not in the order that they had: a stable split counts those before in the "
             "input, not those that were handled earlier";
    }
    return std::ranges::is_partitioned(found, std::not_fn(is_zero)) ? "the keys with a 1 came first" : "";
  }
  if (IsCompaction(rung)) {
    return "these are the right keys in another order: a key's place is the number of those kept before it in d_in, "
           "not of those that were handled earlier";
  }
  if (std::ranges::is_sorted(found, std::greater())) return "the order is descending";
  const unsigned bits = IsPairs(rung) ? 64 : 32;
  const uint64_t top = uint64_t{1} << (bits - 1);
  if (std::ranges::is_sorted(found, {}, [&](uint64_t key) { return key ^ top; })) {
    return "keys are unsigned: those with a 1 in front are the largest, not negative";
  }
  for (unsigned low = bits - 1; low > 0; --low) {
    const uint64_t mask = ~uint64_t{0} >> (64 - low);
    if (std::ranges::is_sorted(found, {}, [&](uint64_t key) { return key & mask; })) {
      return "sorted by the last " + judge::Counted(low, "bit") +
             " alone: is there a pass for every digit, and does the last one store to the result?";
    }
  }
  for (unsigned shift = bits - 1; shift > 0; --shift) {
    if (std::ranges::is_sorted(found, {}, [&](uint64_t key) { return key >> shift; })) {
      return "sorted by the first " + judge::Counted(bits - shift, "bit") +
             " alone: a later pass has to keep the order of keys whose digits are equal";
    }
  }
  return "all keys are there, in a wrong order: is each pass stable, does it read what the one before stored, and do "
         "the counts of a digit in all tiles come before those of the next digit?";
}

// A hint for a result whose first wrong place is this one.
inline std::string HintOfKeys(const std::string& rung, const Input& input, std::vector<uint64_t> expected,
                              const std::vector<uint64_t>& found, uint64_t wrong) {
  std::vector<uint64_t> keys = input.keys, sorted = found;
  for (std::vector<uint64_t>* each : {&keys, &expected, &sorted}) std::ranges::sort(*each);
  if (sorted == expected) return HintOfOrder(rung, input, found);
  if (!std::ranges::binary_search(keys, found[wrong])) {
    return "this is none of the given keys: a thread without a key stores nothing, and values that fill up a tile must "
           "come after its keys";
  }
  if (IsCompaction(rung)) {
    std::vector<uint64_t> below = input.keys;
    std::erase_if(below, [&](uint64_t key) { return int32_t(key) >= int32_t(input.parameter); });
    below.resize(std::min(below.size(), found.size()));
    if (!below.empty() && std::ranges::equal(below, std::span(found).first(below.size()))) {
      return "keys are unsigned: those with a 1 in front are the largest, not negative";
    }
    if (found[wrong] >= input.parameter) return "there are keys that are not below the limit";
  }
  if (wrong > 0 && std::has_single_bit(wrong)) {
    return "all is right up to element " + judge::Grouped(wrong) +
           ": does each tile, and each tile of tiles, add the counts of all before it?";
  }
  return "keys are lost, or there twice: two of them were given the same place";
}

}  // namespace lockstep::suites
