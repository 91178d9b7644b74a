// Explains a wrong scan.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/model/text.h"
#include "judge/model/verdict.h"

namespace lockstep::suites {

// Whether a float still has the output's initial value.
inline bool IsUnwritten(float value) {
  const float poison = judge::DeviceArray<float>::FillValue();
  return std::memcmp(&value, &poison, sizeof value) == 0;
}

// Hints for kernel faults that are more specific than the fault's own.
inline void ExplainFaults(std::vector<judge::Problem>& problems) {
  constexpr uint64_t kRow = 33 * sizeof(float);  // 32 banks, and a word of padding
  for (judge::Problem& problem : problems) {
    if (problem.verdict != judge::Verdict::kUninit || !problem.finding || !problem.finding->memory) continue;
    const vgpu::MemoryPlace& memory = *problem.finding->memory;
    const uint64_t at = memory.address - memory.buffer_base;
    if (memory.space != vgpu::MemorySpace::kShared || memory.buffer_bytes < 2 * kRow) continue;
    if (at % kRow == kRow - sizeof(float)) {
      problem.hint =
          "this is the word that padding leaves out of each row: where element i is stored with padding, i + i / 32, it "
          "has to be read there too";
    }
  }
}

// Compares the result with the scans produced by common mistakes.
class ScanExplainer {
 public:
  // `expected` is the right scan of sums, exclusive or inclusive; `first` is the first wrong element.
  ScanExplainer(std::span<const float> values, std::span<const double> expected, std::span<const float> found,
                uint64_t first)
      : values_(values), expected_(expected), found_(found), first_(first), n_(values.size()), before_(n_ + 1) {
    for (uint64_t i = 0; i < n_; ++i) before_[i + 1] = before_[i] + values_[i];
  }

  judge::HintText Explain() const {
    const bool inclusive = expected_[0] != 0;
    if (Is([&](uint64_t i) { return before_[i] + (inclusive ? 0 : values_[i]); })) {
      return inclusive
                 ? "that is the exclusive scan: element i must include its own value"
                 : "that is the inclusive scan: an exclusive one starts with 0, and element i leaves out its own value";
    }
    if (Is([&](uint64_t i) { return before_[n_] - before_[i + 1]; })) {
      return "each element is the sum of those after it: left and right are swapped";
    }
    if (Is([&](uint64_t i) { return i == 0 ? 0 : before_[i - 1]; })) {
      return "every sum is one place too far to the right";
    }
    if (Is([&](uint64_t i) { return expected_[i] + before_[n_]; })) {
      return "every sum is too large by the sum of all elements: a total (the tree's root, a tile's own sum) was added "
             "as if it came before";
    }
    if (std::string hint = ExplainTiles(); !hint.empty()) return hint;
    double whole = 0;
    if (Is([&](uint64_t i) { return std::exchange(whole, whole + std::trunc(values_[i])); })) {
      return "the values were truncated to integers before they were added";
    }
    if (!inclusive && first_ == 0) {
      return "nothing comes before element 0, so it must be 0: does the first lane of each warp, and the first thread of "
             "a block, start from 0? Does the down-sweep go down to neighbours, and set the left one too?" +
             std::string(std::has_single_bit(n_) ? "" : kNoPowerOfTwo);
    }
    for (const uint64_t window : {first_ - 1, first_}) {
      if (inclusive || window == 0 || first_ > n_) continue;
      if (Is([&](uint64_t i) { return before_[i] - before_[i - std::min(i, window)]; })) {
        return {"each element is the sum of the " + judge::Grouped(window) +
                    " before it alone: the steps must go on until the distance reaches n",
                {"loop"}};
      }
    }
    const bool many_tiles = first_ >= kManyTiles && std::has_single_bit(first_);
    // If only the last few elements are wrong, some sum of earlier ones may match by chance.
    const bool is_end = many_tiles && n_ - first_ < 32;
    if (std::string hint = ExplainMissingBefore(); !hint.empty() && !is_end) return hint;
    if (first_ == kFloatIntegers || first_ == kFloatIntegers + 1) {
      return "all elements before " + judge::Grouped(first_) +
             " are right: above 2^24, a float holds only every other integer; is an index or a length a float?";
    }
    if (many_tiles) {
      return "all elements before " + judge::Grouped(first_) + " are right: are there more tiles than one block scans?";
    }
    return "";
  }

 private:
  static constexpr const char* kNoPowerOfTwo =
      "; n is not a power of two here: pad the tree to one, with zeros from element n on";
  static constexpr uint64_t kManyTiles = uint64_t{1} << 16;
  static constexpr uint64_t kFloatIntegers = uint64_t{1} << 24;  // a float represents all whole numbers up to here

  // Whether the result equals candidate(i) everywhere; called in ascending order.
  template <class Candidate>
  bool Is(Candidate candidate) const {
    for (uint64_t i = 0; i < n_; ++i) {
      const double value = candidate(i);
      const double difference = std::abs(static_cast<double>(found_[i]) - value);
      if (!(difference <= 1e-4 * std::max(std::abs(value), 1e-3))) return false;
    }
    return true;
  }

  // Whether the scan is right except for an error `wrong(t)` added to each tile t of `tile` elements.
  template <class Wrong>
  bool IsOffBy(uint64_t tile, Wrong wrong) const {
    return tile > 0 && Is([&](uint64_t i) { return expected_[i] + wrong(i / tile); });
  }

  std::string ExplainTiles() const {
    const std::string at = "tiles of " + judge::Grouped(first_) + " elements: ";
    if (IsOffBy(first_, [&](uint64_t t) { return -before_[t * first_]; })) {
      return at + "each starts again at 0: add the sum of all tiles before it";
    }
    double lost = 0;
    uint64_t last = 0;
    if (IsOffBy(first_, [&](uint64_t t) {
          for (; last < t; ++last) lost += values_[(last + 1) * first_ - 1];
          return -lost;
        })) {
      return at + "each tile's sum misses its last element: the last value of an exclusive scan does not include it";
    }
    const uint64_t half = first_ / 2;
    if (IsOffBy(half, [&](uint64_t t) { return t < 2 ? 0 : -before_[(t - 1) * half]; })) {
      return "tiles of " + judge::Grouped(half) +
             " elements: each starts with the sum of one tile before it: add the sum of all tiles before it";
    }
    constexpr std::array<uint64_t, 7> kTiles = {256, 512, 1024, 2048, 4096, 8192, 16384};
    for (const uint64_t tile : kTiles) {
      if (IsOffBy(tile, [&](uint64_t t) { return before_[std::min((t + 1) * tile, n_)] - before_[t * tile]; })) {
        return "tiles of " + judge::Grouped(tile) + " elements: each starts with a sum that already includes its own";
      }
      if (IsOffBy(tile, [&](uint64_t t) { return before_[std::min((t + 1) * tile, n_)] - 2 * before_[t * tile]; })) {
        return "tiles of " + judge::Grouped(tile) + " elements: each starts with its own sum: scan the sums first";
      }
      const double off = static_cast<double>(found_[first_]) - expected_[first_];
      if (first_ > 0 && first_ % tile == 0 && first_ + tile >= n_ &&
          Is([&](uint64_t i) { return expected_[i] + (i < first_ ? 0 : off); })) {
        return "all is right up to element " + judge::Grouped(first_) +
               ", where the last tile begins: what is added to that tile is wrong. Does the scan of the tiles' sums have "
               "one for each tile?";
      }
    }
    return "";
  }

  // Everything is right up to an element that only has the sum of the last 2^k elements: one tile, or the tiles that a
  // look-back covered. The result does not show which.
  std::string ExplainMissingBefore() const {
    for (uint64_t length = 32; length < first_; length *= 2) {
      if (first_ % 32 != 0) break;
      const double alone = before_[first_] - before_[first_ - length];
      if (std::abs(static_cast<double>(found_[first_]) - alone) > 1e-4 * std::abs(alone)) continue;
      return "from here on, each sum includes only the " + judge::Grouped(length) +
             " elements before, and misses the " + judge::Grouped(first_ - length) +
             " before those: a look-back has to go on until a tile knows its prefix; that is the total of all up to "
             "its end, not its own";
    }
    return "";
  }

  std::span<const float> values_;
  std::span<const double> expected_;
  std::span<const float> found_;
  uint64_t first_, n_;
  std::vector<double> before_;  // exclusive scan, with the total at the end
};

// A hint, or "" if the result matches no known mistake. `sums`: the operation is addition.
inline judge::HintText ExplainScan(std::span<const float> values, std::span<const double> expected,
                                   std::span<const float> found, uint64_t first, bool sums) {
  constexpr uint64_t kLargestTile = 16384;
  const uint64_t n = values.size();
  if (IsUnwritten(found[first])) {
    if (std::all_of(found.begin(), found.end(), IsUnwritten)) return "nothing was written to d_out";
    if (std::all_of(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(), IsUnwritten)) {
      return "nothing was written from element " + judge::Grouped(first) + " to the end, " + judge::Grouped(n - first) +
             " in all: " +
             (n - first <= kLargestTile ? "do the threads reach the last, partial tile?"
                                        : "does every tile have a block that writes it?");
    }
    return "element " + judge::Grouped(first) + " was not written: does each thread write all of its elements?";
  }
  if (std::isnan(found[first])) return "that is NaN: was memory read that nothing had written?";
  const double own = static_cast<double>(values[first]);
  if (sums && std::abs(own) > 1e6 && found[first] == static_cast<float>(expected[first] + own) - values[first]) {
    return "the element's own value was added and then subtracted, which loses much smaller values: add only what "
           "comes before";
  }
  if (std::equal(values.begin(), values.end(), found.begin())) return "that is the input: nothing was added";
  if (std::all_of(found.begin(), found.end(), [](float value) { return value == 0; })) {
    return sums
               ? "all results are 0: does each step add something? A down-sweep keeps the left sum in a variable before "
                 "it stores the parent's there"
               : "all results are 0, which is above every element: start from -INFINITY, not from 0";
  }
  if (std::isinf(expected[first])) {
    return "every element up to here is -INFINITY, and so is their maximum: start from -INFINITY, not from a larger "
           "number such as -FLT_MAX";
  }
  return sums ? ScanExplainer(values, expected, found, first).Explain() : "";
}

}  // namespace lockstep::suites
