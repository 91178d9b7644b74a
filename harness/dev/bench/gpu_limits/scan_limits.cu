#include <cub/device/device_scan.cuh>

#include "at_limit.h"
#include "scan.h"

namespace limits {

void Scan() {
  const std::pair<size_t, const char*> sizes[] = {{size_t{1} << 20, "2^20"},
                                                  {size_t{1} << 22, "2^22"},
                                                  {size_t{1} << 24, "2^24"},
                                                  {(size_t{1} << 24) - 3, "2^24-3"},
                                                  {size_t{1} << 27, "2^27"}};
  for (const auto& [n, size] : sizes) {
    const double bytes = 2.0 * static_cast<double>(n) * sizeof(float);
    Rotation<float> buffers(n);
    // Whole numbers whose sums stay exact, so that every order of additions gives the same.
    std::vector<float> values(n), expected(n);
    unsigned state = 1;
    float sum = 0;
    for (size_t i = 0; i < n; ++i) {
      state = state * 1664525 + 1013904223;
      values[i] = static_cast<float>(static_cast<int>(state >> 24) % 9 - 4);
      expected[i] = sum;
      sum += values[i];
    }
    buffers.Fill(values);
    unsigned long long* d_work = nullptr;
    CHECK(cudaMalloc(&d_work, WorkWords(n) * sizeof *d_work));
    size_t temporary_bytes = 0;
    CHECK(cub::DeviceScan::ExclusiveSum(nullptr, temporary_bytes, buffers.in(0), buffers.out(0), static_cast<int>(n)));
    void* d_temporary = nullptr;
    CHECK(cudaMalloc(&d_temporary, temporary_bytes));
    const auto reference = [&, n = n](size_t call) {
      scan5_lookback(buffers.in(call), buffers.out(call), static_cast<unsigned>(n), d_work);
    };
    const auto library = [&, n = n](size_t call) {
      CHECK(cub::DeviceScan::ExclusiveSum(d_temporary, temporary_bytes, buffers.in(call), buffers.out(call),
                                          static_cast<int>(n)));
    };
    const auto copy = [&, n = n](size_t call) {
      CHECK(cudaMemcpyAsync(buffers.out(call), buffers.in(call), n * sizeof(float), cudaMemcpyDeviceToDevice));
    };
    const auto right = [&, n = n](const char* what) {
      Require(buffers.Output(0) == expected, what);
      CHECK(cudaMemset(buffers.out(0), 0xff, n * sizeof(float)));
    };
    Compare("scan", size, bytes,
            {{"reference", reference, right}, {"cub::DeviceScan::ExclusiveSum", library, right}, {"copy", copy}});
    CHECK(cudaFree(d_work));
    CHECK(cudaFree(d_temporary));
  }
}

}  // namespace limits
