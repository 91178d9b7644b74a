// Explains a wrong shift.
#pragma once

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/model/text.h"
#include "judge/model/verdict.h"
#include "judge/run/call.h"

namespace lockstep::suites {

// The shift modulo n, from 0 to n - 1.
inline uint64_t OffsetOf(uint64_t n, int64_t shift) {
  if (n == 0) return 0;
  const int64_t length = static_cast<int64_t>(n);
  return static_cast<uint64_t>((shift % length + length) % length);
}

// A hint for a fault in a kernel or host code that is more specific than the fault's own; else "".
inline std::string HintOfFault(const judge::CallReport& report, const judge::Problem& problem, uint64_t n,
                               int64_t shift) {
  if (problem.verdict == judge::Verdict::kCrash && report.outcome == worker::Outcome::kCrashed &&
      report.code == SIGFPE) {
    return n == 0 ? "n is 0: return before you divide by it" : "INT_MIN % -1 and a division by 0 crash the host code";
  }
  if (!problem.finding || !problem.finding->memory) return "";
  const vgpu::MemoryPlace& memory = *problem.finding->memory;
  switch (problem.finding->kind) {
    case vgpu::FindingKind::kMisaligned:
      return "an int4 must be aligned to 16 bytes: when the shift is not a multiple of 4, assemble it from two of them";
    case vgpu::FindingKind::kOutOfBounds:
      break;
    case vgpu::FindingKind::kRace:
      if (memory.buffer_name == "d_in") return "d_in is read only: the result goes to d_out";
      if (memory.buffer_name != "d_data") return "";
      return "two threads access this element: in place, only one thread may swap it, and one reversal must finish "
             "before the next begins";
    default:
      return "";
  }
  if (shift == INT32_MIN) {
    return "there is no int -INT_MIN: abs(shift) and -shift are INT_MIN again; reduce the shift in 64 bits";
  }
  if (memory.buffer_name == "d_data" && vgpu::RelationTo(memory) == vgpu::Beside::kPastTheEnd) {
    return "a reversal of d_data[begin..end) swaps begin + i with end - 1 - i: the last index is end - 1";
  }
  switch (vgpu::RelationTo(memory)) {
    case vgpu::Beside::kBefore:
      return shift < 0 ? "the index is negative: in C++, -1 % n is -1, so add n"
                       : "the index is negative: subtract n only when i + shift has reached n";
    case vgpu::Beside::kAcrossTheEnd:
      return "a vector that starts inside the array reaches past its end: when n is not a multiple of 4, move the last "
             "elements one by one";
    case vgpu::Beside::kPastTheEnd:
      return memory.buffer_name == "d_out" ? "threads with i ≥ n must not store anything"
                                           : "wrap i + shift below n; threads with i ≥ n do nothing";
    default:
      return "";
  }
}

// Compares a result with the array to be shifted.
class ShiftResult {
 public:
  ShiftResult(std::span<const int32_t> in, std::span<const int32_t> out, int64_t shift, int32_t untouched,
              bool in_place)
      : in_(in),
        out_(out),
        shift_(shift),
        offset_(OffsetOf(in.size(), shift)),
        untouched_(untouched),
        in_place_(in_place) {}

  std::optional<uint64_t> FirstWrong() const {
    if (std::equal(in_.begin() + static_cast<std::ptrdiff_t>(offset_), in_.end(), out_.begin()) &&
        std::equal(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(offset_),
                   out_.end() - static_cast<std::ptrdiff_t>(offset_))) {
      return std::nullopt;
    }
    for (uint64_t i = 0; i < in_.size(); ++i) {
      if (out_[i] != Shifted(i, offset_)) return i;
    }
    return std::nullopt;
  }

  std::vector<vgpu::MessageLine> Evidence(uint64_t wrong) const {
    uint64_t count = 0;
    for (uint64_t i = 0; i < in_.size(); ++i) count += out_[i] != Shifted(i, offset_) ? 1 : 0;
    std::string found;
    if (Untouched(wrong)) {
      found = "the old contents (nothing was written)";
    } else {
      found += std::to_string(out_[wrong]);
      const auto origin = Find(out_[wrong]);
      found +=
          origin ? ", which is element " + std::to_string(*origin) + " of the input" : ", which is not in the input";
    }
    return {"element " + judge::Grouped(wrong) + " of " + judge::Grouped(in_.size()) + " is wrong" +
                (count > 1 ? " (" + judge::Grouped(count) + " in total)" : ""),
            {"expect", std::to_string(Shifted(wrong, offset_)) + ", which is element " +
                           std::to_string((wrong + offset_) % in_.size()) + " of the input"},
            {"found", found}};
  }

  // A sentence, or "". threads: in all launches.
  judge::HintText Hint(uint64_t threads) const {
    const uint64_t n = in_.size();
    if (!in_place_ && All([&](uint64_t i) { return out_[i] == untouched_; })) return "nothing wrote to d_out";
    if (All([&](uint64_t i) { return out_[i] == 0; })) return "the result is all zeros";
    if (const auto other = OtherOffset()) return HintOfOffset(*other);
    if (judge::HintText hint = HintOfRest(threads); !hint.empty()) return hint;
    const uint64_t wrap = n - offset_;
    if (judge::HintText hint = HintOfWarps(); !hint.empty()) return hint;
    if (in_place_ &&
        All([&](uint64_t i) { return out_[i] == in_[i < offset_ ? offset_ - 1 - i : n - 1 - (i - offset_)]; })) {
      return "both parts are reversed, but the whole array is not yet";
    }
    if (std::string hint = in_place_ ? HintOfReversals() : ""; !hint.empty()) return hint;
    if (in_place_ && n < 4096 &&
        !All([&](uint64_t i) { return std::find(out_.begin(), out_.end(), in_[i]) != out_.end(); })) {
      return "some elements are there twice and others are lost: a swap keeps the first in a variable before it stores "
             "the second there";
    }
    if (AllIn(0, wrap)) {
      const std::string rule = ": from i = n - offset on, d_out[i] is d_in[i - (n - offset)]";
      const judge::Sight read{"element", {"d_in"}};
      if (offset_ == 1) {
        return {"the part that does not wrap around is right; the element that does is wrong" + rule, read};
      }
      return {"the part that does not wrap around is right; of the " + Elements(offset_) + " that do, " +
                  Amount(WrongIn(wrap, n), offset_) + " wrong" + (in_place_ ? "" : rule),
              in_place_ ? judge::Sight{} : read};
    }
    if (AllIn(wrap, n)) {
      if (wrap == 1)
        return "the part that wraps around (" + Elements(offset_) + ") is right; the other element is wrong";
      return "the part that wraps around (" + Elements(offset_) + ") is right; of the other " + Elements(wrap) + ", " +
             Amount(WrongIn(0, wrap), wrap) + " wrong";
    }
    if (std::abs(shift_) + static_cast<int64_t>(n) > INT32_MAX) {
      return "i + shift overflows an int: reduce the shift to 0 … n - 1 before you add";
    }
    return "";
  }

 private:
  static std::string Elements(uint64_t count) { return judge::Counted(count, "element"); }
  int32_t Shifted(uint64_t i, uint64_t offset) const {
    const uint64_t from = i + offset;
    return in_[from < in_.size() ? from : from - in_.size()];
  }
  bool Untouched(uint64_t i) const { return !in_place_ && out_[i] == untouched_ && Shifted(i, offset_) != untouched_; }
  std::optional<uint64_t> Find(int32_t value) const {
    const auto place = std::find(in_.begin(), in_.end(), value);
    if (place == in_.end()) return std::nullopt;
    return static_cast<uint64_t>(place - in_.begin());
  }
  template <class Predicate>
  bool All(Predicate predicate) const {
    for (uint64_t i = 0; i < in_.size(); ++i) {
      if (!predicate(i)) return false;
    }
    return true;
  }
  bool AllIn(uint64_t begin, uint64_t end) const {
    for (uint64_t i = begin; i < end; ++i) {
      if (out_[i] != Shifted(i, offset_)) return false;
    }
    return begin < end;
  }

  uint64_t WrongIn(uint64_t begin, uint64_t end) const {
    uint64_t count = 0;
    for (uint64_t i = begin; i < end; ++i) count += out_[i] != Shifted(i, offset_) ? 1 : 0;
    return count;
  }
  static std::string Amount(uint64_t count, uint64_t all) {
    return count == all ? "all are" : judge::Grouped(count) + (count == 1 ? " is" : " are");
  }

  // The whole array was shifted by a wrong distance.
  std::optional<uint64_t> OtherOffset() const {
    const auto offset = Find(out_[0]);
    if (!offset || *offset == offset_) return std::nullopt;
    if (!All([&](uint64_t i) { return out_[i] == Shifted(i, *offset); })) return std::nullopt;
    return offset;
  }

  judge::HintText HintOfOffset(uint64_t other) const {
    const uint64_t n = in_.size();
    const auto is = [&](int64_t shift) { return other == OffsetOf(n, shift); };
    const std::string done =
        "the array was shifted by " + std::to_string(other) + " instead of " + std::to_string(offset_) + ": ";
    if (shift_ < 0 && shift_ > INT32_MIN && other == static_cast<uint32_t>(shift_ + static_cast<int64_t>(n)) % n) {
      return {done + "with an unsigned n, shift + n is unsigned too, " +
                  std::to_string(static_cast<uint32_t>(shift_ + static_cast<int64_t>(n))) +
                  "; reduce the shift as a signed number, in 64 bits",
              {"shift"}};
    }
    if (other == 0) return "the result is a copy of the input: nothing was shifted";
    if (shift_ == INT32_MIN) return done + "-INT_MIN does not fit an int; reduce the shift in 64 bits";
    if (is(-shift_) && shift_ < 0) return done + "a negative shift goes toward the end";
    if (is(-shift_) && in_place_) {
      return done + "a positive shift goes toward the beginning: reverse both parts first, then the whole";
    }
    if (is(-shift_)) return done + "a positive shift goes toward the beginning: d_out[0] is d_in[shift]";
    if (is(shift_ + 1) || is(shift_ - 1)) return done + "off by one";
    if (shift_ < 0 && is(static_cast<int64_t>(static_cast<uint32_t>(shift_)))) {
      return done + "the negative shift became unsigned, " + std::to_string(static_cast<uint32_t>(shift_)) +
             "; reduce it as a signed number, in 64 bits";
    }
    return done + "reduce the shift to 0 … n - 1 first, in 64 bits, and mind the sign of the remainder";
  }

  // Three reversals, one of which is off by one at an end.
  std::string HintOfReversals() const {
    const uint64_t n = in_.size();
    if (n > 4096) return "";
    for (const bool whole_first : {false, true}) {
      for (size_t off = 0; off < 6; ++off) {
        for (const int by : {-1, 1}) {
          uint64_t ends[] = {0, offset_, offset_, n, 0, n};
          if (whole_first) ends[0] = 0, ends[1] = n, ends[2] = 0, ends[3] = ends[4] = n - offset_, ends[5] = n;
          const uint64_t meant = ends[off];
          ends[off] += static_cast<uint64_t>(by);
          std::vector<int32_t> data(in_.begin(), in_.end());
          for (size_t k = 0; k < 6; k += 2) {
            if (ends[k] <= ends[k + 1] && ends[k + 1] <= n)
              std::reverse(data.begin() + static_cast<std::ptrdiff_t>(ends[k]),
                           data.begin() + static_cast<std::ptrdiff_t>(ends[k + 1]));
          }
          if (!std::equal(data.begin(), data.end(), out_.begin())) continue;
          return "that is what comes out if reversal " + std::to_string(off / 2 + 1) + " of the three " +
                 (off % 2 == 0 ? "begins at " : "ends at ") + std::to_string(ends[off]) + " instead of " +
                 std::to_string(meant) + ": a reversal of begin to end leaves out the element at end";
        }
      }
    }
    return "";
  }

  // Wrong only at the end of each warp's share of one or four elements per lane, or where lanes got the previous one's.
  judge::HintText HintOfWarps() const {
    constexpr uint64_t kLanes = 32;
    for (const uint64_t each : {1, 4}) {
      const uint64_t share = kLanes * each;
      uint64_t wrong = 0, last = 0;
      for (uint64_t i = 0; i < in_.size(); ++i) {
        if (out_[i] == Shifted(i, offset_)) continue;
        ++wrong;
        last += i % share >= share - each ? 1 : 0;
      }
      if (wrong == 0 || wrong != last || in_.size() < 2 * share) continue;
      return "only elements of the last lane of each warp are wrong, " + std::to_string(share) +
             " elements apart: no lane after it has the next element, so it has to load that itself";
    }
    const auto is_from_behind = [&](uint64_t i) {
      return out_[i] == Shifted(i, offset_) || (offset_ > 0 && WasBefore(i));
    };
    if (!in_place_ && in_.size() > kLanes && All(is_from_behind)) {
      return {
          "wrong elements come from the previous lane: __shfl_down_sync gives a lane the next lane's value, "
          "__shfl_up_sync the previous lane's",
          {"shuffle"}};
    }
    return "";
  }
  // Whether element i has the value for four or eight positions earlier: one or two lanes of four elements.
  bool WasBefore(uint64_t i) const {
    const uint64_t n = in_.size();
    return out_[i] == Shifted((i + n - 4) % n, offset_) || (n > 8 && out_[i] == Shifted((i + n - 8) % n, offset_));
  }

  // All right up to some position, and nothing written after it.
  judge::HintText HintOfRest(uint64_t threads) const {
    const uint64_t n = in_.size();
    uint64_t written = n;
    while (written > 0 && Untouched(written - 1)) --written;
    if (written == n || !AllIn(0, written)) return "";
    std::string text = n - written == 1 ? "the last element was not written: "
                                        : "the last " + Elements(n - written) + " were not written: ";
    for (const uint64_t piece : {1024, 512, 256, 128, 64, 32, 4}) {
      if (written == n / piece * piece) {
        if (written * 2 <= n && threads >= n) break;  // too many elements for a last group, and enough threads
        return {text + (n - written == 1 ? "it comes" : "they come") + " after the last full group of " +
                    std::to_string(piece) + ". Round the number of blocks up, and check i < n",
                {"blocks"}};
      }
    }
    if (written == n - offset_) return text + "what falls off the beginning must come back at the end";
    if (threads >= n && !in_place_) {
      return {text + "there are threads for them, so it is the index: does it begin with blockIdx.x * blockDim.x?",
              {"thread index"}};
    }
    return {text + "does the grid, or each thread's loop, end too early?", {"loop"}};
  }

  std::span<const int32_t> in_, out_;
  int64_t shift_;
  uint64_t offset_;
  int32_t untouched_;
  bool in_place_;
};

}  // namespace lockstep::suites
