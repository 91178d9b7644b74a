#include "judge/run/kernel_work.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "judge/model/text.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {
namespace {

using vgpu::TouchedRange;
using worker::BufferUse;
using worker::HostUse;

// Bytes that a launcher may copy to initialise a result: 0 for a sum, the smallest number for a maximum.
constexpr uint64_t kMostBeginBytes = 16;

const BufferUse* UseOf(const CallReport& report, const TaskBytes& task) {
  for (const BufferUse& use : report.memory.buffers) {
    const uint64_t base = use.by_kernels.base;
    if (task.address >= base && task.address - base < use.by_kernels.bytes) return &use;
  }
  return nullptr;
}

Problem Rejected(const CallContext& context, const std::string& sentence, const HintText& hint) {
  return MakeProblem(Verdict::kRejected, context, {"the result is right, but " + sentence}, hint);
}

std::optional<Problem> HostsPart(const CallContext& context, const HostUse& use, const std::string& what,
                                 const HintText& hint) {
  if (use.bytes == 0) return std::nullopt;
  return Rejected(context, Printable(use.first) + " " + what + " (" + Counted(use.bytes, "byte") + ")", hint);
}

std::optional<Problem> HostsPartOfInput(const CallContext& context, const BufferUse& use, const std::string& name) {
  const HintText hint(Hint::kHostReadsInput, {name});
  return HostsPart(context, use.to_host, "copied " + name + " to the host", hint);
}

std::optional<Problem> HostsPartOfResult(const CallContext& context, const BufferUse& use, const std::string& name,
                                         const DeviceCalls& allowed) {
  const HintText hint(Hint::kHostWritesResult, {name});
  const bool begins = allowed.fill_result && use.from_host.bytes <= kMostBeginBytes && use.from_host.late_bytes == 0;
  if (!begins) {
    if (auto problem = HostsPart(context, use.from_host, "copied host memory to " + name, hint)) return problem;
  }
  if (!allowed.copy_result) {
    if (auto problem = HostsPart(context, use.from_device, "copied to " + name, hint)) return problem;
  }
  if (allowed.fill_result && use.filled.late_bytes == 0) return std::nullopt;
  return HostsPart(context, use.filled, "filled " + name, hint);
}

// A copy within the device may save a copy of a buffer; but moving bytes to other offsets does part of a task about
// permuting elements. A few words (such as a total) may move.
std::optional<Problem> Moved(const CallReport& report, const CallContext& context, std::span<const TaskBytes> inputs,
                             std::span<const TaskBytes> results) {
  constexpr uint64_t kFewBytes = 64, kFewOf = 16;
  if (inputs.empty() || results.empty() || results[0].bytes < inputs[0].bytes / 2) return std::nullopt;
  if (report.memory.bytes_moved <= std::max(kFewBytes, results[0].bytes / kFewOf)) return std::nullopt;
  return Rejected(
      context, "CUDA calls copied " + Counted(report.memory.bytes_moved, "byte") + " to other places in device memory",
      Hint::kMovedByCopies);
}

// Checks reads or writes. done: one bit per sector.
std::optional<Problem> Lack(const CallContext& context, const TaskBytes& task, const TouchedRange& range,
                            const std::vector<uint64_t>& done, const std::string& verb, const HintText& hint) {
  uint64_t first = 0;
  const uint64_t offset = task.address - range.base;
  const uint64_t sectors = TouchedRange::Missing(done, offset, task.bytes, &first);
  const uint64_t missing = std::min(task.bytes, sectors * TouchedRange::kSectorBytes);
  if (missing <= task.spare) return std::nullopt;
  const uint64_t at = first > offset ? first - offset : 0;
  return Rejected(context,
                  "no kernel " + verb + " " + (missing == task.bytes ? "any" : Grouped(missing)) + " of " + task.name +
                      "'s " + Counted(task.bytes, "byte") +
                      (missing == task.bytes ? "" : ", starting at byte " + Grouped(at)),
                  hint);
}

// A single copy of everything, as made by a launcher that then works on the copy: this does no part of the task.
bool IsCopiedWhole(const BufferUse& use, const TaskBytes& input) {
  const uint64_t offset = input.address - use.by_kernels.base;
  return use.largest_copy_from <= offset && offset + input.bytes <= use.largest_copy_from + use.largest_copy_bytes;
}

std::optional<Problem> FindLack(const CallReport& report, const CallContext& context, const DeviceCalls& allowed,
                                std::span<const TaskBytes> inputs, std::span<const TaskBytes> results) {
  for (const TaskBytes& result : results) {
    const BufferUse* use = UseOf(report, result);
    if (use == nullptr) continue;
    if (auto problem = HostsPartOfResult(context, *use, result.name, allowed)) return problem;
  }
  if (auto problem = Moved(report, context, inputs, results)) return problem;
  for (const TaskBytes& input : inputs) {
    const BufferUse* use = UseOf(report, input);
    if (use == nullptr) continue;
    if (auto problem = HostsPartOfInput(context, *use, input.name)) return problem;
    if (IsCopiedWhole(*use, input)) continue;
    if (auto problem = Lack(context, input, use->by_kernels, use->by_kernels.loaded, "read",
                            {Hint::kInputNotRead, {input.name}})) {
      return problem;
    }
  }
  for (const TaskBytes& result : results) {
    const BufferUse* use = UseOf(report, result);
    if (use == nullptr || (allowed.copy_result && use->from_device.bytes > 0)) continue;
    if (auto problem = Lack(context, result, use->by_kernels, use->by_kernels.stored, "stored",
                            {Hint::kResultNotStored, {result.name}})) {
      return problem;
    }
  }
  return std::nullopt;
}

uint32_t sample_multiplier = 2654435761;  // odd

// In long arrays only one word of 16 is compared, chosen by its value and so the same in all arrays: sorting all words
// would take longer than the kernels.
std::vector<uint32_t> SortedWords(std::span<const uint8_t> bytes, bool sampled) {
  constexpr uint32_t kOneOf = 16;
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  if (sampled) std::erase_if(words, [](uint32_t word) { return word * sample_multiplier > UINT32_MAX / kOneOf; });
  std::sort(words.begin(), words.end());
  return words;
}

bool HasCome(std::span<const uint8_t> copied, std::span<const uint8_t> result) {
  return WordsCome(copied, result) == result.size() / sizeof(uint32_t);
}

}  // namespace

void SetWordSample(uint32_t secret) { sample_multiplier = secret | 1; }

uint64_t WordsCome(std::span<const uint8_t> copied, std::span<const uint8_t> result, std::span<const uint8_t> known) {
  // Most programs copy a result in order, first or last: no need to sort.
  const bool is_first = copied.size() >= result.size() && std::equal(result.begin(), result.end(), copied.begin());
  const bool is_last = copied.size() >= result.size() && std::equal(result.rbegin(), result.rend(), copied.rbegin());
  if (known.empty() && (is_first || is_last)) return result.size() / sizeof(uint32_t);
  constexpr uint64_t kLong = uint64_t{1} << 14, kFewOf = 64;
  const uint64_t words = result.size() / sizeof(uint32_t);
  bool sampled = words > kLong;
  std::vector<uint32_t> all = SortedWords(result, sampled), wanted, come;
  if (sampled && all.size() < words / kFewOf) all = SortedWords(result, sampled = false);  // few different words
  const std::vector<uint32_t> there = SortedWords(copied, sampled), less = SortedWords(known, sampled);
  std::set_difference(all.begin(), all.end(), less.begin(), less.end(), std::back_inserter(wanted));
  std::set_intersection(there.begin(), there.end(), wanted.begin(), wanted.end(), std::back_inserter(come));
  return all.empty() ? 0 : come.size() * words / all.size();
}

void CheckCameFromDevice(const CallReport& report, const CallContext& context, std::span<const uint8_t> result,
                         const std::string& name, bool by_kernels, std::vector<Problem>& problems) {
  if (!report.observed) return;
  if (!HasCome(report.memory.to_host, result)) {
    problems.push_back(
        Rejected(context, "the contents of " + name + " were not copied from the device", Hint::kNotFromDevice));
  } else if (by_kernels && report.memory.bytes_from_kernels < result.size()) {
    problems.push_back(Rejected(context,
                                "of the " + Counted(result.size(), "byte") + " copied to " + name + ", " +
                                    Grouped(report.memory.bytes_from_kernels) +
                                    " came from memory that the call allocated and a kernel wrote",
                                "the kernels must store what is copied to the host"));
  }
}

void CheckWentToDevice(const CallReport& report, const CallContext& context, std::span<const uint8_t> input,
                       const std::string& name, std::vector<Problem>& problems) {
  if (!report.observed || HasCome(report.memory.to_device, input)) return;
  problems.push_back(Rejected(context,
                              "the contents of " + name + " were not copied to the device: it has " +
                                  Counted(input.size(), "byte") + ", and this call copied " +
                                  Counted(report.memory.bytes_to_device, "byte") + " to the device",
                              "copy every element unchanged, in this call; no other way to a kernel counts"));
}

void CheckKernelsDidIt(const CallReport& report, const CallContext& context, const DeviceCalls& allowed,
                       std::span<const TaskBytes> inputs, std::span<const TaskBytes> results,
                       std::vector<Problem>& problems) {
  if (!report.observed) return;
  if (auto problem = FindLack(report, context, allowed, inputs, results)) problems.push_back(std::move(*problem));
}

}  // namespace lockstep::judge
