// The memory layout of a plan's numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "libraries/library.h"

namespace lockstep::libraries::fft {

// A batch of arrays of sizes[0] × sizes[1] × … numbers, whose last dimension runs along a row; pitches (by dimension)
// and distance (between arrays) in numbers.
struct Array {
  uint32_t element = 0;  // bytes
  std::vector<int64_t> sizes, pitches;
  int64_t batch = 1, distance = 0;

  // How many numbers one array spans, gaps included.
  int64_t span() const;
  int64_t count() const;
  bool operator==(const Array&) const = default;
};

// f(offset of the row's first number, its index in row order) for each row of an array of the batch.
template <typename F>
void EachRow(const Array& array, F f) {
  const size_t last = array.sizes.size() - 1;
  const int64_t rows = array.count() / array.sizes[last];
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = 0, rest = row;
    for (size_t d = last; d-- > 0; rest /= array.sizes[d]) offset += rest % array.sizes[d] * array.pitches[d];
    f(offset, row * array.sizes[last]);
  }
}

// All memory of the batch, joined where it is contiguous.
std::vector<Range> RangesOf(const Array& array, Access access, const char* what, const void* address);

}  // namespace lockstep::libraries::fft
