"""Finds the line that a hint is about in the kernels, their callees, or the host code."""

import pytest

from grader.student.sights import line_in_sight

_SOURCE = """constexpr unsigned BlocksFor(unsigned n) { return n / kBlock; }
template <class T>
__device__ T add_up(T value) {
#pragma unroll
  for (unsigned s = 16; s > 0; s /= 2) {
    value += __shfl_down_sync(~0u, value, s);
  }
  return value;
}
__global__ void __launch_bounds__(kBlock)
    sum_kernel(const int* d_in, int* d_out, unsigned n) {
  int sum;
  if (threadIdx.x >= n) return;
  sum += add_up(d_in[threadIdx.x]);
}
void other(void (*kernel)(int)) {
  for (;;) return;
}
void sum(const int* d_in, int* d_out, unsigned n) {
  int* host = (int*)malloc(n);  // a while
  sum_kernel<<<BlocksFor(n), kBlock>>>(d_in, d_out, n);
}
"""


@pytest.mark.parametrize(
    ("hint", "line"),
    [
        ("a shuffle by 32", 6),
        ("does the tree run all its steps?", 5),
        ("do not return early", 13),
        ("began with garbage", 12),
        ("round the number of blocks up", 1),
        ("memory of cudaMallocHost", 20),
        ("only those that are less count", 0),
        ("d_in[i + 1] is read", 14),
        ("d_out[i + 1] is written", 0),
        ("nothing of this kind", 0),
    ],
)
def test_the_line_is_found(hint: str, line: int) -> None:
    assert line_in_sight(hint, _SOURCE, ["sum_kernel"], "sum")[0] == line
