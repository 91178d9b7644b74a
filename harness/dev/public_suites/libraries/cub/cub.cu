// CUB's device-wide reduction, scan, radix sort and histogram, compared with the same operations on the host, for
// several types and sizes.
#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>

#include "../check.h"

Checks checks;

// An array on the device.
template <typename T>
class Array {
 public:
  explicit Array(size_t n) : n_(n) { cudaMalloc(&d_, std::max<size_t>(n, 1) * sizeof(T)); }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    cudaMemcpy(d_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(d_); }
  operator T*() const { return d_; }
  std::vector<T> Read() const {
    std::vector<T> values(n_);
    cudaMemcpy(values.data(), d_, n_ * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  size_t n_;
  T* d_ = nullptr;
};

template <typename Call>
void WithScratch(Call call) {
  size_t bytes = 0;
  call(nullptr, bytes);
  Array<char> scratch(bytes);
  call(scratch, bytes);
}

template <typename T>
void ReduceAndScan(const char* type) {
  for (const size_t n : kSizes) {
    const std::vector<T> in = Input<T>(n);
    const Array<T> d_in(in), d_one(1), d_out(n);
    const int items = static_cast<int>(n);
    WithScratch([&](void* d, size_t& bytes) { cub::DeviceReduce::Sum(d, bytes, (T*)d_in, (T*)d_one, items); });
    checks.Expect(d_one.Read()[0] == std::accumulate(in.begin(), in.end(), T{}), "sum", type, n);
    WithScratch([&](void* d, size_t& bytes) { cub::DeviceReduce::Max(d, bytes, (T*)d_in, (T*)d_one, items); });
    checks.Expect(d_one.Read()[0] == *std::max_element(in.begin(), in.end()), "maximum", type, n);
    std::vector<T> expected(n);
    WithScratch([&](void* d, size_t& bytes) { cub::DeviceScan::ExclusiveSum(d, bytes, (T*)d_in, (T*)d_out, items); });
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), T{});
    checks.Expect(d_out.Read() == expected, "exclusive scan", type, n);
    WithScratch([&](void* d, size_t& bytes) { cub::DeviceScan::InclusiveSum(d, bytes, (T*)d_in, (T*)d_out, items); });
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    checks.Expect(d_out.Read() == expected, "inclusive scan", type, n);
  }
}

template <typename T>
void Sort(const char* type) {
  for (const size_t n : kSizes) {
    const std::vector<T> in = Input<T>(n);
    std::vector<unsigned> places(n);
    std::iota(places.begin(), places.end(), 0u);
    const Array<T> d_in(in), d_out(n);
    const Array<unsigned> d_places(places), d_sorted(n);
    const int items = static_cast<int>(n);
    WithScratch([&](void* d, size_t& bytes) { cub::DeviceRadixSort::SortKeys(d, bytes, (T*)d_in, (T*)d_out, items); });
    std::vector<T> expected = in;
    std::sort(expected.begin(), expected.end());
    checks.Expect(d_out.Read() == expected, "radix sort", type, n);
    WithScratch([&](void* d, size_t& bytes) {
      cub::DeviceRadixSort::SortPairsDescending(d, bytes, (T*)d_in, (T*)d_out, (unsigned*)d_places, (unsigned*)d_sorted,
                                                items);
    });
    std::stable_sort(places.begin(), places.end(), [&](unsigned a, unsigned b) { return in[a] > in[b]; });
    checks.Expect(d_sorted.Read() == places, "radix sort of pairs, descending", type, n);
  }
}

template <typename T>
void Histogram(const char* type, T low, T high) {
  constexpr int kBins = 16;
  for (const size_t n : kSizes) {
    const std::vector<T> in = Input<T>(n);
    const Array<T> d_in(in);
    const Array<int> d_bins(kBins);
    WithScratch([&](void* d, size_t& bytes) {
      cub::DeviceHistogram::HistogramEven(d, bytes, (T*)d_in, (int*)d_bins, kBins + 1, low, high, static_cast<int>(n));
    });
    std::vector<int> bins(kBins);
    for (const T value : in) {
      if (value >= low && value < high)
        ++bins[static_cast<size_t>((double(value) - double(low)) * kBins / (high - low))];
    }
    checks.Expect(d_bins.Read() == bins, "histogram", type, n);
  }
}

int main() {
  ReduceAndScan<int>("int");
  ReduceAndScan<int64_t>("int64_t");
  ReduceAndScan<float>("float");
  ReduceAndScan<double>("double");
  Sort<uint8_t>("uint8_t");
  Sort<int>("int");
  Sort<uint64_t>("uint64_t");
  Sort<float>("float");
  Sort<double>("double");
  Histogram<uint8_t>("uint8_t", 0, 128);
  Histogram<int>("int", -400, 400);
  Histogram<float>("float", -500, 500);
  checks.Expect(cudaDeviceSynchronize() == cudaSuccess, "no error", "all", 0);
  return checks.Report();
}
