// Readable large integers.
#pragma once

#include <cstdint>
#include <string>

namespace lockstep::vgpu {

// "4,194,304": digits in groups of three.
inline std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

}  // namespace lockstep::vgpu
