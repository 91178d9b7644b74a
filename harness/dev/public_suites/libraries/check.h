// Common code of the programs in this folder: inputs, and one line for each failing algorithm, type and size.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

inline const size_t kSizes[] = {1, 31, 256, 4097, 100003};

// Whole numbers in [-500, 500) of a signed type, [0, 1000) of an unsigned one, truncated to the type: sums are exact.
template <typename T>
std::vector<T> Input(size_t n) {
  std::vector<T> values(n);
  for (size_t i = 0; i < n; ++i) {
    const int value = static_cast<int>(static_cast<uint32_t>(i) * 2654435761u >> 12) % 1000;
    values[i] = static_cast<T>(T(-1) < T(0) ? value - 500 : value);
  }
  return values;
}

// Counts checks and failures; gives the program's exit status.
class Checks {
 public:
  void Expect(bool right, const char* what, const char* type, size_t n) {
    ++done_;
    if (right) return;
    ++wrong_;
    std::printf("wrong: %s of %zu values of type %s\n", what, n, type);
  }
  int Report() const {
    std::printf("%d checks, %d wrong: %s\n", done_, wrong_, wrong_ == 0 ? "passed" : "failed");
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  int done_ = 0, wrong_ = 0;
};
