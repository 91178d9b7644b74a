#include "vgpu/cudart/unwritten_copies.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "vgpu/core/hint.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr uint64_t kWord = 4;
constexpr uint64_t kMostPadding = 16;  // the most padding bytes that a struct has
constexpr uint64_t kFewBytes = 64;     // shorter copies may be of a single struct, with padding at its end

void SetSource(const std::string& site, ThreadPlace& place) {
  const size_t colon = site.find_last_of(':');
  const int line = colon == std::string::npos ? 0 : std::atoi(site.c_str() + colon + 1);
  if (line <= 0) return;
  place.file = site.substr(0, colon);
  place.line = line;
}

}  // namespace

void CheckUnwritten(Device& device, uint64_t address, uint64_t bytes, const Origin& copy) {
  uint64_t first = device.FirstUnwritten(address, bytes, kWord);
  if (first == bytes) return;
  // The longest run of unwritten words, and the number of runs.
  uint64_t longest = 0, at = first, runs = 0;
  for (uint64_t begin = first; begin < bytes; ++runs) {
    uint64_t end = begin;
    while (end < bytes) {
      const uint64_t step = std::min(kWord, bytes - end);
      if (device.FirstUnwritten(address + end, step, kWord) == step) break;
      end += step;
    }
    if (end - begin > longest) {
      longest = end - begin;
      at = begin;
    }
    if (end >= bytes) {
      begin = bytes;
    } else {
      begin = end + device.FirstUnwritten(address + end, bytes - end, kWord);
    }
  }
  const bool is_tail = runs == 1 && at + longest == bytes && bytes >= kFewBytes;
  if (longest < kMostPadding && !is_tail) return;
  Finding finding;
  finding.kind = FindingKind::kUninitialized;
  SetSource(copy.call_site, finding.first);
  MemoryPlace place = device.PlaceOf(address + at);
  place.bytes = static_cast<uint32_t>(std::min<uint64_t>(longest, ~uint32_t{0}));
  finding.memory = std::move(place);
  finding.detail = std::string(copy.function) + " copies it to the host";
  finding.hint = Hint::kCopiesUnwritten;
  device.Report(std::move(finding));
}

}  // namespace lockstep::vgpu::cudart
