#include "libraries/fft/array.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace lockstep::libraries::fft {

int64_t Array::span() const {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * pitches[d];
  return last + 1;
}

int64_t Array::count() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

namespace {

struct Dimension {
  int64_t pitch, count;  // pitch in bytes
};

// Adds a range of rows for each combination of indices in the dimensions from `d` on.
void AddRanges(const std::vector<Dimension>& outer, size_t d, Range range, std::vector<Range>* ranges) {
  if (d == outer.size()) {
    ranges->push_back(range);
    return;
  }
  const char* const first = static_cast<const char*>(range.address);
  for (int64_t i = 0; i < outer[d].count; ++i) {
    range.address = first + i * outer[d].pitch;
    AddRanges(outer, d + 1, range, ranges);
  }
}

}  // namespace

std::vector<Range> RangesOf(const Array& array, Access access, const char* what, const void* address) {
  std::vector<Dimension> dimensions;
  const auto add = [&](int64_t pitch, int64_t count) {
    if (count > 1 && pitch != 0) dimensions.push_back({pitch * array.element, count});
  };
  for (size_t d = 0; d < array.sizes.size(); ++d) add(array.pitches[d], array.sizes[d]);
  add(array.distance, array.batch);
  std::sort(dimensions.begin(), dimensions.end(),
            [](const Dimension& a, const Dimension& b) { return std::abs(a.pitch) < std::abs(b.pitch); });
  Range range = {access, what, address, array.element, 1, array.element, array.element};
  size_t joined = 0;
  while (joined < dimensions.size() && std::cmp_equal(dimensions[joined].pitch, range.width)) {
    range.width *= dimensions[joined++].count;
  }
  if (joined < dimensions.size() && dimensions[joined].pitch > 0) {
    range.rows = dimensions[joined].count;
    range.pitch = dimensions[joined++].pitch;
  }
  dimensions.erase(dimensions.begin(), dimensions.begin() + static_cast<std::ptrdiff_t>(joined));
  std::vector<Range> ranges;
  AddRanges(dimensions, 0, range, &ranges);
  return ranges;
}

}  // namespace lockstep::libraries::fft
