// Poisson's distribution by a table, as an H100's cuRAND has it for some means: a function of one uniform number.
//
// Theory of operation. Means below 10 take the square histogram of G. Marsaglia, W. Tsang and J. Wang, "Fast Generation
// of Discrete Random Variables", Journal of Statistical Software 11 (2004), which is A. Walker's alias method: n
// columns of equal width, one for each value whose probability is not 0 in double precision. The lower part of a column
// belongs to its own value, the rest to one other value. The order in which columns are filled decides which; NVIDIA's
// order was found from results. Larger means take the first value whose cumulative probability is not below the uniform
// number.
//
// For other means, and for other generators, NVIDIA uses a rejection method, with further random numbers in a way that
// is not published, or an approximation by a normal variable.
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
  // The value for a uniform number in (0, 1].
  uint32_t Of(double uniform) const;

 private:
  void FillColumns(std::vector<double> probabilities);

  std::vector<double> limits_;    // where the columns' own values end; for larger means, cumulative probabilities
  std::vector<uint32_t> others_;  // the columns' other values; empty for larger means
};

}  // namespace lockstep::libraries
