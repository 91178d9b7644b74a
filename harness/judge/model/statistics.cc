#include "judge/model/statistics.h"

#include <algorithm>
#include <cmath>

namespace lockstep::judge {
namespace {

constexpr double kMissed = 0.05;  // 1 - confidence

// The largest k such that the k-th smallest and the k-th largest of n values enclose the median often enough; at
// least 1.
size_t Rank(size_t n) {
  double below = 0;  // P(fewer than k of n values lie below the median)
  size_t rank = 1;
  for (size_t k = 1; k <= n / 2; ++k) {
    // P(exactly k - 1 do)
    below += std::exp(std::lgamma(n + 1.0) - std::lgamma(static_cast<double>(k)) - std::lgamma(n - k + 2.0) -
                      static_cast<double>(n) * std::log(2.0));
    if (2 * below > kMissed) break;
    rank = k;
  }
  return rank;
}

}  // namespace

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Estimate EstimateMedian(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t rank = Rank(sorted.size());
  return {Median(sorted), sorted[rank - 1], sorted[sorted.size() - rank]};
}

}  // namespace lockstep::judge
