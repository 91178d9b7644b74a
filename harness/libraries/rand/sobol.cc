#include "libraries/rand/sobol.h"

#include <algorithm>

namespace lockstep::libraries {

namespace {

struct Dimension {
  uint32_t degree;
  uint32_t polynomial;  // coefficients between the first and the last, which are 1
  uint32_t initial[13];
};

constexpr Dimension kDimensions[] = {
#include "libraries/rand/joe_kuo.inc"
};

}  // namespace

uint32_t SobolDimensions() { return 1 + static_cast<uint32_t>(sizeof(kDimensions) / sizeof(*kDimensions)); }

std::vector<uint64_t> SobolDirections(uint32_t dimension, uint32_t bits) {
  std::vector<uint64_t> directions(bits);
  if (dimension == 0) {  // Van der Corput's sequence
    for (uint32_t i = 0; i < bits; ++i) directions[i] = uint64_t{1} << (bits - 1 - i);
    return directions;
  }
  const Dimension& given = kDimensions[dimension - 1];
  for (uint32_t i = 0; i < bits; ++i) {
    if (i < given.degree) {
      directions[i] = uint64_t{given.initial[i]} << (bits - 1 - i);
      continue;
    }
    directions[i] = directions[i - given.degree] ^ (directions[i - given.degree] >> given.degree);
    for (uint32_t k = 1; k < given.degree; ++k) {
      if ((given.polynomial >> (given.degree - 1 - k) & 1) != 0) directions[i] ^= directions[i - k];
    }
  }
  return directions;
}

Sobol::Sobol(uint32_t dimensions, uint32_t bits, uint64_t first_point) : bits_(bits), point_(first_point) {
  for (uint32_t i = 0; i < dimensions; ++i) directions_.push_back(SobolDirections(i, bits));
}

void Sobol::Next(uint64_t* coordinates, uint64_t points) {
  const uint64_t mask = bits_ == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_) - 1;
  for (const std::vector<uint64_t>& directions : directions_) {
    uint64_t point = point_ & mask, coordinate = 0;
    const uint64_t gray = point ^ (point >> 1);
    for (uint32_t bit = 0; bit < bits_; ++bit) {
      if ((gray >> bit & 1) != 0) coordinate ^= directions[bit];
    }
    for (uint64_t i = 0; i < points; ++i) {
      *coordinates++ = coordinate;
      // The Gray code of the next point has the bit of the lowest 0 changed; after the last point comes the first.
      const auto changed = static_cast<uint32_t>(__builtin_ctzll(~point));
      coordinate ^= directions[std::min(changed, bits_ - 1)];
      point = (point + 1) & mask;
    }
  }
  point_ += points;
}

}  // namespace lockstep::libraries
