// Calls every launcher of the references' that has a kernel, for compute-sanitizer to watch: lengths around warps,
// blocks and tiles, pointers as badly aligned as they may be, and every result checked. Assignment 07 has no GPU code.
//
// The launchers are declared here and not included: the assignments' headers use the same names for different things.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <type_traits>
#include <vector>

using Copy = cudaError_t(const int* h_in, int* h_out, size_t n);
Copy copy1_round_trip, copy2_two_buffers, copy3_checked, copy4_pinned;

using Fill = cudaError_t(int* d_a, unsigned n, unsigned block);
Fill launch1_fill, launch2_any_length, launch5_grid_stride;
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block);
cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong);
cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height);

using Shift = void(const int* d_in, int* d_out, unsigned n, int shift);
Shift shift1_gather, shift2_any, shift3_grid_stride, shift4_vectors;
void shift5_in_place(int* d_data, unsigned n, int shift);

using Reduce = void(const int* d_in, int* d_sum, unsigned n, int* d_work);
Reduce reduce1_interleaved, reduce2_strided, reduce3_sequential, reduce4_first_add, reduce5_warp_unrolled,
    reduce6_unrolled, reduce7_many, reduce8_shuffle, reduce8_max, reduce8_min;

using Scan = void(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work);
Scan scan1_hillis_steele, scan2_work_efficient, scan3_padded, scan4_blocks, scan5_lookback, scan6_inclusive, scan6_max;

using Transpose = void(const float* d_in, float* d_out, unsigned width, unsigned height);
Transpose transpose1_naive, transpose2_tiled, transpose3_padded, transpose4_rows, transpose5_wide;

namespace {

int calls = 0;

void Require(bool right, const char* what, unsigned n) {
  ++calls;
  if (right && cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess) return;
  std::fprintf(stderr, "%s: wrong with n = %u (%s)\n", what, n, cudaGetErrorString(cudaGetLastError()));
  std::exit(2);
}

// n elements of device memory, and none more, from the `skip`th of an allocation on.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t n, size_t skip = 0) : n_(n), skip_(skip) {
    if (cudaMalloc(&memory_, (n + skip) * sizeof(T)) != cudaSuccess) std::abort();
  }
  explicit DeviceArray(const std::vector<T>& values, size_t skip = 0) : DeviceArray(values.size(), skip) {
    if (cudaMemcpy(get(), values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice) != cudaSuccess) std::abort();
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(memory_); }
  T* get() const { return memory_ + skip_; }
  std::vector<T> Values() const {
    std::vector<T> values(n_);
    if (cudaMemcpy(values.data(), get(), n_ * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) values.clear();
    return values;
  }

 private:
  T* memory_ = nullptr;
  size_t n_, skip_;
};

// Small whole numbers, of either sign: their sums are exact in a float.
template <class T>
std::vector<T> Numbers(size_t n) {
  std::vector<T> values(n);
  uint32_t state = 1;
  for (T& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<T>(static_cast<int>(state >> 24) % 9 - 4);
  }
  return values;
}

#define EACH(Type, ...)                         \
  constexpr Type* kLaunchers[] = {__VA_ARGS__}; \
  for (Type* const launcher : kLaunchers)

void Copies() {
  for (const unsigned n : {0u, 1u, 1000u}) {
    const std::vector<int> in = Numbers<int>(n);
    EACH(Copy, copy1_round_trip, copy2_two_buffers, copy3_checked, copy4_pinned) {
      std::vector<int> out(n, 99);
      Require(launcher(in.data(), out.data(), n) == cudaSuccess && out == in, "copies", n);
    }
  }
}

void Launches() {
  for (const auto& [n, block] : {std::pair{256u, 64u}, std::pair{1000u, 96u}, std::pair{70001u, 256u}}) {
    std::vector<int> expected(n);
    for (unsigned i = 0; i < n; ++i) expected[i] = static_cast<int>(1000 * (i / block) + i % block);
    EACH(Fill, launch1_fill, launch2_any_length, launch5_grid_stride) {
      if (launcher == launch1_fill && n % block != 0) continue;
      const DeviceArray<int> a(n);
      Require(launcher(a.get(), n, block) == cudaSuccess && a.Values() == expected, "fill", n);
    }
    std::vector<int> copied(n);
    Require(launch3_copy_back(copied.data(), n, block) == cudaSuccess && copied == expected, "launch3_copy_back", n);
    const DeviceArray<int> a(expected);
    const DeviceArray<unsigned> wrong(1);
    Require(launch4_verify(a.get(), n, block, wrong.get()) == cudaSuccess && wrong.Values()[0] == 0, "launch4_verify",
            n);
  }
  const DeviceArray<int> a(37 * 21);
  Require(launch6_grid_2d(a.get(), 37, 21) == cudaSuccess && a.Values().size() == 37 * 21, "launch6_grid_2d", 37 * 21);
}

void Shifts() {
  for (const unsigned n : {0u, 1u, 127u, 1000u, 4100u, 300007u}) {
    const std::vector<int> in = Numbers<int>(n);
    for (const int shift : {0, 1, 2, 3, 4, 130, -1, -4099, 2000001}) {
      std::vector<int> expected = in;
      const unsigned offset = n == 0 ? 0 : static_cast<unsigned>((shift % int64_t{n} + n) % n);
      std::rotate(expected.begin(), expected.begin() + offset, expected.end());
      EACH(Shift, shift1_gather, shift2_any, shift3_grid_stride, shift4_vectors) {
        if (launcher == shift1_gather && offset != static_cast<unsigned>(shift)) continue;
        const DeviceArray<int> d_in(in), d_out(n);
        launcher(d_in.get(), d_out.get(), n, shift);
        Require(d_out.Values() == expected && d_in.Values() == in, "shift", n);
      }
      const DeviceArray<int> d_data(in);
      shift5_in_place(d_data.get(), n, shift);
      Require(d_data.Values() == expected, "shift5_in_place", n);
    }
  }
}

void Reductions() {
  for (const unsigned n : {0u, 1u, 33u, 129u, 4099u, 100003u, 5000003u}) {
    const std::vector<int> in = Numbers<int>(n);
    const int sum = std::accumulate(in.begin(), in.end(), 0);
    const auto [least, most] = std::minmax_element(in.begin(), in.end());
    for (const size_t skip : {0, 1}) {
      EACH(Reduce, reduce1_interleaved, reduce2_strided, reduce3_sequential, reduce4_first_add, reduce5_warp_unrolled,
           reduce6_unrolled, reduce7_many, reduce8_shuffle, reduce8_max, reduce8_min) {
        const size_t blocks = (n + size_t{127}) / 128;
        const DeviceArray<int> d_in(in, skip), d_sum(1), d_work(n == 0 ? 2 : blocks + (blocks + 127) / 128);
        launcher(d_in.get(), d_sum.get(), n, d_work.get());
        const int result = d_sum.Values()[0];
        if (launcher == reduce8_max) {
          Require(result == (n == 0 ? INT32_MIN : *most), "reduce8_max", n);
        } else if (launcher == reduce8_min) {
          Require(result == (n == 0 ? INT32_MAX : *least), "reduce8_min", n);
        } else {
          Require(result == sum, "sum", n);
        }
      }
    }
  }
}

void Scans() {
  for (const unsigned n : {0u, 1u, 33u, 512u, 1000u, 1024u, 1025u, 16385u, 300007u, (1u << 22) + 5}) {
    const std::vector<float> in = Numbers<float>(n);
    std::vector<float> exclusive(n), inclusive(n), largest(n);
    std::exclusive_scan(in.begin(), in.end(), exclusive.begin(), 0.0f);
    std::inclusive_scan(in.begin(), in.end(), inclusive.begin());
    std::inclusive_scan(in.begin(), in.end(), largest.begin(), [](float a, float b) { return std::max(a, b); });
    for (const size_t skip : {0, 1}) {
      EACH(Scan, scan1_hillis_steele, scan2_work_efficient, scan3_padded, scan4_blocks, scan5_lookback, scan6_inclusive,
           scan6_max) {
        if (n > 512 && launcher == scan1_hillis_steele) continue;
        if (n > 1024 && (launcher == scan2_work_efficient || launcher == scan3_padded)) continue;
        const size_t tiles = (n + size_t{1023}) / 1024;
        const DeviceArray<float> d_in(in, skip), d_out(n, skip);
        const DeviceArray<unsigned long long> d_work(tiles + (tiles + 1023) / 1024 + 2);
        launcher(d_in.get(), d_out.get(), n, d_work.get());
        Require(d_out.Values() == (launcher == scan6_inclusive ? inclusive
                                   : launcher == scan6_max     ? largest
                                                               : exclusive),
                "scan", n);
      }
    }
  }
}

void Transposes() {
  for (const auto& [width, height] :
       {std::pair{1u, 1u}, std::pair{33u, 65u}, std::pair{128u, 256u}, std::pair{64u, 192u}, std::pair{129u, 131u},
        std::pair{1000u, 37u}, std::pair{36u, 2052u}}) {
    const std::vector<float> in = Numbers<float>(size_t{width} * height);
    std::vector<float> expected(in.size());
    for (size_t i = 0; i < in.size(); ++i) expected[i % width * height + i / width] = in[i];
    for (const size_t skip : {0, 1}) {
      EACH(Transpose, transpose1_naive, transpose2_tiled, transpose3_padded, transpose4_rows, transpose5_wide) {
        const DeviceArray<float> d_in(in, skip), d_out(in.size(), skip);
        launcher(d_in.get(), d_out.get(), width, height);
        Require(d_out.Values() == expected, "transpose", width);
      }
    }
  }
}

}  // namespace

int main() {
  Copies();
  Launches();
  Shifts();
  Reductions();
  Scans();
  Transposes();
  std::printf("%d calls\n", calls);
  return 0;
}
