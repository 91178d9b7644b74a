// Thrust's sort, reduce, transform, scan and similar functions, compared with the same operations on the host.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <numeric>

#include "../check.h"

Checks checks;

template <typename T>
struct Square {
  __host__ __device__ T operator()(T x) const { return x * x; }
};

template <typename T>
struct IsNegative {
  __host__ __device__ bool operator()(T x) const { return x < T(0); }
};

template <typename T>
std::vector<T> Read(const thrust::device_vector<T>& values) {
  std::vector<T> read(values.size());
  thrust::copy(values.begin(), values.end(), read.begin());
  return read;
}

template <typename T>
void All(const char* type) {
  for (const size_t n : kSizes) {
    const std::vector<T> in = Input<T>(n);
    const thrust::device_vector<T> d_in(in.begin(), in.end());
    thrust::device_vector<T> d_out(n);
    std::vector<T> expected(n);

    checks.Expect(thrust::reduce(d_in.begin(), d_in.end()) == std::accumulate(in.begin(), in.end(), T{}), "reduce",
                  type, n);
    thrust::transform(d_in.begin(), d_in.end(), d_out.begin(), Square<T>());
    std::transform(in.begin(), in.end(), expected.begin(), Square<T>());
    checks.Expect(Read(d_out) == expected, "transform", type, n);
    const T squares = thrust::transform_reduce(d_in.begin(), d_in.end(), Square<T>(), T{}, thrust::plus<T>());
    checks.Expect(squares == std::accumulate(expected.begin(), expected.end(), T{}), "transform_reduce", type, n);
    thrust::exclusive_scan(d_in.begin(), d_in.end(), d_out.begin());
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), T{});
    checks.Expect(Read(d_out) == expected, "exclusive_scan", type, n);
    checks.Expect(thrust::count_if(d_in.begin(), d_in.end(), IsNegative<T>()) ==
                      std::count_if(in.begin(), in.end(), IsNegative<T>()),
                  "count_if", type, n);
    d_out = d_in;
    thrust::sort(d_out.begin(), d_out.end(), thrust::greater<T>());
    expected = in;
    std::sort(expected.begin(), expected.end(), std::greater<T>());
    checks.Expect(Read(d_out) == expected, "sort", type, n);
    d_out.resize(thrust::unique(d_out.begin(), d_out.end()) - d_out.begin());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    checks.Expect(Read(d_out) == expected, "unique", type, n);
    // Not in place, as copy_if promises the order.
    d_out.resize(n);
    d_out.resize(thrust::copy_if(d_in.begin(), d_in.end(), d_out.begin(), IsNegative<T>()) - d_out.begin());
    expected.clear();
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), IsNegative<T>());
    checks.Expect(Read(d_out) == expected, "copy_if", type, n);

    thrust::device_vector<int> d_places(n);
    thrust::sequence(d_places.begin(), d_places.end());
    thrust::device_vector<T> d_keys = d_in;
    thrust::stable_sort_by_key(d_keys.begin(), d_keys.end(), d_places.begin());
    std::vector<int> places(n);
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return in[a] < in[b]; });
    checks.Expect(Read(d_places) == places, "stable_sort_by_key", type, n);
  }
}

int main() {
  All<int64_t>("int64_t");
  All<double>("double");
  checks.Expect(cudaDeviceSynchronize() == cudaSuccess, "no error", "all", 0);
  return checks.Report();
}
