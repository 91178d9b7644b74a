// The parts of a matrix that are in memory, for each form of storage.
#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {

namespace {

// `count` consecutive elements, from this offset on.
Range Part(Access access, const char* what, const void* address, uint32_t element, int64_t offset, int64_t count) {
  const auto bytes = static_cast<uint64_t>(count) * element;
  return {access, what, static_cast<const char*>(address) + offset * element, bytes, 1, bytes, element};
}

}  // namespace

std::vector<Range> Triangle(Access access, const char* what, const void* address, uint32_t element, int64_t n,
                            int64_t leading, cublasFillMode_t fill, bool without_diagonal) {
  std::vector<Range> ranges;
  const int64_t skipped = without_diagonal ? 1 : 0;
  for (int64_t column = 0; column < n; ++column) {
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    const int64_t first = upper ? 0 : column + skipped, end = upper ? column + 1 - skipped : n;
    if (first < end) ranges.push_back(Part(access, what, address, element, column * leading + first, end - first));
  }
  return ranges;
}

std::vector<Range> Band(Access access, const char* what, const void* address, uint32_t element, int64_t m, int64_t n,
                        int64_t lower, int64_t upper, int64_t leading) {
  std::vector<Range> ranges;
  for (int64_t column = 0; column < n; ++column) {
    const int64_t first = std::max<int64_t>(0, upper - column),
                  end = std::min(lower + upper, m - 1 - column + upper) + 1;
    if (first < end) ranges.push_back(Part(access, what, address, element, column * leading + first, end - first));
  }
  return ranges;
}

}  // namespace lockstep::libraries::blas
