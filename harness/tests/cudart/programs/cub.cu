// CUB's device-wide reduction, scan, radix sort and histogram, against the same on the host. Sizes are small, odd, and
// such that more than one block works.
#include <algorithm>
#include <cstdio>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <numeric>
#include <vector>

constexpr int kN = 20011, kBins = 16;

template <typename Call>
void WithScratch(Call call) {
  void* d_scratch = nullptr;
  size_t bytes = 0;
  call(d_scratch, bytes);
  cudaMalloc(&d_scratch, bytes);
  call(d_scratch, bytes);
  cudaFree(d_scratch);
}

std::vector<int> Read(const int* d, int n) {
  std::vector<int> values(n);
  cudaMemcpy(values.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
  return values;
}

int main() {
  std::vector<int> in(kN);
  for (int i = 0; i < kN; ++i) in[i] = static_cast<int>((i * 2654435761u) >> 12) % 1000;
  int *d_in, *d_out;
  cudaMalloc(&d_in, kN * sizeof(int));
  cudaMalloc(&d_out, kN * sizeof(int));
  cudaMemcpy(d_in, in.data(), kN * sizeof(int), cudaMemcpyHostToDevice);

  WithScratch([&](void* d, size_t& bytes) { cub::DeviceReduce::Sum(d, bytes, d_in, d_out, kN); });
  std::printf("reduce %d\n", Read(d_out, 1)[0] == std::accumulate(in.begin(), in.end(), 0));

  std::vector<int> expected(kN);
  WithScratch([&](void* d, size_t& bytes) { cub::DeviceScan::ExclusiveSum(d, bytes, d_in, d_out, kN); });
  std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0);
  std::printf("scan %d\n", Read(d_out, kN) == expected);

  WithScratch([&](void* d, size_t& bytes) { cub::DeviceRadixSort::SortKeys(d, bytes, d_in, d_out, kN); });
  expected = in;
  std::sort(expected.begin(), expected.end());
  std::printf("sort %d\n", Read(d_out, kN) == expected);

  WithScratch([&](void* d, size_t& bytes) {
    cub::DeviceHistogram::HistogramEven(d, bytes, d_in, d_out, kBins + 1, 0, 1000, kN);
  });
  std::vector<int> bins(kBins);
  for (const int value : in) ++bins[static_cast<long>(value) * kBins / 1000];
  std::printf("histogram %d\n", Read(d_out, kBins) == bins);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
