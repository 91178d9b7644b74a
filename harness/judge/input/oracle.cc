#include "judge/input/oracle.h"

#include <algorithm>
#include <limits>

namespace lockstep::judge {

int32_t WrappingSum(std::span<const int32_t> values) {
  uint32_t sum = 0;
  for (const int32_t value : values) sum += static_cast<uint32_t>(value);
  return static_cast<int32_t>(sum);
}

int64_t ExactSum(std::span<const int32_t> values) {
  int64_t sum = 0;
  for (const int32_t value : values) sum += value;
  return sum;
}

int32_t Largest(std::span<const int32_t> values) {
  int32_t largest = std::numeric_limits<int32_t>::min();
  for (const int32_t value : values) largest = std::max(largest, value);
  return largest;
}

int32_t Smallest(std::span<const int32_t> values) {
  int32_t smallest = std::numeric_limits<int32_t>::max();
  for (const int32_t value : values) smallest = std::min(smallest, value);
  return smallest;
}

}  // namespace lockstep::judge
