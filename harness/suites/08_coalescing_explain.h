// Explains a wrong sum or prediction.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "suites/08_coalescing_case.h"
#include "vgpu/core/finding.h"

namespace lockstep::suites {

// How a rung's floats are laid out.
enum class Layout : uint8_t { kElements, kStructures, kArrays };

inline Layout LayoutOf(const std::string& rung) {
  switch (rung.at(std::string("coalesce").size())) {
    case '6':
    case '8':
      return Layout::kStructures;
    case '7':
      return Layout::kArrays;
    default:
      return Layout::kElements;
  }
}

inline uint64_t FloatsEach(Layout layout) { return layout == Layout::kElements ? 1 : 3; }

// The index of the component added to float i, of `count` floats in all; plain elements have none.
inline uint64_t PartnerOf(Layout layout, uint64_t count, uint64_t i) {
  if (layout == Layout::kStructures) return i % 3 == 2 ? i - 2 : i + 1;
  return (i + count / 3) % count;
}

// The expected sums, and other meanings of a found value.
class Sums {
 public:
  Sums(Layout layout, std::span<const uint32_t> in) : layout_(layout), in_(in) {}

  float Right(uint64_t i) const {
    return layout_ == Layout::kElements ? in(i) + 1 : in(i) + in(PartnerOf(layout_, in_.size(), i));
  }
  std::optional<uint64_t> FirstWrong(std::span<const uint32_t> out) const {
    for (uint64_t i = 0; i < in_.size(); ++i) {
      if (out[i] != std::bit_cast<uint32_t>(Right(i))) return i;
    }
    return std::nullopt;
  }
  uint64_t CountWrong(std::span<const uint32_t> out) const {
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < in_.size(); ++i) wrong += out[i] != std::bit_cast<uint32_t>(Right(i));
    return wrong;
  }

  std::string PlaceText(uint64_t i) const {
    std::string place = "d_out[" + std::to_string(i) + "]";
    if (layout_ == Layout::kElements) return place;
    const uint64_t n = in_.size() / 3, structure = layout_ == Layout::kStructures ? i / 3 : i % n;
    const uint64_t component = layout_ == Layout::kStructures ? i % 3 : i / n;
    return place + ", " + "xyz"[component] + " of structure " + std::to_string(structure);
  }

  // `never_written`: the found word is the output's initial value.
  judge::HintText Hint(uint64_t i, uint32_t found_word, bool never_written) const {
    const uint64_t count = in_.size(), n = count / FloatsEach(layout_);
    if (never_written) {
      if (i + 1 == count && layout_ == Layout::kElements) {
        return "no thread has the last element: launch enough threads, and guard with the element's index where that "
               "isn't the thread's";
      }
      if (i == 0 && layout_ == Layout::kElements) {
        return "no thread stores the first element: thread t has t + kOffset, and where that reaches n it goes back to "
               "the beginning, t + kOffset - n";
      }
      return {"no thread stores this float: round the number of blocks up, and check which thread has it", {"blocks"}};
    }
    const auto found = std::bit_cast<float>(found_word);
    if (found == in(i)) return "that is d_in's value, copied: the increment is missing";
    if (layout_ == Layout::kElements) {
      const std::string twice = "incremented twice: start from d_in's value, which must stay as it is";
      for (uint64_t k = 0; k < count; ++k) {
        if (found != in(k) + 1) continue;
        return "that is element " + std::to_string(k) + " plus 1: load and store the same element" +
               (found == in(i) + 2 ? "; or it was " + twice : "");
      }
      return found == in(i) + 2 ? twice : "d_out[e] is d_in[e] + 1";
    }
    if (found == in(i) + 1) return "the structures' rungs add the next component, not 1: (x + y, y + z, z + x)";
    const Layout other = layout_ == Layout::kStructures ? Layout::kArrays : Layout::kStructures;
    if (layout_ == Layout::kStructures && i % 3 == 2 && i + 1 < count && found == in(i) + in(i + 1)) {
      return "that adds the next structure's x: the component after z is x of the same structure";
    }
    if (layout_ == Layout::kArrays && i / n == 2 && found == in(i) + in(i % n) + in(i % n + n)) {
      return "x was replaced by x + y before z needed it: take all three into registers first";
    }
    if (layout_ == Layout::kStructures && i % 3 == 2 && found == in(i) + in(i - 2) + in(i - 1)) {
      return "x was replaced by x + y before z needed it: take all three into registers first";
    }
    // The position of the same component in the other layout.
    const uint64_t there = layout_ == Layout::kArrays ? i % 3 * n + i / 3 : i % n * 3 + i / n;
    if (found == in(i) + in(PartnerOf(other, count, i)) || (there != i && found == Right(there))) {
      return layout_ == Layout::kStructures
                 ? "here a structure's three floats are neighbours, in d_in and in d_out: 3 * t, 3 * t + 1, 3 * t + 2"
                 : "here all x's come first, then all y's, in d_in and in d_out: t, n + t, 2 * n + t";
    }
    for (uint64_t k = 0; k < count; ++k) {
      if (found != Right(k)) continue;
      return "that belongs to d_out[" + std::to_string(k) +
             "]: one of the three loads or stores has another one's index";
    }
    return "each structure (x, y, z) becomes (x + y, y + z, z + x)";
  }

 private:
  float in(uint64_t i) const { return std::bit_cast<float>(in_[i]); }

  Layout layout_;
  std::span<const uint32_t> in_;
};

// A hint for a kernel's fault that is more specific than the fault's own; else "".
inline std::string HintOfFault(const std::string& rung, const judge::Problem& problem) {
  if (!problem.finding || !problem.finding->memory) return "";
  const vgpu::MemoryPlace& memory = *problem.finding->memory;
  if (problem.finding->kind == vgpu::FindingKind::kOutOfBounds) {
    if (rung.starts_with("coalesce5") || rung.starts_with("coalesce4")) {
      return "compare the element's index with n, not the thread's: they differ here";
    }
    if (rung.starts_with("coalesce3") && vgpu::RelationTo(memory) == vgpu::Beside::kPastTheEnd) {
      return "the last kOffset threads go back to the beginning: subtract n where t + kOffset has reached it";
    }
    if (LayoutOf(rung) != Layout::kElements) {
      return "n counts structures: there are 3 * n floats, and n threads with work";
    }
  }
  if (problem.finding->kind == vgpu::FindingKind::kRace && rung.starts_with("coalesce8") &&
      memory.space == vgpu::MemorySpace::kShared && problem.finding->second &&
      problem.finding->first.line != problem.finding->second->line) {
    const uint64_t element = (memory.address - memory.buffer_base) / sizeof(float);
    const auto owns = [&](const vgpu::ThreadPlace& place) {
      const uint64_t thread = place.thread.x, threads = problem.finding->block_dim.x;
      return element / 3 == thread || element % threads == thread;
    };
    if (!owns(problem.finding->first) && !owns(*problem.finding->second)) {
      return "neither thread has this element: thread t works on s[3 * t], s[3 * t + 1] and s[3 * t + 2], and copies the "
             "elements t, t + blockDim.x and t + 2 * blockDim.x";
    }
  }
  if (problem.finding->kind == vgpu::FindingKind::kMisaligned) {
    return "a wider access needs an address that is a multiple of its size";
  }
  return "";
}

inline std::string RequestText(const WarpRequest& request) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string active = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) active += kDigits[request.active >> shift & 15];
  return "first = " + std::to_string(request.first) + ", stride = " + std::to_string(request.stride) +
         ", bytes = " + std::to_string(request.bytes) + ", swap = " + std::to_string(request.swap) +
         ", active = " + active;
}

// A hint for a wrong number of sectors.
inline std::string SectorsHint(const WarpRequest& request, int found) {
  const int active = std::popcount(request.active);
  if (found < 1 || found > 32) return "a request moves at least one sector, and at most one per thread";
  if (request.stride == 0) return "all threads access the same bytes, and a sector moves once";
  if (request.swap != 0 && request.active != ~0u) {
    return "thread t has place t ^ swap: where some threads are idle, the order decides which places are touched";
  }
  if (found == active) return "threads that touch the same sector share it: count each sector once";
  if (found == (active * request.bytes + kSectorBytes - 1) / kSectorBytes) {
    return "contiguous bytes would need that many: mind where the bytes begin, and the gaps between them";
  }
  if (request.active != ~0u) return "only threads whose bit in active is set touch anything";
  if (request.swap != 0) return "a sector moves once, in whatever order the threads touch it";
  return "write down the threads' addresses: two are in the same sector if both divided by 32 give the same number";
}

// A hint for a wrong number of transactions.
inline std::string TransactionsHint(const WarpRequest& request, int expected, int found) {
  const int active = std::popcount(request.active);
  if (found > 32 || found < 0) return "a half-warp takes one transaction, or one per active thread";
  if (expected == active && request.stride == request.bytes && request.swap == 0) {
    return "the segment must be aligned: it begins at a multiple of 16 words";
  }
  if (expected == active && request.swap != 0) return "in 2006 the threads must have the words in order, k has word k";
  if (expected < active && found == active) {
    return "a half-warp whose active threads have their own words of an aligned segment takes one transaction; idle "
           "threads do no harm";
  }
  if (found > active) return "only active threads count";
  return "judge threads 0 to 15 and threads 16 to 31 each by themselves; a half-warp without active threads takes none";
}

}  // namespace lockstep::suites
