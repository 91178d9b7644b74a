"""Compares a GPU's output with the virtual GPU's line by line (harness/dev/public_suites/outputs.py)."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "harness/dev/public_suites"))

from outputs import Run, compare  # noqa: E402


def verdict(gpu: Run, virtual: Run, undefined: str | None = None) -> str:
    return compare("p.cu", gpu, virtual, undefined).verdict


def ended(output: str, status: int | None = 0, again: str | None = None) -> Run:
    return Run(built=True, status=status, output=output, seconds=1, again=again)


@pytest.mark.parametrize(
    ("gpu", "here", "expected"),
    [
        ("sum 15\n", "sum 15  \n\n", "SAME"),
        ("sum 15\n", "lockstep: memory is checked\nsum 15\n", "SAME"),
        ("sum 15.00001\n", "sum 15.00002\n", "CLOSE"),
        ("sum 15\n", "sum 16\n", "DIFFERS"),
        ("sum 15\n", "sum nan\n", "DIFFERS"),
        ("sum 15\n", "", "DIFFERS"),
        ("sum 15\n", "sum 15\nsum 15\n", "DIFFERS"),
        ("at 0x7f12345678\n", "at 0x10000200\n", "SAME"),
        ("flags 0x1f\n", "flags 0x1e\n", "DIFFERS"),
        ("kernel took 0.31 ms\n", "kernel took 8.5 ms\n", "SAME"),
        ("kernel took 0.31 ms\n", "copy took 0.31 ms\n", "DIFFERS"),
        ("block 1\nblock 0\n", "block 0\nblock 1\n", "ORDER"),
        ("block 1\nblock 0\n", "block 0\nblock 0\n", "DIFFERS"),
    ],
)
def test_lines(gpu: str, here: str, expected: str) -> None:
    assert verdict(ended(gpu), ended(here)) == expected


def test_ends() -> None:
    assert verdict(ended("x", 0), ended("x", 1)) == "DIFFERS"
    assert verdict(ended("x", 0), ended("x", -11)) == "CRASH"
    assert verdict(ended("x", -11), ended("x", -11)) == "NO GPU"
    assert verdict(ended("x", 0), ended("x", None)) == "TIME"
    assert verdict(ended("x", None), ended("x", 0)) == "NO GPU"
    assert verdict(Run(False, None, "", 0), ended("x", 0)) == "NO GPU"
    assert verdict(ended("x", 0), Run(False, None, "error", 0)) == "BUILD"
    refused = "lockstep: cufftXtExec (main()): the virtual GPU does not support this function of cuFFT\n"
    assert verdict(ended("x", 0), ended(refused, 1)) == "REFUSED"


def test_a_refusal_does_not_hide_a_crash_of_the_reference() -> None:
    row = compare("p.cu", ended("x", -11), ended("UNSUPPORTED: x\n", 1), None)
    assert row.verdict == "NO GPU"
    assert "UNSUPPORTED" in row.reason


def test_two_runs_on_the_gpu_show_what_varies() -> None:
    racy = ended("counts\ncount 19\n", again="counts\ncount 23\n")
    assert verdict(racy, ended("counts\ncount 32000\n")) == "VARIES"
    assert verdict(racy, ended("counts\ntotal 19\n")) == "DIFFERS"
    assert verdict(racy, ended("counts\ncount 19\ndone\n")) == "DIFFERS"
    assert verdict(ended("count 19\n", again="count 19\n"), ended("count 32000\n")) == "DIFFERS"


FOUND = """BOUNDS  add<<<2,128>>>
  global load of 4 bytes, just past the end of cudaMalloc #1 (512 bytes, offset 512)
  hint    check the index
"""


def test_a_finding_of_ours_is_no_line_of_the_programs() -> None:
    fault = "illegal memory access\n"
    assert verdict(ended(fault), ended(FOUND + fault)) == "SAME"
    assert verdict(ended("sum 15\n"), ended(FOUND + fault)) == "DIFFERS"


def test_a_finding_counts_where_the_sanitizer_finds_one_too() -> None:
    here = ended(FOUND + "illegal memory access\n", 1)
    for summary, expected in (("ERROR SUMMARY: 128 errors", "FOUND"), ("ERROR SUMMARY: 0 errors", "DIFFERS")):
        gpu = Run(built=True, status=0, output="sum 15\n", seconds=1, sanitizer="========= " + summary)
        assert verdict(gpu, here) == expected


def test_a_failed_assertion_is_a_finding_here() -> None:
    gpu = "/a/b.cu:29: void f(int): block: [0,0,0], thread: [0,0,0] Assertion `n > 0` failed.\n"
    here = "CRASH  f<<<1,1>>>\n  assertion `n > 0` failed (b.cu:29)\n"
    assert verdict(ended(gpu), ended(here)) == "SAME"
    assert verdict(ended(gpu), ended("")) == "DIFFERS"


def test_where_it_was_built_and_on_what_does_not_matter() -> None:
    gpu = "/tmp/lockstep-compare-a1_b/x+y.cu.out on NVIDIA H100 80GB HBM3\n"
    here = "/tmp/lockstep-compare-zz/x+y.cu.out on NVIDIA H200\n"
    assert verdict(ended(gpu), ended(here)) == "SAME"


def test_notes_excuse_other_lines_and_nothing_else() -> None:
    assert verdict(ended("count 19\n"), ended("count 32000\n"), "no atomic operation") == "UNDEFINED"
    assert verdict(ended("count 19\n"), ended("count 19\n"), "no atomic operation") == "SAME"
    assert verdict(ended("count 19\n"), ended("count 19\n", -6), "no atomic operation") == "CRASH"
