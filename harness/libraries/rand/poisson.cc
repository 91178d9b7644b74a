#include "libraries/rand/poisson.h"

#include <algorithm>
#include <cmath>

namespace lockstep::libraries {

namespace {

double Probability(double mean, uint32_t value) {
  int sign = 0;
  return std::exp(-mean + value * std::log(mean) - lgamma_r(value + 1.0, &sign));
}

}  // namespace

Poisson::Poisson(double mean) {
  std::vector<double> probabilities;
  for (uint32_t value = 0;; ++value) {
    const double probability = Probability(mean, value);
    if (probability == 0 && value > mean) break;
    probabilities.push_back(probability);
  }
  if (mean < kFirstInvertedMean) {
    FillColumns(std::move(probabilities));
    return;
  }
  double total = 0;
  for (const double probability : probabilities) {
    // The last value is the last one that changes the total.
    if (total + probability == total && total > 0.5) break;
    limits_.push_back(total += probability);
  }
}

// Columns that are not full are filled from the highest value that has more than a column, in ascending order,
// repeatedly: a donor may end with less than a column itself.
void Poisson::FillColumns(std::vector<double> probabilities) {
  const size_t count = probabilities.size();
  const double width = 1.0 / static_cast<double>(count);
  std::vector<bool> is_filled(count);
  for (size_t i = 0; i < count; ++i) {
    limits_.push_back(static_cast<double>(i + 1) * width);
    others_.push_back(static_cast<uint32_t>(i));
  }
  size_t end = count;  // the donor's successor
  const auto find_giver = [&] {
    while (end > 0 && probabilities[end - 1] <= width) --end;
  };
  find_giver();
  for (bool has_filled = true; has_filled && end > 0;) {
    has_filled = false;
    for (size_t i = 0; i < count && end > 0; ++i) {
      if (is_filled[i] || probabilities[i] >= width) continue;
      limits_[i] = static_cast<double>(i) * width + probabilities[i];
      others_[i] = static_cast<uint32_t>(end - 1);
      probabilities[end - 1] -= width - probabilities[i];
      is_filled[i] = has_filled = true;
      find_giver();
    }
  }
}

uint32_t Poisson::Of(double uniform) const {
  if (others_.empty()) {
    const auto found = std::lower_bound(limits_.begin(), limits_.end(), uniform);
    return static_cast<uint32_t>(
        std::min<std::ptrdiff_t>(found - limits_.begin(), static_cast<std::ptrdiff_t>(limits_.size()) - 1));
  }
  const auto column = static_cast<size_t>(uniform * static_cast<double>(others_.size()));
  if (column >= others_.size()) return 0;  // uniform == 1 gives 0, as in NVIDIA's
  return uniform < limits_[column] ? static_cast<uint32_t>(column) : others_[column];
}

}  // namespace lockstep::libraries
