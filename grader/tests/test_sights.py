"""Finds the line that a hint is about in the kernels, their callees, or the host code."""

import pytest

from conftest import ROOT
from grader.model.result import Sight
from grader.student.sights import _NAMED, _SIGHTS, line_in_sight, named_line

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
    ("sight", "line"),
    [
        (Sight("shuffle"), 6),
        (Sight("loop"), 5),
        (Sight("return"), 13),
        (Sight("variable"), 12),
        (Sight("blocks"), 1),
        (Sight("comparison"), 0),
        (Sight("element", ("d_in",)), 14),
        (Sight("element", ("d_out",)), 0),
        (Sight("of a newer judge"), 0),
        (Sight(), 0),
    ],
)
def test_the_line_is_found(sight: Sight, line: int) -> None:
    assert line_in_sight(sight, _SOURCE, ["sum_kernel"], "sum")[0] == line


def test_the_line_of_a_named_member_is_found_or_the_member_that_is_missing() -> None:
    body = "  r->warps = d->max_warps;\n  r->by[kOne] = 1;\n"
    source = f"int a;\nint f(const D* d, R* r) {{\n{body}}}\nint g() {{ d->unit_size; }}"
    assert named_line(Sight("input", ("max_warps",)), source, 2)[0] == 3
    assert named_line(Sight("input", ("unit_size", "max_warps")), source, 2) == (0, "", "unit_size")
    assert named_line(Sight("result", ("by[kOne]", "max_warps")), source, 2)[0] == 4
    assert named_line(Sight("result", ("share", "unit_size")), source, 2) == (0, "", "unit_size")
    assert named_line(Sight("function", ("unit_size",)), source, 2) == (0, "", "")


def test_every_row_is_of_use_to_some_hint() -> None:
    judge = ROOT / "harness" / "judge"
    sources = [*(ROOT / "harness" / "suites").glob("*"), judge / "run" / "failure.cc", judge / "model" / "verdict.cc"]
    text = "\n".join(path.read_text() for path in sources)
    assert [part for part in (*_SIGHTS, *_NAMED, "element") if f'{{"{part}"' not in text] == []
