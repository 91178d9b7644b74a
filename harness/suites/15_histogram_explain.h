// Explains a wrong histogram.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "suites/15_histogram_fixture.h"

namespace lockstep::suites {

// A hint for a kernel's fault that is more specific than the fault's own; else "".
inline judge::HintText HintOfFault(const judge::Problem& problem) {
  if (!problem.finding || !problem.finding->memory) return "";
  const vgpu::Finding& finding = *problem.finding;
  const std::string& buffer = finding.memory->buffer_name;
  const bool shared = finding.memory->space == vgpu::MemorySpace::kShared;
  switch (finding.kind) {
    case vgpu::FindingKind::kRace:
      if (shared) {
        return "clear, count, add up: put a barrier between each of the three and the next, and count by atomics, "
               "since threads share bins";
      }
      return buffer == "d_bins" ? "others change the same bin: read, add and store in one step, by atomicAdd" : "";
    case vgpu::FindingKind::kUninitialized:
      if (shared) {
        return {"shared memory holds garbage at first: clear every word of the bins, and wait at a barrier",
                {"variable"}};
      }
      if (buffer != "d_bins") return "";
      return {"d_bins holds garbage at first: clear all its bins before the kernel that counts", {"variable"}};
    case vgpu::FindingKind::kMisaligned:
      return "d_in is aligned to one element: a wider access needs an address that is a multiple of it. Count the "
             "elements in front of the first such address one by one";
    case vgpu::FindingKind::kOutOfBounds:
      if (buffer == "d_in") return "d_in has n elements, and a last vector may have fewer than sixteen";
      return buffer == "d_bins" || shared
                 ? "an element is the number of its bin, read unsigned; in a word with several, shift and mask each one"
                 : "";
    default:
      return "";
  }
}

inline std::vector<uint32_t> Histogram(const Input& input, uint64_t bins) {
  std::vector<uint32_t> sums(bins);
  for (uint64_t i = 0; i < input.values.size(); ++i) sums[input.values[i]] += input.weights[i];
  return sums;
}

// How many elements, from the first or the last on, give these bins; 0: none do.
inline uint64_t CountedFrom(const Input& input, std::span<const uint32_t> found, bool first) {
  std::vector<uint32_t> left(found.begin(), found.end());
  auto missing = static_cast<int64_t>(left.size() - static_cast<size_t>(std::ranges::count(left, 0U)));
  const uint64_t n = input.values.size();
  for (uint64_t k = 0; k < n; ++k) {
    const uint64_t i = first ? k : n - 1 - k;
    uint32_t& bin = left[input.values[i]];
    missing -= bin != 0;
    bin -= input.weights[i];
    missing += bin != 0;
    if (missing == 0) return k + 1;
  }
  return 0;
}

// The input without the elements that have an equal one before them in their warp.
inline Input FirstOfEach(const Input& input) {
  constexpr uint64_t kLanes = 32;
  Input firsts;
  for (uint64_t i = 0; i < input.values.size(); ++i) {
    const auto warp = std::span(input.values).subspan(i / kLanes * kLanes, i % kLanes);
    if (std::ranges::count(warp, input.values[i]) > 0) continue;
    firsts.values.push_back(input.values[i]), firsts.weights.push_back(input.weights[i]);
  }
  return firsts;
}

// A hint for wrong bins, or "".
inline std::string HintOfBins(const Input& input, std::span<const uint32_t> found) {
  const uint64_t n = input.values.size(), all = std::accumulate(found.begin(), found.end(), uint64_t{0});
  const bool counts = std::ranges::count(input.weights, 1U) == static_cast<int64_t>(n);
  for (uint32_t times = 1; times <= (counts ? 64 : 1); ++times) {
    if (std::ranges::any_of(found, [&](uint32_t bin) { return bin % times != 0; })) continue;
    std::vector<uint32_t> once(found.begin(), found.end());
    for (uint32_t& bin : once) bin /= times;
    for (const bool first : {true, false}) {
      const uint64_t counted = CountedFrom(input, once, first);
      if (counted == n) return "every element is counted " + judge::Grouped(times) + " times";
      if (counted == 0) continue;
      return std::string("these are the bins of the ") + (first ? "first " : "last ") +
             judge::Counted(counted, "element") + " of " + judge::Grouped(n) +
             (times > 1 ? ", each counted " + judge::Grouped(times) + " times" : "") + ": which thread takes the rest?";
    }
  }
  if (!counts && std::ranges::equal(Histogram({input.values, std::vector<uint32_t>(n, 1), ""}, found.size()), found)) {
    return "these are the numbers of elements: add each one's weight";
  }
  if (std::ranges::equal(Histogram(FirstOfEach(input), found.size()), found)) {
    return "only one of a warp's equal elements is counted: the lane that adds for all has to add the values of all";
  }
  if (!counts) return "are there weights that are added to another element's bin, twice, or not at all?";
  if (all == 0) return "no element is counted";
  if (all == n) return "the bins add up to n, as they should: some elements are counted in another's bin";
  return "the bins add up to " + judge::Grouped(all) + ", and there are " + judge::Counted(n, "element") +
         (all < n ? ": additions are lost, or elements" : ": elements are counted again, or bins do not begin with 0");
}

}  // namespace lockstep::suites
