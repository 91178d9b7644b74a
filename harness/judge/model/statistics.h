// An estimate from repeats that may contain outliers, with its confidence interval.
#pragma once

#include <span>
#include <vector>

namespace lockstep::judge {

struct Estimate {
  double value = 0;          // median
  double low = 0, high = 0;  // the 95 % confidence interval of the true median
};

double Median(std::vector<double> values);  // none: 0

// The interval is that of order statistics, which assumes nothing about the distribution: the number of values below
// the true median is binomial with p = 1/2. Fewer than six values bound nothing at this confidence: the interval is
// then their range.
Estimate EstimateMedian(std::span<const double> values);

}  // namespace lockstep::judge
