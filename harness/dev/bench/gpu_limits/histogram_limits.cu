#include <cub/device/device_histogram.cuh>

#include "at_limit.h"
#include "histogram.h"

namespace limits {
namespace {

// About `share` of every 256 elements have one common value, the others are random.
template <typename T>
void Measure(const char* task, int power, unsigned share,
             const std::vector<std::pair<const char*, void (*)(const T*, unsigned*, unsigned)>>& rungs) {
  constexpr unsigned kCounters = sizeof(T) == 1 ? kBins : kWideBins;
  const unsigned n = 1u << power;
  std::vector<T> values(n);
  std::vector<unsigned> expected(kCounters);
  unsigned state = 1;
  for (T& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<T>((state >> 24) < share ? 77 : state >> 8);
    ++expected[value];
  }
  Rotation<T> buffers(n);
  buffers.Fill(values);
  unsigned* d_bins = nullptr;
  CHECK(cudaMalloc(&d_bins, sizeof(unsigned) * kCounters));
  const auto right = [&](const char* what) {
    std::vector<unsigned> bins(kCounters);
    CHECK(cudaMemcpy(bins.data(), d_bins, sizeof(unsigned) * kCounters, cudaMemcpyDeviceToHost));
    Require(bins == expected, what);
    CHECK(cudaMemset(d_bins, 0xff, sizeof(unsigned) * kCounters));
  };
  void* d_temporary = nullptr;
  size_t temporary_bytes = 0;
  const auto library = [&](size_t call) {
    CHECK(cub::DeviceHistogram::HistogramEven(d_temporary, temporary_bytes, buffers.in(call), d_bins,
                                              static_cast<int>(kCounters + 1), 0, static_cast<int>(kCounters),
                                              static_cast<int>(n)));
  };
  library(0);
  CHECK(cudaMalloc(&d_temporary, temporary_bytes));
  std::vector<Contestant> contestants;
  for (const auto& rung : rungs) {
    contestants.push_back({rung.first, [&](size_t call) { rung.second(buffers.in(call), d_bins, n); }, right});
  }
  contestants.push_back({"cub::DeviceHistogram", library, right});
  Compare(task,
          "2^" + std::to_string(power) +
              (share == 0     ? ", random"
               : share == 256 ? ", equal"
                              : ", skewed"),
          static_cast<double>(n) * sizeof(T), contestants);
  CHECK(cudaFree(d_bins));
  CHECK(cudaFree(d_temporary));
}

// Rung 3 with weights of 1, for the same bins; no call finds its weights in the cache.
void CountWeights(const unsigned char* d_in, unsigned* d_bins, unsigned n) {
  constexpr size_t kWeights = size_t{1} << 27;
  static unsigned* d_weights = nullptr;
  static size_t first = 0;
  if (d_weights == nullptr) {
    const std::vector<unsigned> ones(kWeights, 1);
    CHECK(cudaMalloc(&d_weights, sizeof(unsigned) * kWeights));
    CHECK(cudaMemcpy(d_weights, ones.data(), sizeof(unsigned) * kWeights, cudaMemcpyHostToDevice));
  }
  if (first + n > kWeights) first = 0;
  histogram3_weighted(d_in, d_weights + first, d_bins, n);
  first += n;
}

}  // namespace

void Histogram() {
  for (const unsigned share : {0u, 240u, 256u}) {
    for (const int power : {20, 24, 27}) {
      Measure<unsigned char>("histogram", power, share,
                             {{"rung 1", histogram1_global},
                              {"rung 2", histogram2_shared},
                              {"rung 3", CountWeights},
                              {"reference", histogram4_vectors}});
    }
    Measure<unsigned short>("histogram of 16 bits", 24, share, {{"reference", histogram5_wide}});
  }
}

}  // namespace limits
