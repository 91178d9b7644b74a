// Poisson's distribution by a table, as an H100's cuRAND has it for some means: a function of one uniform number.
//
// Theory of operation. Means below 10 take the square histogram of G. Marsaglia, W. Tsang and J. Wang, "Fast Generation
// of Discrete Random Variables", Journal of Statistical Software 11 (2004), which is A. Walker's alias method: n
// columns of equal width, one for each value whose probability is not 0 in double precision. A column's value has the
// lower part of it, one other value the rest. Which other value it is depends on the order in which columns are filled;
// that of NVIDIA's tables was found from results. Larger means take the first value whose cumulative probability is not
// below the uniform number.
//
// For other means, and for other generators, NVIDIA's results are those of an accept-reject method, whose second
// numbers nobody has published, or of an approximation by a normal variable.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::libraries {

// Means from the first to below the end are inverted.
constexpr double kFirstInvertedMean = 10, kEndOfInvertedMeans = 2000;

class Poisson {
 public:
  // 0 < mean < kEndOfInvertedMeans.
  explicit Poisson(double mean);
  // Of a number above 0, not above 1.
  uint32_t Of(double uniform) const;

 private:
  void FillColumns(std::vector<double> probabilities);

  std::vector<double> limits_;    // of the columns' own values, or cumulative probabilities
  std::vector<uint32_t> others_;  // the columns' other values; empty for larger means
};

}  // namespace lockstep::libraries
