#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <numeric>

#include "at_limit.h"
#include "sort.h"

namespace limits {
namespace {

struct Below {
  unsigned limit;
  __host__ __device__ bool operator()(unsigned key) const { return key < limit; }
};

// Times `ours` and `theirs` on random keys; the first `kept` results must be those of a stable sort by `rank`.
template <class Key, class Rank>
void Measure(
    const char* task, int power, const char* library_name, Rank rank, size_t kept,
    const std::function<void(const Key*, const unsigned*, Key*, unsigned*, unsigned)>& ours,
    const std::function<cudaError_t(void*, size_t&, const Key*, const unsigned*, Key*, unsigned*, unsigned)>& theirs) {
  const unsigned n = 1u << power;
  std::vector<Key> keys(n), expected;
  std::vector<unsigned> order(n);
  uint64_t state = 1;
  for (Key& key : keys) {
    state = state * 6364136223846793005 + 1442695040888963407;
    key = static_cast<Key>(sizeof(Key) == 8 ? state ^ state >> 32 : state >> 32);
  }
  std::iota(order.begin(), order.end(), 0u);
  Rotation<Key> buffers(n);
  Rotation<unsigned> values(n);
  buffers.Fill(keys), values.Fill(order);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return rank(keys[a]) < rank(keys[b]); });
  for (const unsigned from : order) expected.push_back(keys[from]);
  const auto right = [&](const char* what) {
    const std::vector<Key> found = buffers.Output(0);
    const size_t compared = std::min<size_t>(n, kept);
    Require(std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(compared), expected.begin()), what);
    CHECK(cudaMemset(buffers.out(0), 0xff, n * sizeof(Key)));
  };
  void* d_memory = nullptr;
  size_t bytes = 0;
  const auto library = [&](size_t k) {
    CHECK(theirs(d_memory, bytes, buffers.in(k), values.in(k), buffers.out(k), values.out(k), n));
  };
  library(0);
  CHECK(cudaMalloc(&d_memory, bytes));
  const auto own = [&](size_t k) { ours(buffers.in(k), values.in(k), buffers.out(k), values.out(k), n); };
  Compare(task, "2^" + std::to_string(power), static_cast<double>(n) * sizeof(Key),
          {{"reference", own, right}, {library_name, library, right}});
  CHECK(cudaFree(d_memory));
}

}  // namespace

void Sort() {
  // The pool keeps freed memory, so that calls which allocate and free don't return it to the driver.
  cudaMemPool_t pool;
  uint64_t all = ~uint64_t{0};
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  unsigned* d_count = nullptr;
  CHECK(cudaMalloc(&d_count, sizeof *d_count));
  using Wide = unsigned long long;
  for (const int power : {20, 24, 27}) {
    const Below half{1u << 31};
    const auto rank = [](unsigned key) { return key >> 31; };
    const size_t surely_kept = (size_t{1} << power) / 2 - (size_t{1} << power) / 64;
    Measure<unsigned>(
        "compaction", power, "cub::DeviceSelect::If", rank, surely_kept,
        [&](auto in, auto, auto out, auto, unsigned n) { compact2_blocks(in, out, d_count, n, half.limit); },
        [&](void* memory, size_t& bytes, auto in, auto, auto out, auto, unsigned n) {
          return cub::DeviceSelect::If(memory, bytes, in, out, d_count, static_cast<int>(n), half);
        });
    // Only the first part is compared: the library leaves the second one in reverse order.
    Measure<unsigned>(
        "split", power, "cub::DevicePartition::If", rank, surely_kept,
        [&](auto in, auto, auto out, auto, unsigned n) { split3_bit(in, out, n, 31); },
        [&](void* memory, size_t& bytes, auto in, auto, auto out, auto, unsigned n) {
          return cub::DevicePartition::If(memory, bytes, in, out, d_count, static_cast<int>(n), half);
        });
    Measure<unsigned>(
        "sort", power, "cub::DeviceRadixSort::SortKeys", [](unsigned key) { return key; }, ~size_t{0},
        [&](auto in, auto, auto out, auto, unsigned n) { sort4_radix(in, out, n); },
        [&](void* memory, size_t& bytes, auto in, auto, auto out, auto, unsigned n) {
          return cub::DeviceRadixSort::SortKeys(memory, bytes, in, out, static_cast<int>(n));
        });
    Measure<Wide>(
        "sort of pairs", power, "cub::DeviceRadixSort::SortPairs", [](Wide key) { return key; }, ~size_t{0},
        sort5_pairs,
        [&](void* memory, size_t& bytes, auto in, auto values, auto out, auto values_out, unsigned n) {
          return cub::DeviceRadixSort::SortPairs(memory, bytes, in, out, values, values_out, static_cast<int>(n));
        });
  }
  CHECK(cudaFree(d_count));
}

}  // namespace limits
