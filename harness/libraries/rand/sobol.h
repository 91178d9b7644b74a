// Sobol' sequences: P. Bratley, B. Fox, "Algorithm 659", ACM TOMS 14 (1988), in the Gray code order of I. Antonov and
// V. Saleev, with the primitive polynomials and initial numbers of S. Joe and F. Kuo, "Constructing Sobol sequences
// with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008).
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::libraries {

// The dimensions that we have numbers for.
uint32_t SobolDimensions();
// The `bits` direction numbers of a dimension, with `bits` bits each.
std::vector<uint64_t> SobolDirections(uint32_t dimension, uint32_t bits);

class Sobol {
 public:
  // Point 0 is the origin.
  Sobol(uint32_t dimensions, uint32_t bits, uint64_t first_point);
  // The coordinates of the next points: all of the first dimension, then all of the second, and so on.
  void Next(uint64_t* coordinates, uint64_t points);

 private:
  uint32_t bits_;
  uint64_t point_;
  std::vector<std::vector<uint64_t>> directions_;
};

}  // namespace lockstep::libraries
